//! The filters and the sort orders of the queue.

use super::QUEUE;
use super::account_filter::{AccountFilter, account_filter};
use crate::console::forms::{FormData, FormState};
use crate::console::query::list_page;
use crate::console::saved_views;
use crate::model::input::Input;
use crate::model::ticket::{Priority, Side, Status};
use crate::model::time::Time;
use crate::rules;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;

const DAY_SECONDS: i64 = 24 * 60 * 60;

pub const DEFAULT_STATUS: &str = "Open and new";
/// The label of tickets whose last message is from the customer.
pub const NEEDS_ANSWER: &str = "Needs an answer";
/// The choices of the status filter: value and label.
pub const STATUSES: [(&str, &str); 5] = [
    ("", DEFAULT_STATUS),
    ("new", "New"),
    ("waiting", NEEDS_ANSWER),
    ("closed", "Closed"),
    ("all", "All"),
];
/// The choices of the assignee filter: value and label.
pub const ASSIGNEES: [(&str, &str); 4] = [
    ("", "Anyone"),
    ("unassigned", "Unassigned"),
    ("mine", "Me"),
    ("others", "Other staff"),
];
/// The choices of the age filter: value, label, and the minimum and maximum age in days.
pub const AGES: [(&str, &str, i64, Option<i64>); 3] = [
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
/// The sort order by the time since which a ticket waits for an answer: value and label.
pub const LONGEST_WAIT: (&str, &str) = ("longest_wait", "Longest wait");
/// The sort order by the time left until a target is missed: value and label. It exists only if targets are set.
pub const TIME_LEFT: (&str, &str) = ("left", "Time left");

/// The ID of a ticket, if the search text is `#ID`.
pub fn ticket_number(search: &FormData) -> Option<i64> {
    search.text("q").trim().strip_prefix('#')?.parse().ok()
}

/// The list request for the filters of the form.
pub fn list_request(search: &FormData, me: &str, order: &str, now: Time) -> ListRequest {
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
    let list = list_page(search.text("page"));
    ListRequest { only, ..list }.sorted(field, direction == "desc")
}

/// The side that the tickets wait for, if the filter requires it.
pub fn waiting_side(search: &FormData) -> Option<Side> {
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

/// The sort order in the filters, or the default.
pub fn order_of(search: &FormData, has_targets: bool) -> &'static str {
    let mut orders = orders(has_targets).into_iter().map(|(value, _)| value);
    let chosen = orders.find(|value| *value == search.text("order"));
    chosen.unwrap_or_else(|| default_order(search, has_targets))
}

/// All sort orders: value and label.
fn orders(has_targets: bool) -> Vec<(&'static str, &'static str)> {
    let mut orders = SORT_ORDERS.map(|(value, label, ..)| (value, label)).to_vec();
    orders.push(LONGEST_WAIT);
    orders.extend(has_targets.then_some(TIME_LEFT));
    orders
}

/// The most urgent tickets come first. Of the tickets that need an answer, those with the longest wait come first, and
/// in lists with closed tickets, the newest.
fn default_order(search: &FormData, has_targets: bool) -> &'static str {
    match (search.text("status"), has_targets) {
        ("closed" | "all", _) => NEWEST_FIRST,
        ("waiting", _) => LONGEST_WAIT.0,
        (_, true) => TIME_LEFT.0,
        (_, false) => BY_PRIORITY,
    }
}

/// The choices of the sort order: value and label. The default has no value, so that it does not count as a filter.
pub fn order_choices(search: &FormData, has_targets: bool) -> Vec<(&'static str, &'static str)> {
    let mut orders = orders(has_targets);
    let default = default_order(search, has_targets);
    orders.sort_by_key(|(value, _)| *value != default);
    let without_default = |(value, label)| (if value == default { "" } else { value }, label);
    orders.into_iter().map(without_default).collect()
}

/// The URL of the queue with these filters, without the page.
pub fn search_url(search: &FormData) -> String {
    saved_views::url_with_filters(QUEUE.1, saved_views::filters_in(search))
}

/// The URL of the same search among all tickets. The default of the status excludes closed tickets.
pub fn url_with_closed(search: &FormData) -> Option<String> {
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
