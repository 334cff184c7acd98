//! The forms for the contact details and the quotas of an account, for the provider.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::account_summary::{LIST, name, url};
use super::accounts::contact_fields;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::{number, redirect_with_notice};
use crate::console::visit::Visit;
use crate::model::account::{Account, MAX_ATTACHMENT_QUOTA, MAX_OBJECT_QUOTA, QuotaOverride};
use crate::model::id::AccountId;
use crate::model::input::Input;
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

type Path = At<AccountId>;

async fn load(app: &App, staff: Staff, id: AccountId) -> rules::Result<Account> {
    app.read(staff, move |tx, _| rules::accounts::load(tx, id)).await
}

pub async fn edit(State(app): State<App>, visit: Visit, staff: Staff, At(id): Path) -> PageResult {
    let account = load(&app, staff, id).await?;
    let form_state = FormState::prefilled(&editable_fields(&account)).with_version_of(&account);
    Ok(render_edit(&visit, &account, &form_state))
}

fn editable_fields(account: &Account) -> [(&'static str, &str); 2] {
    [("company", &account.company), ("email", &account.email)]
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): Path,
    data: FormData,
) -> PageResult {
    let request = data.request(data.object(&["company", "email"]));
    let changed = app
        .write(staff.clone(), move |tx, staff| {
            rules::provider_accounts::update(tx, Some(&staff.agent), id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(&url(id), "account-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let account = load(&app, staff, id).await?;
    let form_state = form_state
        .with_version_of(&account)
        .with_current_values(&editable_fields(&account));
    Ok(render_edit(&visit, &account, &form_state))
}

fn render_edit(visit: &Visit, account: &Account, form_state: &FormState) -> Response {
    let (title, account_url) = (format!("Edit {}", name(account)), url(account.id));
    let form = Card::new(format!("{account_url}/edit"), "Save", &account_url);
    let body = html! {
        h1 { (title) }
        (forms::card(visit, form_state, &form, &contact_fields(form_state)))
    };
    visit.form_page(form_state, &title, &[LIST, (name(account), &account_url)], &body)
}

/// The quota that is a size.
const BYTES: &str = "attachment_bytes";
/// The units of a size, the largest first.
const UNITS: [(&str, i64); 5] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("bytes", 1),
];
const UNIT_MISSING: &str = "Must be a size with a unit, such as 10 GiB";

/// A size in the largest unit that needs no fraction: `10 GiB`.
fn exact_size(bytes: i64) -> String {
    let unit = UNITS.iter().find(|(_, unit)| bytes > 0 && bytes % unit == 0);
    unit.map_or_else(
        || "0 bytes".to_owned(),
        |(name, unit)| format!("{} {name}", bytes / unit),
    )
}

/// The bytes of a size with a unit, before the check of its range.
fn bytes(text: &str) -> Option<f64> {
    let mut units = UNITS.iter();
    let (number, unit) = units.find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))?;
    Some(forms::decimal(number)? * unit as f64)
}

/// The bytes of a size with a unit.
fn parse_size(text: &str) -> Option<i64> {
    let bytes = bytes(text).filter(|bytes| *bytes < i64::MAX as f64);
    bytes.map(|bytes| bytes.round() as i64)
}

/// Why a limit is refused, if the rule does not know it: a size without a unit, or a number that is too large.
fn reason(name: &str, text: &str) -> Option<String> {
    let too_large = match name {
        BYTES if bytes(text).is_none() => return Some(UNIT_MISSING.to_owned()),
        BYTES => parse_size(text).is_none(),
        _ => forms::is_too_large(text),
    };
    let max = match name {
        BYTES => format!("{} TiB", number((MAX_ATTACHMENT_QUOTA >> 40).unsigned_abs())),
        _ => number(MAX_OBJECT_QUOTA.unsigned_abs()),
    };
    too_large.then(|| format!("Must be at most {max}"))
}

fn shown(name: &str, value: i64) -> String {
    match name {
        BYTES => exact_size(value),
        _ => value.to_string(),
    }
}

/// The names of the quotas and their labels.
const QUOTAS: [(&str, &str); 3] = [
    ("vpcs_per_region", "VPCs per region"),
    ("subnets_per_vpc", "Subnets per VPC"),
    (BYTES, "Ticket attachments"),
];

fn overrides(quota: QuotaOverride) -> [Option<i64>; 3] {
    [
        quota.vpcs_per_region,
        quota.subnets_per_vpc,
        quota.attachment_bytes,
    ]
}

pub async fn quotas(State(app): State<App>, visit: Visit, staff: Staff, At(id): Path) -> PageResult {
    let account = load(&app, staff, id).await?;
    let mut form_state = FormState::default().with_version_of(&account);
    for ((name, _), value) in QUOTAS.iter().zip(overrides(account.quota)) {
        let value = value.map(|value| shown(name, value));
        form_state.data.set(name, value.unwrap_or_default());
    }
    Ok(render_quotas(&app, &visit, &account, &form_state))
}

pub async fn update_quotas(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): Path,
    data: FormData,
) -> PageResult {
    let object = QUOTAS.map(|(name, _)| (name.to_owned(), limit(name, data.text(name).trim())));
    let request = data.request(object.to_vec());
    let changed = app
        .write(staff.clone(), move |tx, staff| {
            rules::provider_accounts::update_quotas(tx, Some(&staff.agent), id, &request)
        })
        .await;
    let mut form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(&url(id), "account-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    for error in &mut form_state.errors {
        let field = error.field.as_deref().unwrap_or_default();
        let text = form_state.data.text(field).trim();
        let is_quota = QUOTAS.iter().any(|(name, _)| *name == field);
        if let Some(reason) = reason(field, text).filter(|_| is_quota) {
            error.reason = reason;
        }
    }
    let account = load(&app, staff, id).await?;
    let form_state = form_state.with_version_of(&account);
    Ok(render_quotas(&app, &visit, &account, &form_state))
}

