//! The navigation bar at the top of every page.

use maud::{Markup, html};

use super::navigation::NAVIGATION;
use super::query::MAX_SEARCH_CHARS;
use super::visit::{MAX_UNSEEN_COUNT, Visit};
use crate::model::staff_role::StaffRole;
use crate::web::operation::Audience;
use crate::web::{brand, pages};

pub fn bar(visit: &Visit) -> Markup {
    let is_current_or_parent = |path: &str| {
        let rest = visit.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let entries = NAVIGATION
        .iter()
        .filter(|(audience, _, _)| *audience == visit.audience);
    let candidates = entries
        .clone()
        .map(|(_, _, path)| *path)
        .filter(|path| is_current_or_parent(path));
    let current = candidates.max_by_key(|path| path.len());
    let aria_current = |path: &str| (Some(path) == current).then_some("page");
    let brand = brand::current();
    html! {
        header .bar {
            div .inside {
                a .brand href="/" { (brand::logo(&brand).unwrap_or_else(pages::logo)) span { (brand.name()) } }
                nav aria-label="Main" {
                    ul {
                        @for (_, label, path) in entries {
                            li { a href=(path) aria-current=[aria_current(path)] { (label) } }
                        }
                    }
                }
                (search_box(visit.audience))
                @if visit.audience == Audience::Tenants { (activity_link(visit.unseen)) }
                div .who {
                    @match visit.audience {
                        Audience::Staff => a .user href="/desk/password" title="Your profile" { (visit.username) " · " (visit.role.map_or("staff", StaffRole::word)) },
                        _ => a .user href="/account" title="Your profile" { (visit.username) },
                    }
                    a href="/logout" { "Log out" }
                }
            }
        }
    }
}

/// The search box. htmx shows the results below it while the user types; otherwise Enter opens a page.
fn search_box(audience: Audience) -> Markup {
    let url = match audience {
        Audience::Staff => "/desk/search",
        _ => "/search",
    };
    html! {
        form .find role="search" aria-label="Find" method="get" action=(url) {
            label .hidden for="find" { "Find" }
            input #find type="search" name="q" autocomplete="off" spellcheck="false" maxlength=(MAX_SEARCH_CHARS) placeholder="Find names, addresses…"
                title="Find anything (/)" aria-controls="find-results" hx-get=(url) hx-trigger="input changed delay:200ms" hx-target="#find-results"
                hx-select="#results" hx-swap="innerHTML" hx-sync="this:replace";
            button .hidden type="submit" tabindex="-1" { "Find" }
            div #find-results .find-results aria-live="polite" {}
        }
    }
}

/// The link to the activity page, with the number of unseen events. htmx reloads it when an event arrives.
fn activity_link(unseen: i64) -> Markup {
    let shown = match unseen {
        MAX_UNSEEN_COUNT.. => format!("{}+", MAX_UNSEEN_COUNT - 1),
        count => count.to_string(),
    };
    html! {
        span #bell .bell hx-get="/events" hx-trigger="garth:event from:body" hx-select="#bell" hx-swap="outerHTML" {
            a href="/events" title="Activity" {
                svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true" {
                    path d="M12 3a6 6 0 0 0-6 6v4l-2 3v1h16v-1l-2-3V9a6 6 0 0 0-6-6zM10 19a2 2 0 0 0 4 0" {}
                }
                span .hidden { "Activity" }
                @if unseen > 0 { span .unseen { (shown) span .hidden { " unseen" } } }
            }
        }
    }
}
