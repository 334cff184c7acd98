//! The queue of the desk: the tickets of all accounts, and the keyboard shortcuts.

use std::collections::{HashMap, HashSet};

use axum::extract::State;
use maud::{Markup, html};

use crate::console::bulk::selection::{self, Action, Target};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, FormData, FormState};
use crate::console::layout::{age, empty_state, page_url, pagination, pluralize};
use crate::console::live;
use crate::console::provider::account_summary;
use crate::console::query::{MAX_SEARCH_CHARS, Query};
use crate::console::threads::{self, kind_label};
use crate::console::visit::Visit;
use crate::console::{saved_views, targets};
use crate::model::account::DeskAccount;
use crate::model::account::status::AccountStatus;
use crate::model::id::{AccountId, TicketId};
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::saved_view::SavedView;
use crate::model::ticket::{DeskTicket, Priority, Side, Status};
use crate::model::ticket_tag::TicketTag;
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The label and the URL of the queue.
pub const QUEUE: (&str, &str) = ("Desk", "/desk");

pub fn url(id: TicketId) -> String {
    format!("/desk/tickets/{id}")
}

pub const DEFAULT_STATUS: &str = "Open and new";
/// The label of tickets whose last message is from the customer.
const NEEDS_ANSWER: &str = "Needs an answer";
/// The choices of the status filter: value and label.
const STATUSES: [(&str, &str); 5] = [
    ("", DEFAULT_STATUS),
    ("new", "New"),
    ("waiting", NEEDS_ANSWER),
    ("closed", "Closed"),
    ("all", "All"),
];
/// The choices of the assignee filter: value and label.
const ASSIGNEES: [(&str, &str); 4] = [
    ("", "Anyone"),
    ("unassigned", "Unassigned"),
    ("mine", "Me"),
    ("others", "Other staff"),
];
/// The choices of the age filter: value, label, and the minimum and maximum age in days.
const AGES: [(&str, &str, i64, Option<i64>); 3] = [
    ("day", "Under 1 day", 0, Some(1)),
    ("week", "1 to 7 days", 1, Some(7)),
    ("older", "Over 7 days", 7, None),
];
/// The filter for tickets without an assignee.
pub const UNASSIGNED: (&str, &str) = ("claim", ASSIGNEES[1].0);
/// The sort orders of the queue: value, label, field and direction.
const SORT_ORDERS: [(&str, &str, &str, &str); 4] = [
    (NEWEST_FIRST, "Newest first", "opened", "desc"),
    ("oldest", "Oldest first", "opened", "asc"),
    (BY_PRIORITY, "Priority", "priority", "desc"),
    ("waiting", "Oldest update", "updated", "asc"),
];
const NEWEST_FIRST: &str = "newest";
const BY_PRIORITY: &str = "pressing";
/// The sort order by the time left until a target is missed: value and label. It exists only if targets are set.
const TIME_LEFT: (&str, &str) = ("left", "Time left");

