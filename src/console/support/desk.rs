//! The desk's queue: tickets of all accounts, who has them, and how long they have waited.

use std::collections::HashMap;

use axum::extract::State;
use maud::{Markup, html};

use crate::console::error_page::Answer;
use crate::console::forms::{self, Sent, Typed};
use crate::console::layout::{age, counted, empty, page_of, pager};
use crate::console::live;
use crate::console::query::Query;
use crate::console::threads::{self, kind_in_words};
use crate::console::visit::Visit;
use crate::model::id::TicketId;
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::ticket::Status;
use crate::model::ticket::{DeskTicket, Priority};
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::web::App;

pub const QUEUE: (&str, &str) = ("Desk", "/desk");

pub fn address(id: TicketId) -> String {
    format!("/desk/tickets/{id}")
}

const STATUSES: [(&str, &str); 4] = [
    ("", "Open and new"),
    ("new", "New"),
    ("closed", "Closed"),
    ("all", "All"),
];
const CLAIMS: [(&str, &str); 4] = [
    ("", "Anybody's"),
    ("nobody", "Nobody's yet"),
    ("mine", "Mine"),
    ("others", "Colleagues'"),
];
/// What the queue can be ordered by: the word, how it is called, and the field with its direction.
const ORDERS: [(&str, &str, &str, &str); 4] = [
    ("", "Newest first", "opened", "desc"),
    ("oldest", "Oldest first", "opened", "asc"),
    ("pressing", "Most pressing first", "priority", "desc"),
    ("waiting", "Longest untouched first", "updated", "asc"),
];
const FILTERS: [&str; 6] = ["q", "status", "claim", "priority", "account", "order"];

pub async fn queue(State(app): State<App>, mut visit: Visit, staff: Staff, query: Query) -> Answer {
    let search = query.0;
    let wanted = wanted(&search, &visit.username);
    let words = match number(&search) {
        Some(_) => String::new(),
        None => search.text("q").to_owned(),
    };
    let found = app
        .read(staff.clone(), move |tx, staff| {
            let mark = rules::desk::version(tx, &staff.agent, None)?;
            let found = rules::desk::list(tx, &wanted, Some(&words));
            let ids: Vec<_> = found
                .iter()
                .flat_map(|found| &found.items)
                .map(|desk| desk.ticket.id)
                .collect();
            let changers = rules::desk::last_changers(tx, &ids)?;
            Ok((found, changers, mark))
        })
        .await?;
    let now = app.store().world().clock.now();
    let (found, changers, mark) = found;
    let drawing = Drawing {
        me: &visit.username.clone(),
        changers,
        now,
    };
    visit.live = Some(live::desk_address(&mark, None));
    let (list, typed) = match found {
        Ok(tickets) => (draw_list(&tickets, &search, &drawing), Typed::default()),
        Err(error) => {
            let typed = forms::again(search.clone(), error)?;
            let nothing = html! { div #list { (empty("Nothing to show", "Change the search above.", Some(("Show the queue", "/desk")))) } };
            (nothing, typed)
        }
    };
    let body = html! {
        div .title {
            h1 { "Desk" }
            div .actions {
                a .button href="/desk/keys" data-key="?" { "Keyboard" }
                a .button.main href="/desk/tickets/new" data-key="t" { "Ticket for a customer" }
            }
        }
        (form(&search, &typed))
        (list)
    };
    Ok(visit.form_page(&typed, "Desk", &[], &body))
}

/// The number of a ticket, if that is what is searched for: `#7`.
fn number(search: &Sent) -> Option<i64> {
    search.text("q").trim().strip_prefix('#')?.parse().ok()
}

/// The tickets that the form asks for.
fn wanted(search: &Sent, me: &str) -> ListRequest {
    let mut only = Vec::new();
    match (number(search), search.text("status")) {
        (Some(id), _) => only.push(Condition::equal("id", id)),
        (None, "all") => {}
        (None, word @ ("new" | "closed")) => only.push(Condition::equal("status", word)),
        (None, _) => only.push(Condition::not_equal("status", Status::Closed.word())),
    }
    match search.text("claim") {
        "nobody" => only.push(Condition::equal("claimed_by", Input::Null)),
        "mine" => only.push(Condition::equal("claimed_by", me)),
        "others" => {
            only.push(Condition::not_equal("claimed_by", me));
            only.push(Condition::not_equal("claimed_by", Input::Null));
        }
        _ => {}
    }
    if Priority::WORDS.contains(&search.text("priority")) {
        only.push(Condition::equal("priority", search.text("priority")));
    }
    match search.text("account").trim() {
        "" => {}
        account => {
            let id = account.parse().map_or_else(|_| account.into(), Input::Integer);
            only.push(Condition::equal("account_id", id));
        }
    }
    let (_, _, field, direction) = ordered(search);
    let list = ListRequest::first(50).at_page_in_url(search.text("page"));
    ListRequest { only, ..list }.sorted(field, direction == "desc")
}

fn ordered(search: &Sent) -> (&'static str, &'static str, &'static str, &'static str) {
    let word = search.text("order");
    ORDERS
        .into_iter()
        .find(|(name, ..)| *name == word)
        .unwrap_or(ORDERS[0])
}

/// The address of the queue as it is searched, but for the page.
fn searched(search: &Sent) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for name in FILTERS {
        if !search.text(name).is_empty() {
            query.append_pair(name, search.text(name));
        }
    }
    match query.finish() {
        query if query.is_empty() => "/desk".to_owned(),
        query => format!("/desk?{query}"),
    }
}

