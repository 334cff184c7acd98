//! The form with the filters of the queue.

use maud::{Markup, html};

use super::account_filter::account_text;
use super::filters::{AGES, ASSIGNEES, STATUSES, order_choices};
use crate::console::forms::{FormData, FormState};
use crate::console::query::MAX_SEARCH_CHARS;
use crate::model::account::DeskAccount;
use crate::model::ticket::Priority;
use crate::model::ticket_tag::TicketTag;

pub fn form(
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
