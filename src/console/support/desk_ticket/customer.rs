//! The customer's side of a ticket on the desk: who they are, what it is about, how it is handled.

use maud::{Markup, html};

use super::seen::Seen;
use crate::console::desk::{account_name, address};
use crate::console::forms::SEEN;
use crate::console::layout::age;
use crate::console::threads::{self, kind_in_words};
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::tag::Tag;
use crate::model::ticket::{DeskTicket, Priority, Status};

pub fn context(visit: &Visit, seen: &Seen, forbidden: &[Cidr]) -> Markup {
    let (desk, ticket) = (&seen.desk, &seen.desk.ticket);
    html! {
        aside #context .context aria-label="Customer" {
            section .card {
                h2 { "Customer" }
                dl {
                    dt { "Account" } dd { a href=(format!("/desk?account={}&status=all", ticket.account)) { (account_name(desk)) } " " span .id { (ticket.account) } }
                    dt { "Contact" } dd { (desk.email) }
                    dt { "Opened by" }
                    dd {
                        @match &desk.customer {
                            Some(customer) => { (customer.username) @if customer.restricted { " " span .tag { "restricted" } } br; (customer.email) }
                            None => { (ticket.opened_by) }
                        }
                    }
                }
            }
            section .card {
                h2 { "Regarding" }
                @match &ticket.entity {
                    None if desk.managed_issue => p { "Managed service" },
                    None => p .quiet { "Not specified" },
                    Some(entity) => {
                        p { strong { (entity.label) } " " span .id { (entity.id) } br; span .quiet { (kind_in_words(entity.kind.word())) } }
                    }
                }
                @for network in &seen.networks { (network.beside(ticket.id, forbidden)) }
            }
            @if !seen.files.is_empty() {
                section .card { h2 { "Files" } (threads::files(&seen.files, &address(ticket.id))) p .hint { "Downloads are recorded in the ticket history." } }
            }
            section .card {
                h2 { "Properties" }
                (handling(visit, desk))
            }
            section .card {
                h2 { "Other open tickets" @if seen.others.results > 0 { " " span .tag { (seen.others.results) } } }
                @if seen.others.items.is_empty() { p .quiet { "None" } } @else {
                    ul .plain {
                        @for other in &seen.others.items {
                            li { a href=(address(other.ticket.id)) { (other.ticket.summary.as_str()) } " " span .id { (other.ticket.id) } " " span .quiet.small { (age(other.ticket.updated, seen.now)) } }
                        }
                    }
                }
                @if seen.others.results > 0 { p { a href=(format!("/desk?account={}", ticket.account)) { "All open tickets of this account" } } }
                p { a href=(format!("/desk/tickets/new?account_id={}", ticket.account)) { "Open a ticket for this customer" } }
            }
        }
    }
}

fn handling(visit: &Visit, desk: &DeskTicket) -> Markup {
    html! {
        form #handling .handling method="post" action=(format!("{}/change", address(desk.ticket.id))) {
            (visit.form_token())
            input type="hidden" name=(SEEN) value=(Tag::of(desk).to_string());
            label for="by-priority" { "Priority" }
            select #by-priority name="priority" {
                @for word in Priority::WORDS { option value=(word) selected[word == desk.priority.word()] { (word) } }
            }
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
