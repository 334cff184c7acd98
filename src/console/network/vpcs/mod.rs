//! Pages for VPCs, and elements that the subnet pages share.

mod change;
mod create;
mod list;
mod map;
mod view;

pub use change::{confirm_delete, delete, edit, update};
pub use create::{check, create, new};
pub use list::{export, list};
pub use map::view_map;
pub use view::view;

use maud::{Markup, html};

use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::ipv6;
use crate::console::layout::number;
use crate::model::cidr::Cidr;
use crate::model::id::VpcId;
use crate::model::policy::Policy;
use crate::model::vpc::Vpc;
use crate::rules::error::FieldError;
use crate::rules::{self, Error};

/// The label and the URL of the list of VPCs.
pub const LIST: (&str, &str) = ("VPCs", "/vpcs");
/// The form fields of a subnet.
pub const SUBNET_FIELDS: [&str; 3] = ["label", "ipv4", ipv6::FIELD];

pub fn url(id: VpcId) -> String {
    format!("/vpcs/{id}")
}

/// The tabs of a VPC. `current` is the path of the current tab below the URL of the VPC.
pub fn tabs(id: VpcId, subnets: i64, current: &str) -> Markup {
    let tab = |path: &str, label: String| {
        html! { li { a href=(format!("{}{path}", url(id))) aria-current=[(path == current).then_some("page")] { (label) } } }
    };
    html! {
        nav #tabs .subpages aria-label="VPC" { ul {
            (tab("", "Overview".to_owned()))
            (tab("/subnets", format!("Subnets ({})", number(subnets.unsigned_abs()))))
        } }
    }
}

/// The number of instances on the subnets of a VPC.
fn instance_count(vpc: &Vpc) -> usize {
    let uses = vpc.subnets.iter().flat_map(|subnet| &subnet.uses);
    let mut ids: Vec<_> = uses.map(|subnet_use| subnet_use.instance).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

pub fn active_tag(active: bool) -> Markup {
    html! { @if active { span .tag.on { "active" } } @else { span .tag { "inactive" } } }
}

/// The field errors of a rule; empty if the rule succeeded. Errors of another kind are returned as `Err`.
pub fn field_errors<T>(outcome: Result<T, Error>) -> Result<Vec<FieldError>, Error> {
    match outcome {
        Ok(_) => Ok(Vec::new()),
        Err(Error::Refused(errors)) => Ok(errors),
        Err(other) => Err(other),
    }
}

pub const DESCRIPTION: Field = Field {
    name: "description",
    label: "Description",
    hint: "Up to 255 characters.",
    optional: true,
    autofocus: false,
    code: false,
    max_chars: Some(255),
    check_url: None,
};

/// The field for the label of a VPC or a subnet.
pub fn label_field(form_state: &FormState, name: &str, autofocus: bool) -> Markup {
    let field = Field {
        name,
        label: "Label",
        hint: "Up to 64 letters, digits and single dashes.",
        autofocus,
        max_chars: Some(64),
        ..Field::default()
    };
    forms::text_input(form_state, field)
}

/// The field for the range of a subnet, which is validated while the user types.
pub fn range_field(form_state: &FormState, name: &str, check_url: &str) -> Markup {
    let field = Field {
        name,
        label: "IPv4 range",
        hint: "A range, or only a size such as /26 for the next free range.",
        code: true,
        max_chars: Some(18),
        check_url: Some(check_url),
        ..Field::default()
    };
    forms::text_input(form_state, field)
}

/// Replaces a size such as `/26` by the next free range of this size.
pub fn fill_size(policy: &Policy, data: &mut FormData, field: &str, taken: &[Cidr]) {
    if let Some(prefix) = size(data.text(field))
        && let Some(range) = rules::subnets::propose(policy, taken, Some(prefix))
        && range.prefix() == prefix
    {
        data.set(field, range.to_string());
    }
}

/// The prefix length of a text that is only a size, such as `/26`.
fn size(range: &str) -> Option<u8> {
    range.trim().strip_prefix('/')?.parse().ok()
}

/// The validation result of a range: its number of addresses, or the errors and a suggestion.
pub fn range_feedback(field: &str, range: &str, errors: &[FieldError], proposed: Option<Cidr>) -> Markup {
    let reasons: Vec<_> = errors
        .iter()
        .filter(|error| error.field.as_deref() == Some(field))
        .map(|error| error.reason.as_str())
        .collect();
    let id = forms::element_id(field);
    let suggestion = html! { @if let Some(proposed) = proposed { p .quiet { (fill_button(&id, "Available: ", proposed)) } } };
    html! {
        @if let (Some(prefix), Some(next)) = (size(range), proposed) && next.prefix() == prefix {
            p .good { (fill_button(&id, "Next free: ", next)) }
        } @else if range.is_empty() {
            (suggestion)
        } @else if let (true, Ok(range)) = (reasons.is_empty(), Cidr::parse(range)) {
            @let assignable = range.assignable();
            p .good { (number(u64::from(assignable.end() - assignable.start()) + 1)) " usable addresses" }
        } @else {
            p .bad { (reasons.join(". ")) }
            @match Cidr::network_of(range) {
                Some(network) => p .quiet { (fill_button(&id, "Did you mean ", network)) "?" },
                None => (suggestion),
            }
        }
    }
}

/// A button that fills in a range.
fn fill_button(id: &str, text: &str, proposed: Cidr) -> Markup {
    let proposed = proposed.to_string();
    html! { (text) button .link type="button" data-fill=(id) data-value=(proposed) { code { (proposed) } } }
}
