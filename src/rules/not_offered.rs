//! Refuses fields and operations of the public service that Garth does not have.

use super::error::Error;
use super::form::Form;
use crate::model::cidr::Network;
use crate::model::family::Family;
use crate::model::input::Input;
use crate::model::reason::{Code, Reason};

/// Refuses a field, unless its value requests nothing: null, false, 0, or an empty text, list or object.
pub fn refuse_field(form: &mut Form, name: &'static str, text: &str) {
    refuse_unless(form, name, requests_nothing, text);
}

/// Refuses every value of a field except the only value that Garth supports.
pub fn refuse_other_than(form: &mut Form, name: &'static str, fixed_value: &str, text: &str) {
    let is_fixed_value = |value: &Input| matches!(value, Input::Text(sent) if sent == fixed_value);
    refuse_unless(form, name, is_fixed_value, text);
}

/// Refuses every value of a field except a list of these ranges, in any order.
pub fn refuse_other_ranges<F: Family>(
    form: &mut Form,
    name: &'static str,
    ranges: &[Network<F>],
    text: &str,
) {
    let sent_range = |item: &Input| match item.get("range") {
        Some(Input::Text(raw)) => Network::<F>::parse(raw).ok(),
        _ => None,
    };
    let is_same = |value: &Input| match value {
        Input::List(items) => {
            items.len() == ranges.len()
                && ranges
                    .iter()
                    .all(|range| items.iter().any(|item| sent_range(item) == Some(*range)))
        }
        _ => false,
    };
    refuse_unless(form, name, is_same, text);
}

/// The error for an operation that Garth does not have.
pub fn refusal(text: &str) -> Error {
    Error::whole(reason(text))
}

fn refuse_unless(form: &mut Form, name: &'static str, is_allowed: impl Fn(&Input) -> bool, text: &str) {
    if form.value(name).is_some_and(|value| !is_allowed(value)) {
        let field = form.path(name);
        form.refuse(field, reason(text));
    }
}

fn requests_nothing(value: &Input) -> bool {
    match value {
        Input::Null | Input::Bool(false) | Input::Integer(0) => true,
        Input::List(items) => items.is_empty(),
        Input::Object(entries) => entries.is_empty(),
        Input::Text(text) => text.is_empty(),
        _ => false,
    }
}

fn reason(text: &str) -> Reason {
    Reason::new(Code::NotOffered, text)
}
