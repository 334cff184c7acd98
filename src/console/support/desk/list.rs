//! The list of tickets in the queue.

use std::collections::HashMap;

use maud::{Markup, html};

use super::filters::{NEEDS_ANSWER, TIME_LEFT, search_url, url_with_closed};
use super::{QUEUE, account_name, assignee, priority, tags, url};
use crate::console::bulk::selection::{self, Action, Target};
use crate::console::forms::FormData;
use crate::console::layout::{age, empty_state, page_url, pagination, pluralize};
use crate::console::provider::account_summary;
use crate::console::threads::{self, kind_label};
use crate::console::{saved_views, targets};
use crate::model::account::status::AccountStatus;
use crate::model::id::TicketId;
use crate::model::page::Paged;
use crate::model::saved_view::SavedView;
use crate::model::ticket::{DeskTicket, Status};
use crate::model::time::Time;

/// The context of the rows: the current user, the user who last updated each ticket, the times since which tickets wait
/// for an answer, the saved views, the time, and whether targets are set.
pub struct QueueContext<'a> {
    pub me: &'a str,
    pub updated_by: HashMap<TicketId, String>,
    pub waiting_since: HashMap<TicketId, Time>,
    pub views: Vec<SavedView>,
    pub now: Time,
    pub has_targets: bool,
}

pub fn render_list(tickets: &Paged<DeskTicket>, search: &FormData, context: &QueueContext) -> Markup {
    let list_url = search_url(search);
    let reload_url = page_url(&list_url, tickets.page.number);
    html! {
        div #list hx-get=(reload_url) hx-trigger="garth:queue from:body" hx-select="#list" hx-swap="outerHTML" {
            (saved_views::links(&context.views, search, &list_url))
            @if tickets.items.is_empty() && tickets.results > 0 {
                (empty_state("This page is empty", "The list no longer has this many pages.", Some(("Go to the first page", &list_url))))
            } @else if tickets.items.is_empty() && list_url == "/desk" {
                (empty_state("No open tickets", "New tickets appear here automatically.", None))
            } @else if tickets.items.is_empty() {
                (no_results(search))
            } @else {
                p .count role="status" { (pluralize(tickets.results as usize, "ticket", "tickets")) }
                @if let Some(url) = url_with_closed(search) { p .hint { a href=(url) { "Search closed tickets, too" } } }
                (selection::buttons_except(Target::Desk, &reload_url, (search.text("status") == "closed").then_some(Action::Close)))
                table .list.queue data-rows {
                    thead { tr {
                        (selection::header())
                        th scope="col" { "Ticket" } th scope="col" { "Account" } th scope="col" { "Status" } th scope="col" { "Assignee" }
                        @if context.has_targets { th scope="col" { (TIME_LEFT.1) } }
                        th scope="col" .number { "Age" } th scope="col" .number { "Last updated" }
                    } }
                    tbody { @for ticket in &tickets.items { (row(ticket, context)) } }
                }
                (pagination(tickets, &list_url))
            }
        }
    }
}

fn no_results(search: &FormData) -> Markup {
    let (text, link) = match &url_with_closed(search) {
        None => (
            "No tickets match your search.",
            ("Clear search", QUEUE.1.to_owned()),
        ),
        Some(url) => (
            "No open or new tickets match your search.",
            ("Search closed tickets, too", url.clone()),
        ),
    };
    empty_state("No results", text, Some((link.0, &link.1)))
}

fn row(desk: &DeskTicket, context: &QueueContext) -> Markup {
    let ticket = &desk.ticket;
    let (now, updated_by) = (context.now, context.updated_by.get(&ticket.id));
    html! {
        tr {
            (selection::checkbox(ticket.id.0, ticket.summary.as_str()))
            th scope="row" {
                (priority(desk.priority))
                a href=(url(ticket.id)) { (ticket.summary.as_str()) } " " span .id { (ticket.id) }
                @if !desk.tags.is_empty() { " " (tags(&desk.tags)) }
                @if let Some(entity) = &ticket.entity {
                    span .quiet.small.line { (kind_label(entity.kind.word())) " " (entity.label) }
                }
            }
            td data-label="Account" { span {
                a href=(account_summary::url(ticket.account)) { (account_name(desk)) } " " span .id { (ticket.account) }
                @if desk.account_status != AccountStatus::Active { " " (account_summary::status_tag(desk.account_status)) }
            } }
            td data-label="Status" { span {
                (threads::status_tag(ticket.status))
                @if let Some(since) = context.waiting_since.get(&ticket.id) { " " span .tag.free { (NEEDS_ANSWER) " · " (age(*since, now)) } }
            } }
            td data-label="Assignee" { span { (assignee(desk, context.me)) } }
            @if context.has_targets { td data-label=(TIME_LEFT.1) { span { (targets::time_left(desk.targets.as_ref().filter(|_| ticket.status != Status::Closed))) } } }
            td .number data-label="Age" { (age(ticket.opened, now)) }
            td .number data-label="Last updated" {
                span { (age(ticket.updated, now)) @if let Some(by) = updated_by { " " span .quiet.small { "by " (by) } } }
            }
        }
    }
}
