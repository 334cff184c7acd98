//! Reading the fields of a request, and keeping every complaint about them.
//!
//! A caller hears of all that is wrong at once, in the order the interface lists the fields, no
//! matter whether a field was wrong in itself or because of what the store already holds.

use super::complaints::Complaints;
use super::error::{FieldError, Result};
use crate::model::input::Input;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Description;

pub struct Form<'a> {
    object: &'a Input,
    /// What precedes the names of this form's fields: `subnets[0].`
    prefix: String,
    complaints: Complaints,
}

impl<'a> Form<'a> {
    pub fn new(object: &'a Input) -> Self {
        Self {
            object,
            prefix: String::new(),
            complaints: Complaints::default(),
        }
    }

    /// Goes on with the complaints about a form whose fields were read before: there are none left to read.
    pub fn resumed(complaints: Complaints) -> Self {
        Self {
            object: &Input::Null,
            prefix: String::new(),
            complaints,
        }
    }

    /// The complaints that were kept so far.
    pub fn into_complaints(self) -> Complaints {
        self.complaints
    }

    /// Reads an object inside this one as a form of its own. The complaints move there and back.
    fn nested<T>(&mut self, object: &'a Input, field: String, read: impl FnOnce(&mut Form<'a>) -> T) -> T {
        let mut form = Form {
            object,
            prefix: field + ".",
            complaints: std::mem::take(&mut self.complaints),
        };
        let read = read(&mut form);
        self.complaints = form.complaints;
        read
    }

    /// A text that must be there. `None` means that a complaint was kept.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, Reasons>,
    ) -> Option<T> {
        self.ask(name);
        if self.object.get(name).is_none() {
            return self.complain_of_absence(name);
        }
        self.parse(name, parse)
    }

    /// A text that may be left out. `None` means that it was, or that a complaint was kept.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, Reasons>,
    ) -> Option<T> {
        self.ask(name);
        self.parse(name, parse)
    }

    /// A list of objects, each read as a form of its own; absent is empty. What is no object is
    /// `None` in its place, and a complaint was kept.
    pub fn list<T>(&mut self, name: &'static str, read: impl FnMut(&mut Form<'a>) -> T) -> Vec<Option<T>> {
        self.first(name, usize::MAX, read)
    }

    /// The same of the first items only, where more of them are refused anyway.
    pub fn first<T>(
        &mut self,
        name: &'static str,
        count: usize,
        mut read: impl FnMut(&mut Form<'a>) -> T,
    ) -> Vec<Option<T>> {
        self.ask(name);
        let items = match self.object.get(name) {
            None => return Vec::new(),
            Some(Input::List(items)) => items,
            Some(_) => {
                self.complain_of_type::<T>(name, "a list");
                return Vec::new();
            }
        };
        let mut found = Vec::with_capacity(items.len().min(count));
        for (at, item) in items.iter().take(count).enumerate() {
            found.push(match item {
                Input::Object(_) => {
                    let field = format!("{}{name}[{at}]", self.prefix);
                    Some(self.nested(item, field, &mut read))
                }
                _ => {
                    self.complain_of_item(name, at, "an object");
                    None
                }
            });
        }
        found
    }

    /// Whether the field was sent, and not as null.
    pub fn has(&self, name: &'static str) -> bool {
        self.object.get(name).is_some()
    }

    /// How many items a list has; none if it is no list.
    pub fn count(&self, name: &'static str) -> usize {
        match self.object.get(name) {
            Some(Input::List(items)) => items.len(),
            _ => 0,
        }
    }

    /// Whether the field was sent as null, where that says more than leaving it out.
    pub fn is_null(&self, name: &'static str) -> bool {
        let Input::Object(entries) = self.object else {
            return false;
        };
        entries
            .iter()
            .any(|(key, value)| key == name && *value == Input::Null)
    }

    /// The field's name with all that stands before it.
    pub fn path(&self, name: &'static str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub fn integer(&mut self, name: &'static str) -> Option<i64> {
        self.ask(name);
        match self.object.get(name)? {
            Input::Integer(number) => Some(*number),
            _ => self.complain_of_type(name, "an integer"),
        }
    }

    /// A whole number that must be there. `None` means that a complaint was kept.
    pub fn required_integer(&mut self, name: &'static str) -> Option<i64> {
        if self.object.get(name).is_none() {
            self.ask(name);
            return self.complain_of_absence(name);
        }
        self.integer(name)
    }

    /// A whole number whose name has two spellings, with the one that was sent. With both and
    /// different values, the complaint is about the first.
    pub fn integer_in_either(
        &mut self,
        first: &'static str,
        second: &'static str,
    ) -> Option<(&'static str, i64)> {
        let (one, other) = (self.integer(first), self.integer(second));
        if let (Some(one), Some(other)) = (one, other)
            && one != other
        {
            let text =
                format!("{first} and {second} are the same field, but were sent with different values");
            let field = self.path(first);
            self.refuse(field, Reason::new(Code::SpellingConflict, text));
            return None;
        }
        one.map(|id| (first, id)).or(other.map(|id| (second, id)))
    }

    pub fn truth(&mut self, name: &'static str) -> Option<bool> {
        self.ask(name);
        match self.object.get(name)? {
            Input::Bool(truth) => Some(*truth),
            _ => self.complain_of_type(name, "true or false"),
        }
    }

    /// An object inside this one, read as a form of its own.
    pub fn within<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Form<'a>) -> T) -> Option<T> {
        self.ask(name);
        let object = self.object.get(name)?;
        if !matches!(object, Input::Object(_)) {
            return self.complain_of_type(name, "an object");
        }
        let field = self.path(name);
        Some(self.nested(object, field, read))
    }

    /// A list of plain values, each read by itself; what could not be read is left out.
    pub fn values<T>(
        &mut self,
        name: &'static str,
        wanted: &str,
        mut read: impl FnMut(&Input) -> Option<Result<T, Reasons>>,
    ) -> Option<Vec<T>> {
        self.ask(name);
        let Input::List(items) = self.object.get(name)? else {
            return self.complain_of_type(name, "a list");
        };
        let mut found = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match read(item) {
                Some(Ok(value)) => found.push(value),
                Some(Err(reasons)) => self.complain_of_all(reasons, |prefix| format!("{prefix}{name}[{at}]")),
                None => self.complain_of_item(name, at, wanted),
            }
        }
        Some(found)
    }

    /// Keeps a complaint about a field that was read well but cannot be accepted.
    pub fn refuse(&mut self, field: impl Into<String>, reason: Reason) {
        self.complaints.push(|| FieldError::on(field, reason));
    }

    /// The same where there may be many: the complaint is made only if it is kept.
    pub fn refuse_with(&mut self, make: impl FnOnce() -> (String, Reason)) {
        self.complaints.push(|| {
            let (field, reason) = make();
            FieldError::on(field, reason)
        });
    }

    /// Keeps a complaint about the request as a whole.
    pub fn refuse_whole(&mut self, reason: Reason) {
        self.complaints.push(|| FieldError::whole(reason));
    }

    /// What was read, if there is no complaint.
    pub fn finish<T>(self, build: impl FnOnce() -> Option<T>) -> Result<T> {
        match self.complaints.is_empty() {
            true => Ok(build().expect("a form without complaints has all its required fields")),
            false => Err(self.complaints.into_error()),
        }
    }

    fn ask(&mut self, name: &'static str) {
        self.complaints.ask(&self.prefix, name);
    }

    fn parse<T>(&mut self, name: &'static str, parse: impl FnOnce(&str) -> Result<T, Reasons>) -> Option<T> {
        match self.object.get(name)? {
            Input::Text(text) => match parse(text) {
                Ok(value) => Some(value),
                Err(reasons) => {
                    self.complain_of_all(reasons, |prefix| format!("{prefix}{name}"));
                    None
                }
            },
            _ => self.complain_of_type(name, "a string"),
        }
    }

    /// `field` makes the field's name from what precedes it.
    fn complain_of_all(&mut self, reasons: Reasons, field: impl Fn(&str) -> String) {
        for reason in reasons {
            self.complaints
                .push(|| FieldError::on(field(&self.prefix), reason));
        }
    }

    fn complain_of_item(&mut self, name: &'static str, at: usize, wanted: &str) {
        let prefix = &self.prefix;
        self.complaints.push(|| {
            let reason = Reason::new(Code::WrongType, format!("Must be {wanted}"));
            FieldError::on(format!("{prefix}{name}[{at}]"), reason)
        });
    }

    fn complain_of_absence<T>(&mut self, name: &'static str) -> Option<T> {
        let reason = Reason::new(Code::Required, format!("{name} is required"));
        self.refuse(self.path(name), reason);
        None
    }

    fn complain_of_type<T>(&mut self, name: &'static str, wanted: &str) -> Option<T> {
        let reason = Reason::new(Code::WrongType, format!("Must be {wanted}"));
        self.refuse(self.path(name), reason);
        None
    }
}

/// A short line or two about nothing the rules look into: at most 255 characters.
pub fn short_text(raw: &str) -> Result<String, Reasons> {
    Description::parse(raw).map(|text| text.as_str().to_owned())
}
