//! The complaints about one request: collected in any order, answered in the interface's (decision 0002).
//!
//! The work is linear in the number of fields and complaints, because a caller decides how many
//! there are. An answer lists at most [`MAX_LISTED`] of them and says how many it leaves out.

use std::borrow::Cow;
use std::collections::HashMap;

use super::error::{Error, FieldError};
use crate::model::reason::{Code, Reason};

/// How many complaints an answer lists.
pub const MAX_LISTED: usize = 100;
/// How many complaints are kept for sorting; further ones are counted only.
const MAX_KEPT: usize = 200;

#[derive(Clone, Debug, Default)]
pub struct Complaints {
    /// The fields in the order they were asked for, without positions in lists: `subnets[].label`.
    asked: Vec<Cow<'static, str>>,
    kept: Vec<FieldError>,
    /// Complaints that were counted but not kept.
    omitted: usize,
}

impl Complaints {
    /// Notes that a field is asked for. Items of one list share a name, which is noted once.
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

    /// Adds a complaint. It is made only if it is kept.
    pub fn push(&mut self, complaint: impl FnOnce() -> FieldError) {
        match self.kept.len() < MAX_KEPT {
            true => self.kept.push(complaint()),
            false => self.omitted += 1,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The refusal: in the order of the fields, then the complaints about the request as a whole.
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

/// A refusal that lists the first complaints and says how many more there are.
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

/// Where a field stands, level by level: its place among the fields of its object, its position in a list.
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
