//! What the pages of an account have in common: the way between them, and secrets that are shown once.

pub mod events;
pub mod quotas;

use axum::response::Response;
use maud::{Markup, html};

use super::visit::Visit;
use crate::rules::caller::Caller;

/// Where the pages of an account begin.
pub const ACCOUNT: (&str, &str) = ("Account", "/account");

/// The way between the pages, as far as they are open to the caller.
pub fn tabs(caller: &Caller, here: &str) -> Markup {
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
                @for (label, path, _) in tabs.iter().filter(|(_, _, open)| *open) {
                    li { a href=(path) aria-current=[(*path == here).then_some("page")] { (label) } }
                }
            }
        }
    }
}

/// A secret that is on this page and on no other.
pub fn shown_once(what: &str, secret: &str) -> Markup {
    html! {
        div .secret {
            p { strong { "Copy it now." } " " (what) " is shown only once and cannot be retrieved later." }
            div .copied {
                code #secret tabindex="0" { (secret) }
                button type="button" data-copy="secret" hidden { "Copy" }
            }
        }
    }
}

/// Instead of a secret, when the form that made it came again: with it, another one would be made.
pub fn made_before(visit: &Visit, what: &str, list: (&str, &str)) -> Response {
    let title = format!("This {what} was already created");
    let body = html! {
        div .empty {
            h1 { (title) }
            p {
                "Your browser sent the form twice, and no second " (what) " was created. The secret was on the previous page and is shown \
                 only once. If you did not copy it, delete this " (what) " and create a new one."
            }
            p { a .button.main href=(list.1) { (list.0) } }
        }
    };
    visit.conflict_page(&title, &[ACCOUNT, list], &body)
}

/// What a token or an application may be used for, in words.
pub fn scopes(words: &[String]) -> Markup {
    html! {
        ul .scopes {
            @for word in words {
                li { @if word == "*" { span .tag.on { "Full access" } } @else { code { (word) } } }
            }
        }
    }
}
