//! The list of the tickets of an account, with search.

use std::collections::HashMap;

use axum::extract::State;
use maud::{Markup, html};

use crate::console::bulk::selection::{self, Target};
use crate::console::csv::{Csv, EXPORT_LINK, MAX_CSV_ROWS, export_link};
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, number, page_url, pagination, pluralize};
use crate::console::query::{MAX_SEARCH_CHARS, Query, list_page};
use crate::console::threads::{entity_link, entity_url, last_updated, status_tag};
use crate::console::visit::Visit;
use crate::model::id::TicketId;
use crate::model::page::Paged;
use crate::model::ticket::{Side, Status, Ticket};
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::web::App;

/// The label and the URL of the list of tickets.
pub const LIST: (&str, &str) = ("Tickets", "/tickets");

pub fn url(id: TicketId) -> String {
    format!("/tickets/{id}")
}

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let search = Search::read(&query);
    let current_tab = search.list_request(search.closed);
    let other_tab = search.list_request(!search.closed).at(1);
    let (text, side) = (search.text.clone(), search.side());
    let (tickets, sides, other_count) = app
        .read(caller, move |tx, caller| {
            let tickets = rules::tickets::search_waiting_for(tx, caller, &current_tab, &text, side)?;
            let sides = rules::tickets::sides(tx, &tickets.items)?;
            let other_count =
                rules::tickets::search_waiting_for(tx, caller, &other_tab, &text, side)?.results;
            Ok((tickets, sides, other_count))
        })
        .await?;
    let has_no_tickets = tickets.results == 0 && other_count == 0 && search.text.is_empty() && side.is_none();
    let policy = app.store().policy();
    let provider = &policy.support.provider;
    let sides = Sides { sides, provider };
    let body = html! {
        div .title {
            h1 { "Tickets" }
            div .actions {
                (export_link((tickets.results > 0).then_some(&search.export_url())))
                a .button.main href="/tickets/new" { "Open a ticket" }
            }
        }
        @if !has_no_tickets { (search.form(provider)) }
        (render_list(&tickets, &sides, other_count, &search, has_no_tickets))
    };
    Ok(visit.page("Tickets", &[], &body))
}

/// The tickets that match the search as a CSV file.
pub async fn export(State(app): State<App>, caller: Caller, query: Query) -> PageResult {
    let search = Search::read(&query);
    let (list_request, text, side) = (
        search.list_request(search.closed),
        search.text.clone(),
        search.side(),
    );
    let csv = app
        .read(caller, move |tx, caller| {
            let header = [
                "id",
                "subject",
                "status",
                "regarding_type",
                "regarding_id",
                "replies",
                "opened",
                "opened_by",
                "updated",
                "updated_by",
                "closed",
            ];
            let mut csv = Csv::new(&header);
            for page in 1.. {
                let list = ListRequest {
                    page_size: ListRequest::full_page().page_size,
                    ..list_request.clone()
                };
                let found = rules::tickets::search_waiting_for(tx, caller, &list.at(page), &text, side)?;
                found.items.iter().for_each(|ticket| export_row(&mut csv, ticket));
                if page >= found.pages() || page * found.page.size >= MAX_CSV_ROWS as i64 {
                    break;
                }
            }
            Ok(csv)
        })
        .await?;
    Ok(csv.respond("tickets"))
}

fn export_row(csv: &mut Csv, ticket: &Ticket) {
    let entity = ticket.entity.as_ref();
    csv.row(&[
        &ticket.id.to_string(),
        ticket.summary.as_str(),
        ticket.status.word(),
        entity.map_or("", |entity| entity.kind.word()),
        &entity.map(|entity| entity.id.to_string()).unwrap_or_default(),
        &ticket.replies.to_string(),
        &ticket.opened.to_string(),
        &ticket.opened_by,
        &ticket.updated.to_string(),
        ticket.updated_by.as_deref().unwrap_or_default(),
        &ticket.closed.map(|closed| closed.to_string()).unwrap_or_default(),
    ]);
}

/// The search on the list of tickets.
struct Search {
    text: String,
    closed: bool,
    /// One of `SIDES`, or empty.
    waiting_for: String,
    page: String,
}