fn form(search: &Sent, typed: &Typed) -> Markup {
    let wrong = typed.reasons("q");
    let wrong_account = match typed.wrong.is_empty() || !wrong.is_empty() {
        true => None,
        false => Some("Must be the number of an account"),
    };
    let choice = |name: &str, label: &str, choices: &[(&str, &str)]| {
        html! {
            div .field {
                label for=(format!("by-{name}")) { (label) }
                select #(format!("by-{name}")) name=(name) {
                    @for (value, shown) in choices {
                        option value=(value) selected[*value == search.text(name)] { (shown) }
                    }
                }
            }
        }
    };
    let mut priorities = vec![("", "Any")];
    priorities.extend(Priority::WORDS.map(|word| (word, word)));
    html! {
        form .search.filters role="search" method="get" action="/desk" hx-get="/desk" hx-target="#list" hx-select="#list"
            hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
            hx-trigger="submit, input changed delay:250ms from:#q, input changed delay:250ms from:#by-account, change" {
            div .field .wrong[!wrong.is_empty()] {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(search.text("q")) autocomplete="off" spellcheck="false"
                    placeholder="Words in tickets, replies and notes, or #number" data-key="/";
                @if !wrong.is_empty() { p .reason { (wrong.join(". ")) } }
            }
            (choice("status", "Status", &STATUSES))
            (choice("claim", "Whose", &CLAIMS))
            (choice("priority", "Priority", &priorities))
            div .field.short .wrong[wrong_account.is_some()] {
                label for="by-account" { "Account" }
                input #by-account type="text" inputmode="numeric" name="account" value=(search.text("account")) placeholder="Number";
                @if let Some(reason) = wrong_account { p .reason { (reason) } }
            }
            (choice("order", "Order", &ORDERS.map(|(value, shown, ..)| (value, shown))))
            button type="submit" { "Search" }
        }
    }
}

/// What rows are drawn with besides their tickets: for whom, by whom they were changed, and when it is.
struct Drawing<'a> {
    me: &'a str,
    changers: HashMap<TicketId, String>,
    now: Time,
}

