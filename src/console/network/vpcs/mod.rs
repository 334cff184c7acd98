//! Pages of VPCs, and what these have in common with those of subnets.

mod change;
mod create;
mod list;
mod view;

pub use change::{ask_delete, delete, edit, update};
pub use create::{check, create, new};
pub use list::list;
pub use view::view;

use maud::{Markup, html};

use crate::console::forms::{self, Field, Typed};
use crate::console::layout::number;
use crate::model::cidr::Cidr;
use crate::model::id::VpcId;
use crate::model::vpc::Vpc;
use crate::rules::Error;
use crate::rules::error::FieldError;

pub const LIST: (&str, &str) = ("VPCs", "/vpcs");
/// The names of the fields of a subnet in a form.
pub const ROW: [&str; 2] = ["label", "ipv4"];

pub fn address(id: VpcId) -> String {
    format!("/vpcs/{id}")
}

/// How many instances are on a VPC's subnets.
fn instances(vpc: &Vpc) -> usize {
    let uses = vpc.subnets.iter().flat_map(|subnet| &subnet.uses);
    let mut ids: Vec<_> = uses.map(|found| found.instance).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

pub fn state(active: bool) -> Markup {
    html! { @if active { span .tag.on { "active" } } @else { span .tag { "inactive" } } }
}

/// The complaints of a rule; anything else that it had to say stays an error.
pub fn refusals<T>(outcome: Result<T, Error>) -> Result<Vec<FieldError>, Error> {
    match outcome {
        Ok(_) => Ok(Vec::new()),
        Err(Error::Refused(wrong)) => Ok(wrong),
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
    most: Some(255),
    check: None,
};

/// The field of a VPC's or a subnet's label.
pub fn label_field(typed: &Typed, name: &str, autofocus: bool) -> Markup {
    let field = Field {
        name,
        label: "Label",
        hint: "Up to 64 letters, digits and single dashes.",
        autofocus,
        most: Some(64),
        ..Field::default()
    };
    forms::line(typed, field)
}

/// The field of a subnet's range, looked at while it is typed.
pub fn range_field(typed: &Typed, name: &str, check: &str) -> Markup {
    let field = Field {
        name,
        label: "IPv4 range",
        code: true,
        most: Some(18),
        check: Some(check),
        ..Field::default()
    };
    forms::line(typed, field)
}

/// What a rule has to say of a range, in a line or two.
pub fn verdict(field: &str, range: &str, wrong: &[FieldError], proposed: Option<Cidr>) -> Markup {
    let about: Vec<_> = wrong
        .iter()
        .filter(|wrong| wrong.field.as_deref() == Some(field))
        .map(|wrong| wrong.reason.as_str())
        .collect();
    let id = forms::id_of(field);
    let free =
        html! { @if let Some(proposed) = proposed { p .quiet { (fill(&id, "Available: ", proposed)) } } };
    html! {
        @if range.is_empty() {
            (free)
        } @else if let (true, Ok(range)) = (about.is_empty(), Cidr::parse(range)) {
            @let assignable = range.assignable();
            p .good { (number(u64::from(assignable.end() - assignable.start()) + 1)) " usable addresses" }
        } @else {
            p .bad { (about.join(". ")) }
            @match Cidr::network_of(range) {
                Some(meant) => p .quiet { (fill(&id, "Did you mean ", meant)) "?" },
                None => (free),
            }
        }
    }
}

/// A range that is taken over with one click.
fn fill(id: &str, why: &str, proposed: Cidr) -> Markup {
    let proposed = proposed.to_string();
    html! { (why) button .link type="button" data-fill=(id) data-value=(proposed) { code { (proposed) } } }
}
