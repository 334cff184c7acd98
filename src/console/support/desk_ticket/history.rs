//! The history of a ticket.

use maud::{Markup, html};

use super::mails;
use super::ticket_page::TicketPage;
use crate::console::desk::url;
use crate::console::layout::{pagination, time};
use crate::console::threads::{self, Message, MessageKind};
use crate::model::history::{History, HistoryStep};
use crate::model::received_mail::FoldedText;

pub fn thread(page: &TicketPage, provider: &str) -> Markup {
    let ticket = &page.desk.ticket;
    let opener = match &page.desk.customer {
        Some(customer) => customer.username.as_str(),
        None => ticket.opened_by.as_str(),
    };
    let is_by_provider = ticket.opener.is_none() && ticket.opened_by == provider;
    html! {
        div #thread .thread aria-label="Activity" {
            @if page.history.page.number == 1 {
                div {
                    (threads::message(&Message {
                        by: opener, kind: if is_by_provider { MessageKind::Staff } else { MessageKind::Customer }, at: ticket.opened,
                        text: ticket.description.as_str(), folded: FoldedText::find(&page.folded, None), provider,
                    }))
                    (mails::undelivered(page, None))
                }
            }
            @for step in &page.history.items { (render_step(step, page, provider)) }
            (pagination(&page.history, &url(ticket.id)))
        }
    }
}

/// A step of the history: a text as a message, an action as one line.
fn render_step(step: &History, page: &TicketPage, provider: &str) -> Markup {
    let ticket_url = url(page.desk.ticket.id);
    if let Some(text) = &step.description {
        let kind = match (step.note, step.from_staff) {
            (Some(_), _) => MessageKind::Note,
            (None, true) => MessageKind::Staff,
            (None, false) => MessageKind::Customer,
        };
        let message = threads::message(&Message {
            by: &step.created_by,
            kind,
            at: step.created,
            text,
            folded: step
                .reply
                .and_then(|reply| FoldedText::find(&page.folded, Some(reply))),
            provider,
        });
        return html! {
            div #(step_anchor(step)) {
                (message)
                @if step.reply.is_some() { (mails::undelivered(page, step.reply)) }
            }
        };
    }
    let attached = step.attachment.filter(|_| step.step == HistoryStep::Attachment);
    let file_url = attached.map(|id| format!("{ticket_url}/attachments/{id}"));
    let is_image = page
        .files
        .iter()
        .any(|file| Some(file.id) == attached && file.is_image());
    let link = file_url.as_deref().map(|url| FileLink { url, is_image });
    html! {
        p #(step_anchor(step)) .step {
            strong { (step.created_by) } " " (step_text(step, link))
            " · " (time(step.created))
        }
    }
}

/// The links to an attached file.
#[derive(Clone, Copy)]
pub struct FileLink<'a> {
    url: &'a str,
    /// Whether browsers can show the file safely (`send_image`).
    is_image: bool,
}

/// The name of an attached file, with its links.
fn attached_file(name: &str, link: Option<FileLink>) -> Markup {
    html! {
        @match link {
            None => (name),
            Some(FileLink { url, is_image }) => {
                @if is_image { a href=(format!("{url}/image")) target="_blank" rel="noopener" { (name) } } @else { (name) }
                " · " a href=(url) download aria-label=(format!("Download {name}")) { "Download" }
            }
        }
    }
}

/// The element ID of a step.
pub fn step_anchor(step: &History) -> String {
    format!("step-{}", step.id)
}

/// The text of a step, without the name of the user. `link` is the link of an attached file.
pub fn step_text(step: &History, link: Option<FileLink>) -> Markup {
    let (before, after) = (
        step.before.as_deref().unwrap_or("–"),
        step.after.as_deref().unwrap_or("–"),
    );
    html! {
        @match step.step {
            HistoryStep::Opened => "opened the ticket",
            HistoryStep::Reply => "replied",
            HistoryStep::Note => "wrote an internal note",
            HistoryStep::Claim => {
                @if step.before.is_some() { "reassigned the ticket from " (before) } @else { "assigned the ticket" }
                " to " @if after == step.created_by { "themselves" } @else { (after) }
            }
            HistoryStep::Release => "unassigned the ticket",
            HistoryStep::Close => "closed the ticket",
            HistoryStep::Reopen => "reopened the ticket",
            HistoryStep::Closable if after == "true" => "allowed the customer to close the ticket",
            HistoryStep::Closable => "stopped the customer from closing the ticket",
            HistoryStep::Priority => { "changed the priority from " (before) " to " (after) }
            HistoryStep::Tags if step.after.is_none() => { "removed all tags (" (before) ")" }
            HistoryStep::Tags if step.before.is_none() => { "set the tags to " (after) }
            HistoryStep::Tags => { "changed the tags from " (before) " to " (after) }
            HistoryStep::Attachment => { "attached " (attached_file(after, link)) }
            HistoryStep::AttachmentRefused => { "tried to attach " em { (after) } ", which the virus scanner rejected" }
            HistoryStep::Download => { "downloaded " em { (after) } }
            HistoryStep::MergedInto => { "merged this ticket into " (other_ticket(after)) }
            HistoryStep::MergedFrom => { "merged " (other_ticket(after)) " into this ticket" }
        }
    }
}

/// A link to the other ticket of a merge.
fn other_ticket(id: &str) -> Markup {
    html! { a href=(format!("/desk/tickets/{id}")) { "ticket " (id) } }
}