fn draw_list(tickets: &Paged<DeskTicket>, search: &Sent, drawing: &Drawing) -> Markup {
    let here = searched(search);
    let live = page_of(&here, tickets.page.number);
    html! {
        div #list hx-get=(live) hx-trigger="garth:queue from:body" hx-select="#list" hx-swap="outerHTML" {
            @if tickets.items.is_empty() && tickets.results > 0 {
                (empty("Nothing on this page", "There are fewer tickets by now.", Some(("Show the first page", &here))))
            } @else if tickets.items.is_empty() && here == "/desk" {
                (empty("The queue is empty", "No ticket is open. New ones appear here by themselves.", None))
            } @else if tickets.items.is_empty() {
                (empty("Nothing found", "No ticket is like that.", Some(("Show the queue", "/desk"))))
            } @else {
                p .count role="status" { (counted(tickets.results as usize, "ticket", "tickets")) }
                table .list.queue data-rows {
                    thead { tr {
                        th scope="col" { "Ticket" } th scope="col" { "Account" } th scope="col" { "Status" } th scope="col" { "Whose" }
                        th scope="col" .number { "Age" } th scope="col" .number { "Last change" }
                    } }
                    tbody { @for ticket in &tickets.items { (row(ticket, drawing)) } }
                }
                (pager(tickets, &here))
            }
        }
    }
}

fn row(desk: &DeskTicket, drawing: &Drawing) -> Markup {
    let ticket = &desk.ticket;
    let (now, changer) = (drawing.now, drawing.changers.get(&ticket.id));
    html! {
        tr {
            th scope="row" {
                (priority(desk.priority))
                a href=(address(ticket.id)) { (ticket.summary.as_str()) } " " span .id { (ticket.id) }
                @if let Some(entity) = &ticket.entity {
                    span .quiet.small.line { (kind_in_words(entity.kind.word())) " " (entity.label) }
                }
            }
            td data-label="Account" { span { (account_name(desk)) " " span .id { (ticket.account) } } }
            td data-label="Status" { (threads::status(ticket.status)) }
            td data-label="Whose" { span { (claim(desk, drawing.me)) } }
            td .number data-label="Age" { (age(ticket.opened, now)) }
            td .number data-label="Last change" {
                span { (age(ticket.updated, now)) @if let Some(by) = changer { " " span .quiet.small { "by " (by) } } }
            }
        }
    }
}

/// Who has a ticket.
pub fn claim(desk: &DeskTicket, me: &str) -> Markup {
    html! {
        @match &desk.claim {
            None => span .tag.free { "Nobody yet" },
            Some(claim) if claim.username == me => span .tag.on { "You" },
            Some(claim) => { (threads::face(&claim.username)) " " (claim.username) },
        }
    }
}

/// What an account is called: not every one is a company.
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

/// What can be done with the keyboard, where, and by which key.
const KEYS: [(&str, &str, &str); 12] = [
    ("anywhere", "?", "this sheet"),
    ("anywhere", "g", "go to the queue"),
    ("anywhere", "t", "open a ticket for a customer"),
    ("anywhere", "Esc", "leave the field you are in"),
    ("in the queue", "j", "down"),
    ("in the queue", "k", "up"),
    ("in the queue", "Enter", "open the ticket"),
    ("in the queue", "/", "search"),
    ("on a ticket", "c", "claim it, or take it over"),
    ("on a ticket", "r", "reply to the customer"),
    ("on a ticket", "n", "write an internal note"),
    ("on a ticket", "Ctrl Enter", "send what you are writing"),
];

pub async fn keys(visit: Visit) -> Answer {
    let body = html! {
        h1 { "Keyboard" }
        div #keys .card {
            @for place in ["anywhere", "in the queue", "on a ticket"] {
                h2 { "On the desk, " (place) }
                dl .keys {
                    @for (_, key, what) in KEYS.iter().filter(|(where_, _, _)| *where_ == place) {
                        div { dt { @for part in key.split(' ') { kbd { (part) } " " } } dd { (what) } }
                    }
                }
            }
        }
    };
    Ok(visit.page("Keyboard", &[QUEUE], &body))
}
