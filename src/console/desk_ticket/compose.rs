//! What one writes on a ticket of the desk: to the customer, or for staff alone.

use maud::{Markup, html};

use super::{Seen, Writing};
use crate::console::desk::{account_name, address};
use crate::console::forms::{Field, SEEN};
use crate::console::session::Visit;
use crate::console::{markdown, threads};
use crate::model::reply::ReplyText;
use crate::model::tag::Tag;
use crate::model::ticket::Status;

pub fn closed(visit: &Visit, seen: &Seen, writing: &Writing) -> Markup {
    let typed = writing.reply.sent.text("description");
    html! {
        (writing.reply.alert())
        div .card.closed {
            p { "This ticket is closed. Reopen it to answer; notes can be written all the same." }
            form method="post" action=(format!("{}/reopen", address(seen.desk.ticket.id))) {
                (visit.form_token())
                button type="submit" { "Reopen" }
            }
        }
        @if !typed.is_empty() { div .card { (threads::unsent(typed)) } }
    }
}

/// Two boxes that look nothing like each other, of which one is open.
pub fn compose(visit: &Visit, seen: &Seen, writing: &Writing) -> Markup {
    let ticket = &seen.desk.ticket;
    let here = address(ticket.id);
    let noting = writing.note.sent.has("note") || ticket.status == Status::Closed;
    let reader = match &seen.desk.customer {
        Some(customer) => customer.username.as_str(),
        None => account_name(&seen.desk),
    };
    let (reply_to, note_to) = (format!("{here}/replies"), format!("{here}/notes"));
    let reply = Field {
        name: "description",
        label: "Reply",
        most: Some(ReplyText::MAX),
        ..Field::default()
    };
    let note = Field {
        name: "note",
        label: "Note",
        ..reply
    };
    html! {
        div .compose data-closed[ticket.status == Status::Closed] {
            // What is asked for when something has happened is looked for on this page, too.
            @if ticket.status == Status::Closed { span #reply-seen {} }
            @if ticket.status != Status::Closed {
                details .reply name="compose" open[!noting] {
                    summary data-key="r" { span .what { "Reply to customer" } span .who-reads { (reader) " will read this" } }
                    (writing.reply.alert())
                    (canned(seen, visit))
                    form #reply method="post" action=(reply_to) data-draft=(format!("desk-reply-{}", ticket.id)) {
                        (visit.form_token())
                        span #reply-seen { (writing.reply.seen()) }
                        (threads::box_to_write(&writing.reply, reply, 8, writing.preview && !noting))
                        div .actions {
                            button .main type="submit" { "Send reply to customer" }
                            (threads::preview_button("description", &reply_to))
                        }
                    }
                }
            }
            details .note name="compose" open[noting] {
                summary data-key="n" { span .what { "Internal note" } span .who-reads { "only staff will read this" } }
                (writing.note.alert())
                form #note method="post" action=(note_to) data-draft=(format!("desk-note-{}", ticket.id)) {
                    (visit.form_token())
                    span #note-seen { (writing.note.seen()) }
                    (threads::box_to_write(&writing.note, note, 5, writing.preview && noting))
                    div .actions {
                        button type="submit" { "Save internal note" }
                        (threads::preview_button("note", &note_to))
                    }
                }
            }
        }
    }
}

/// Choosing a canned reply, and what it would say.
fn canned(seen: &Seen, visit: &Visit) -> Markup {
    let here = address(seen.desk.ticket.id);
    let chosen = seen.filled.as_ref().map(|(id, _)| *id);
    html! {
        @if seen.canned.is_empty() {
            p .hint { "Answers you give often can be kept as " a href="/desk/canned-replies" { "canned replies" } "." }
        } @else {
            form .canned method="get" action=(here) hx-get=(here) hx-target="#canned" hx-select="#canned" hx-swap="outerHTML"
                hx-trigger="submit, change from:#canned-choice" {
                label for="canned-choice" { "Canned reply" }
                select #canned-choice name="canned" {
                    option value="" { "Choose…" }
                    @for reply in &seen.canned { option value=(reply.id) selected[Some(reply.id) == chosen] { (reply.label.as_str()) } }
                }
                button type="submit" { "Preview" }
            }
            div #canned aria-live="polite" {
                @if let Some((id, text)) = &seen.filled {
                    div .preview {
                        p .quiet { "The customer would read:" }
                        div .md { (markdown::draw(text)) }
                        div .actions {
                            a .button href=(format!("{here}?canned={id}&use=1#reply")) data-insert="#f-description" data-text=(text) { "Put into the reply" }
                            form method="post" action=(format!("{here}/replies")) {
                                (visit.form_token())
                                input type="hidden" name=(SEEN) value=(Tag::of(&seen.desk).to_string());
                                input type="hidden" name="canned_reply_id" value=(id);
                                button type="submit" { "Send to customer as it is" }
                            }
                        }
                    }
                }
            }
        }
    }
}
