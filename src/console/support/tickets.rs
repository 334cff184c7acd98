//! The list of an account's tickets.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::error_page::Answer;
use crate::console::layout::{counted, empty, number, page_of, pager};
use crate::console::query::{LONGEST, Query};
use crate::console::threads::{about, address_of, last_change, status};
use crate::console::visit::Visit;
use crate::model::id::TicketId;
use crate::model::page::Paged;
use crate::model::ticket::{Status, Ticket};
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::web::App;

pub const LIST: (&str, &str) = ("Tickets", "/tickets");

pub fn address(id: TicketId) -> String {
    format!("/tickets/{id}")
}

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let search = Search::read(&query);
    let here = search.list(search.closed);
    let there = search.list(!search.closed).at(1);
    let words = search.words.clone();
    let (tickets, others) = app
        .read(caller, move |tx, caller| {
            let tickets = rules::tickets::search(tx, caller, &here, &words)?;
            let others = rules::tickets::search(tx, caller, &there, &words)?.results;
            Ok((tickets, others))
        })
        .await?;
    let nothing = tickets.results == 0 && others == 0 && search.words.is_empty();
    let body = html! {
        div .title {
            h1 { "Tickets" }
            a .button.main href="/tickets/new" { "Open a ticket" }
        }
        @if !nothing { (search.form()) }
        (draw_list(&tickets, others, &search, nothing))
    };
    Ok(visit.page("Tickets", &[], &body))
}

/// Which of the tickets are looked at.
struct Search {
    words: String,
    closed: bool,
    page: String,
}

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            words: query.words(),
            closed: query.text("status") == "closed",
            page: query.text("page").to_owned(),
        }
    }

    fn list(&self, closed: bool) -> ListRequest {
        let status = match closed {
            true => Condition::equal("status", Status::Closed.word()),
            false => Condition::not_equal("status", Status::Closed.word()),
        };
        let list = ListRequest::first(50).at_page_in_url(&self.page);
        list.only(status).sorted("updated", true)
    }

    /// The address of the list as it is searched, on one of its sides.
    fn address(&self, closed: bool) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if closed {
            query.append_pair("status", "closed");
        }
        if !self.words.is_empty() {
            query.append_pair("q", &self.words);
        }
        match query.finish() {
            query if query.is_empty() => "/tickets".to_owned(),
            query => format!("/tickets?{query}"),
        }
    }

    fn form(&self) -> Markup {
        html! {
            form .search role="search" method="get" action="/tickets" hx-get="/tickets" hx-target="#list" hx-select="#list"
                hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
                hx-trigger="submit, input changed delay:250ms from:#q" {
                @if self.closed { input type="hidden" name="status" value="closed"; }
                div .field {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.words) autocomplete="off" spellcheck="false"
                        maxlength=(LONGEST) placeholder="Words, number or who opened it";
                }
                button type="submit" { "Search" }
            }
        }
    }
}

fn draw_list(tickets: &Paged<Ticket>, others: i64, search: &Search, nothing: bool) -> Markup {
    let (open, closed) = if search.closed {
        (others, tickets.results)
    } else {
        (tickets.results, others)
    };
    let here = search.address(search.closed);
    let tab = |label: &str, count: i64, closed: bool| {
        html! {
            a href=(search.address(closed)) aria-current=[(closed == search.closed).then_some("page")] {
                (label) " " span .badge { (number(count.unsigned_abs())) }
            }
        }
    };
    let live = page_of(&here, tickets.page.number);
    html! {
        div #list hx-get=(live) hx-trigger="garth:ticket from:body" hx-select="#list" hx-swap="outerHTML" {
            @if nothing {
                (empty("No tickets yet", "Ask your provider anything: about a VPC, an instance, a bill. You see the answers here.",
                    Some(("Open a ticket", "/tickets/new"))))
            } @else {
                nav .tabs aria-label="Which tickets" { (tab("Open", open, false)) (tab("Closed", closed, true)) }
                @if tickets.items.is_empty() && tickets.results > 0 {
                    (empty("Nothing on this page", "There are fewer tickets by now.", Some(("Show the first page", &here))))
                } @else if tickets.items.is_empty() && !search.words.is_empty() {
                    (empty("Nothing found", "No ticket here is like that. Try another word, or the other tab.", Some(("Show all", "/tickets"))))
                } @else if tickets.items.is_empty() && search.closed {
                    (empty("No closed tickets", "Tickets come here once you or your provider have closed them.", None))
                } @else if tickets.items.is_empty() {
                    (empty("No open tickets", "Everything is settled. Open a ticket whenever you need your provider.",
                        Some(("Open a ticket", "/tickets/new"))))
                } @else {
                    (table(tickets))
                    (pager(tickets, &here))
                }
            }
        }
    }
}

fn table(tickets: &Paged<Ticket>) -> Markup {
    html! {
        table .list {
            thead { tr {
                th scope="col" { "Subject" } th scope="col" { "Regarding" } th scope="col" { "Status" }
                th scope="col" .number { "Replies" } th scope="col" { "Last change" }
            } }
            tbody {
                @for ticket in &tickets.items {
                    tr {
                        th scope="row" {
                            a href=(address(ticket.id)) { (ticket.summary.as_str()) } " " span .id { (ticket.id) }
                            @if !ticket.attachments.is_empty() {
                                " " span .quiet.small { (counted(ticket.attachments.len(), "file", "files")) }
                            }
                        }
                        td data-label="Regarding" {
                            @match &ticket.entity {
                                Some(entity) => span { (about(entity, address_of(entity))) },
                                None => span .quiet { "–" },
                            }
                        }
                        td data-label="Status" { (status(ticket.status)) }
                        td .number data-label="Replies" { (number(ticket.replies.unsigned_abs())) }
                        td data-label="Last change" { span { (last_change(ticket)) } }
                    }
                }
            }
        }
    }
}
