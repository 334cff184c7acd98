//! Common elements of the account pages: tabs, and secrets that are shown once.

mod event_changes;
pub mod event_filter;
pub mod event_sentence;
pub mod events;
pub mod quotas;

use axum::response::Response;
use maud::{Markup, html};

use super::page::{Page, get, post};
use super::visit::Visit;
use crate::rules::caller::Caller;

pub fn pages() -> Vec<Page> {
    vec![
        get("pageEvents", "/events", events::list),
        post("sendEventsSeen", "/events", events::mark_seen),
        get("pageQuotas", "/account/quotas", quotas::view),
    ]
}

/// The breadcrumb of the account pages.
pub const ACCOUNT: (&str, &str) = ("Account", "/account");

/// The tabs of the account pages that the caller can open.
pub fn tabs(caller: &Caller, current_path: &str) -> Markup {
    let unrestricted = !caller.is_restricted();
    let tabs = [
        ("Profile", "/account", true),
        ("Tokens", "/account/tokens", true),
        ("Applications", "/account/apps", true),
        ("Users", "/account/users", unrestricted),
        (
            "OAuth clients",
            "/account/clients",
            caller.account_access().is_some(),
        ),
        ("Quotas", "/account/quotas", true),
    ];
    html! {
        nav .subpages aria-label="Account" {
            ul {
                @for (label, path, _) in tabs.iter().filter(|(_, _, visible)| *visible) {
                    li { a href=(path) aria-current=[(*path == current_path).then_some("page")] { (label) } }
                }
            }
        }
    }
}

/// A secret that only this page shows.
pub fn one_time_secret(name: &str, secret: &str) -> Markup {
    html! {
        div .secret {
            p { strong { "Copy it now." } " " (name) " is shown only once and cannot be retrieved later." }
            div .copied {
                code #secret tabindex="0" { (secret) }
                button type="button" data-copy="secret" hidden { "Copy" }
            }
        }
    }
}

/// The page for a form that was submitted twice. It does not repeat the secret of the first submission.
pub fn already_created(visit: &Visit, kind: &str, list: (&str, &str)) -> Response {
    let title = format!("This {kind} was already created");
    let body = html! {
        div .empty {
            h1 { (title) }
            p {
                "Your browser sent the form twice, and no second " (kind) " was created. The secret was on the previous page and is shown \
                 only once. If you did not copy it, delete this " (kind) " and create a new one."
            }
            p { a .button.main href=(list.1) { (list.0) } }
        }
    };
    visit.conflict_page(&title, &[ACCOUNT, list], &body)
}

/// The scopes of a token or an application.
pub fn scopes(words: &[String]) -> Markup {
    html! {
        ul .scopes {
            @for word in words {
                li { @if word == "*" { span .tag.on { "Full access" } } @else { code { (word) } } }
            }
        }
    }
}
