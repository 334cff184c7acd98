//! List requests: page, filter and order (decision 0004).

use std::ops::RangeInclusive;

use super::conditions::{Condition, Sorted};
use super::error::{Error, FieldError, Result};
use super::filters;
use crate::model::id::EventId;
use crate::model::input::Input;
use crate::model::page::{Page, Paged};
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::store::filter::{Field, Filter};
use crate::store::list::ListQuery;
use crate::store::value::Value;

/// The header that contains the filter.
pub const FILTER: &str = "X-Filter";

/// A list request. It is parsed after the access check.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    pub page: Number,
    pub page_size: Number,
    /// The ID of the last event that the client has received, and the name of the field with this ID.
    pub after: Option<(&'static str, String)>,
    /// A client's filter with its sort order, or an error if the filter is not JSON.
    pub filter: Option<Result<Input, Reason>>,
    /// The conditions of an internal list. A client's filter replaces them.
    pub only: Vec<Condition>,
    pub sorted: Option<Sorted>,
}

/// A page number or page size.
#[derive(Clone, Debug, Default)]
pub enum Number {
    #[default]
    Default,
    /// As a client sent it.
    Sent(String),
    /// Set internally: the limits for clients do not apply.
    Own(i64),
}

impl ListRequest {
    /// An internal request for the first items.
    pub fn first(items: i64) -> Self {
        Self {
            page_size: Number::Own(items),
            ..Self::default()
        }
    }

    /// A page of the maximum size.
    pub fn full_page() -> Self {
        Self::first(Page::MAX_SIZE)
    }

    pub fn at(self, page: i64) -> Self {
        Self {
            page: Number::Own(page.max(1)),
            ..self
        }
    }

    /// Sets the page number from a console URL. An empty text means the first page.
    pub fn at_page_in_url(self, page: &str) -> Self {
        let page = match page {
            "" => Number::Default,
            page => Number::Sent(page.to_owned()),
        };
        Self { page, ..self }
    }

    /// Adds a condition.
    pub fn only(mut self, condition: Condition) -> Self {
        self.only.push(condition);
        self
    }

    pub fn sorted(self, field: &'static str, descending: bool) -> Self {
        Self {
            sorted: Some(Sorted { field, descending }),
            ..self
        }
    }

    /// Validates the request against the fields of a collection, and reports all errors together.
    pub fn read(&self, policy: &Policy, fields: &'static [Field]) -> Result<ListQuery> {
        let mut errors = Vec::new();
        let query = self.build_query(policy, fields, &mut errors);
        ok_without_errors(errors, query)
    }

    /// A page of a list without items. The request is validated as for any other list.
    pub fn read_empty(&self, policy: &Policy, fields: &'static [Field]) -> Result<Paged<()>> {
        Ok(self.read(policy, fields)?.select(&[], |(), _| Value::Null))
    }

    /// Like `read`, for a list of events. The list can start after an event ID.
    pub fn read_after(
        &self,
        policy: &Policy,
        fields: &'static [Field],
    ) -> Result<(ListQuery, Option<EventId>)> {
        let mut errors = Vec::new();
        let query = self.build_query(policy, fields, &mut errors);
        let after = self.parse_after(&mut errors);
        ok_without_errors(errors, (query, after))
    }

    /// The ID of the last event that the client has received; `None` if the request does not have it.
    pub fn after(&self) -> Result<Option<EventId>> {
        let mut errors = Vec::new();
        let after = self.parse_after(&mut errors);
        ok_without_errors(errors, after)
    }

    fn build_query(
        &self,
        policy: &Policy,
        fields: &'static [Field],
        errors: &mut Vec<FieldError>,
    ) -> ListQuery {
        let mut add = |field: &str, reason| errors.push(FieldError::on(field, reason));
        let numbers = 1..=i64::MAX;
        let number = self.page.read(1, numbers.clone()).unwrap_or_else(|()| {
            let text = format!("Must be an integer from {} to {}", numbers.start(), numbers.end());
            add("page", Reason::new(Code::PageInvalid, text));
            1
        });
        let sizes = policy.page_size_min..=Page::MAX_SIZE;
        let size = self
            .page_size
            .read(Page::DEFAULT_SIZE, sizes.clone())
            .unwrap_or_else(|()| {
                let text = format!("Must be {}-{}", sizes.start(), sizes.end());
                add("page_size", Reason::new(Code::PageSizeInvalid, text));
                Page::DEFAULT_SIZE
            });
        let parsed = match &self.filter {
            None => filters::build(&self.only, self.sorted, fields),
            Some(Ok(input)) => filters::read(input, fields),
            Some(Err(reason)) => Err(reason.clone()),
        };
        let (filter, order) = parsed.unwrap_or_else(|reason| {
            add(FILTER, reason);
            (Filter::All(Vec::new()), None)
        });
        let page = Page { number, size };
        ListQuery { page, filter, order }
    }

    fn parse_after(&self, errors: &mut Vec<FieldError>) -> Option<EventId> {
        let (field, raw) = self.after.as_ref()?;
        match parse_integer(raw, 0..=i64::MAX) {
            Ok(id) => Some(EventId(id)),
            Err(()) => {
                let reason = Reason::new(Code::AfterInvalid, "Must be an event ID, or 0");
                errors.push(FieldError::on(*field, reason));
                None
            }
        }
    }
}

fn ok_without_errors<T>(errors: Vec<FieldError>, value: T) -> Result<T> {
    if errors.is_empty() {
        Ok(value)
    } else {
        Err(Error::Refused(errors))
    }
}

impl Number {
    fn read(&self, default: i64, bounds: RangeInclusive<i64>) -> Result<i64, ()> {
        match self {
            Number::Default => Ok(default),
            Number::Sent(raw) => parse_integer(raw, bounds),
            Number::Own(number) => Ok(*number),
        }
    }
}

fn parse_integer(raw: &str, bounds: RangeInclusive<i64>) -> Result<i64, ()> {
    let number: i64 = raw.parse().map_err(drop)?;
    // The parser also accepts "+1" and "01", which are not canonical.
    if bounds.contains(&number) && number.to_string() == raw {
        Ok(number)
    } else {
        Err(())
    }
}
