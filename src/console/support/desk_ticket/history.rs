//! The history of a ticket, step by step.

use maud::{Markup, html};

use super::seen::Seen;
use crate::console::desk::address;
use crate::console::layout::{pager, time};
use crate::console::threads::{self, Message, Side};
use crate::model::history::{History, Step};

pub fn thread(seen: &Seen, provider: &str) -> Markup {
    let ticket = &seen.desk.ticket;
    let opener = match &seen.desk.customer {
        Some(customer) => customer.username.as_str(),
        None => ticket.opened_by.as_str(),
    };
    let by_provider = ticket.opener.is_none() && ticket.opened_by == provider;
    html! {
        div #thread .thread aria-label="Activity" {
            @if seen.history.page.number == 1 {
                (threads::message(&Message {
                    by: opener, side: if by_provider { Side::Staff } else { Side::Customer }, at: ticket.opened,
                    text: ticket.description.as_str(), provider,
                }))
            }
            @for step in &seen.history.items { (draw_step(step, provider, &address(ticket.id))) }
            (pager(&seen.history, &address(ticket.id)))
        }
    }
}

/// A step of the history: words as a message, deeds on a line.
fn draw_step(step: &History, provider: &str, here: &str) -> Markup {
    if let Some(text) = &step.description {
        let side = match (step.note, step.from_staff) {
            (Some(_), _) => Side::Note,
            (None, true) => Side::Staff,
            (None, false) => Side::Customer,
        };
        let message = threads::message(&Message {
            by: &step.created_by,
            side,
            at: step.created,
            text,
            provider,
        });
        return html! { div #(place_of(step)) { (message) } };
    }
    let file = step.attachment.map(|id| format!("{here}/attachments/{id}"));
    let file = file.filter(|_| step.step == Step::Attachment);
    html! {
        p #(place_of(step)) .step {
            strong { (step.created_by) } " " (deed(step, file.as_deref()))
            " · " (time(step.created))
        }
    }
}

/// What a step is called in the page's own links.
pub fn place_of(step: &History) -> String {
    format!("step-{}", step.id)
}

/// What somebody did, as it follows their name; `file` is where an attached one can be had.
pub fn deed(step: &History, file: Option<&str>) -> Markup {
    let (before, after) = (
        step.before.as_deref().unwrap_or("–"),
        step.after.as_deref().unwrap_or("–"),
    );
    html! {
        @match step.step {
            Step::Opened => "opened the ticket",
            Step::Reply => "replied",
            Step::Note => "wrote an internal note",
            Step::Claim if step.before.is_some() => { "reassigned the ticket from " (before) " to themselves" }
            Step::Claim => "assigned the ticket to themselves",
            Step::Release => "unassigned the ticket",
            Step::Close => "closed the ticket",
            Step::Reopen => "reopened the ticket",
            Step::Closable if after == "true" => "allowed the customer to close the ticket",
            Step::Closable => "stopped the customer from closing the ticket",
            Step::Priority => { "changed the priority from " (before) " to " (after) }
            Step::Attachment => { "attached " @match file { Some(file) => a href=(file) download { (after) }, None => (after) } }
            Step::AttachmentRefused => { "tried to attach " em { (after) } ", which the virus scanner rejected" }
            Step::Download => { "downloaded " em { (after) } }
        }
    }
}
