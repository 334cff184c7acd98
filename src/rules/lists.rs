//! What part of a collection a caller asks for.

use super::error::{Error, FieldError, Result};
use super::filters;
use crate::model::id::EventId;
use crate::model::input::Input;
use crate::model::page::Page;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::store::filter::{Field, Filter};
use crate::store::list::Wanted;

pub const FILTER: &str = "X-Filter";

/// A caller's wishes as they came, read only once it is clear that there is a list to see.
#[derive(Clone, Debug, Default)]
pub struct ListRequest {
    pub page: Option<String>,
    pub page_size: Option<String>,
    pub after: Option<String>,
    pub filter: Option<Result<Input, Reason>>,
}

impl ListRequest {
    /// Reads the wishes against the fields a collection has, with all complaints at once.
    pub fn read(&self, policy: &Policy, fields: &'static [Field]) -> Result<Wanted> {
        let mut complaints = Vec::new();
        let mut keep = |field: &str, reason| complaints.push(FieldError::on(field, reason));

        let number = whole(self.page.as_deref(), 1, 1..=i64::MAX).unwrap_or_else(|()| {
            let text = "Must be a whole number of 1 or more";
            keep("page", Reason::new(Code::PageInvalid, text));
            1
        });
        let sizes = policy.page_size_min..=Page::MAX_SIZE;
        let size = whole(self.page_size.as_deref(), Page::DEFAULT_SIZE, sizes.clone()).unwrap_or_else(|()| {
            let text = format!("Must be {}-{}", sizes.start(), sizes.end());
            keep("page_size", Reason::new(Code::PageSizeInvalid, text));
            Page::DEFAULT_SIZE
        });
        let (filter, order) = match &self.filter {
            None => (Filter::All(Vec::new()), None),
            Some(Ok(input)) => filters::read(input, fields).unwrap_or_else(|reason| {
                keep(FILTER, reason);
                (Filter::All(Vec::new()), None)
            }),
            Some(Err(reason)) => {
                keep(FILTER, reason.clone());
                (Filter::All(Vec::new()), None)
            }
        };

        if complaints.is_empty() {
            let page = Page { number, size };
            Ok(Wanted { page, filter, order })
        } else {
            Err(Error::Refused(complaints))
        }
    }

    /// The id of the last event the caller knows of, if it wants those after it.
    pub fn after(&self) -> Result<Option<EventId>> {
        let Some(raw) = &self.after else { return Ok(None) };
        match whole(Some(raw), 0, 0..=i64::MAX) {
            Ok(id) => Ok(Some(EventId(id))),
            Err(()) => {
                let reason = Reason::new(Code::AfterInvalid, "Must be the id of an event, or 0");
                Err(Error::Refused(vec![FieldError::on("after", reason)]))
            }
        }
    }
}

fn whole(raw: Option<&str>, default: i64, bounds: std::ops::RangeInclusive<i64>) -> Result<i64, ()> {
    let Some(raw) = raw else { return Ok(default) };
    let number: i64 = raw.parse().map_err(drop)?;
    // "+1" and "01" are numbers to the parser, but not how one is written.
    if bounds.contains(&number) && number.to_string() == raw {
        Ok(number)
    } else {
        Err(())
    }
}
