//! Pages for canned replies.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::desk::QUEUE;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState, VERSION_FIELD};
use crate::console::layout::{empty_state, pagination, redirect_with_notice, time};
use crate::console::query::Query;
use crate::console::threads;
use crate::console::visit::Visit;
use crate::model::canned_reply::{CannedLabel, PLACEHOLDERS};
use crate::model::entity_tag::EntityTag;
use crate::model::id::CannedReplyId;
use crate::model::reply::ReplyText;
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

/// The label and the URL of the list of canned replies.
const LIST: (&str, &str) = ("Canned replies", "/desk/canned-replies");
const NEW_URL: &str = "/desk/canned-replies/new";

fn url(id: CannedReplyId) -> String {
    format!("/desk/canned-replies/{id}")
}

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let list_request = query.list_request();
    let replies = app
        .read(staff, move |tx, _| rules::canned_replies::list(tx, &list_request))
        .await?;
    let body = html! {
        div .title { h1 { "Canned replies" } a .button.main href=(NEW_URL) { "New canned reply" } }
        @if replies.items.is_empty() {
            (empty_state("No canned replies yet", "Save answers that you use often. Placeholders, such as the customer's name, are filled in when you use them.",
                Some(("New canned reply", NEW_URL))))
        } @else {
            table .list {
                thead { tr { th scope="col" { "Label" } th scope="col" { "Text" } th scope="col" { "Last updated" } } }
                tbody {
                    @for reply in &replies.items {
                        tr {
                            th scope="row" { a href=(url(reply.id)) { (reply.label.as_str()) } }
                            td data-label="Text" { span .cut { (reply.description.as_str()) } }
                            td data-label="Last updated" { (time(reply.updated)) }
                        }
                    }
                }
            }
            (pagination(&replies, LIST.1))
        }
    };
    Ok(visit.page("Canned replies", &[QUEUE], &body))
}

pub async fn form(visit: Visit) -> PageResult {
    Ok(render(&visit, None, &FormState::default(), false))
}

pub async fn create(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    if data.text("act") == "preview" {
        return Ok(render(
            &visit,
            None,
            &FormState::with_errors(data, Vec::new()),
            true,
        ));
    }
    let request = data.request(data.object(&["label", "description"]));
    let created = app
        .write(staff, move |tx, _| rules::canned_replies::create(tx, &request))
        .await;
    match created {
        Ok(_) => Ok(redirect_with_notice(LIST.1, "canned-reply-saved")),
        Err(error) => {
            let form_state = forms::from_error(data, error)?;
            Ok(render(&visit, None, &form_state, false))
        }
    }
}

pub async fn edit(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<CannedReplyId>,
) -> PageResult {
    let reply = app
        .read(staff, move |tx, _| rules::canned_replies::view(tx, id))
        .await?;
    let form_state = FormState::prefilled(&[
        ("label", reply.label.as_str()),
        ("description", reply.description.as_str()),
        (VERSION_FIELD, &EntityTag::of(&reply).to_string()),
    ]);
    Ok(render(&visit, Some(id), &form_state, false))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<CannedReplyId>,
    data: FormData,
) -> PageResult {
    if data.text("act") == "preview" {
        let form_state = FormState::with_errors(data, Vec::new());
        return Ok(render(&visit, Some(id), &form_state, true));
    }
    let request = data.request(data.object(&["label", "description"]));
    let changed = app
        .write(staff.clone(), move |tx, _| {
            rules::canned_replies::update(tx, id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(LIST.1, "canned-reply-saved")),
        Err(error) => forms::from_error(data, error)?,
    };
    let current = app
        .read(staff, move |tx, _| rules::canned_replies::view(tx, id))
        .await?;
    Ok(render(
        &visit,
        Some(id),
        &form_state.with_version_of(&current),
        false,
    ))
}

pub async fn delete(
    State(app): State<App>,
    staff: Staff,
    At(id): At<CannedReplyId>,
    data: FormData,
) -> PageResult {
    let request = data.request(Vec::new());
    app.write(staff, move |tx, _| {
        rules::canned_replies::delete(tx, id, &request)
    })
    .await?;
    Ok(redirect_with_notice(LIST.1, "canned-reply-deleted"))
}

fn render(visit: &Visit, id: Option<CannedReplyId>, form_state: &FormState, shows_preview: bool) -> Response {
    let title = if id.is_some() {
        "Edit canned reply"
    } else {
        "New canned reply"
    };
    let action = id.map_or(NEW_URL.to_owned(), url);
    let label = Field {
        name: "label",
        label: "Label",
        hint: "Shown in the list of canned replies.",
        autofocus: true,
        max_chars: Some(CannedLabel::MAX),
        ..Field::default()
    };
    let text = Field {
        name: "description",
        label: "Text",
        max_chars: Some(ReplyText::MAX),
        ..Field::default()
    };
    let body = html! {
        h1 { (title) }
        (form_state.alert_with_labels(&[("description", "Text")]))
        form .card.wide method="post" novalidate action=(action) {
            (visit.form_token())
            (form_state.version_field())
            (forms::text_input(form_state, label))
            (threads::markdown_editor(form_state, text, 10, shows_preview))
            (placeholders())
            div .actions {
                button .main type="submit" { "Save" }
                (threads::preview_button("description", &action))
                a .button href=(LIST.1) { "Cancel" }
            }
        }
        @if let Some(id) = id {
            section {
                (threads::confirmation("Delete", (true, None), &html! {
                    p { "Replies that were already sent are not affected." }
                    form method="post" novalidate action=(format!("{}/delete", url(id))) {
                        (visit.form_token())
                        button .danger type="submit" { "Delete this canned reply" }
                    }
                }))
            }
        }
    };
    visit.form_page(form_state, title, &[QUEUE, LIST], &body)
}

fn placeholders() -> Markup {
    html! {
        p .hint {
            "Placeholders: "
            @for (at, name) in PLACEHOLDERS.iter().enumerate() { @if at > 0 { ", " } code { "{{" (name) "}}" } }
        }
    }
}
