//! The parts that the pages for regions and for plans share.

use axum::response::Response;
use maud::{Markup, html};

use crate::console::layout::{number, pluralize, redirect_with_notice, time};
use crate::console::threads::confirmation;
use crate::console::visit::Visit;
use crate::model::page::Paged;
use crate::model::time::Time;

/// The number of items of a list.
pub fn count<T>(list: &Paged<T>, one: &str, many: &str) -> Markup {
    html! { p .count role="status" { (pluralize(list.results as usize, one, many)) } }
}

pub fn number_cell(count: i64) -> String {
    number(count.unsigned_abs())
}

/// The ID of the row of a region or plan. `kind` is its prefix.
pub fn row_id(kind: &str, id: &str) -> String {
    format!("{kind}-{id}")
}

/// Redirects to the list, at the row of a region or plan. The browser stays at the top if the row is on another page.
pub fn redirect_to_row(list_url: &str, kind: &str, id: &str, notice: &str) -> Response {
    // An ID from the settings can have any characters.
    let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    redirect_with_notice(&format!("{list_url}#{}", row_id(kind, &id)), notice)
}

/// Where a region or plan comes from. Those that staff have added or changed have the time of their last change.
/// `is_configured` says whether Garth or the settings have it, too.
pub fn source(is_configured: bool, updated: Option<Time>) -> Markup {
    html! {
        @match updated {
            None => span .quiet { "Built in" },
            // On a phone, each element of a cell is a column.
            Some(updated) => span { @if is_configured { "Changed " } @else { "Added " } (time(updated)) },
        }
    }
}

/// The button that retires a region or plan after a confirmation, or reactivates a retired one.
pub fn retirement(visit: &Visit, url: &str, label: &str, retired: bool, effect: &str) -> Markup {
    html! {
        @if retired {
            form method="post" action=(format!("{url}/reactivate")) { (visit.form_token()) button type="submit" { "Reactivate" } }
        } @else {
            (confirmation("Retire", (true, None), &html! {
                p { (effect) }
                form method="post" action=(format!("{url}/retire")) {
                    (visit.form_token())
                    button .danger type="submit" { "Retire " (label) }
                }
            }))
        }
    }
}
