//! The mails about a ticket, with their state.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::desk::{QUEUE, url};
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, pagination, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::id::TicketId;
use crate::model::outgoing_mail::{MailKind, MailState, OutgoingMail};
use crate::model::page::Page;
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

pub fn mails_url(ticket: TicketId) -> String {
    format!("{}/mails", url(ticket))
}

pub async fn page(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    query: Query,
) -> PageResult {
    let list_request = query.list_request(Page::DEFAULT_SIZE);
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
        tr {
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
