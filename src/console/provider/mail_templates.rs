//! The page for the texts of mails: a form, and a preview with sample data.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::mail_preview::preview as preview_of;
use super::settings_page::{Content, SettingsPage, after_preview, text, text_input};
use super::tabs::{MAIL, MAIL_TEMPLATES};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::layout::{permit_style_attributes, redirect_with_notice};
use crate::console::outgoing_mail::missing_server;
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::mail::outbound::template::{self, Rendered};
use crate::model::input::Input;
use crate::model::mail_template::{MailTemplates, TemplateKind, TextName};
use crate::model::staff_role::StaffRole;
use crate::rules::agent::Staff;
use crate::rules::request::Request;
use crate::rules::{self, mail_templates};
use crate::web::App;

const URL: &str = MAIL_TEMPLATES.1;
const PREVIEW_URL: &str = "/provider/mail-templates/preview";
const PAGE: SettingsPage = SettingsPage {
    title: MAIL_TEMPLATES.0,
    url: URL,
    form_id: "mail-texts",
    has_files: false,
    saved_notice: "mail-templates-saved",
    reset_notice: "mail-templates-reset",
    read_only_text: "Only admins can change the texts.",
    reset_text: "This deletes the signature and all texts.",
};
const SIGNATURE: &str = "signature";
const PARTS: [&str; 2] = ["introduction", "closing"];

/// A page to render.
struct Shown<'a> {
    form_state: &'a FormState,
    stored: &'a MailTemplates,
    /// The mail in the preview.
    kind: TemplateKind,
    rendered: &'a Rendered,
    is_saved: bool,
}

fn field_name(kind: TemplateKind, part: &str) -> String {
    let at = TemplateKind::ALL.into_iter().position(|known| known == kind);
    format!("templates[{}].{part}", at.unwrap_or_default())
}

fn label(kind: TemplateKind) -> &'static str {
    match kind {
        TemplateKind::Reply => "Reply",
        TemplateKind::Closed => "Ticket closed",
        TemplateKind::Reopened => "Ticket reopened",
        TemplateKind::Opened => "Ticket opened by staff",
        TemplateKind::NewTicket => "New ticket, to staff",
        TemplateKind::Assigned => "Ticket assigned, to staff",
        TemplateKind::Invitation => "Invitation",
        TemplateKind::Reset => "New password",
    }
}

async fn load(app: &App, staff: Staff) -> rules::Result<MailTemplates> {
    app.read(staff, |tx, _| mail_templates::view(tx)).await
}

/// A mail with the stored texts and those of the request.
async fn rendered(app: &App, staff: Staff, request: Request) -> rules::Result<Rendered> {
    let draft = app
        .read(staff, move |tx, _| mail_templates::preview(tx, &request))
        .await?;
    Ok(template::render(&draft))
}

fn of_kind(kind: TemplateKind) -> (String, Input) {
    ("mail".to_owned(), Input::Text(kind.word().to_owned()))
}

pub async fn view(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let kind = TemplateKind::find(query.text("mail")).unwrap_or(TemplateKind::Reply);
    let stored = load(&app, staff.clone()).await?;
    let rendered = rendered(&app, staff, Request::with_fields([of_kind(kind)])).await?;
    let form_state = prefilled(&stored).with_version_of(&stored);
    let shown = Shown {
        form_state: &form_state,
        stored: &stored,
        kind,
        rendered: &rendered,
        is_saved: true,
    };
    Ok(render(&app, &visit, &shown))
}

fn prefilled(stored: &MailTemplates) -> FormState {
    let mut form_state = FormState::default();
    let mut set = |field: &str, name: TextName| {
        form_state.data.set(field, stored.text(name).unwrap_or_default());
    };
    set(SIGNATURE, TextName::Signature);
    for kind in TemplateKind::ALL {
        set(&field_name(kind, PARTS[0]), TextName::Introduction(kind));
        set(&field_name(kind, PARTS[1]), TextName::Closing(kind));
    }
    form_state
}

