//! Saved views: filters of the queue that staff save under a label.

use crate::model::id::{SavedViewId, UserId};
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Line;
use crate::model::ticket::Priority;
use crate::model::time::Time;

pub type ViewLabel = Line<64>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SavedView {
    pub id: SavedViewId,
    /// `None` after the owner was deleted.
    pub owner: Option<UserId>,
    pub created_by: String,
    pub label: ViewLabel,
    /// Whether all staff see the view.
    pub is_shared: bool,
    pub filters: QueueFilters,
    pub created: Time,
}

/// The filters of the queue, in the order of `QueueFilters::NAMES`. Filters without a value are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueFilters(Vec<(&'static str, String)>);

impl QueueFilters {
    /// The names, which are the query parameters of the queue.
    pub const NAMES: [&str; 8] = [
        "q", "status", "claim", "priority", "tag", "age", "account", "order",
    ];
    /// The maximum number of characters of a text.
    pub const MAX_CHARS: usize = 200;

    /// The values of a filter; `None` if it is a text.
    fn choices(name: &str) -> Option<&'static [&'static str]> {
        match name {
            "status" => Some(&["new", "waiting", "closed", "all"]),
            "claim" => Some(&["unassigned", "mine", "others"]),
            "priority" => Some(&Priority::WORDS),
            "age" => Some(&["day", "week", "older"]),
            "order" => Some(&["newest", "oldest", "pressing", "waiting", "longest_wait", "left"]),
            _ => None,
        }
    }

    /// Checks the value of a filter.
    pub fn parse_value(name: &str, raw: &str) -> Result<String, Reasons> {
        if let Some(choices) = Self::choices(name) {
            return match choices.contains(&raw) {
                true => Ok(raw.to_owned()),
                false => Err(vec![Reason::not_one_of(Code::ChoiceInvalid, choices)]),
            };
        }
        Line::<{ Self::MAX_CHARS }>::parse(raw).map(|line| line.as_str().to_owned())
    }

    /// The filters with these values, which `parse_value` has checked, in the order of `NAMES`.
    pub fn new(values: [Option<String>; Self::NAMES.len()]) -> Self {
        let named = Self::NAMES.into_iter().zip(values);
        Self(named.filter_map(|(name, value)| Some((name, value?))).collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One line for each filter, with its name and its value.
    pub fn to_lines(&self) -> String {
        self.iter()
            .map(|(name, value)| format!("{name} {value}\n"))
            .collect()
    }

    /// The filters from a database row. A filter or a value that only a newer build knows is left out.
    pub fn from_lines(lines: &str) -> Self {
        let value_of = |name: &str| {
            let mut lines = lines.lines().filter_map(|line| line.split_once(' '));
            let (_, value) = lines.find(|(key, _)| *key == name)?;
            Self::parse_value(name, value).ok()
        };
        Self::new(Self::NAMES.map(value_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_stored_as_lines() {
        let mut values = [const { None }; QueueFilters::NAMES.len()];
        values[0] = Some("rack 4 = down".to_owned());
        values[1] = Some("all".to_owned());
        let filters = QueueFilters::new(values);
        assert_eq!(filters.to_lines(), "q rack 4 = down\nstatus all\n");
        assert_eq!(QueueFilters::from_lines(&filters.to_lines()), filters);
        let newer = QueueFilters::from_lines("status asleep\nmood good\nclaim mine\n");
        assert_eq!(newer.iter().collect::<Vec<_>>(), [("claim", "mine")]);
    }
}
