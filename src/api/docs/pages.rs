//! The content of the pages: the index, and one page for each section.

use std::sync::LazyLock;

use maud::{Markup, html};

use super::document::{DOCUMENT, SECTIONS, Section, text};
use super::layout::document;
use super::paragraphs::paragraphs;
use super::schemas::{SCHEMA_URLS, render_schemas, schemas_of};
use super::{error_codes, operation, samples, search};

pub static INDEX: LazyLock<String> = LazyLock::new(|| {
    let page = document("Overview", "", "", &render_index());
    page.into_string()
});

/// The pages by the last part of their URL.
static PAGES: LazyLock<Vec<(&'static str, LazyPage)>> = LazyLock::new(|| {
    let sections = SECTIONS.iter();
    let sections = sections.map(|section| {
        (
            section.slug.as_str(),
            LazyPage::new(move || section_page(section)),
        )
    });
    let errors = LazyPage::new(|| {
        document(
            error_codes::TITLE,
            error_codes::SLUG,
            "",
            &error_codes::render_page(),
        )
    });
    sections.chain([(error_codes::SLUG, errors)]).collect()
});

/// A page that is rendered when it is first requested.
struct LazyPage(LazyLock<String, Box<dyn FnOnce() -> String + Send>>);

impl LazyPage {
    fn new(render: impl FnOnce() -> Markup + Send + 'static) -> Self {
        Self(LazyLock::new(Box::new(move || render().into_string())))
    }
}

/// A page of a section, or the page of the error codes. The address of the server is not inserted yet.
pub fn find(slug: &str) -> Option<&'static str> {
    let (_, page) = PAGES.iter().find(|(known, _)| *known == slug)?;
    Some(&page.0)
}

pub fn search_page(query: &str) -> String {
    let content = html! {
        h1 { "Search" }
        (search::render_results(query))
    };
    document("Search", "", query, &content).into_string()
}

fn section_page(section: &Section) -> Markup {
    let content = html! {
        h1 { (section.name) }
        (paragraphs(section.description))
        nav .contents aria-label="Operations" { (operation_links(section, false)) }
        (samples::render_setup())
        section {
            h2 .hidden { "Operations" }
            @for operation in &section.operations { (operation::render(operation)) }
        }
        (render_schemas(schemas_of(section)))
    };
    document(section.name, &section.slug, "", &content)
}

/// The index has an entry for each operation and schema. The URLs of their IDs (`/docs#createVpc`) were those of the
/// single page of earlier versions. The script continues to the current page.
fn render_index() -> Markup {
    let info = &DOCUMENT["info"];
    html! {
        h1 { "API reference" }
        (paragraphs(text(&info["description"])))
        (samples::render_setup())
        @for section in SECTIONS.iter() {
            section {
                h2 { a href=(section.url()) { (section.name) } }
                (operation_links(section, true))
            }
        }
        section #shapes {
            h2 { "Schemas" }
            ul .names {
                @for (name, url) in SCHEMA_URLS.iter() {
                    li id={ "shape-" (name) } { a href=(url) { (name) } }
                }
            }
        }
    }
}

/// The operations of a section. On the index, each entry has the ID of the operation.
fn operation_links(section: &Section, on_index: bool) -> Markup {
    html! {
        ul .operations {
            @for operation in &section.operations {
                @let url = if on_index { section.url() } else { String::new() };
                li id=[on_index.then_some(operation.id)] {
                    a href={ (url) "#" (operation.id) } { (operation.summary) }
                    " " code { span .method { (operation.method) } " " (operation.path) }
                }
            }
        }
    }
}
