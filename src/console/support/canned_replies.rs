//! Canned replies: answers that the staff give often.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::desk::QUEUE;
use crate::console::error_page::Answer;
use crate::console::forms::{self, Field, SEEN, Sent, Typed};
use crate::console::layout::{done, empty, pager, time};
use crate::console::query::Query;
use crate::console::threads;
use crate::console::visit::Visit;
use crate::model::canned_reply::{CannedLabel, PLACEHOLDERS};
use crate::model::id::CannedReplyId;
use crate::model::page::Page;
use crate::model::reply::ReplyText;
use crate::model::tag::Tag;
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

const LIST: (&str, &str) = ("Canned replies", "/desk/canned-replies");
const NEW: &str = "/desk/canned-replies/new";

fn address(id: CannedReplyId) -> String {
    format!("/desk/canned-replies/{id}")
}

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> Answer {
    let wanted = query.list(Page::DEFAULT_SIZE);
    let replies = app
        .read(staff, move |tx, _| rules::canned_replies::list(tx, &wanted))
        .await?;
    let body = html! {
        div .title { h1 { "Canned replies" } a .button.main href=(NEW) { "New canned reply" } }
        @if replies.items.is_empty() {
            (empty("No canned replies yet", "Save answers that you use often. Placeholders, such as the customer's name, are filled in when you use them.",
                Some(("New canned reply", NEW))))
        } @else {
            table .list {
                thead { tr { th scope="col" { "Label" } th scope="col" { "Text" } th scope="col" { "Last updated" } } }
                tbody {
                    @for reply in &replies.items {
                        tr {
                            th scope="row" { a href=(address(reply.id)) { (reply.label.as_str()) } }
                            td data-label="Text" { span .cut { (reply.description.as_str()) } }
                            td data-label="Last updated" { (time(reply.updated)) }
                        }
                    }
                }
            }
            (pager(&replies, LIST.1))
        }
    };
    Ok(visit.page("Canned replies", &[QUEUE], &body))
}

pub async fn form(visit: Visit) -> Answer {
    Ok(draw(&visit, None, &Typed::default(), false))
}

pub async fn create(State(app): State<App>, visit: Visit, staff: Staff, sent: Sent) -> Answer {
    if sent.text("act") == "preview" {
        return Ok(draw(&visit, None, &Typed::refused(sent, Vec::new()), true));
    }
    let request = sent.request(sent.object(&["label", "description"]));
    let made = app
        .write(staff, move |tx, _| rules::canned_replies::create(tx, &request))
        .await;
    match made {
        Ok(_) => Ok(done(LIST.1, "canned-reply-saved")),
        Err(error) => {
            let typed = forms::again(sent, error)?;
            Ok(draw(&visit, None, &typed, false))
        }
    }
}

pub async fn edit(State(app): State<App>, visit: Visit, staff: Staff, At(id): At<CannedReplyId>) -> Answer {
    let reply = app
        .read(staff, move |tx, _| rules::canned_replies::view(tx, id))
        .await?;
    let typed = Typed::proposed(&[
        ("label", reply.label.as_str()),
        ("description", reply.description.as_str()),
        (SEEN, &Tag::of(&reply).to_string()),
    ]);
    Ok(draw(&visit, Some(id), &typed, false))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<CannedReplyId>,
    sent: Sent,
) -> Answer {
    if sent.text("act") == "preview" {
        let typed = Typed::refused(sent, Vec::new());
        return Ok(draw(&visit, Some(id), &typed, true));
    }
    let request = sent.request(sent.object(&["label", "description"]));
    let changed = app
        .write(staff.clone(), move |tx, _| {
            rules::canned_replies::update(tx, id, &request)
        })
        .await;
    let typed = match changed {
        Ok(_) => return Ok(done(LIST.1, "canned-reply-saved")),
        Err(error) => forms::again(sent, error)?,
    };
    let now = app
        .read(staff, move |tx, _| rules::canned_replies::view(tx, id))
        .await?;
    Ok(draw(&visit, Some(id), &typed.now(&now), false))
}

pub async fn delete(State(app): State<App>, staff: Staff, At(id): At<CannedReplyId>, sent: Sent) -> Answer {
    let request = sent.request(Vec::new());
    app.write(staff, move |tx, _| {
        rules::canned_replies::delete(tx, id, &request)
    })
    .await?;
    Ok(done(LIST.1, "canned-reply-deleted"))
}

fn draw(visit: &Visit, id: Option<CannedReplyId>, typed: &Typed, preview: bool) -> Response {
    let title = if id.is_some() {
        "Edit canned reply"
    } else {
        "New canned reply"
    };
    let action = id.map_or(NEW.to_owned(), address);
    let label = Field {
        name: "label",
        label: "Label",
        hint: "Shown in the list of canned replies.",
        autofocus: true,
        most: Some(CannedLabel::MAX),
        ..Field::default()
    };
    let text = Field {
        name: "description",
        label: "Text",
        most: Some(ReplyText::MAX),
        ..Field::default()
    };
    let body = html! {
        h1 { (title) }
        (typed.alert())
        form .card.wide method="post" action=(action) {
            (visit.form_token())
            (typed.seen())
            (forms::line(typed, label))
            (threads::box_to_write(typed, text, 10, preview))
            (placeholders())
            div .actions {
                button .main type="submit" { "Save" }
                (threads::preview_button("description", &action))
                a .button href=(LIST.1) { "Cancel" }
            }
        }
        @if let Some(id) = id {
            section {
                (threads::confirm("Delete", (true, None), &html! {
                    p { "Replies that were already sent are not affected." }
                    form method="post" action=(format!("{}/delete", address(id))) {
                        (visit.form_token())
                        button .danger type="submit" { "Delete this canned reply" }
                    }
                }))
            }
        }
    };
    visit.form_page(typed, title, &[QUEUE, LIST], &body)
}

fn placeholders() -> Markup {
    html! {
        p .hint {
            "Placeholders: "
            @for (at, name) in PLACEHOLDERS.iter().enumerate() { @if at > 0 { ", " } code { "{{" (name) "}}" } }
        }
    }
}
