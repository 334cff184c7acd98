//! The errors of one request: collected in any order, reported in the order of the fields (decision 0002).
//!
//! The work is linear in the number of fields and errors, because a client decides how many there are. A
//! response lists at most [`MAX_LISTED`] errors and the number of omitted ones.

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::{Error, FieldError};
use crate::model::reason::{Code, Reason};

/// The maximum number of errors in a response.
pub const MAX_LISTED: usize = 100;
/// The maximum number of errors that are stored for sorting; further ones are only counted.
const MAX_KEPT: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct Complaints {
    /// The fields in the order in which they were read, without list positions: `subnets[].label`.
    asked: Vec<Cow<'static, str>>,
    kept: Vec<FieldError>,
    /// The number of errors that were counted but not stored.
    omitted: usize,
}

impl Complaints {
    /// Records that a field is read. Items of one list share a name, which is recorded once.
    pub fn ask(&mut self, prefix: &str, name: &'static str) {
        if prefix.is_empty() {
            self.asked.push(Cow::Borrowed(name));
            return;
        }
        let pattern = Cow::Owned(without_positions(prefix) + name);
        if !self.asked.contains(&pattern) {
            self.asked.push(pattern);
        }
    }

    /// Adds an error. The closure runs only if the error is stored.
    pub fn push(&mut self, complaint: impl FnOnce() -> FieldError) {
        match self.kept.len() < MAX_KEPT {
            true => self.kept.push(complaint()),
            false => self.omitted += 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The errors in the order of the fields; those about the whole request come last.
    pub fn into_error(mut self) -> Error {
        let mut places = HashMap::new();
        for (place, pattern) in self.asked.iter().enumerate() {
            places.entry(pattern.as_ref()).or_insert(place);
        }
        self.kept.sort_by_cached_key(|complaint| match &complaint.field {
            Some(field) => place_of(field, &places),
            None => vec![usize::MAX],
        });
        refusal(self.kept, self.omitted)
    }
}

/// An error that lists the first errors and the number of omitted ones.
pub fn refusal(mut complaints: Vec<FieldError>, mut omitted: usize) -> Error {
    if complaints.len() > MAX_LISTED {
        omitted += complaints.len() - MAX_LISTED;
        complaints.truncate(MAX_LISTED);
    }
    if omitted > 0 {
        let text = format!("{omitted} more errors are not listed");
        complaints.push(FieldError::whole(Reason::new(Code::ErrorsOmitted, text)));
    }
    Error::Refused(complaints)
}

/// The sort key of a field: for each level, its position among the fields of its object and in its list.
fn place_of(field: &str, places: &HashMap<&str, usize>) -> Vec<usize> {
    let mut levels = Vec::new();
    let mut pattern = String::with_capacity(field.len());
    for (depth, part) in field.split('.').enumerate() {
        let (name, position) = match part.split_once('[') {
            Some((name, position)) => (name, position.trim_end_matches(']').parse().ok()),
            None => (part, None),
        };
        if depth > 0 {
            pattern.push('.');
        }
        pattern.push_str(name);
        let place = places.get(pattern.as_str());
        levels.push(place.copied().unwrap_or(usize::MAX - 1));
        if let Some(position) = position {
            levels.push(position);
            pattern.push_str("[]");
        }
    }
    levels
}

/// `subnets[12].` becomes `subnets[].`
fn without_positions(prefix: &str) -> String {
    let mut pattern = String::with_capacity(prefix.len());
    let mut inside = false;
    for c in prefix.chars() {
        inside = match c {
            '[' => true,
            ']' => false,
            _ => inside,
        };
        if !inside || c == '[' {
            pattern.push(c);
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(field: &str) -> FieldError {
        FieldError::on(field, Reason::new(Code::Required, "is required"))
    }

    fn fields(error: Error) -> Vec<String> {
        let Error::Refused(complaints) = error else {
            panic!("complaints become a refusal")
        };
        let name = |complaint: FieldError| complaint.field.unwrap_or(complaint.reason);
        complaints.into_iter().map(name).collect()
    }

    #[test]
    fn complaints_follow_the_order_in_which_fields_were_asked_for() {
        let mut complaints = Complaints::default();
        for (prefix, name) in [("", "label"), ("", "subnets"), ("subnets[0].", "label")] {
            complaints.ask(prefix, name);
        }
        for (prefix, name) in [
            ("subnets[0].", "ipv4"),
            ("subnets[0].ipv4.", "vpc"),
            ("", "region"),
        ] {
            complaints.ask(prefix, name);
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
            complaints.push(|| complaint(field));
        }
        assert_eq!(fields(complaints.into_error()), sorted);
    }

    #[test]
    fn an_answer_lists_a_hundred_complaints_and_counts_the_rest() {
        let mut complaints = Complaints::default();
        complaints.ask("", "keys");
        for at in 0..5_000 {
            complaints.push(|| complaint(&format!("keys[{at}]")));
        }
        let listed = fields(complaints.into_error());
        assert_eq!(listed.len(), MAX_LISTED + 1);
        assert_eq!(listed[MAX_LISTED - 1], "keys[99]");
        assert_eq!(listed[MAX_LISTED], "4900 more errors are not listed");
    }
}
