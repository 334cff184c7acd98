//! What part of a collection a caller asks for (decision 0004).

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
    /// The last event a reader knows of, with the name of the field that told it.
    pub after: Option<(&'static str, String)>,
    pub filter: Option<Result<Input, Reason>>,
}

impl ListRequest {
    /// Reads the wishes against the fields a collection has, with all complaints at once.
    pub fn read(&self, policy: &Policy, fields: &'static [Field]) -> Result<Wanted> {
        let mut complaints = Vec::new();
        let wanted = self.collect(policy, fields, &mut complaints);
        unless(complaints, wanted)
    }

    /// The same for events, which can be asked for from one on.
    pub fn read_after(&self, policy: &Policy, fields: &'static [Field]) -> Result<(Wanted, Option<EventId>)> {
        let mut complaints = Vec::new();
        let wanted = self.collect(policy, fields, &mut complaints);
        let after = self.collect_after(&mut complaints);
        unless(complaints, (wanted, after))
    }

    /// Only the id of the last event the caller knows of, if it wants those after it.
    pub fn after(&self) -> Result<Option<EventId>> {
        let mut complaints = Vec::new();
        let after = self.collect_after(&mut complaints);
        unless(complaints, after)
    }

    fn collect(&self, policy: &Policy, fields: &'static [Field], complaints: &mut Vec<FieldError>) -> Wanted {
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
        let read = match &self.filter {
            None => Ok((Filter::All(Vec::new()), None)),
            Some(Ok(input)) => filters::read(input, fields),
            Some(Err(reason)) => Err(reason.clone()),
        };
        let (filter, order) = read.unwrap_or_else(|reason| {
            keep(FILTER, reason);
            (Filter::All(Vec::new()), None)
        });
        let page = Page { number, size };
        Wanted { page, filter, order }
    }

    fn collect_after(&self, complaints: &mut Vec<FieldError>) -> Option<EventId> {
        let (field, raw) = self.after.as_ref()?;
        match whole(Some(raw), 0, 0..=i64::MAX) {
            Ok(id) => Some(EventId(id)),
            Err(()) => {
                let reason = Reason::new(Code::AfterInvalid, "Must be the id of an event, or 0");
                complaints.push(FieldError::on(*field, reason));
                None
            }
        }
    }
}

fn unless<T>(complaints: Vec<FieldError>, read: T) -> Result<T> {
    if complaints.is_empty() {
        Ok(read)
    } else {
        Err(Error::Refused(complaints))
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