/// Whether the form has the stored texts.
fn is_unchanged(data: &FormData, stored: &MailTemplates) -> bool {
    let is_stored = |field: &str, name: TextName| text(data, field) == stored.text(name).unwrap_or_default();
    is_stored(SIGNATURE, TextName::Signature)
        && TemplateKind::ALL.into_iter().all(|kind| {
            is_stored(&field_name(kind, PARTS[0]), TextName::Introduction(kind))
                && is_stored(&field_name(kind, PARTS[1]), TextName::Closing(kind))
        })
}

/// The fields of the form. An empty field means the default.
fn object(data: &FormData) -> Vec<(String, Input)> {
    let template = |kind: TemplateKind| {
        let parts = PARTS.map(|part| (part.to_owned(), text_input(data, &field_name(kind, part))));
        Input::Object([of_kind(kind)].into_iter().chain(parts).collect())
    };
    let templates = TemplateKind::ALL.into_iter().map(template).collect();
    vec![
        (SIGNATURE.to_owned(), text_input(data, SIGNATURE)),
        ("templates".to_owned(), Input::List(templates)),
    ]
}

/// Shows a mail with the submitted texts, without saving them. With the field `restore`, the texts of that mail are
/// replaced by their defaults before.
pub async fn preview(State(app): State<App>, visit: Visit, staff: Staff, mut data: FormData) -> PageResult {
    let restored = TemplateKind::find(data.text("restore"));
    if let Some(kind) = restored {
        for part in PARTS {
            data.set(&field_name(kind, part), "");
        }
    }
    let kind = restored.or(TemplateKind::find(data.text("preview")));
    let kind = kind.unwrap_or(TemplateKind::Reply);
    let mut fields = object(&data);
    fields.push(of_kind(kind));
    let stored = load(&app, staff.clone()).await?;
    let previewed = rendered(&app, staff.clone(), data.request(fields)).await;
    let is_saved = previewed.is_err() || is_unchanged(&data, &stored);
    let (form_state, previewed) = after_preview(data, previewed)?;
    let rendered = match previewed {
        Some(rendered) => rendered,
        None => rendered(&app, staff, Request::with_fields([of_kind(kind)])).await?,
    };
    let shown = Shown {
        form_state: &form_state,
        stored: &stored,
        kind,
        rendered: &rendered,
        is_saved,
    };
    Ok(render(&app, &visit, &shown))
}

pub async fn update(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    let request = data.request(object(&data));
    let changed = app
        .write(staff.clone(), move |tx, _| mail_templates::update(tx, &request))
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(URL, PAGE.saved_notice)),
        Err(error) => forms::from_error(data, error)?,
    };
    let stored = load(&app, staff.clone()).await?;
    let kind = TemplateKind::Reply;
    let rendered = rendered(&app, staff, Request::with_fields([of_kind(kind)])).await?;
    let form_state = form_state.with_version_of(&stored);
    let shown = Shown {
        form_state: &form_state,
        stored: &stored,
        kind,
        rendered: &rendered,
        is_saved: true,
    };
    Ok(render(&app, &visit, &shown))
}

pub async fn reset(State(app): State<App>, staff: Staff, data: FormData) -> PageResult {
    PAGE.reset(&app, staff, &data, mail_templates::reset).await
}

fn render(app: &App, visit: &Visit, shown: &Shown) -> Response {
    let labels = labels();
    let labels: Vec<_> = labels
        .iter()
        .map(|(field, label)| (field.as_str(), label.as_str()))
        .collect();
    let content = Content {
        form_state: shown.form_state,
        can_reset: !shown.stored.0.is_empty(),
        lead: html! {
            p .lead {
                "The texts of mails about tickets and users. An empty text means the default. "
                a href=(MAIL.1) { "Mail" } " shows the mails to send and the suppressed addresses."
            }
            (missing_server(app))
        },
        labels: &labels,
        preview_title: &format!("Preview: {}", label(shown.kind)),
        preview: preview_section(visit, shown),
        fields: fields(shown.form_state),
        buttons: html! {},
        other_forms: html! {},
    };
    permit_style_attributes(PAGE.render(visit, &content))
}

