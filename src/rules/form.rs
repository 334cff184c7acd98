//! Reads the fields of a request and collects all errors about them.
//!
//! The response lists all errors together, in the order in which the fields are read. Invalid values and
//! values that conflict with stored data are in the same list.

use super::error::{FieldError, Result};
use super::field_errors::FieldErrors;
use crate::model::input::Input;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Description;

pub struct Form<'a> {
    object: &'a Input,
    /// The prefix of this form's field names: `subnets[0].`
    prefix: String,
    errors: FieldErrors,
}

impl<'a> Form<'a> {
    pub fn new(object: &'a Input) -> Self {
        Self {
            object,
            prefix: String::new(),
            errors: FieldErrors::default(),
        }
    }

    /// A form with the errors of a body that was already parsed as a draft. The form itself has no fields.
    pub fn resumed(errors: FieldErrors) -> Self {
        Self {
            object: &Input::Null,
            prefix: String::new(),
            errors,
        }
    }

    /// The errors so far.
    pub fn into_errors(self) -> FieldErrors {
        self.errors
    }

    /// Reads a nested object as a form, and adds the errors to this form.
    fn nested<T>(&mut self, object: &'a Input, field: String, read: impl FnOnce(&mut Form<'a>) -> T) -> T {
        let mut form = Form {
            object,
            prefix: field + ".",
            errors: std::mem::take(&mut self.errors),
        };
        let result = read(&mut form);
        self.errors = form.errors;
        result
    }

    /// A required text. Returns `None` and adds an error if the field is missing or invalid.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, Reasons>,
    ) -> Option<T> {
        self.declare(name);
        if self.object.get(name).is_none() {
            return self.add_required_error(name);
        }
        self.parse(name, parse)
    }

    /// An optional text. Returns `None` if the field is missing or invalid. An invalid field adds an error.
    pub fn optional<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, Reasons>,
    ) -> Option<T> {
        self.declare(name);
        self.parse(name, parse)
    }

    /// A list of objects, each read as a form. The list is empty if the field is missing. An item that is not
    /// an object becomes `None` and adds an error.
    pub fn list<T>(&mut self, name: &'static str, read: impl FnMut(&mut Form<'a>) -> T) -> Vec<Option<T>> {
        self.first(name, usize::MAX, read)
    }

    /// Like `list`, but reads only the first `count` items. For lists with a maximum length: the rule refuses
    /// a longer list anyway.
    pub fn first<T>(
        &mut self,
        name: &'static str,
        count: usize,
        mut read: impl FnMut(&mut Form<'a>) -> T,
    ) -> Vec<Option<T>> {
        self.declare(name);
        let items = match self.object.get(name) {
            None => return Vec::new(),
            Some(Input::List(items)) => items,
            Some(_) => {
                self.add_type_error::<T>(name, "a list");
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
                    self.add_item_type_error(name, at, "an object");
                    None
                }
            });
        }
        found
    }

    /// A field of any type, if it is present and not null.
    pub fn value(&mut self, name: &'static str) -> Option<&'a Input> {
        self.declare(name);
        self.object.get(name)
    }

    /// Whether the field is present and not null.
    pub fn has(&self, name: &'static str) -> bool {
        self.object.get(name).is_some()
    }

    /// The number of items of a list; zero if the field is not a list.
    pub fn count(&self, name: &'static str) -> usize {
        match self.object.get(name) {
            Some(Input::List(items)) => items.len(),
            _ => 0,
        }
    }

    /// Whether the field is null, for operations that distinguish null from a missing field.
    pub fn is_null(&self, name: &'static str) -> bool {
        let Input::Object(entries) = self.object else {
            return false;
        };
        entries
            .iter()
            .any(|(key, value)| key == name && *value == Input::Null)
    }

    /// The full name of a field, with the prefix.
    pub fn path(&self, name: &'static str) -> String {
        format!("{}{name}", self.prefix)
    }

    pub fn integer(&mut self, name: &'static str) -> Option<i64> {
        self.declare(name);
        match self.object.get(name)? {
            Input::Integer(number) => Some(*number),
            _ => self.add_type_error(name, "an integer"),
        }
    }

    /// A required integer. Returns `None` and adds an error if the field is missing or invalid.
    pub fn required_integer(&mut self, name: &'static str) -> Option<i64> {
        if self.object.get(name).is_none() {
            self.declare(name);
            return self.add_required_error(name);
        }
        self.integer(name)
    }

    /// An integer in a field with two names, and the name that was sent. If both names are sent with
    /// different values, the error is about the first name.
    pub fn integer_in_either(
        &mut self,
        first: &'static str,
        second: &'static str,
    ) -> Option<(&'static str, i64)> {
        let (first_value, second_value) = (self.integer(first), self.integer(second));
        if let (Some(first_value), Some(second_value)) = (first_value, second_value)
            && first_value != second_value
        {
            let text = format!("{first} and {second} are the same field and must not have different values");
            let field = self.path(first);
            self.refuse(field, Reason::new(Code::SpellingConflict, text));
            return None;
        }
        first_value
            .map(|id| (first, id))
            .or(second_value.map(|id| (second, id)))
    }

    pub fn boolean(&mut self, name: &'static str) -> Option<bool> {
        self.declare(name);
        match self.object.get(name)? {
            Input::Bool(truth) => Some(*truth),
            _ => self.add_type_error(name, "true or false"),
        }
    }

    /// A nested object, read as a form.
    pub fn within<T>(&mut self, name: &'static str, read: impl FnOnce(&mut Form<'a>) -> T) -> Option<T> {
        self.declare(name);
        let object = self.object.get(name)?;
        if !matches!(object, Input::Object(_)) {
            return self.add_type_error(name, "an object");
        }
        let field = self.path(name);
        Some(self.nested(object, field, read))
    }

    /// A list of plain values. `read` returns `None` for an item of the wrong type, and `expected` names the
    /// right type. Invalid items add errors and are left out.
    pub fn values<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        mut read: impl FnMut(&Input) -> Option<Result<T, Reasons>>,
    ) -> Option<Vec<T>> {
        self.declare(name);
        let Input::List(items) = self.object.get(name)? else {
            return self.add_type_error(name, "a list");
        };
        let mut found = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match read(item) {
                Some(Ok(value)) => found.push(value),
                Some(Err(reasons)) => self.add_errors(reasons, |prefix| format!("{prefix}{name}[{at}]")),
                None => self.add_item_type_error(name, at, expected),
            }
        }
        Some(found)
    }

    /// Adds an error about a field whose value is well-formed but not acceptable.
    pub fn refuse(&mut self, field: impl Into<String>, reason: Reason) {
        self.errors.push(|| FieldError::on(field, reason));
    }

    /// Like `refuse`, for fields that can have many errors: `make` runs only if the error is stored.
    pub fn refuse_with(&mut self, make: impl FnOnce() -> (String, Reason)) {
        self.errors.push(|| {
            let (field, reason) = make();
            FieldError::on(field, reason)
        });
    }

    /// Adds an error about the whole request.
    pub fn refuse_whole(&mut self, reason: Reason) {
        self.errors.push(|| FieldError::whole(reason));
    }

    /// Returns the result of `build` if there are no errors. Otherwise returns the errors.
    pub fn finish<T>(self, build: impl FnOnce() -> Option<T>) -> Result<T> {
        match self.errors.is_empty() {
            true => Ok(build().expect("a form without errors has all its required fields")),
            false => Err(self.errors.into_error()),
        }
    }

    fn declare(&mut self, name: &'static str) {
        self.errors.declare(&self.prefix, name);
    }

    fn parse<T>(&mut self, name: &'static str, parse: impl FnOnce(&str) -> Result<T, Reasons>) -> Option<T> {
        match self.object.get(name)? {
            Input::Text(text) => match parse(text) {
                Ok(value) => Some(value),
                Err(reasons) => {
                    self.add_errors(reasons, |prefix| format!("{prefix}{name}"));
                    None
                }
            },
            _ => self.add_type_error(name, "a string"),
        }
    }

    /// `field` builds the field name from the prefix.
    fn add_errors(&mut self, reasons: Reasons, field: impl Fn(&str) -> String) {
        for reason in reasons {
            self.errors.push(|| FieldError::on(field(&self.prefix), reason));
        }
    }

    fn add_item_type_error(&mut self, name: &'static str, at: usize, expected: &str) {
        let prefix = &self.prefix;
        self.errors.push(|| {
            let reason = Reason::new(Code::WrongType, format!("Must be {expected}"));
            FieldError::on(format!("{prefix}{name}[{at}]"), reason)
        });
    }

    fn add_required_error<T>(&mut self, name: &'static str) -> Option<T> {
        let reason = Reason::new(Code::Required, format!("{name} is required"));
        self.refuse(self.path(name), reason);
        None
    }

    fn add_type_error<T>(&mut self, name: &'static str, expected: &str) -> Option<T> {
        let reason = Reason::new(Code::WrongType, format!("Must be {expected}"));
        self.refuse(self.path(name), reason);
        None
    }
}

/// Parses a text that must be one of the choices.
pub fn one_of(raw: &str, choices: &[&'static str]) -> Result<&'static str, Reasons> {
    let found = choices.iter().find(|choice| **choice == raw).copied();
    found.ok_or_else(|| vec![Reason::not_one_of(Code::ChoiceInvalid, choices)])
}

/// Parses a text of at most 255 characters that Garth stores but does not interpret.
pub fn short_text(raw: &str) -> Result<String, Reasons> {
    Description::parse(raw).map(|text| text.as_str().to_owned())
}
