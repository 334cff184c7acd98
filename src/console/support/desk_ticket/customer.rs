//! The sidebar of a ticket: customer, properties, resource, files, mails and other tickets.

use maud::{Markup, html};

use super::mails::mails_url;
use super::ticket_page::TicketPage;
use crate::console::desk::{account_name, url};
use crate::console::forms::VERSION_FIELD;
use crate::console::layout::{age, number, pluralize};
use crate::console::provider::account_summary;
use crate::console::threads::{self, kind_label};
use crate::console::visit::Visit;
use crate::model::account::status::AccountStatus;
use crate::model::cidr::Cidr;
use crate::model::entity_tag::EntityTag;
use crate::model::ticket::{DeskTicket, Priority, Status};
use crate::model::ticket_tag;

pub fn sidebar(visit: &Visit, page: &TicketPage, forbidden: &[Cidr], sends_mail: bool) -> Markup {
    let (desk, ticket) = (&page.desk, &page.desk.ticket);
    html! {
        aside #context .context aria-label="Customer" {
            section .card {
                h2 { "Customer" }
                dl {
                    dt { "Account" } dd { a href=(account_summary::url(ticket.account)) { (account_name(desk)) } " " span .id { (ticket.account) }
                        @if desk.account_status != AccountStatus::Active { " " (account_summary::status_tag(desk.account_status)) } }
                    dt { "Contact" } dd { (desk.email) }
                    dt { "Opened by" }
                    dd {
                        @match &desk.customer {
                            Some(customer) => { (customer.username) @if customer.restricted { " " span .tag { "restricted" } } br; (customer.email) }
                            None => { (ticket.opened_by) }
                        }
                    }
                    dt { "Who can read this ticket" }
                    dd { (readers(&page.readers)) br; span .quiet.small { "Internal notes: staff only" } }
                }
            }
            section .card {
                h2 { "Properties" }
                (properties(visit, desk))
            }
            section .card {
                h2 { "Regarding" }
                @match &ticket.entity {
                    None if desk.managed_issue => p { "Managed service" },
                    None => p .quiet { "Not specified" },
                    Some(entity) => {
                        p {
                            strong { @match &page.entity_url { Some(url) => a href=(url) { (entity.label) }, None => (entity.label) } }
                            " " span .id { (entity.id) } br; span .quiet { (kind_label(entity.kind.word())) }
                        }
                    }
                }
                (page.networks.summary(ticket.id, forbidden))
            }
            @if !page.files.is_empty() {
                section .card { h2 { "Files" } (threads::files(&page.files, &url(ticket.id))) p .hint { "Downloads are recorded in the ticket history." } }
            }
            @if !sends_mail || page.mails > 0 {
                section .card {
                    h2 { "Mails" }
                    @if !sends_mail { p .quiet { "This server sends no mails to customers." } }
                    @if page.mails > 0 {
                        p .warning[page.failed_mails > 0] {
                            a href=(mails_url(ticket.id)) {
                                (pluralize(page.mails as usize, "mail", "mails")) @if page.failed_mails > 0 { ", " (page.failed_mails) " failed" } @else { " about this ticket" }
                            }
                        }
                    }
                }
            }
            section .card {
                h2 { "Other open tickets" @if page.others.results > 0 { " " span .tag { (page.others.results) } } }
                @if page.others.items.is_empty() { p .quiet { "None" } } @else {
                    ul .plain {
                        @for other in &page.others.items {
                            li { a href=(url(other.ticket.id)) { (other.ticket.summary.as_str()) } " " span .id { (other.ticket.id) } " " span .quiet.small { (age(other.ticket.updated, page.now)) } }
                        }
                    }
                }
                @if page.others.results > 0 { p { a href=(format!("/desk?account={}", ticket.account)) { "All open tickets of this account" } } }
                p { a href=(format!("/desk?account={}&status=all", ticket.account)) { "All tickets of this account" } }
                p { a href=(format!("/desk/tickets/new?account_id={}", ticket.account)) { "Open a ticket for this customer" } }
            }
        }
    }
}

/// The first users of the account who can read the ticket, and the number of the others.
fn readers(names: &[String]) -> Markup {
    const MAX_SHOWN: usize = 10;
    let shown = &names[..names.len().min(MAX_SHOWN)];
    let more = (names.len() - shown.len()) as u64;
    html! {
        @if names.is_empty() { span .quiet { "No user of the account" } }
        (shown.join(", ")) @if more > 0 { " and " (number(more)) " more" }
    }
}

fn properties(visit: &Visit, desk: &DeskTicket) -> Markup {
    html! {
        form #handling .handling method="post" novalidate action=(format!("{}/change", url(desk.ticket.id))) {
            (visit.form_token())
            input type="hidden" name=(VERSION_FIELD) value=(EntityTag::of(desk).to_string());
            label for="by-priority" { "Priority" }
            select #by-priority name="priority" {
                @for word in Priority::WORDS { option value=(word) selected[word == desk.priority.word()] { (word) } }
            }
            label for="f-tags" { "Tags, separated by commas" }
            input #f-tags type="text" name="tags" value=(ticket_tag::join(&desk.tags)) autocomplete="off" spellcheck="false";
            @if desk.ticket.status != Status::Closed {
                label for="may-close" { "Customer can close the ticket" }
                select #may-close name="may_close" {
                    option value="yes" selected[desk.ticket.may_close] { "Yes" }
                    option value="no" selected[!desk.ticket.may_close] { "No" }
                }
            }
            button type="submit" { "Save" }
        }
    }
}
