//! The common parts of the pages for the brand and for the texts of mails: a preview, a form in which an empty text
//! means the default, and a button that resets all values.

use axum::response::Response;
use maud::{Markup, html};

use super::account_summary::refused;
use super::tabs::tabs;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, FormData, FormState};
use crate::console::layout::redirect_with_notice;
use crate::console::threads::confirmation;
use crate::console::visit::Visit;
use crate::model::input::Input;
use crate::model::staff_role::StaffRole;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::request::Request;
use crate::store::WriteTx;
use crate::web::App;

/// The facts about a page that do not change.
pub struct SettingsPage {
    pub title: &'static str,
    pub url: &'static str,
    /// The ID of the form, for its buttons outside of it.
    pub form_id: &'static str,
    pub has_files: bool,
    pub saved_notice: &'static str,
    pub reset_notice: &'static str,
    /// What staff who are not admins read instead of the form.
    pub read_only_text: &'static str,
    /// What the button "Reset to defaults" deletes.
    pub reset_text: &'static str,
}

/// The content of a page.
pub struct Content<'a> {
    pub form_state: &'a FormState,
    /// Whether the provider has changed a default.
    pub can_reset: bool,
    /// Below the title.
    pub lead: Markup,
    /// The labels of fields in the summary of errors.
    pub labels: &'a [(&'a str, &'a str)],
    pub preview_title: &'a str,
    pub preview: Markup,
    pub fields: Markup,
    /// Further buttons of the form.
    pub buttons: Markup,
    /// The forms of buttons that do not save the fields.
    pub other_forms: Markup,
}

impl SettingsPage {
    pub fn render(&self, visit: &Visit, content: &Content) -> Response {
        let can_change = visit.has_role(StaffRole::Admin);
        let body = html! {
            (tabs(visit, self.url))
            div .title {
                h1 { (self.title) }
                @if can_change && content.can_reset { div .actions { (self.reset_form(visit)) } }
            }
            (content.lead)
            @if let Some(text) = &visit.refused { p .alert role="alert" { (text) } }
            (content.form_state.alert_with_labels(content.labels))
            section aria-labelledby="preview" {
                h2 #preview { (content.preview_title) }
                (content.preview)
            }
            @if can_change {
                form #(self.form_id) .card.wide method="post" novalidate action=(self.url) enctype=[self.enctype()] data-unsaved="Discard the changes that you have not saved?" {
                    (visit.form_token())
                    (content.form_state.version_field())
                    (content.fields)
                    div .actions {
                        button .main type="submit" { "Save" }
                        (content.buttons)
                        a .button href=(self.url) { "Cancel" }
                    }
                }
                (content.other_forms)
            } @else {
                p .quiet { (self.read_only_text) }
            }
        };
        visit.form_page(content.form_state, self.title, &[], &body)
    }

    fn enctype(&self) -> Option<&'static str> {
        self.has_files.then_some("multipart/form-data")
    }

    fn reset_form(&self, visit: &Visit) -> Markup {
        confirmation(
            "Reset to defaults",
            (true, None),
            &html! {
                p { (self.reset_text) }
                form method="post" action={ (self.url) "/reset" } {
                    (visit.form_token())
                    button .danger type="submit" { "Reset to defaults" }
                }
            },
        )
    }

    /// Resets all values with the rule `reset`.
    pub async fn reset(
        &self,
        app: &App,
        staff: Staff,
        data: &FormData,
        reset: fn(&mut WriteTx, &Request) -> rules::Result<()>,
    ) -> PageResult {
        let request = data.request(Vec::new());
        let done = app.write(staff, move |tx, _| reset(tx, &request)).await;
        self.redirect(done, self.reset_notice)
    }

    /// Returns to the page, with a notice or with the reason of a refusal.
    pub fn redirect(&self, done: rules::Result<()>, notice: &str) -> PageResult {
        match done {
            Ok(()) => Ok(redirect_with_notice(self.url, notice)),
            Err(error) => refused(self.url, error),
        }
    }
}

/// The form after a preview, and what the preview shows. Refused values have no preview.
pub fn after_preview<T>(
    data: FormData,
    previewed: rules::Result<T>,
) -> rules::Result<(FormState, Option<T>)> {
    match previewed {
        Ok(shown) => Ok((FormState::with_errors(data, Vec::new()), Some(shown))),
        Err(error) => Ok((forms::from_error(data, error)?, None)),
    }
}

/// The text of a field, as it is stored.
pub fn text(data: &FormData, field: &str) -> String {
    data.text(field).trim().replace("\r\n", "\n")
}

/// The text of a field as input for a rule. An empty text means the default.
pub fn text_input(data: &FormData, field: &str) -> Input {
    let text = text(data, field);
    match text.is_empty() {
        true => Input::Null,
        false => Input::Text(text),
    }
}
