//! The fields of a plan in a form.

use maud::{Markup, html};

use crate::console::forms::{self, Field, FormData, FormState};
use crate::model::input::Input;
use crate::model::plan::Plan;
use crate::rules::provider_plans::PlanLabel;
use crate::rules::request::Request;

/// The numbers of a plan: name, label, and hint.
const NUMBERS: [(&str, &str, &str); 6] = [
    ("vcpus", "vCPUs", ""),
    ("memory", "Memory", "In megabytes: 4096 for 4 GB."),
    (
        "disk",
        "Disk",
        "In megabytes: 81920 for 80 GB. Cannot be reduced while instances have the plan.",
    ),
    ("transfer", "Transfer", "In gigabytes a month."),
    ("network_out", "Outbound bandwidth", "In megabits per second."),
    ("gpus", "GPUs", ""),
];
/// The numbers that a plan must have.
const REQUIRED: [&str; 3] = ["vcpus", "memory", "disk"];
/// The prices of a plan: name, key in `price`, and label.
const PRICES: [(&str, &str, &str); 2] = [
    ("price.hourly", "hourly", "Price per hour"),
    ("price.monthly", "monthly", "Price per month"),
];

pub fn editable_fields(plan: &Plan) -> Vec<(&'static str, String)> {
    vec![
        ("label", plan.label.clone()),
        ("class", plan.class.clone()),
        ("vcpus", plan.vcpus.to_string()),
        ("memory", plan.memory.to_string()),
        ("disk", plan.disk.to_string()),
        ("transfer", plan.transfer.to_string()),
        ("network_out", plan.network_out.to_string()),
        ("gpus", plan.gpus.to_string()),
        ("price.hourly", plan.prices.hourly.dollars().to_string()),
        ("price.monthly", plan.prices.monthly.dollars().to_string()),
    ]
}

pub fn fields(form_state: &FormState, is_new: bool) -> Markup {
    let label = Field {
        name: "label",
        label: "Label",
        autofocus: !is_new,
        max_chars: Some(PlanLabel::MAX),
        ..Field::default()
    };
    let class = Field {
        name: "class",
        label: "Class",
        ..Field::default()
    };
    let classes = Plan::CLASSES.map(|class| (class.to_owned(), class.to_owned()));
    html! {
        (forms::text_input(form_state, label))
        (forms::select(form_state, class, &classes))
        @for (name, label, hint) in NUMBERS {
            (forms::text_input(form_state, Field { name, label, hint, optional: !REQUIRED.contains(&name), ..Field::default() }))
        }
        @for (name, _, label) in PRICES {
            (forms::text_input(form_state, Field { name, label, hint: "In dollars.", optional: true, ..Field::default() }))
        }
    }
}

/// The request of a form. Prices in single regions remain unchanged.
pub fn request(data: &FormData, is_new: bool) -> Request {
    let mut object = data.object(&["label"]);
    if is_new {
        object.extend(data.object(&["id"]));
    }
    object.extend(data.non_empty(&["class"]));
    let number = |(name, ..): &(&str, &str, &str)| ((*name).to_owned(), integer(data.text(name)));
    object.extend(NUMBERS.iter().map(number));
    let prices = PRICES.map(|(name, key, _)| (key.to_owned(), decimal(data.text(name))));
    object.push(("price".to_owned(), Input::Object(prices.to_vec())));
    data.request(object)
}

/// An empty field is missing. The rule refuses a text. Digits can be grouped, as in `65,536`.
fn integer(text: &str) -> Input {
    match without_groups(text.trim()).as_str() {
        "" => Input::Null,
        text => text
            .parse()
            .map_or_else(|_| Input::Text(text.to_owned()), Input::Integer),
    }
}

/// The digits of a number whose digits are in groups of three, and any other text unchanged.
fn without_groups(text: &str) -> String {
    let groups: Vec<_> = text.split([',', ' ', '\u{a0}', '\u{202f}', '\'']).collect();
    let is_number = |group: &&str| group.chars().all(|digit| digit.is_ascii_digit());
    match groups[1..].iter().all(|group| group.len() == 3) && groups.iter().all(is_number) {
        true => groups.concat(),
        false => text.to_owned(),
    }
}

fn decimal(text: &str) -> Input {
    match text.trim() {
        "" => Input::Null,
        text => text
            .parse()
            .map_or_else(|_| Input::Text(text.to_owned()), Input::Number),
    }
}
