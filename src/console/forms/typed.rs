//! A form as it is drawn, with what is wrong with it.

use std::hash::Hash;

use axum::http::StatusCode;
use maud::{Markup, html};

use super::names::{id_of, in_words};
use super::sent::{SEEN, Sent};
use crate::model::reason::{Code, Reason};
use crate::model::tag::Tag;
use crate::rules::error::{Error, FieldError};
use crate::web::error::status_of;

/// A form as it is drawn: what was typed or is proposed, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    pub sent: Sent,
    /// What its page is answered with.
    status: StatusCode,
    pub wrong: Vec<FieldError>,
    /// What somebody else has made of fields meanwhile.
    pub(super) elsewhere: Vec<(&'static str, String)>,
}

impl Typed {
    /// A form as it is first shown.
    pub fn proposed(values: &[(&str, &str)]) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            sent: Sent::new(values.iter().map(pair).collect()),
            ..Self::default()
        }
    }

    pub fn refused(sent: Sent, wrong: Vec<FieldError>) -> Self {
        Self {
            sent,
            wrong,
            ..Self::default()
        }
    }

    /// The same form, answered with the status of an error.
    pub fn with_status_of(self, error: &Error) -> Self {
        Self {
            status: status_of(error),
            ..self
        }
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// For a thing that somebody else has changed meanwhile.
    fn stale(sent: Sent) -> Self {
        let text = "This was changed after you opened the page. Your input is below. Compare it with the current values, then \
                    save again.";
        let reason = Reason::new(Code::PreconditionFailed, text);
        Self::refused(sent, vec![FieldError::whole(reason)])
    }

    /// The same form for a thing as it is now.
    pub fn now(mut self, thing: &impl Hash) -> Self {
        self.sent.set(SEEN, Tag::of(thing).to_string());
        self
    }

    /// Shows beside each field how it is now, if somebody else was faster.
    pub fn beside(mut self, fields: &[(&'static str, &str)]) -> Self {
        let stale = |wrong: &FieldError| wrong.code == Code::PreconditionFailed;
        if self.wrong.iter().any(stale) {
            for (name, now) in fields {
                let (typed, was) = (self.sent.text(name), self.was(name));
                if typed == was && self.sent.has(&was_of(name)) {
                    // Nobody typed anything here: it is as the other one made it.
                    self.sent.set(name, *now);
                } else if typed != *now && was != *now {
                    self.elsewhere.push((name, (*now).to_owned()));
                }
                self.sent.set(&was_of(name), *now);
            }
        }
        self
    }

    /// How a field was when the form was first drawn.
    pub(super) fn was(&self, name: &str) -> &str {
        match self.sent.has(&was_of(name)) {
            true => self.sent.text(&was_of(name)),
            false => self.sent.text(name),
        }
    }

    /// The hidden field that tells the state in which the page shows the thing.
    pub fn seen(&self) -> Markup {
        html! { input type="hidden" name=(SEEN) value=(self.sent.text(SEEN)); }
    }

    /// Everything wrong at once, with links to the fields; above the form.
    pub fn alert(&self) -> Markup {
        self.alert_calling(&[])
    }

    /// The same on a page where fields have labels of their own.
    pub fn alert_calling(&self, labels: &[(&str, &str)]) -> Markup {
        let label = |field: &str| {
            let own = labels.iter().find(|(name, _)| *name == field);
            own.map_or_else(|| in_words(field), |(_, label)| (*label).to_owned())
        };
        let count = self.wrong.len();
        html! {
            @if count > 0 {
                // Without script, too, a page that was refused is shown from here on.
                div .alert role="alert" tabindex="-1" autofocus {
                    p { strong { @if count == 1 { "There is 1 problem." } @else { "There are " (count) " problems." } } }
                    ul {
                        @for wrong in &self.wrong {
                            li {
                                @match &wrong.field {
                                    Some(field) => { a href=(format!("#{}", id_of(field))) { (label(field)) } ": " (wrong.reason) }
                                    None => (wrong.reason),
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What is wrong with a field.
    pub fn reasons(&self, name: &str) -> Vec<&str> {
        let about = self
            .wrong
            .iter()
            .filter(|wrong| wrong.field.as_deref() == Some(name));
        about.map(|wrong| wrong.reason.as_str()).collect()
    }
}

/// The hidden field that tells how a field was when its form was drawn.
pub(super) fn was_of(name: &str) -> String {
    format!("was.{name}")
}

/// A form to be drawn again, because it was refused or somebody else was faster; anything else is not for a form.
pub fn again(sent: Sent, error: Error) -> Result<Typed, Error> {
    let status = status_of(&error);
    let typed = match error {
        Error::Refused(wrong) => Typed::refused(sent, wrong),
        Error::Stale => Typed::stale(sent),
        other => return Err(other),
    };
    Ok(Typed { status, ..typed })
}
