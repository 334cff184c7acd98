//! The mails about a ticket, with their state.

use axum::extract::State;
use maud::{Markup, html};

use super::ticket_page::TicketPage;
use crate::console::desk::{QUEUE, url};
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, page_url, pagination, pluralize, time};
use crate::console::query::{Query, ROWS_PER_PAGE};
use crate::console::visit::Visit;
use crate::model::id::{OutgoingMailId, ReplyId, TicketId};
use crate::model::outgoing_mail::{MailKind, MailState, OutgoingMail, UndeliveredMail};
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

/// The number of undelivered mails that a message shows. The others are on the page with the mails.
const MAX_MAILS_OF_MESSAGE: usize = 3;

pub fn mails_url(ticket: TicketId) -> String {
    format!("{}/mails", url(ticket))
}

/// The mails about a message that were not delivered, or not yet, with links to their rows. `reply` is `None` for the
/// text of the ticket.
pub fn undelivered(page: &TicketPage, reply: Option<ReplyId>) -> Markup {
    let ticket = page.desk.ticket.id;
    let mails: Vec<_> = page
        .undelivered
        .iter()
        .filter(|mail| mail.reply == reply)
        .collect();
    html! {
        @for mail in mails.iter().take(MAX_MAILS_OF_MESSAGE) {
            @let is_waiting = matches!(mail.state, MailState::Queued | MailState::Sending);
            p .mail-state .info[is_waiting] .warning[!is_waiting] {
                a href=(row_url(ticket, mail)) { "Mail to " (mail.address.as_str()) }
                @match (mail.state, &mail.error) {
                    (MailState::Queued | MailState::Sending, None) => " is not sent yet.",
                    (MailState::Queued | MailState::Sending, Some(error)) => { " is not sent yet, and will be tried again: " code { (error) } }
                    (MailState::Bounced, _) => " was returned as undeliverable.",
                    (_, error) => {
                        " was not sent"
                        @match error.as_deref().map(|error| (error, meaning(error))) {
                            Some((_, Some(meaning))) => { ": " (meaning) }
                            Some((error, None)) => { ": " code { (error) } }
                            None => {}
                        }
                    }
                }
            }
        }
        @if mails.len() > MAX_MAILS_OF_MESSAGE {
            p .mail-state.info { a href=(mails_url(ticket)) { (pluralize(mails.len() - MAX_MAILS_OF_MESSAGE, "more mail", "more mails")) } " about this message: not delivered." }
        }
    }
}

/// The URL of a row of the page with the mails.
fn row_url(ticket: TicketId, mail: &UndeliveredMail) -> String {
    let page = mail.newer / ROWS_PER_PAGE + 1;
    format!("{}#{}", page_url(&mails_url(ticket), page), row_id(mail.id))
}

fn row_id(mail: OutgoingMailId) -> String {
    format!("mail-{mail}")
}

pub async fn page(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    query: Query,
) -> PageResult {
    let list_request = query.list_request();
    let mails = app
        .read(staff, move |tx, _| {
            rules::outgoing_mails::list(tx, id, &list_request)
        })
        .await?;
    let body = html! {
        h1 { "Mails about ticket " (id) }
        @if mails.items.is_empty() {
            (empty_state("No mails", "Garth has sent no mails about this ticket.", None))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Address" } th scope="col" { "Recipient" } th scope="col" { "State" } th scope="col" { "Attempts" }
                    th scope="col" { "Queued" } th scope="col" { "Sent" } th scope="col" { "Error" }
                } }
                tbody { @for mail in &mails.items { (row(mail)) } }
            }
            (pagination(&mails, &mails_url(id)))
        }
    };
    let ticket = format!("Ticket {id}");
    Ok(visit.page("Mails about a ticket", &[QUEUE, (&ticket, &url(id))], &body))
}

fn row(mail: &OutgoingMail) -> Markup {
    html! {
        tr #(row_id(mail.id)) {
            th scope="row" { (mail.address.as_str()) }
            td data-label="Recipient" { @match mail.kind { MailKind::Desk => "Staff", _ => "Customer" } }
            td data-label="State" {
                (state(mail.state))
                @if mail.maybe_repeated { " " span .tag { "possibly sent twice" } }
            }
            td data-label="Attempts" { (mail.attempts) }
            td data-label="Queued" { (time(mail.queued)) }
            td data-label="Sent" { @match mail.sent { Some(sent) => (time(sent)), None => span .quiet { "Not sent" } } }
            td data-label="Error" { span {
                @match &mail.error {
                    Some(error) => { code { (error) } @if let Some(meaning) = meaning(error) { " " span .quiet.small { (meaning) } } }
                    None => span .quiet { "None" }
                }
            } }
        }
    }
}

/// The meaning of an error that is not the status of a mail server.
fn meaning(error: &str) -> Option<&'static str> {
    match error {
        "no_access" => Some("The recipient has no access to the ticket."),
        "unsubscribed" => Some("The recipient wants no mails."),
        "address_suppressed" => Some("An earlier mail to this address failed."),
        "canceled" => Some("An operator deleted the job."),
        _ => None,
    }
}

fn state(state: MailState) -> &'static str {
    match state {
        MailState::Queued => "Queued",
        MailState::Sending => "Sending",
        MailState::Sent => "Sent",
        MailState::Failed => "Failed",
        MailState::Suppressed => "Suppressed",
        MailState::Bounced => "Bounced",
    }
}