/// The values of the filter by the side that a ticket waits for.
pub const SIDES: [(&str, Side); 2] = [("us", Side::Customer), ("provider", Side::Provider)];

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            text: query.search_text(),
            closed: query.text("status") == "closed",
            waiting_for: query.text("waiting_for").to_owned(),
            page: query.text("page").to_owned(),
        }
    }

    fn side(&self) -> Option<Side> {
        let found = SIDES.iter().find(|(value, _)| *value == self.waiting_for);
        found.map(|(_, side)| *side)
    }

    fn list_request(&self, closed: bool) -> ListRequest {
        let status = match closed {
            true => Condition::equal("status", Status::Closed.word()),
            false => Condition::not_equal("status", Status::Closed.word()),
        };
        let list = list_page(&self.page);
        list.only(status).sorted("updated", true)
    }

    /// The URL of the list of open or closed tickets, with this search.
    fn url(&self, closed: bool) -> String {
        self.url_of(LIST.1, closed)
    }

    fn export_url(&self) -> String {
        self.url_of("/tickets/export.csv", self.closed)
    }

    fn url_of(&self, page_url: &str, closed: bool) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if closed {
            query.append_pair("status", "closed");
        }
        if !self.text.is_empty() {
            query.append_pair("q", &self.text);
        }
        if self.side().is_some() {
            query.append_pair("waiting_for", &self.waiting_for);
        }
        match query.finish() {
            query if query.is_empty() => page_url.to_owned(),
            query => format!("{page_url}?{query}"),
        }
    }

    fn form(&self, provider: &str) -> Markup {
        let sides = [("", "Anyone"), ("us", "You"), ("provider", provider)];
        html! {
            form .search role="search" method="get" action="/tickets" hx-get="/tickets" hx-target="#list" hx-select="#list"
                hx-select-oob=(EXPORT_LINK) hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
                hx-trigger="submit, input changed delay:250ms from:#q, change from:#waiting-for" {
                @if self.closed { input type="hidden" name="status" value="closed"; }
                div .field {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.text) autocomplete="off" spellcheck="false"
                        maxlength=(MAX_SEARCH_CHARS) placeholder="Text, #ID or username";
                }
                div .field {
                    label for="waiting-for" { "Waiting for" }
                    select #waiting-for name="waiting_for" { @for (value, label) in sides { option value=(value) selected[value == self.waiting_for] { (label) } } }
                }
                button type="submit" { "Search" }
            }
        }
    }
}

/// The side that each ticket of the list waits for.
struct Sides<'a> {
    sides: HashMap<TicketId, Side>,
    provider: &'a str,
}

/// The name of a side, for users of the account.
pub fn side_name(side: Side, provider: &str) -> &str {
    match side {
        Side::Customer => "You",
        Side::Provider => provider,
    }
}

fn render_list(
    tickets: &Paged<Ticket>,
    sides: &Sides,
    other_count: i64,
    search: &Search,
    has_no_tickets: bool,
) -> Markup {
    let (open, closed) = if search.closed {
        (other_count, tickets.results)
    } else {
        (tickets.results, other_count)
    };
    let list_url = search.url(search.closed);
    let tab = |label: &str, count: i64, closed: bool| {
        html! {
            a href=(search.url(closed)) aria-current=[(closed == search.closed).then_some("page")] {
                (label) " " span .badge { (number(count.unsigned_abs())) }
            }
        }
    };
    let reload_url = page_url(&list_url, tickets.page.number);
    html! {
        div #list hx-get=(reload_url) hx-trigger="garth:ticket from:body" hx-select="#list" hx-select-oob=(EXPORT_LINK) hx-swap="outerHTML" {
            @if has_no_tickets {
                (empty_state("No tickets yet", "Open a ticket to contact your provider. Replies appear here.",
                    Some(("Open a ticket", "/tickets/new"))))
            } @else {
                nav .tabs aria-label="Ticket status" { (tab("Open", open, false)) (tab("Closed", closed, true)) }
                @if tickets.items.is_empty() && tickets.results > 0 {
                    (empty_state("This page is empty", "The list no longer has this many pages.", Some(("Go to the first page", &list_url))))
                } @else if tickets.items.is_empty() && !(search.text.is_empty() && search.waiting_for.is_empty()) {
                    (empty_state("No results", "No tickets match your search. Try other words or the other tab.", Some(("Clear search", "/tickets"))))
                } @else if tickets.items.is_empty() && search.closed {
                    (empty_state("No closed tickets", "Tickets appear here after you or your provider close them.", None))
                } @else if tickets.items.is_empty() {
                    (empty_state("No open tickets", "Open a ticket to contact your provider.",
                        Some(("Open a ticket", "/tickets/new"))))
                } @else {
                    @if !search.closed { (selection::buttons(Target::Tickets, &reload_url)) }
                    (table(tickets, sides, !search.closed))
                    (pagination(tickets, &list_url))
                }
            }
        }
    }
}

/// The table of open or closed tickets. Open tickets have a checkbox, and the side that they wait for.
fn table(tickets: &Paged<Ticket>, sides: &Sides, is_open: bool) -> Markup {
    html! {
        table .list {
            thead { tr {
                @if is_open { (selection::header()) }
                th scope="col" { "Subject" } th scope="col" { "Regarding" } th scope="col" { "Status" }
                @if is_open { th scope="col" { "Waiting for" } }
                th scope="col" .number { "Replies" } th scope="col" { "Last updated" }
            } }
            tbody {
                @for ticket in &tickets.items {
                    tr {
                        @if is_open { (selection::checkbox(ticket.id.0, ticket.summary.as_str())) }
                        th scope="row" {
                            a href=(url(ticket.id)) { (ticket.summary.as_str()) } " " span .id { (ticket.id) }
                            @if !ticket.attachments.is_empty() {
                                " " span .quiet.small { (pluralize(ticket.attachments.len(), "file", "files")) }
                            }
                        }
                        td data-label="Regarding" {
                            @match &ticket.entity {
                                Some(entity) => span { (entity_link(entity, entity_url(entity))) },
                                None => span .quiet { "–" },
                            }
                        }
                        td data-label="Status" { (status_tag(ticket.status)) }
                        @if is_open {
                            td data-label="Waiting for" {
                                @if let Some(side) = sides.sides.get(&ticket.id) { (side_name(*side, sides.provider)) }
                            }
                        }
                        td .number data-label="Replies" { (number(ticket.replies.unsigned_abs())) }
                        td data-label="Last updated" { span { (last_updated(ticket)) } }
                    }
                }
            }
        }
    }
}
