//! The forms for the contact details and the quotas of an account, for the provider.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::account_summary::{LIST, name, url};
use super::accounts::contact_fields;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::redirect_with_notice;
use crate::console::visit::Visit;
use crate::model::account::{Account, QuotaOverride};
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
        .write(staff.clone(), move |tx, _| {
            rules::provider_accounts::update(tx, id, &request)
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

/// The names of the quotas and their labels.
const QUOTAS: [(&str, &str); 3] = [
    ("vpcs_per_region", "VPCs per region"),
    ("subnets_per_vpc", "Subnets per VPC"),
    ("attachment_bytes", "Ticket attachments in bytes"),
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
        let value = value.map(|value| value.to_string());
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
    let object = QUOTAS.map(|(name, _)| (name.to_owned(), limit(data.text(name).trim())));
    let request = data.request(object.to_vec());
    let changed = app
        .write(staff.clone(), move |tx, _| {
            rules::provider_accounts::update_quotas(tx, id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(&url(id), "account-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let account = load(&app, staff, id).await?;
    let form_state = form_state.with_version_of(&account);
    Ok(render_quotas(&app, &visit, &account, &form_state))
}

/// An empty field means the provider's default.
fn limit(text: &str) -> Input {
    match text {
        "" => Input::Null,
        text => text
            .parse()
            .map_or_else(|_| Input::Text(text.to_owned()), Input::Integer),
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
        let hint = format!("Leave empty for the default, {default}.");
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
