//! The messages that arrived by mail, and the queue of mails, on the page of the state of mail.

use maud::{Markup, html};

use crate::console::layout::time;
use crate::model::mail_count::{MailCount, MailOutcome, MailStatus};

pub fn sections(status: &MailStatus) -> Markup {
    let queue = &status.queue;
    html! {
        section aria-labelledby="queue" {
            h2 #queue { "Mails to send" }
            dl .facts {
                div { dt { "Queued" } dd { (queue.queued) } }
                div { dt { "Oldest queued" } dd { @match queue.oldest_queued { Some(at) => (time(at)), None => span .quiet { "None" } } } }
                div { dt { "Failed" } dd { (queue.failed) } }
            }
        }
        section aria-labelledby="received" {
            h2 #received { "Received messages" }
            @if status.received.is_empty() {
                p .quiet { "No message has arrived by mail." }
            } @else {
                table .list {
                    thead { tr {
                        th scope="col" { "Reason" } th scope="col" { "Outcome" } th scope="col" { "Messages" } th scope="col" { "Last" }
                    } }
                    tbody { @for count in &status.received { (row(count)) } }
                }
            }
        }
    }
}

fn row(count: &MailCount) -> Markup {
    html! {
        tr {
            th scope="row" { code { (count.reason) } }
            td data-label="Outcome" { (outcome(count.outcome)) }
            td data-label="Messages" { (count.messages) }
            td data-label="Last" { (time(count.last_received)) }
        }
    }
}

fn outcome(outcome: MailOutcome) -> &'static str {
    match outcome {
        MailOutcome::Accepted => "Accepted",
        MailOutcome::Dropped => "Dropped",
        MailOutcome::Refused => "Refused",
        MailOutcome::Deferred => "Deferred",
    }
}
