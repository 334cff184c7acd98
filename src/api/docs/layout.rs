//! The layout of all pages of the reference: the bar with the search box, and the list of sections.

use maud::{DOCTYPE, Markup, html};

use super::document::{DOCUMENT, SECTIONS, text};
use super::{assets, error_codes};
use crate::web::pages;

/// The maximum length of a search.
pub const MAX_QUERY_CHARS: usize = 100;

/// The document around the content of a page. `current` is the last part of the URL of the page.
pub fn document(title: &str, current: &str, query: &str, content: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – Garth API reference" }
                link rel="stylesheet" href=(assets::STYLE.url);
                link rel="icon" href="/favicon.ico" type="image/svg+xml";
                script src=(assets::SCRIPT.url) defer {}
            }
            body {
                a .skip href="#main" { "Skip to content" }
                header .bar {
                    div .inside {
                        a .brand href="/docs" { (pages::logo()) span { "Garth API reference" } }
                        (search_box(query))
                        a href="/login" { "Console" }
                    }
                }
                div .columns {
                    nav .sections aria-label="Sections" {
                        ul {
                            @for section in SECTIONS.iter() { (entry(&section.slug, section.name, current)) }
                            (entry(error_codes::SLUG, error_codes::TITLE, current))
                        }
                    }
                    main #main tabindex="-1" { (content) }
                }
                footer {
                    "Version " (text(&DOCUMENT["info"]["version"])) " of the public API. "
                    a href="/openapi.json" { "OpenAPI 3.1 document (JSON)" }
                }
            }
        }
    }
}

fn entry(slug: &str, name: &str, current: &str) -> Markup {
    let aria_current = (slug == current).then_some("page");
    html! { li { a href={ "/docs/" (slug) } aria-current=[aria_current] { (name) } } }
}

/// The search box. The script shows the results below it while the user types; otherwise Enter opens a page.
fn search_box(query: &str) -> Markup {
    html! {
        form .find role="search" aria-label="Find" method="get" action="/docs" {
            label .hidden for="find" { "Find an operation, field or error code" }
            input #find type="search" name="q" value=(query) autocomplete="off" spellcheck="false" maxlength=(MAX_QUERY_CHARS)
                placeholder="Find an operation, field or error code…" aria-controls="found";
            button .hidden type="submit" tabindex="-1" { "Find" }
            div #found .found aria-live="polite" {}
        }
    }
}
