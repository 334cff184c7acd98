//! The customer's side of a ticket on the desk: who they are, what it is about, how it is handled.

use axum::extract::State;
use maud::{Markup, html};

use super::Seen;
use crate::console::desk::{QUEUE, account_name, address};
use crate::console::layout::{age, counted, time};
use crate::console::session::{Answer, Visit};
use crate::console::threads::{self, kind_in_words};
use crate::console::usage::used_meter;
use crate::http::App;
use crate::http::extract::At;
use crate::model::id::TicketId;
use crate::model::ticket::{DeskTicket, Priority, Status};
use crate::rules;
use crate::rules::addresses;
use crate::rules::agent::Staff;

pub fn context(visit: &Visit, seen: &Seen) -> Markup {
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
                    None if desk.managed_issue => p { "A managed service." },
                    None => p .quiet { "Nothing in particular." },
                    Some(entity) => {
                        p { strong { (entity.label) } " " span .id { (entity.id) } br; span .quiet { (kind_in_words(&entity.kind)) } }
                        @if entity.kind == "vpc" { p { a href=(format!("{}/vpc", address(ticket.id))) { "Its subnets and addresses" } } }
                    }
                }
            }
            @if !seen.files.is_empty() {
                section .card { h2 { "Files" } (threads::files(&seen.files, &address(ticket.id))) p .hint { "Each download is in the history." } }
            }
            section .card {
                h2 { "Handling" }
                (handling(visit, desk))
            }
            section .card {
                h2 { "Other open tickets" }
                @if seen.others.is_empty() { p .quiet { "None." } } @else {
                    ul .plain {
                        @for other in &seen.others {
                            li { a href=(address(other.ticket.id)) { (other.ticket.summary.as_str()) } " " span .id { (other.ticket.id) } " " span .quiet.small { (age(other.ticket.updated, seen.now)) } }
                        }
                    }
                }
                p { a href=(format!("/desk/tickets/new?account_id={}", ticket.account)) { "Open a ticket for this customer" } }
            }
        }
    }
}

fn handling(visit: &Visit, desk: &DeskTicket) -> Markup {
    html! {
        form .handling method="post" action=(format!("{}/change", address(desk.ticket.id))) {
            (visit.form_token())
            label for="by-priority" { "Priority" }
            select #by-priority name="priority" {
                @for word in Priority::WORDS { option value=(word) selected[word == desk.priority.word()] { (word) } }
            }
            @if desk.ticket.status != Status::Closed {
                label for="may-close" { "The customer may close it" }
                select #may-close name="may_close" {
                    option value="yes" selected[desk.ticket.may_close] { "yes" }
                    option value="no" selected[!desk.ticket.may_close] { "no" }
                }
            }
            button type="submit" { "Save" }
        }
    }
}

/// The VPC that a ticket is about: its subnets, how full they are, and what is on them.
pub async fn vpc(State(app): State<App>, visit: Visit, staff: Staff, At(id): At<TicketId>) -> Answer {
    let (vpc, used) = app
        .read(staff, move |tx, _| {
            let vpc = rules::desk::vpc(tx, id)?;
            let used = addresses::used_in_subnets(tx, &vpc.subnets)?;
            Ok((vpc, used))
        })
        .await?;
    let body = html! {
        h1 { (vpc.label.as_str()) " " span .id { (vpc.id) } }
        dl .facts {
            div { dt { "Region" } dd { (vpc.region.0) } }
            div { dt { "Created" } dd { (time(vpc.created)) } }
            div { dt { "Changed" } dd { (time(vpc.updated)) } }
        }
        @if !vpc.description.as_str().is_empty() { p .prose { (vpc.description.as_str()) } }
        p .count { (counted(vpc.subnets.len(), "subnet", "subnets")) }
        @if !vpc.subnets.is_empty() {
            table .list {
                thead { tr { th scope="col" { "Subnet" } th scope="col" { "Range" } th scope="col" { "Addresses in use" } th scope="col" { "Instances" } } }
                tbody {
                    @for (subnet, used) in vpc.subnets.iter().zip(&used) {
                        tr {
                            th scope="row" { (subnet.label.as_str()) " " span .id { (subnet.id) } }
                            td data-label="Range" { code { (subnet.ipv4) } }
                            td data-label="In use" { (used_meter(*used)) }
                            td data-label="Instances" {
                                @if subnet.uses.is_empty() { span .quiet { "–" } }
                                @for (at, found) in subnet.uses.iter().enumerate() {
                                    @if at > 0 { ", " }
                                    (found.instance_label) " " span .id { (found.instance) } @if !found.active { " " span .quiet { "(not active)" } }
                                }
                            }
                        }
                    }
                }
            }
        }
    };
    let ticket = format!("Ticket {id}");
    let way = [QUEUE, (ticket.as_str(), &address(id))];
    Ok(visit.page(vpc.label.as_str(), &way, &body))
}
