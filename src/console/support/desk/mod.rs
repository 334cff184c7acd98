//! The queue of the desk: the tickets of all accounts, and the keyboard shortcuts.
//!
//! Here are the parts that other pages of the desk share.

mod account_filter;
mod filter_form;
mod filters;
mod list;
mod queue;
mod shortcuts;

pub use filters::{DEFAULT_STATUS, UNASSIGNED, count, filter_label};
pub use queue::queue;
pub use shortcuts::shortcuts;

use maud::{Markup, html};

use crate::console::threads;
use crate::model::id::TicketId;
use crate::model::ticket::{DeskTicket, Priority};
use crate::model::ticket_tag::TicketTag;

/// The label and the URL of the queue.
pub const QUEUE: (&str, &str) = ("Desk", "/desk");

pub fn url(id: TicketId) -> String {
    format!("/desk/tickets/{id}")
}

/// The assignee of a ticket.
pub fn assignee(desk: &DeskTicket, me: &str) -> Markup {
    html! {
        @match &desk.claim {
            None => span .tag.free { "Unassigned" },
            Some(claim) if claim.username == me => span .tag.on { "Me" },
            Some(claim) => { (threads::avatar(&claim.username)) " " (claim.username) },
        }
    }
}

/// The name of an account: the company, or else the e-mail address.
pub fn account_name(desk: &DeskTicket) -> &str {
    if desk.company.is_empty() {
        &desk.email
    } else {
        &desk.company
    }
}

pub fn priority(priority: Priority) -> Markup {
    html! { @if priority != Priority::Normal { span .priority .(priority.word()) { (priority.word()) } " " } }
}

/// The tags of a ticket.
pub fn tags(tags: &[TicketTag]) -> Markup {
    html! { @for tag in tags { span .tag { (tag.as_str()) } " " } }
}
