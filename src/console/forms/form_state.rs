//! The state of a form when it is rendered: values and errors.

use std::hash::Hash;

use axum::http::StatusCode;
use maud::{Markup, html};

use super::form_data::{FormData, VERSION_FIELD};
use super::names::{after_name, element_id, label_of};
use crate::model::entity_tag::EntityTag;
use crate::model::reason::{Code, Reason};
use crate::rules::error::{Error, FieldError};
use crate::web::error::status_of;

/// The values of a form, prefilled or submitted, and its errors.
#[derive(Clone, Debug, Default)]
pub struct FormState {
    pub data: FormData,
    /// The status of the response.
    status: StatusCode,
    pub errors: Vec<FieldError>,
    /// The stored values of fields that another user has changed since the form was rendered.
    pub(super) current_values: Vec<(&'static str, String)>,
}

impl FormState {
    /// A form that the user has not submitted yet.
    pub fn prefilled(values: &[(&str, &str)]) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            data: FormData::new(values.iter().map(pair).collect()),
            ..Self::default()
        }
    }

    pub fn with_errors(data: FormData, errors: Vec<FieldError>) -> Self {
        Self {
            data,
            errors,
            ..Self::default()
        }
    }

    /// Sets the status of the response to the status of the error.
    pub fn with_status_of(self, error: &Error) -> Self {
        Self {
            status: status_of(error),
            ..self
        }
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// A form whose resource was changed after the form was rendered.
    fn conflict(data: FormData) -> Self {
        let text = "This was changed after you opened the page. Your request had no effect. Review the current \
                    values, then try again.";
        let reason = Reason::new(Code::PreconditionFailed, text);
        Self::with_errors(data, vec![FieldError::whole(reason)])
    }

    /// Sets the version field to the current version of the resource.
    pub fn with_version_of(mut self, resource: &impl Hash) -> Self {
        self.data.set(VERSION_FIELD, EntityTag::of(resource).to_string());
        self
    }

    /// After a conflict: sets each field that the user did not edit to its current value. If the user and
    /// another user have both edited a field, the form shows the current value below the input.
    pub fn with_current_values(mut self, fields: &[(&'static str, &str)]) -> Self {
        let is_conflict = |error: &FieldError| error.code == Code::PreconditionFailed;
        if self.errors.iter().any(is_conflict) {
            for (name, current) in fields {
                let (submitted, original) = (self.data.text(name), self.original_value(name));
                if submitted == original && self.data.has(&original_field(name)) {
                    // The user did not edit this field.
                    self.data.set(name, *current);
                } else if submitted != *current && original != *current {
                    self.current_values.push((name, (*current).to_owned()));
                }
                self.data.set(&original_field(name), *current);
            }
        }
        self
    }

    /// The value of a field when the form was first rendered.
    pub(super) fn original_value(&self, name: &str) -> &str {
        match self.data.has(&original_field(name)) {
            true => self.data.text(&original_field(name)),
            false => self.data.text(name),
        }
    }

    /// The hidden field with the version of the resource.
    pub fn version_field(&self) -> Markup {
        html! { input type="hidden" name=(VERSION_FIELD) value=(self.data.text(VERSION_FIELD)); }
    }

    /// All errors, with links to their fields. Shown above the form.
    pub fn alert(&self) -> Markup {
        self.alert_with_labels(&[])
    }

    /// Like `alert`, with other labels for some fields.
    pub fn alert_with_labels(&self, labels: &[(&str, &str)]) -> Markup {
        let label = |field: &str| {
            let custom = labels.iter().find(|(name, _)| *name == field);
            custom.map_or_else(|| label_of(field), |(_, label)| (*label).to_owned())
        };
        let count = self.errors.len();
        html! {
            @if count > 0 {
                // With `autofocus`, the browser scrolls to the alert even without JavaScript.
                div .alert role="alert" tabindex="-1" autofocus {
                    p { strong { @if count == 1 { "There is 1 problem." } @else { "There are " (count) " problems." } } }
                    ul {
                        @for error in &self.errors {
                            li {
                                @match &error.field {
                                    Some(field) => {
                                        a href=(format!("#{}", element_id(field))) { (label(field)) }
                                        @match after_name(&error.reason, field, &label(field)) {
                                            Some(rest) => (rest),
                                            None => { ": " (error.reason) }
                                        }
                                    }
                                    None => (error.reason),
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Moves the errors of the items of a list (`tags[0]`) to the one field in which the user enters the list.
    pub fn with_list_errors_at(mut self, list: &str) -> Self {
        for error in &mut self.errors {
            let rest = error.field.as_deref().and_then(|field| field.strip_prefix(list));
            let at = rest.and_then(|rest| rest.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok());
            if let Some(at) = at {
                error.reason = format!("{}: {}", at + 1, error.reason);
                error.field = Some(list.to_owned());
            }
        }
        self
    }

    /// The errors of a field.
    pub fn errors_on(&self, name: &str) -> Vec<&str> {
        let errors = self
            .errors
            .iter()
            .filter(|error| error.field.as_deref() == Some(name));
        errors.map(|error| error.reason.as_str()).collect()
    }
}

/// The name of the hidden field with the value that a field had when the form was first rendered.
pub(super) fn original_field(name: &str) -> String {
    format!("was.{name}")
}

/// The form to render after a validation error or a conflict. Other errors are returned.
pub fn from_error(data: FormData, error: Error) -> Result<FormState, Error> {
    let status = status_of(&error);
    let form_state = match error {
        Error::Refused(errors) => FormState::with_errors(data, errors),
        Error::Stale => FormState::conflict(data),
        other => return Err(other),
    };
    Ok(FormState { status, ..form_state })
}
