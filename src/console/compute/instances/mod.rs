//! Pages for instances, and elements that other pages share.

mod change;
mod create;
mod list;
mod view;

pub use change::{confirm_delete, delete, edit, update};
pub use create::{create, new};
pub use list::{export, list};
pub use view::{render as render_view, view};

use maud::{Markup, html};

use crate::console::forms::{self, Field, FormState};
use crate::console::layout::number;
use crate::model::id::{ConfigId, InstanceId, InterfaceId};
use crate::model::instance::Status;
use crate::model::plan::Price;
use crate::model::policy::Policy;

/// The label and the URL of the list of instances.
pub const LIST: (&str, &str) = ("Instances", "/instances");

pub fn url(id: InstanceId) -> String {
    format!("{}/{id}", LIST.1)
}

/// The URL of the page that deletes an interface.
pub fn detach_url(instance: InstanceId, config: ConfigId, interface: InterfaceId) -> String {
    format!("{}/configs/{config}/interfaces/{interface}/detach", url(instance))
}

pub fn status_tag(status: Status) -> Markup {
    let text = status.word().replace('_', " ");
    match status {
        Status::Running => html! { span .tag.on { (text) } },
        Status::Offline => html! { span .tag { (text) } },
        _ => html! { span .tag.new { (text) } },
    }
}

/// The label of a plan, or its ID if the provider no longer offers the plan.
pub fn plan_label<'a>(policy: &'a Policy, id: &'a str) -> &'a str {
    let plan = policy.plans.iter().find(|plan| plan.id == id);
    plan.map_or(id, |plan| &plan.label)
}

/// A size of a plan, from megabytes: in gigabytes, or in megabytes if it is not a multiple of a gigabyte.
pub fn plan_size(megabytes: i64) -> String {
    let (amount, unit) = match megabytes % 1024 {
        0 => (megabytes / 1024, "GB"),
        _ => (megabytes, "MB"),
    };
    format!("{} {unit}", number(amount.unsigned_abs()))
}

/// An amount with separators. It has two decimal places, or up to four if it is not a whole number of cents.
pub fn price(price: Price) -> String {
    let (dollars, rest) = (number((price.0 / 10_000).unsigned_abs()), price.0 % 10_000);
    match rest % 100 {
        0 => format!("${dollars}.{:02}", rest / 100),
        _ => format!("${dollars}.{}", format!("{rest:04}").trim_end_matches('0')),
    }
}

/// The label of an image, or its ID if the provider no longer offers the image.
fn image_label<'a>(policy: &'a Policy, id: &'a str) -> &'a str {
    let image = policy.images.iter().find(|image| image.id == id);
    image.map_or(id, |image| &image.label)
}

/// The field for the label of an instance.
fn label_field(form_state: &FormState, autofocus: bool) -> Markup {
    let field = Field {
        name: "label",
        label: "Label",
        hint: "3 to 64 letters, digits, dashes, underscores and periods.",
        autofocus,
        max_chars: Some(64),
        ..Field::default()
    };
    forms::text_input(form_state, field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_plans_are_in_gigabytes_or_megabytes() {
        let shown = [512, 1024, 1536, 81_920, 7_372_800].map(plan_size);
        assert_eq!(shown, ["512 MB", "1 GB", "1,536 MB", "80 GB", "7,200 GB"]);
    }

    #[test]
    fn prices_have_separators_and_all_decimal_places() {
        let shown = [0.0, 10.5, 1250.0, 0.0075, 0.015, 1_234_567.891]
            .map(|dollars| price(Price::from_dollars(dollars)));
        assert_eq!(
            shown,
            [
                "$0.00",
                "$10.50",
                "$1,250.00",
                "$0.0075",
                "$0.015",
                "$1,234,567.891"
            ]
        );
    }
}
