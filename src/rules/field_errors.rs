//! The errors of one request: collected in any order, reported in the order of the fields (decision 0002).
//!
//! The work is linear in the number of fields and errors, because clients decide how many fields they send. A
//! response lists at most [`MAX_LISTED_ERRORS`] errors and the number of omitted errors.

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::{Error, FieldError};
use crate::model::reason::{Code, Reason};

/// The maximum number of errors in a response.
pub const MAX_LISTED_ERRORS: usize = 100;
/// The maximum number of errors that are stored for sorting; further errors are only counted.
const MAX_STORED_ERRORS: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct FieldErrors {
    /// The fields in the order in which they were read, without list positions: `subnets[].label`.
    fields: Vec<Cow<'static, str>>,
    errors: Vec<FieldError>,
    /// The number of errors that were counted but not stored.
    omitted: usize,
}

impl FieldErrors {
    /// Records a field in the order of reading. A field of list items is recorded once, not for every item.
    pub fn declare(&mut self, prefix: &str, name: &'static str) {
        if prefix.is_empty() {
            self.fields.push(Cow::Borrowed(name));
            return;
        }
        let pattern = Cow::Owned(without_positions(prefix) + name);
        if !self.fields.contains(&pattern) {
            self.fields.push(pattern);
        }
    }

    /// Adds an error. The closure runs only if the error is stored.
    pub fn push(&mut self, error: impl FnOnce() -> FieldError) {
        match self.errors.len() < MAX_STORED_ERRORS {
            true => self.errors.push(error()),
            false => self.omitted += 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The errors in the order of the fields; errors about the whole request come last.
    pub fn into_error(mut self) -> Error {
        let mut field_order = HashMap::new();
        for (order, pattern) in self.fields.iter().enumerate() {
            field_order.entry(pattern.as_ref()).or_insert(order);
        }
        self.errors.sort_by_cached_key(|error| match &error.field {
            Some(field) => sort_key(field, &field_order),
            None => vec![usize::MAX],
        });
        refusal(self.errors, self.omitted)
    }
}

/// An error that lists the first errors and the number of omitted errors.
pub fn refusal(mut errors: Vec<FieldError>, mut omitted: usize) -> Error {
    if errors.len() > MAX_LISTED_ERRORS {
        omitted += errors.len() - MAX_LISTED_ERRORS;
        errors.truncate(MAX_LISTED_ERRORS);
    }
    if omitted > 0 {
        let text = format!("{omitted} more errors are not listed");
        errors.push(FieldError::whole(Reason::new(Code::ErrorsOmitted, text)));
    }
    Error::Refused(errors)
}

/// The sort key of a field. Each level of nesting adds a number: the place of the field in the order of
/// reading. In a list, it also adds the index of the item.
fn sort_key(field: &str, field_order: &HashMap<&str, usize>) -> Vec<usize> {
    let mut levels = Vec::new();
    let mut pattern = String::with_capacity(field.len());
    for (depth, part) in field.split('.').enumerate() {
        let (name, index) = match part.split_once('[') {
            Some((name, index)) => (name, index.trim_end_matches(']').parse().ok()),
            None => (part, None),
        };
        if depth > 0 {
            pattern.push('.');
        }
        pattern.push_str(name);
        let order = field_order.get(pattern.as_str());
        levels.push(order.copied().unwrap_or(usize::MAX - 1));
        if let Some(index) = index {
            levels.push(index);
            pattern.push_str("[]");
        }
    }
    levels
}

/// `subnets[12].` becomes `subnets[].`
fn without_positions(prefix: &str) -> String {
    let mut pattern = String::with_capacity(prefix.len());
    let mut in_brackets = false;
    for c in prefix.chars() {
        in_brackets = match c {
            '[' => true,
            ']' => false,
            _ => in_brackets,
        };
        if !in_brackets || c == '[' {
            pattern.push(c);
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(field: &str) -> FieldError {
        FieldError::on(field, Reason::new(Code::Required, "is required"))
    }

    fn fields(error: Error) -> Vec<String> {
        let Error::Refused(errors) = error else {
            panic!("errors become a refusal")
        };
        let name = |error: FieldError| error.field.unwrap_or(error.reason);
        errors.into_iter().map(name).collect()
    }

    #[test]
    fn errors_are_in_the_order_in_which_fields_are_read() {
        let mut errors = FieldErrors::default();
        for (prefix, name) in [("", "label"), ("", "subnets"), ("subnets[0].", "label")] {
            errors.declare(prefix, name);
        }
        for (prefix, name) in [
            ("subnets[0].", "ipv4"),
            ("subnets[0].ipv4.", "vpc"),
            ("", "region"),
        ] {
            errors.declare(prefix, name);
        }
        let sorted = [
            "label",
            "subnets",
            "subnets[2]",
            "subnets[2].label",
            "subnets[2].ipv4",
            "subnets[2].ipv4.vpc",
            "subnets[10].label",
            "region",
            "unknown",
        ];
        for field in sorted.iter().rev() {
            errors.push(|| error(field));
        }
        assert_eq!(fields(errors.into_error()), sorted);
    }

    #[test]
    fn a_response_lists_a_hundred_errors_and_counts_the_rest() {
        let mut errors = FieldErrors::default();
        errors.declare("", "keys");
        for at in 0..5_000 {
            errors.push(|| error(&format!("keys[{at}]")));
        }
        let listed = fields(errors.into_error());
        assert_eq!(listed.len(), MAX_LISTED_ERRORS + 1);
        assert_eq!(listed[MAX_LISTED_ERRORS - 1], "keys[99]");
        assert_eq!(listed[MAX_LISTED_ERRORS], "4900 more errors are not listed");
    }
}