fn preview_section(visit: &Visit, shown: &Shown) -> Markup {
    html! {
        nav .mail-kinds aria-label="Preview of another mail" {
            ul {
                @for kind in TemplateKind::ALL {
                    @let current = (kind == shown.kind).then_some("true");
                    li {
                        // As a button of the form, it keeps the texts that are not saved.
                        @if visit.has_role(StaffRole::Admin) {
                            button .link type="submit" form=(PAGE.form_id) formaction=(PREVIEW_URL) name="preview" value=(kind.word()) aria-current=[current] { (label(kind)) }
                        } @else {
                            a href={ (URL) "?mail=" (kind.word()) } aria-current=[current] { (label(kind)) }
                        }
                    }
                }
            }
        }
        @if !shown.is_saved { p .warning role="status" { "These texts are not saved yet." } }
        p .quiet { "With sample data. Links in it do not work." }
        (preview_of(shown.rendered))
    }
}

/// The labels of the fields in the summary of errors. They name the mail.
fn labels() -> Vec<(String, String)> {
    let of_kind =
        |kind: TemplateKind| PARTS.map(|part| (field_name(kind, part), format!("{}, {part}", label(kind))));
    TemplateKind::ALL.into_iter().flat_map(of_kind).collect()
}

fn fields(form_state: &FormState) -> Markup {
    let hint = hint(
        "Plain text under each mail about a ticket.",
        None,
        TextName::Signature,
    );
    let signature = Field {
        name: SIGNATURE,
        label: "Signature",
        hint: &hint,
        optional: true,
        max_chars: Some(TextName::Signature.max_chars()),
        ..Field::default()
    };
    html! {
        (forms::textarea(form_state, signature, 3))
        @for kind in TemplateKind::ALL { (fields_of(form_state, kind)) }
    }
}

fn fields_of(form_state: &FormState, kind: TemplateKind) -> Markup {
    let default = Some(kind.default_introduction());
    let introduction = (TextName::Introduction(kind), "Introduction", default);
    let closing = (TextName::Closing(kind), "Closing", kind.default_closing());
    html! {
        fieldset .mail-template {
            legend { (label(kind)) }
            @for ((name, label, default), part) in [introduction, closing].into_iter().zip(PARTS) {
                @let hint = hint("", default, name);
                @let field = field_name(kind, part);
                (forms::textarea(form_state, Field {
                    name: &field,
                    label,
                    hint: &hint,
                    optional: true,
                    max_chars: Some(name.max_chars()),
                    ..Field::default()
                }, 2))
            }
            p .hint { "Placeholders: " (placeholders(TextName::Closing(kind))) }
            div .actions {
                button type="submit" formaction=(PREVIEW_URL) name="preview" value=(kind.word()) { "Preview" span .hidden { ": " (label(kind)) } }
                button .link type="submit" formaction=(PREVIEW_URL) name="restore" value=(kind.word()) { "Restore default" span .hidden { ": " (label(kind)) } }
            }
        }
    }
}

fn hint(purpose: &str, default: Option<&str>, name: TextName) -> String {
    match (name, default) {
        (TextName::Signature, _) => format!("{purpose} Placeholders: {}", placeholders(name)),
        (_, Some(default)) => format!("Default: {default}"),
        (_, None) => "Default: no text".to_owned(),
    }
}

fn placeholders(name: TextName) -> String {
    let placeholder = |name: &&str| format!("{{{{{name}}}}}");
    let placeholders: Vec<_> = name.placeholders().iter().map(placeholder).collect();
    placeholders.join(" ")
}
