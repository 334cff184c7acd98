//! Error codes: the page with all of them, from the tables in `docs/errors.md`, and the codes of each response.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use maud::{Markup, html};
use serde_json::Value;

use super::document::{DocumentedOperation, entries, example, list, text};
use super::schemas::{error_schemas, render_schemas};

const SOURCE: &str = include_str!("../../../docs/errors.md");
pub const SLUG: &str = "errors";
pub const TITLE: &str = "Error codes";

/// All codes, by group.
pub static CODES: LazyLock<Vec<ErrorCode>> = LazyLock::new(|| {
    let mut group = "";
    let mut codes = Vec::new();
    for line in SOURCE.lines() {
        group = line.strip_prefix("## ").unwrap_or(group);
        let Some(row) = line.strip_prefix("| `") else {
            continue;
        };
        let mut cells = row.trim_end_matches(" |").splitn(3, " | ");
        if let (Some(code), Some(status), Some(meaning)) = (cells.next(), cells.next(), cells.next()) {
            let code = code.trim_end_matches('`');
            codes.push(ErrorCode {
                code,
                status,
                meaning,
                group,
            });
        }
    }
    codes
});

/// A row of `docs/errors.md`.
pub struct ErrorCode {
    pub code: &'static str,
    pub status: &'static str,
    /// Markdown.
    pub meaning: &'static str,
    pub group: &'static str,
}

pub fn url_of(code: &str) -> String {
    format!("/docs/{SLUG}#{code}")
}

/// The codes of a response: those of its examples, and those that its description names.
pub fn codes_of(response: &'static Value) -> Vec<&'static str> {
    let examples = entries(&response["content"]).filter_map(|(_, media)| example(media));
    let errors = examples.flat_map(|example| list(&example["errors"]));
    let mut found: BTreeSet<&str> = errors.map(|error| text(&error["code"])).collect();
    let is_part_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words: BTreeSet<&str> = text(&response["description"])
        .split(|letter| !is_part_of_word(letter))
        .filter(|word| word.contains('_'))
        .collect();
    found.extend(words);
    let known = CODES.iter().map(|code| code.code);
    known.filter(|code| found.contains(code)).collect()
}

/// The responses of an operation that are errors, with their codes.
pub fn render_errors(operation: &DocumentedOperation) -> Markup {
    let errors: Vec<_> = operation
        .responses()
        .filter(|(status, _)| status.starts_with(['4', '5']))
        .collect();
    html! {
        @if !errors.is_empty() {
            h4 { "Errors" }
            ul .errors {
                @for (status, response) in errors {
                    @let codes = codes_of(response);
                    li {
                        strong { (status) }
                        @for code in &codes { " " a href=(url_of(code)) { (code) } }
                        @if codes.is_empty() { " " (text(&response["description"])) }
                        @else if status == "400" && codes != ["not_offered"] {
                            "and other " a href="/docs/errors" { "codes of invalid requests" }
                        }
                    }
                }
            }
        }
    }
}

/// The content of the page.
pub fn render_page() -> Markup {
    let mut groups: Vec<&str> = CODES.iter().map(|code| code.group).collect();
    groups.dedup();
    html! {
        h1 { (TITLE) }
        p .lead {
            "Each entry of " code { "errors" } " has a message for people ("
            code { "reason" } "), which may change, and a code for programs, which never changes its meaning."
        }
        @for group in groups {
            section {
                h2 { (group) }
                table {
                    thead { tr { th scope="col" { "Code" } th scope="col" { "Status" } th scope="col" { "Meaning" } } }
                    tbody {
                        @for code in CODES.iter().filter(|code| code.group == group) {
                            tr id=(code.code) {
                                th scope="row" { code { (code.code) } }
                                td { (code.status) }
                                td { (render_meaning(code.meaning)) }
                            }
                        }
                    }
                }
            }
        }
        (render_schemas(error_schemas()))
    }
}

/// The text of a table cell: code spans, and links without their target.
fn render_meaning(markdown: &str) -> Markup {
    html! {
        @for (index, part) in without_links(markdown).split('`').enumerate() {
            @if index % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Replaces `[text](target)` with the text.
pub fn without_links(markdown: &str) -> String {
    let mut result = String::new();
    let mut rest = markdown;
    while let Some((before, label, after)) = next_link(rest) {
        result.push_str(before);
        result.push_str(label);
        rest = after;
    }
    result + rest
}

/// The text before the first link, its label, and the text after it.
fn next_link(markdown: &str) -> Option<(&str, &str, &str)> {
    let (label, target) = markdown.split_once("](")?;
    let (before, label) = label.rsplit_once('[')?;
    let (_, after) = target.split_once(')')?;
    Some((before, label, after))
}
