//! The fields of a plan in a form.

use maud::{Markup, html};

use crate::console::forms::{self, Field, FormData, FormState};
use crate::model::input::Input;
use crate::model::plan::Plan;
use crate::model::reason::Code;
use crate::rules::provider_plans::PlanLabel;
use crate::rules::request::Request;

/// The numbers of a plan: name, label, and hint.
const NUMBERS: [(&str, &str, &str); 6] = [
    ("vcpus", "vCPUs", ""),
    (
        "memory",
        "Memory",
        "In megabytes, such as 4096, or with a unit, such as 4 GB.",
    ),
    (
        "disk",
        "Disk",
        "In megabytes, such as 81920, or with a unit, such as 80 GB. Cannot be reduced while instances have the plan.",
    ),
    (
        "transfer",
        "Transfer",
        "In gigabytes a month. Garth only shows it.",
    ),
    (
        "network_out",
        "Outbound bandwidth",
        "In megabits per second. Garth only shows it.",
    ),
    ("gpus", "GPUs", ""),
];
/// The numbers that a plan must have.
const REQUIRED: [&str; 3] = ["vcpus", "memory", "disk"];
/// The numbers that are sizes in megabytes.
const SIZES: [&str; 2] = ["memory", "disk"];
/// The units of a size in capital letters, and their megabytes. As everywhere in Garth, a gigabyte is 1024 megabytes.
const UNITS: [(&str, f64); 6] = [
    ("TIB", 1_048_576.0),
    ("TB", 1_048_576.0),
    ("GIB", 1024.0),
    ("GB", 1024.0),
    ("MIB", 1.0),
    ("MB", 1.0),
];
/// The prices of a plan: name, key in `price`, label, hint, and the price of a new plan without this price.
const PRICES: [(&str, &str, &str, &str, &str); 2] = [
    (
        "price.hourly",
        "hourly",
        "Price per hour",
        "In dollars, such as 0.018.",
        "0.15% of the price per month",
    ),
    (
        "price.monthly",
        "monthly",
        "Price per month",
        "In dollars, such as 12.50.",
        "free",
    ),
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
            @if REQUIRED.contains(&name) { (forms::text_input(form_state, Field { name, label, hint, ..Field::default() })) }
            @else { (optional_input(form_state, name, label, &optional_hint(hint, "0", is_new))) }
        }
        @for (name, _, label, hint, default) in PRICES {
            (optional_input(form_state, name, label, &optional_hint(hint, default, is_new)))
        }
    }
}

fn optional_input(form_state: &FormState, name: &str, label: &str, hint: &str) -> Markup {
    let field = Field {
        name,
        label,
        hint,
        optional: true,
        ..Field::default()
    };
    forms::text_input(form_state, field)
}

/// A hint that says what an empty field means: the default of a new plan, or no change of an existing plan.
fn optional_hint(hint: &str, default: &str, is_new: bool) -> String {
    let empty = if is_new { default } else { "unchanged" };
    format!("{hint} Empty: {empty}.").trim_start().to_owned()
}

/// The request of a form. Prices in single regions remain unchanged.
pub fn request(data: &FormData, is_new: bool) -> Request {
    let mut object = data.object(&["label"]);
    if is_new {
        object.extend(data.object(&["id"]));
    }
    object.extend(data.non_empty(&["class"]));
    let number = |(name, ..): &(&str, &str, &str)| {
        let text = data.text(name);
        let number = match SIZES.contains(name) {
            true => megabytes(text),
            false => forms::integer(text),
        };
        ((*name).to_owned(), number)
    };
    object.extend(NUMBERS.iter().map(number));
    let prices = PRICES.map(|(name, key, ..)| (key.to_owned(), forms::amount(data.text(name))));
    object.push(("price".to_owned(), Input::Object(prices.to_vec())));
    data.request(object)
}

/// A size in megabytes, with or without a unit: `4096` or `4 GB`. The rule refuses a text.
fn megabytes(text: &str) -> Input {
    let text = text.trim();
    let upper = text.to_ascii_uppercase();
    let mut units = UNITS.iter();
    match units.find_map(|(unit, factor)| Some((upper.strip_suffix(unit)?, *factor))) {
        None => forms::integer(text),
        Some((number, factor)) => forms::decimal(number).map_or_else(
            || Input::Text(text.to_owned()),
            |number| Input::Integer((number * factor).round() as i64),
        ),
    }
}

/// Says what the fields of the form accept. Other clients send numbers only.
pub fn explained(mut form_state: FormState) -> FormState {
    for error in &mut form_state.errors {
        let field = error.field.as_deref().unwrap_or_default();
        if error.code == Code::WrongType && SIZES.contains(&field) {
            "Must be a number of megabytes, or a size such as 4 GB".clone_into(&mut error.reason);
        } else if error.code == Code::WrongType && PRICES.iter().any(|(name, ..)| *name == field) {
            "Must be a number such as 12.50".clone_into(&mut error.reason);
        }
    }
    form_state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_a_unit_or_is_in_megabytes() {
        for (text, size) in [
            ("4096", 4096),
            ("4,096", 4096),
            ("4 GB", 4096),
            ("1.5gib", 1536),
            ("0.5 TB", 524_288),
            ("1,024 MB", 1024),
            ("99999999999999 TB", i64::MAX),
        ] {
            assert_eq!(megabytes(text), Input::Integer(size), "{text}");
        }
        assert_eq!(megabytes(""), Input::Null);
        for text in ["much", "4 XB", "GB", "1e3 GB", "-1 GB"] {
            assert_eq!(megabytes(text), Input::Text(text.to_owned()));
        }
    }
}
