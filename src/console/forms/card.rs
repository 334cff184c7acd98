//! A form with all that every form has, and the one that asks for a confirmation.

use maud::{Markup, html};

use super::fields::{Field, line};
use super::sent::Sent;
use super::typed::Typed;
use crate::console::visit::Visit;
use crate::model::reason::{Code, Reason};
use crate::rules::error::Error;

/// Where a form goes, what its button says, and where one goes instead.
pub struct Card<'a> {
    action: String,
    button: &'a str,
    back: &'a str,
    danger: bool,
    wide: bool,
}

impl<'a> Card<'a> {
    pub fn new(action: impl Into<String>, button: &'a str, back: &'a str) -> Self {
        Self {
            action: action.into(),
            button,
            back,
            danger: false,
            wide: false,
        }
    }

    /// For what cannot be undone.
    pub fn danger(self) -> Self {
        Self { danger: true, ..self }
    }

    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }
}

/// A form with all that every form has; `fields` are its own.
pub fn card(visit: &Visit, typed: &Typed, card: &Card, fields: &Markup) -> Markup {
    html! {
        (typed.alert())
        form .card .wide[card.wide] method="post" action=(card.action) {
            (visit.form_token())
            (typed.seen())
            (fields)
            div .actions {
                button .main[!card.danger] .danger[card.danger] type="submit" { (card.button) }
                a .button href=(card.back) { "Cancel" }
            }
        }
    }
}

/// The field in which the label of a thing is typed before the thing is deleted.
const CONFIRM: &str = "label";

/// Asks for the label of what is about to be deleted.
pub fn confirm(typed: &Typed, label: &str) -> Markup {
    let asks = format!("Type {label} to confirm");
    let field = Field {
        name: CONFIRM,
        label: &asks,
        autofocus: true,
        ..Field::default()
    };
    line(typed, field)
}

/// Does it only if that was typed.
pub async fn confirmed<T>(
    sent: &Sent,
    label: &str,
    deed: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    if sent.text(CONFIRM).trim() == label {
        return deed.await;
    }
    let reason = Reason::new(Code::ChoiceInvalid, format!("Must be {label} to confirm"));
    Err(Error::on(CONFIRM, reason))
}
