//! The common parts of a form, and the confirmation before something is deleted.

use maud::{Markup, html};

use super::fields::{Field, text_input};
use super::form_data::FormData;
use super::form_state::FormState;
use crate::console::visit::Visit;
use crate::model::reason::{Code, Reason};
use crate::rules::error::Error;

/// The target of a form, the label of its button, and the target of its Cancel link.
pub struct Card<'a> {
    action: String,
    button: &'a str,
    cancel_url: &'a str,
    danger: bool,
    wide: bool,
    labels: &'a [(&'a str, &'a str)],
}

impl<'a> Card<'a> {
    pub fn new(action: impl Into<String>, button: &'a str, cancel_url: &'a str) -> Self {
        Self {
            action: action.into(),
            button,
            cancel_url,
            danger: false,
            wide: false,
            labels: &[],
        }
    }

    /// Marks an action that cannot be undone.
    pub fn danger(self) -> Self {
        Self { danger: true, ..self }
    }

    /// The labels of fields whose label on this page is not the usual one of their name.
    pub fn with_labels(self, labels: &'a [(&'a str, &'a str)]) -> Self {
        Self { labels, ..self }
    }

    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }
}

/// A form with its alert, hidden fields and buttons around `fields`.
pub fn card(visit: &Visit, form_state: &FormState, card: &Card, fields: &Markup) -> Markup {
    html! {
        (form_state.alert_with_labels(card.labels))
        form .card .wide[card.wide] method="post" novalidate action=(card.action) {
            (visit.form_token())
            (form_state.version_field())
            (fields)
            div .actions {
                button .main[!card.danger] .danger[card.danger] type="submit" { (card.button) }
                a .button href=(card.cancel_url) { "Cancel" }
            }
        }
    }
}

/// The field in which the user types the label of the resource to confirm its deletion.
const CONFIRM_FIELD: &str = "label";

/// The input for the label of the resource to be deleted.
pub fn confirmation_input(form_state: &FormState, label: &str) -> Markup {
    let field_label = format!("Type “{label}” to confirm");
    let field = Field {
        name: CONFIRM_FIELD,
        label: &field_label,
        autofocus: true,
        ..Field::default()
    };
    text_input(form_state, field)
}

/// Runs the action if the user typed the label. Otherwise returns an error.
pub async fn if_confirmed<T>(
    data: &FormData,
    label: &str,
    action: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    check_confirmation(data, label)?;
    action.await
}

/// Returns an error unless the user typed the text, with or without quotation marks.
pub fn check_confirmation(data: &FormData, text: &str) -> Result<(), Error> {
    if data.text(CONFIRM_FIELD).trim().trim_matches(['“', '”', '"']) == text {
        return Ok(());
    }
    let reason = Reason::new(Code::ChoiceInvalid, format!("Does not match “{text}”"));
    Err(Error::on(CONFIRM_FIELD, reason))
}
