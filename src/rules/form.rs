//! Reading the fields of a request, and keeping every complaint about them.
//!
//! A caller hears of all that is wrong at once, in the order the interface lists the fields, no
//! matter whether a field was wrong in itself or because of what the store already holds.

use super::error::{Error, FieldError, Result};
use crate::model::input::Input;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Description;

pub struct Form<'a> {
    object: &'a Input,
    /// What stands before the names of this form's fields: `subnets[0].`
    prefix: String,
    /// The fields, in the order they were asked for.
    asked: Vec<String>,
    complaints: Vec<FieldError>,
}

impl<'a> Form<'a> {
    pub fn new(object: &'a Input) -> Self {
        Self::nested(object, String::new())
    }

    fn nested(object: &'a Input, prefix: String) -> Self {
        Self {
            object,
            prefix,
            asked: Vec::new(),
            complaints: Vec::new(),
        }
    }

    /// A text that must be there. `None` means that a complaint was kept.
    pub fn required<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, Reasons>) -> Option<T> {
        let field = self.ask(name);
        if self.object.get(name).is_none() {
            let missing = Reason::new(Code::Required, format!("{name} is required"));
            self.complaints.push(FieldError::on(field, missing));
            return None;
        }
        self.parse(name, field, parse)
    }

    /// A text that may be left out. `None` means that it was, or that a complaint was kept.
    pub fn optional<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, Reasons>) -> Option<T> {
        let field = self.ask(name);
        self.parse(name, field, parse)
    }

    /// A list of objects, each read as a form of its own; absent is empty. What is no object is
    /// `None` in its place, and a complaint was kept.
    pub fn list<T>(&mut self, name: &str, mut read: impl FnMut(&mut Form<'a>) -> T) -> Vec<Option<T>> {
        let field = self.ask(name);
        let items = match self.object.get(name) {
            None => return Vec::new(),
            Some(Input::List(items)) => items,
            Some(_) => {
                self.complain_of_type::<T>(field, "a list");
                return Vec::new();
            }
        };
        let mut found = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            let field = self.ask(&format!("{name}[{at}]"));
            if !matches!(item, Input::Object(_)) {
                found.push(self.complain_of_type(field, "an object"));
                continue;
            }
            let mut form = Form::nested(item, format!("{field}."));
            found.push(Some(read(&mut form)));
            self.asked.append(&mut form.asked);
            self.complaints.append(&mut form.complaints);
        }
        found
    }

    /// Whether the field was sent, and not as null.
    pub fn has(&self, name: &str) -> bool {
        self.object.get(name).is_some()
    }

    /// Whether the field was sent as null, where that says more than leaving it out.
    pub fn is_null(&self, name: &str) -> bool {
        let Input::Object(entries) = self.object else {
            return false;
        };
        entries
            .iter()
            .any(|(key, value)| key == name && *value == Input::Null)
    }

    /// The field's name with all that stands before it.
    pub fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub fn integer(&mut self, name: &str) -> Option<i64> {
        let field = self.ask(name);
        match self.object.get(name)? {
            Input::Integer(number) => Some(*number),
            _ => self.complain_of_type(field, "an integer"),
        }
    }

    /// A whole number that must be there. `None` means that a complaint was kept.
    pub fn required_integer(&mut self, name: &str) -> Option<i64> {
        if self.object.get(name).is_none() {
            let field = self.ask(name);
            let missing = Reason::new(Code::Required, format!("{name} is required"));
            self.complaints.push(FieldError::on(field, missing));
            return None;
        }
        self.integer(name)
    }

    /// A whole number whose name has two spellings, with the one that was sent. With both and
    /// different values, the complaint is about the first.
    pub fn integer_in_either<'n>(&mut self, first: &'n str, second: &'n str) -> Option<(&'n str, i64)> {
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

    pub fn truth(&mut self, name: &str) -> Option<bool> {
        let field = self.ask(name);
        match self.object.get(name)? {
            Input::Bool(truth) => Some(*truth),
            _ => self.complain_of_type(field, "true or false"),
        }
    }

    /// An object inside this one, read as a form of its own.
    pub fn within<T>(&mut self, name: &str, read: impl FnOnce(&mut Form<'a>) -> T) -> Option<T> {
        let field = self.ask(name);
        let object = self.object.get(name)?;
        if !matches!(object, Input::Object(_)) {
            return self.complain_of_type(field, "an object");
        }
        let mut form = Form::nested(object, format!("{field}."));
        let read = read(&mut form);
        self.asked.append(&mut form.asked);
        self.complaints.append(&mut form.complaints);
        Some(read)
    }

    /// A list of plain values, each read by itself; what could not be read is left out.
    pub fn values<T>(
        &mut self,
        name: &str,
        wanted: &str,
        mut read: impl FnMut(&Input) -> Option<Result<T, Reasons>>,
    ) -> Option<Vec<T>> {
        let field = self.ask(name);
        let Input::List(items) = self.object.get(name)? else {
            return self.complain_of_type(field, "a list");
        };
        let mut found = Vec::new();
        for (at, item) in items.iter().enumerate() {
            let field = self.ask(&format!("{name}[{at}]"));
            match read(item) {
                Some(Ok(value)) => found.push(value),
                Some(Err(reasons)) => {
                    let complaints = reasons
                        .into_iter()
                        .map(|reason| FieldError::on(field.clone(), reason));
                    self.complaints.extend(complaints);
                }
                None => drop(self.complain_of_type::<T>(field, wanted)),
            }
        }
        Some(found)
    }

    /// Keeps a complaint about a field that was read well but cannot be accepted.
    pub fn refuse(&mut self, field: impl Into<String>, reason: Reason) {
        self.complaints.push(FieldError::on(field, reason));
    }

    /// Keeps a complaint about the request as a whole.
    pub fn refuse_whole(&mut self, reason: Reason) {
        self.complaints.push(FieldError::whole(reason));
    }

    /// What was read, if there is no complaint.
    pub fn finish<T>(mut self, build: impl FnOnce() -> Option<T>) -> Result<T> {
        if self.complaints.is_empty() {
            return Ok(build().expect("a form without complaints has all its required fields"));
        }
        let place = |complaint: &FieldError| match &complaint.field {
            Some(field) => self
                .asked
                .iter()
                .position(|asked| asked == field)
                .unwrap_or(usize::MAX - 1),
            None => usize::MAX,
        };
        self.complaints.sort_by_cached_key(place);
        Err(Error::Refused(self.complaints))
    }

    fn ask(&mut self, name: &str) -> String {
        let field = self.path(name);
        self.asked.push(field.clone());
        field
    }

    fn parse<T>(
        &mut self,
        name: &str,
        field: String,
        parse: impl FnOnce(&str) -> Result<T, Reasons>,
    ) -> Option<T> {
        match self.object.get(name)? {
            Input::Text(text) => match parse(text) {
                Ok(value) => Some(value),
                Err(reasons) => {
                    let complaints = reasons
                        .into_iter()
                        .map(|reason| FieldError::on(field.clone(), reason));
                    self.complaints.extend(complaints);
                    None
                }
            },
            _ => self.complain_of_type(field, "a string"),
        }
    }

    fn complain_of_type<T>(&mut self, field: String, wanted: &str) -> Option<T> {
        let reason = Reason::new(Code::WrongType, format!("Must be {wanted}"));
        self.complaints.push(FieldError::on(field, reason));
        None
    }
}

/// A short line or two about nothing the rules look into: at most 255 characters.
pub fn short_text(raw: &str) -> Result<String, Reasons> {
    Description::parse(raw).map(|text| text.as_str().to_owned())
}
