//! JSON views of the texts of mails, and of a preview.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::mail::outbound::template;
use crate::model::mail_template::{MailTemplates, TemplateKind, TextName};
use crate::rules::agent::Staff;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::web::{App, answer};

#[derive(Serialize)]
pub struct MailTemplatesView<'a> {
    signature: Option<&'a str>,
    templates: Vec<TemplateView<'a>>,
}

#[derive(Serialize)]
struct TemplateView<'a> {
    mail: &'static str,
    introduction: Option<&'a str>,
    closing: Option<&'a str>,
    default_introduction: &'static str,
    default_closing: Option<&'static str>,
    placeholders: &'static [&'static str],
}

impl<'a> MailTemplatesView<'a> {
    pub fn new(templates: &'a MailTemplates) -> Self {
        let template = |kind: TemplateKind| TemplateView {
            mail: kind.word(),
            introduction: templates.text(TextName::Introduction(kind)),
            closing: templates.text(TextName::Closing(kind)),
            default_introduction: kind.default_introduction(),
            default_closing: kind.default_closing(),
            placeholders: kind.placeholders(),
        };
        Self {
            signature: templates.text(TextName::Signature),
            templates: TemplateKind::ALL.into_iter().map(template).collect(),
        }
    }
}

pub fn one(templates: &MailTemplates, _: &ViewContext) -> Response {
    answer::one(templates, &MailTemplatesView::new(templates))
}

/// Renders a mail with sample data. It changes nothing, although the method is POST.
pub async fn preview(State(app): State<App>, staff: Staff, request: Request) -> Result<Response> {
    #[derive(Serialize)]
    struct Preview {
        subject: String,
        text: String,
        html: String,
    }
    app.read(staff, move |tx, _| {
        let rendered = template::render(&rules::mail_templates::preview(tx, &request)?);
        let preview = Preview {
            subject: rendered.subject,
            text: rendered.text.replace("\r\n", "\n"),
            html: rendered.html,
        };
        Ok(answer::json(StatusCode::OK, &preview))
    })
    .await
}