/// An empty field means the provider's default.
fn limit(name: &str, text: &str) -> Input {
    match name {
        _ if text.is_empty() => Input::Null,
        BYTES => parse_size(text).map_or_else(|| Input::Text(text.to_owned()), Input::Integer),
        _ if forms::is_too_large(text) => Input::Text(text.to_owned()),
        _ => forms::integer(text),
    }
}

fn render_quotas(app: &App, visit: &Visit, account: &Account, form_state: &FormState) -> Response {
    let (title, account_url) = (format!("Quotas of {}", name(account)), url(account.id));
    let form = Card::new(format!("{account_url}/quotas"), "Save", &account_url);
    let defaults = app.store().policy().quota;
    let defaults = [
        defaults.vpcs_per_region,
        defaults.subnets_per_vpc,
        defaults.attachment_bytes,
    ];
    let fields = QUOTAS.iter().zip(defaults).map(|((name, label), default)| {
        let units = if *name == BYTES {
            "A size, such as 10 GiB. "
        } else {
            ""
        };
        let hint = format!("{units}Leave empty for the default, {}.", shown(name, default));
        let field = Field {
            name,
            label,
            hint: &hint,
            optional: true,
            ..Field::default()
        };
        forms::text_input(form_state, field)
    });
    let body = html! {
        h1 { (title) }
        (forms::card(visit, form_state, &form, &html! { @for field in fields { (field) } }))
    };
    visit.form_page(form_state, &title, &[LIST, (name(account), &account_url)], &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_too_large_gets_the_maximum() {
        let max = "Must be at most 1,000,000";
        for (name, text, expected) in [
            (QUOTAS[0].0, "99999999999999999999", Some(max)),
            (QUOTAS[0].0, "many", None),
            (BYTES, "8388608 TiB", Some("Must be at most 1,024 TiB")),
            (BYTES, "10", Some(UNIT_MISSING)),
            (BYTES, "10 GiB", None),
        ] {
            assert_eq!(reason(name, text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("1 GiB", Some(1 << 30)),
            ("1.5GiB", Some(3 << 29)),
            ("1,024 MiB", Some(1 << 30)),
            ("1e3 MiB", None),
            ("8388608 TiB", None),
            ("512", None),
            ("512 bytes", Some(512)),
            ("-1 GiB", None),
            ("many", None),
            ("1e99 TiB", None),
            ("NaN KiB", None),
        ] {
            assert_eq!(parse_size(text), bytes, "{text}");
        }
        assert_eq!(
            [0, 100, 3 << 29, 10 << 30].map(exact_size),
            ["0 bytes", "100 bytes", "1536 MiB", "10 GiB"]
        );
    }
}
