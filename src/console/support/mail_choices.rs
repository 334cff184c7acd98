//! The page on which a member of staff chooses mails about tickets.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::desk::QUEUE;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState, VERSION_FIELD};
use crate::console::layout::{empty_state, redirect_with_notice};
use crate::console::outgoing_mail;
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;

const URL: &str = "/desk/mail-choices";
const TITLE: &str = "Mails about tickets";
/// The name, the label and the hint of each field.
const FIELDS: [(&str, &str, &str); 3] = [
    ("new_tickets", "New tickets", "Each ticket that a customer opens."),
    ("assigned", "Tickets assigned to me", "By a colleague."),
    (
        "replies",
        "Changes of my tickets",
        "Replies of customers and colleagues, closing and reopening.",
    ),
];

/// A link to the page, if Garth sends mail.
pub fn link(app: &App) -> Markup {
    html! {
        h2 { (TITLE) }
        @match app.store().policy().outgoing_mail {
            Some(_) => p { a href=(URL) { "Choose your mails about tickets" } },
            None => (outgoing_mail::missing_server(app)),
        }
    }
}

pub async fn view(State(app): State<App>, visit: Visit, staff: Staff) -> PageResult {
    let choice = app
        .read(staff, |tx, staff| rules::mail_choices::view(tx, &staff.agent))
        .await?;
    let form_state = FormState::prefilled(&[
        ("new_tickets", &choice.new_tickets.to_string()),
        ("assigned", &choice.assigned.to_string()),
        ("replies", &choice.replies.to_string()),
        (VERSION_FIELD, &EntityTag::of(&choice).to_string()),
    ]);
    Ok(render(&app, &visit, &form_state))
}

pub async fn update(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    let request = data.request(FIELDS.map(|(name, _, _)| data.checkbox(name)).to_vec());
    let changed = app
        .write(staff.clone(), move |tx, staff| {
            rules::mail_choices::update(tx, &staff.agent, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(URL, "mails-chosen")),
        Err(error) => forms::from_error(data, error)?,
    };
    let current = app
        .read(staff, |tx, staff| rules::mail_choices::view(tx, &staff.agent))
        .await?;
    Ok(render(&app, &visit, &form_state.with_version_of(&current)))
}

fn render(app: &App, visit: &Visit, form_state: &FormState) -> Response {
    let checkbox = |(name, label, hint)| {
        let field = Field {
            name,
            label,
            hint,
            ..Field::default()
        };
        forms::checkbox(form_state, field)
    };
    let fields = html! { @for field in FIELDS { (checkbox(field)) } };
    let body = html! {
        h1 { (TITLE) }
        @if app.store().policy().outgoing_mail.is_none() {
            (empty_state("No mail server", "Garth sends no mails until the operator sets mail.smtp_url.", None))
        } @else {
            (forms::card(visit, form_state, &Card::new(URL, "Save", QUEUE.1), &fields))
        }
    };
    visit.form_page(form_state, TITLE, &[QUEUE], &body)
}