pub async fn queue(State(app): State<App>, mut visit: Visit, staff: Staff, query: Query) -> PageResult {
    let mut search = query.0;
    let context = app.store().context();
    let (now, has_targets) = (
        context.clock.now(),
        !context.policy.get().support.targets.is_empty(),
    );
    let order = order_of(&search, has_targets);
    let list_tickets = match order == TIME_LEFT.0 {
        true => rules::desk::list_by_time_left,
        false => rules::desk::list_waiting_for,
    };
    let (account, side) = (account_filter(&search), waiting_side(&search));
    if let Some(AccountFilter::Id(id)) = &account {
        search.set("account", id.to_string());
    }
    let list_request = list_request(&search, &visit.username, order, now);
    let words = match ticket_number(&search) {
        Some(_) => String::new(),
        None => search.text("q").to_owned(),
    };
    let (tickets, rows, (known_tags, account), version) = app
        .read(staff.clone(), move |tx, staff| {
            let version = rules::desk_version::current(tx, &staff.agent, None)?;
            let mut list_request = list_request.clone();
            let mut only_account = None;
            match &account {
                None => {}
                Some(AccountFilter::Id(id)) => only_account = find_account(tx, AccountId(*id))?,
                Some(AccountFilter::Name(name)) => {
                    let mut accounts = accounts_named(tx, name)?;
                    list_request = list_request.only(of_accounts(&accounts));
                    only_account = accounts.pop().filter(|_| accounts.is_empty());
                }
            }
            let tickets = list_tickets(tx, &list_request, Some(&words), side);
            let ids: Vec<_> = tickets
                .iter()
                .flat_map(|tickets| &tickets.items)
                .map(|desk| desk.ticket.id)
                .collect();
            let updated_by = rules::history::last_changers(tx, &ids)?;
            let shown = match &tickets {
                Ok(tickets) => &tickets.items[..],
                Err(_) => &[],
            };
            let unanswered = rules::desk::unanswered(tx, shown)?;
            let views = rules::saved_views::list(tx, &staff.agent, &ListRequest::full_page())?.items;
            let known_tags = rules::ticket_tags::in_use(tx)?;
            Ok((
                tickets,
                (updated_by, unanswered, views),
                (known_tags, only_account),
                version,
            ))
        })
        .await?;
    let (updated_by, unanswered, views) = rows;
    let context = QueueContext {
        me: &visit.username.clone(),
        updated_by,
        unanswered,
        views,
        now,
        has_targets,
    };
    visit.stream_url = Some(live::desk_url(&version, None));
    let (list, form_state) = match tickets {
        Ok(tickets) => (render_list(&tickets, &search, &context), FormState::default()),
        Err(error) => {
            let form_state = forms::from_error(search.clone(), error)?;
            let invalid_search = html! { div #list { (empty_state("Invalid search", "Correct the search above.", Some(("Clear search", "/desk")))) } };
            (invalid_search, form_state)
        }
    };
    let body = html! {
        div .title {
            h1 { "Desk" }
            div .actions {
                a .button href="/desk/reports" { "Reports" }
                a .button href="/desk/keys" data-key="?" { "Keyboard shortcuts" }
                a #new-ticket .button.main href=(new_ticket_url(account.as_ref())) data-key="t" { "New ticket" }
            }
        }
        (form(&search, &form_state, (&known_tags, account.as_ref()), has_targets))
        (list)
    };
    Ok(visit.form_page(&form_state, "Desk", &[], &body))
}

/// The ID of a ticket, if the search text is `#ID`.
fn ticket_number(search: &FormData) -> Option<i64> {
    search.text("q").trim().strip_prefix('#')?.parse().ok()
}

/// The form for a new ticket. If the queue has the tickets of only one account, the form is for this account.
fn new_ticket_url(account: Option<&DeskAccount>) -> String {
    match account {
        Some(account) => format!("/desk/tickets/new?account_id={}", account.id),
        None => "/desk/tickets/new".to_owned(),
    }
}

/// The list request for the filters of the form.
fn list_request(search: &FormData, me: &str, order: &str, now: Time) -> ListRequest {
    let mut only = Vec::new();
    if let Some((_, _, min_days, max_days)) = AGES.iter().find(|(value, ..)| *value == search.text("age")) {
        let days_ago = |days: i64| now.plus_seconds(-days * DAY_SECONDS);
        only.extend(max_days.map(|days| Condition::at_least("opened", days_ago(days))));
        if *min_days > 0 {
            only.push(Condition::less_than("opened", days_ago(*min_days)));
        }
    }
    match (ticket_number(search), search.text("status")) {
        (Some(id), _) => only.push(Condition::equal("id", id)),
        (None, "all") => {}
        (None, word @ ("new" | "closed")) => only.push(Condition::equal("status", word)),
        (None, _) => only.push(Condition::not_equal("status", Status::Closed.word())),
    }
    match search.text("claim") {
        "unassigned" => only.push(Condition::equal("claimed_by", Input::Null)),
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
    if !search.text("tag").trim().is_empty() {
        only.push(rules::ticket_tags::having(search.text("tag").trim()));
    }
    if let Some(AccountFilter::Id(id)) = account_filter(search) {
        only.push(Condition::equal("account_id", id));
    }
    let sorted = SORT_ORDERS.into_iter().find(|(value, ..)| *value == order);
    let (_, _, field, direction) = sorted.unwrap_or(SORT_ORDERS[0]);
    let list = ListRequest::first(50).at_page_in_url(search.text("page"));
    ListRequest { only, ..list }.sorted(field, direction == "desc")
}

/// The side that the tickets wait for, if the filter requires it.
fn waiting_side(search: &FormData) -> Option<Side> {
    (search.text("status") == "waiting").then_some(Side::Provider)
}

/// The number of tickets in the queue with these filters, and the URL of the queue.
pub fn count(
    tx: &mut ReadTx,
    me: &str,
    now: Time,
    filters: &[(&'static str, &'static str)],
) -> rules::Result<(i64, String)> {
    let search = FormState::prefilled(filters).data;
    let list = ListRequest {
        page_size: ListRequest::first(1).page_size,
        ..list_request(&search, me, NEWEST_FIRST, now)
    };
    let results = rules::desk::list_waiting_for(tx, &list, None, waiting_side(&search))?.results;
    Ok((results, search_url(&search)))
}

/// The account in the filter: its ID, also after its name (`Example #1`), or a part of its name or e-mail address.
enum AccountFilter {
    Id(i64),
    Name(String),
}

fn account_filter(search: &FormData) -> Option<AccountFilter> {
    match search.text("account").trim() {
        "" => None,
        text => {
            let id = text.rsplit_once('#').map_or(text, |(_, id)| id);
            Some(
                id.parse()
                    .map_or_else(|_| AccountFilter::Name(text.to_owned()), AccountFilter::Id),
            )
        }
    }
}

/// The account in the filter, as the form shows it.
fn account_text(search: &FormData, account: Option<&DeskAccount>) -> String {
    match (account_filter(search), account) {
        (Some(AccountFilter::Id(_)), Some(account)) if account.company.is_empty() => {
            format!("{} #{}", account.email, account.id)
        }
        (Some(AccountFilter::Id(_)), Some(account)) => format!("{} #{}", account.company, account.id),
        _ => search.text("account").to_owned(),
    }
}

/// The account with this ID; `None` if it does not exist.
fn find_account(tx: &mut ReadTx, id: AccountId) -> rules::Result<Option<DeskAccount>> {
    match rules::accounts::desk_view(tx, id) {
        Ok(account) => Ok(Some(account)),
        Err(rules::Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The first accounts with this name.
fn accounts_named(tx: &mut ReadTx, name: &str) -> rules::Result<Vec<DeskAccount>> {
    const MAX_ACCOUNTS: i64 = 50;
    let named = Condition::contained_in(["company", "email"], name);
    Ok(rules::accounts::desk_list(tx, &ListRequest::first(MAX_ACCOUNTS).only(named))?.items)
}

/// The condition that a ticket belongs to one of these accounts.
fn of_accounts(accounts: &[DeskAccount]) -> Condition {
    let of_account = |account: &DeskAccount| Condition::equal("account_id", account.id);
    // No ticket belongs to account 0.
    let none = Condition::equal("account_id", 0_i64);
    Condition::Any(accounts.iter().map(of_account).chain([none]).collect())
}

/// The sort order in the filters, or the default.
fn order_of(search: &FormData, has_targets: bool) -> &'static str {
    let mut orders = SORT_ORDERS.map(|(value, ..)| value).to_vec();
    orders.extend(has_targets.then_some(TIME_LEFT.0));
    let chosen = orders.into_iter().find(|value| *value == search.text("order"));
    chosen.unwrap_or_else(|| default_order(search, has_targets))
}

/// The most urgent tickets come first. In lists with closed tickets, the newest tickets do.
fn default_order(search: &FormData, has_targets: bool) -> &'static str {
    match (search.text("status"), has_targets) {
        ("closed" | "all", _) => NEWEST_FIRST,
        (_, true) => TIME_LEFT.0,
        (_, false) => BY_PRIORITY,
    }
}

/// The choices of the sort order: value and label. The default has no value, so that it does not count as a filter.
fn order_choices(search: &FormData, has_targets: bool) -> Vec<(&'static str, &'static str)> {
    let mut orders = SORT_ORDERS.map(|(value, label, ..)| (value, label)).to_vec();
    orders.extend(has_targets.then_some(TIME_LEFT));
    let default = default_order(search, has_targets);
    orders.sort_by_key(|(value, _)| *value != default);
    let without_default = |(value, label)| (if value == default { "" } else { value }, label);
    orders.into_iter().map(without_default).collect()
}

/// The URL of the queue with these filters, without the page.
fn search_url(search: &FormData) -> String {
    saved_views::url_with_filters(QUEUE.1, saved_views::filters_in(search))
}

/// The label of a filter of the queue.
pub fn filter_label(name: &str) -> &'static str {
    match name {
        "q" => "Search",
        "status" => "Status",
        "claim" => "Assignee",
        "priority" => "Priority",
        "tag" => "Tag",
        "age" => "Age",
        "account" => "Account",
        _ => "Sort by",
    }
}

fn form(
    search: &FormData,
    form_state: &FormState,
    (known_tags, account): (&[TicketTag], Option<&DeskAccount>),
    has_targets: bool,
) -> Markup {
    let errors = form_state.errors_on("q");
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
    let mut ages = vec![("", "Any")];
    ages.extend(AGES.map(|(value, label, ..)| (value, label)));
    let orders = order_choices(search, has_targets);
    html! {
        // The default order depends on the status, and the new ticket is for the account in the filter.
        form .search.filters role="search" method="get" action="/desk" hx-get="/desk" hx-target="#list" hx-select="#list"
            hx-select-oob="#by-order,#new-ticket" hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
            hx-trigger="submit, input changed delay:250ms from:#q, input changed delay:250ms from:#by-account, change" {
            div .field .wrong[!errors.is_empty()] {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(search.text("q")) autocomplete="off" spellcheck="false"
                    placeholder="Text, reply or #ID" title="Text in tickets, replies and notes, or #ID" data-key="/";
                @if !errors.is_empty() { p .reason { (errors.join(". ")) } }
            }
            (choice("status", "Status", &STATUSES))
            (choice("claim", "Assignee", &ASSIGNEES))
            (choice("priority", "Priority", &priorities))
            div .field.short {
                label for="by-tag" { "Tag" }
                input #by-tag type="text" name="tag" value=(search.text("tag")) placeholder="Any" list="known-tags" autocomplete="off"
                    maxlength=(MAX_SEARCH_CHARS);
                datalist #known-tags { @for tag in known_tags { option value=(tag.as_str()) {} } }
            }
            (choice("age", "Age", &ages))
            div .field.short {
                label for="by-account" { "Account" }
                input #by-account type="text" name="account" value=(account_text(search, account)) placeholder="Name, ID" title="Company, e-mail address or ID"
                    autocomplete="off" maxlength=(MAX_SEARCH_CHARS);
            }
            (choice("order", "Sort by", &orders))
            button type="submit" { "Search" }
        }
    }
}

/// The context of the rows: the current user, the user who last updated each ticket, the tickets that need an answer, the
/// saved views, the time, and whether targets are set.
struct QueueContext<'a> {
    me: &'a str,
    updated_by: HashMap<TicketId, String>,
    unanswered: HashSet<TicketId>,
    views: Vec<SavedView>,
    now: Time,
    has_targets: bool,
}

fn render_list(tickets: &Paged<DeskTicket>, search: &FormData, context: &QueueContext) -> Markup {
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
                (selection::buttons_except(Target::Desk, (search.text("status") == "closed").then_some(Action::Close)))
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

/// The URL of the same search among all tickets. The default of the status excludes closed tickets.
fn url_with_closed(search: &FormData) -> Option<String> {
    let is_search = ["q", "tag", "account"]
        .iter()
        .any(|name| !search.text(name).is_empty());
    if !is_search || !search.text("status").is_empty() {
        return None;
    }
    let mut with_closed = search.clone();
    with_closed.set("status", "all");
    Some(search_url(&with_closed))
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
                @if context.unanswered.contains(&ticket.id) { " " span .tag.free { (NEEDS_ANSWER) } }
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

/// The assignee of a ticket.
pub fn assignee(desk: &DeskTicket, me: &str) -> Markup {
    html! {
        @match &desk.claim {
            None => span .tag.free { "Unassigned" },
            Some(claim) if claim.username == me => span .tag.on { "Me" },
            Some(claim) => { (threads::avatar(&claim.username)) " " (claim.username) },
        }
    }
}

/// The name of an account: the company, or else the e-mail address.
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

/// The tags of a ticket.
pub fn tags(tags: &[TicketTag]) -> Markup {
    html! { @for tag in tags { span .tag { (tag.as_str()) } " " } }
}

/// The keyboard shortcuts: place, key and action.
const SHORTCUTS: [(&str, &str, &str); 14] = [
    ("Anywhere", "?", "Show keyboard shortcuts"),
    ("Anywhere", "g", "Go to the desk"),
    ("Anywhere", "t", "Open a ticket for a customer"),
    ("Anywhere", "/", "Find; in the list of tickets, search the list"),
    ("Anywhere", "Esc", "Leave the current field"),
    ("In the list of tickets", "j", "Next ticket"),
    ("In the list of tickets", "k", "Previous ticket"),
    ("In the list of tickets", "Enter", "Open the ticket"),
    ("On a ticket", "c", "Assign or reassign to me"),
    ("On a ticket", "a", "Assign to a colleague"),
    ("On a ticket", "r", "Reply to the customer"),
    ("On a ticket", "n", "Write an internal note"),
    ("On a ticket", "Ctrl Enter", "Send the reply or save the note"),
    (
        "On a ticket",
        "Ctrl Shift Enter",
        "Send the reply and close the ticket",
    ),
];

pub async fn shortcuts(visit: Visit) -> PageResult {
    let body = html! {
        h1 { "Keyboard shortcuts" }
        div #keys .card {
            @for place in ["Anywhere", "In the list of tickets", "On a ticket"] {
                h2 { (place) }
                dl .keys {
                    @for (_, key, action) in SHORTCUTS.iter().filter(|(context, _, _)| *context == place) {
                        div { dt { @for part in key.split(' ') { kbd { (part) } " " } } dd { (action) } }
                    }
                }
            }
        }
    };
    Ok(visit.page("Keyboard shortcuts", &[QUEUE], &body))
}
