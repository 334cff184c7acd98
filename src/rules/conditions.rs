//! Filter conditions of Garth's own pages, commands and rules, as values instead of JSON.

use crate::model::id::{AccountId, TicketId};
use crate::model::input::Input;
use crate::model::time::Time;
use crate::store::filter::Comparison;

/// A condition on an item. Fields have the same names as in the API.
#[derive(Clone, Debug)]
pub enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Test(&'static str, Comparison, Input),
}

/// The sort order of an internal list.
#[derive(Clone, Copy, Debug)]
pub struct Sorted {
    pub field: &'static str,
    pub descending: bool,
}

impl Condition {
    pub fn equal(field: &'static str, value: impl Into<Input>) -> Self {
        Self::Test(field, Comparison::Equal, value.into())
    }

    pub fn not_equal(field: &'static str, value: impl Into<Input>) -> Self {
        Self::Test(field, Comparison::NotEqual, value.into())
    }

    pub fn at_least(field: &'static str, value: impl Into<Input>) -> Self {
        Self::Test(field, Comparison::GreaterOrEqual, value.into())
    }

    pub fn less_than(field: &'static str, value: impl Into<Input>) -> Self {
        Self::Test(field, Comparison::Less, value.into())
    }

    /// The condition that the text is a substring of one of these fields.
    pub fn contained_in<const N: usize>(fields: [&'static str; N], text: &str) -> Self {
        let test = |field| Self::Test(field, Comparison::Contains, text.into());
        Self::Any(fields.map(test).to_vec())
    }
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Input::Text(text.to_owned())
    }
}

impl From<Time> for Input {
    fn from(time: Time) -> Self {
        Input::Text(time.to_string())
    }
}

impl From<i64> for Input {
    fn from(number: i64) -> Self {
        Input::Integer(number)
    }
}

impl From<AccountId> for Input {
    fn from(id: AccountId) -> Self {
        Input::Integer(id.0)
    }
}

impl From<TicketId> for Input {
    fn from(id: TicketId) -> Self {
        Input::Integer(id.0)
    }
}
