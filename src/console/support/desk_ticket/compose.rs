//! What one writes on a ticket of the desk: to the customer, or for staff alone.
//!
//! All of it is one form, so that nothing typed into one box is lost when a browser without script sends another.

use maud::{Markup, html};

use super::history::{deed, place_of};
use super::seen::{Seen, Writing};
use crate::console::desk::{account_name, address};
use crate::console::forms::Field;
use crate::console::visit::Visit;
use crate::console::{markdown, threads};
use crate::model::history::{History, Step};
use crate::model::reply::ReplyText;
use crate::model::ticket::Status;

/// The hidden field that tells up to which step of its history the page shows the ticket.
pub const SINCE: &str = "since";
/// The fields of the boxes. A note has one of its own, so that it cannot be sent as a reply.
pub const REPLY: &str = "description";
pub const NOTE: &str = "note";
/// Of the canned replies: the one that is looked at, the one to be put into the box, the one to be sent as it is.
pub const CANNED: &str = "canned";
pub const USE: &str = "use";
pub const CANNED_REPLY: &str = "canned_reply_id";

pub fn closed(visit: &Visit, seen: &Seen, writing: &Writing) -> Markup {
    let typed = writing.typed.sent.text(REPLY);
    html! {
        @if !writing.noting { (writing.typed.alert()) }
        div .card.closed {
            p { "This ticket is closed. Reopen it to reply. You can still write internal notes." }
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
    let closed = ticket.status == Status::Closed;
    let noting = writing.noting || closed;
    let reader = match &seen.desk.customer {
        Some(customer) => customer.username.as_str(),
        None => account_name(&seen.desk),
    };
    let (reply_to, note_to) = (format!("{here}/replies"), format!("{here}/notes"));
    let reply = Field {
        name: REPLY,
        label: "Reply",
        most: Some(ReplyText::MAX),
        ..Field::default()
    };
    let note = Field {
        name: NOTE,
        label: "Note",
        ..reply
    };
    let shown = |field: &str| writing.preview == Some(field);
    html! {
        // The server says what is missing: a browser would ask for both texts.
        form .compose method="post" action=(if closed { &note_to } else { &reply_to }) novalidate data-closed[closed] {
            (visit.form_token())
            (news(seen, &here))
            span #since { input type="hidden" name=(SINCE) value=(seen.newest); }
            @if !closed {
                details .reply name="compose" open[!noting] {
                    summary data-key="r" { span .what { "Reply to customer" } span .who-reads { "visible to " (reader) } }
                    @if !noting { (writing.typed.alert()) }
                    (canned(seen, &here, &reply_to))
                    div #reply data-draft=(format!("desk-reply-{}", ticket.id)) {
                        (threads::box_to_write(&writing.typed, reply, 8, shown(REPLY)))
                        div .actions {
                            button .main type="submit" { "Send reply to customer" }
                            (threads::preview_button(REPLY, &reply_to))
                        }
                    }
                }
            }
            details .note name="compose" open[noting] {
                summary data-key="n" { span .what { "Internal note" } span .who-reads { "visible to staff only" } }
                @if writing.noting { (writing.typed.alert()) }
                div #note data-draft=(format!("desk-note-{}", ticket.id)) {
                    (threads::box_to_write(&writing.typed, note, 5, shown(NOTE)))
                    div .actions {
                        button type="submit" formaction=(note_to) { "Save internal note" }
                        (threads::preview_button(NOTE, &note_to))
                    }
                }
            }
        }
    }
}

/// What has come in since the page was opened, and who else is here, where whoever writes looks.
fn news(seen: &Seen, here: &str) -> Markup {
    let page = if seen.is_last_page() { "" } else { here };
    let is_news = |step: &&History| step.step != Step::Download;
    let arrived: Vec<_> = seen.arrived.iter().filter(is_news).collect();
    html! {
        div #arrived .arrived role="status" {
            @if !arrived.is_empty() {
                p .present {
                    "New since you opened this page: "
                    @for (at, step) in arrived.iter().enumerate() {
                        @if at > 0 { " · " }
                        a href=(format!("{page}#{}", place_of(step))) { (step.created_by) " " (deed(step, None)) }
                    }
                }
            }
        }
        div #also-here { @if !seen.colleagues.is_empty() { p .hint { "Also viewing: " (seen.colleagues.join(", ")) } } }
    }
}

/// Choosing a canned reply, and what it would say.
fn canned(seen: &Seen, here: &str, reply_to: &str) -> Markup {
    let chosen = seen.filled.as_ref().map(|(id, _)| *id);
    html! {
        @if seen.canned.is_empty() {
            p .hint { "Save common answers as " a href="/desk/canned-replies" { "canned replies" } "." }
        } @else {
            div .canned {
                label for="canned-choice" { "Canned reply" }
                select #canned-choice name=(CANNED) hx-get=(here) hx-trigger="change" hx-target="#canned" hx-select="#canned" hx-swap="outerHTML" {
                    option value="" { "Choose…" }
                    @for reply in &seen.canned { option value=(reply.id) selected[Some(reply.id) == chosen] { (reply.label.as_str()) } }
                }
                button type="submit" name="act" value="canned" formaction=(reply_to) { "Preview" }
            }
            div #canned aria-live="polite" {
                @if let Some((id, text)) = &seen.filled {
                    div .preview {
                        p .quiet { "Preview" }
                        div .md { (markdown::draw(text)) }
                        div .actions {
                            button type="submit" name=(USE) value=(id) formaction=(reply_to) data-insert="#f-description" data-text=(text) { "Insert into reply" }
                            button type="submit" name=(CANNED_REPLY) value=(id) formaction=(reply_to) { "Send to customer as is" }
                        }
                    }
                }
            }
        }
    }
}
