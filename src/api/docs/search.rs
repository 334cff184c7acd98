//! The search over operations, fields and error codes.
//!
//! The entries are built once, when the first search runs.

use std::sync::LazyLock;

use maud::{Markup, html};

use super::document::{DOCUMENT, SECTIONS, entries, text};
use super::error_codes::{CODES, url_of, without_links};
use super::schemas::{SCHEMA_URLS, field_names};

/// The maximum number of results of each kind.
const MAX_RESULTS: usize = 25;
/// The maximum length of the description of a result.
const MAX_NOTE_CHARS: usize = 140;

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let mut entries = Vec::new();
    add_operations(&mut entries);
    add_parameters(&mut entries);
    add_fields(&mut entries);
    for code in CODES.iter() {
        let note = without_links(code.meaning).replace('`', "");
        let name = format!("{} {}", code.status, code.code);
        entries.push(Entry::new(
            Kind::ErrorCode,
            code.code,
            name,
            url_of(code.code),
            note,
        ));
    }
    entries
});

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Operation,
    Field,
    ErrorCode,
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Operation, "Operations"),
    (Kind::Field, "Fields and parameters"),
    (Kind::ErrorCode, "Error codes"),
];

struct Entry {
    kind: Kind,
    /// The word by which results are ranked, in lower case.
    key: String,
    name: String,
    url: String,
    note: String,
    /// All searched text, in lower case.
    text: String,
}

impl Entry {
    fn new(kind: Kind, key: &str, name: String, url: String, note: String) -> Self {
        let text = format!("{key} {name} {note}").to_lowercase();
        let note = match note.char_indices().nth(MAX_NOTE_CHARS) {
            None => note,
            Some((end, _)) => format!("{}…", note[..end].trim_end()),
        };
        let key = key.to_lowercase();
        Self {
            kind,
            key,
            name,
            url,
            note,
            text,
        }
    }

    /// The rank of a match, lowest first; `None` if a word is missing.
    fn rank(&self, words: &[String]) -> Option<usize> {
        if !words.iter().all(|word| self.text.contains(word)) {
            return None;
        }
        let name = self.name.to_lowercase();
        let rank = |word: &String| match () {
            () if self.key == *word => 0,
            () if self.key.starts_with(word) => 1,
            () if self.key.contains(word) || name.contains(word) => 2,
            () => 3,
        };
        Some(words.iter().map(rank).sum())
    }
}

fn add_operations(found: &mut Vec<Entry>) {
    for section in SECTIONS.iter() {
        for operation in &section.operations {
            // Paths below /compute are also available below /linode.
            let alias = operation.path.replace("/v4/compute/", "/v4/linode/");
            let mut entry = Entry::new(
                Kind::Operation,
                operation.id,
                format!("{} {}", operation.method, operation.path),
                format!("{}#{}", section.url(), operation.id),
                operation.summary.to_owned(),
            );
            entry.text = format!("{} {alias} {}", entry.text, section.name.to_lowercase());
            found.push(entry);
        }
    }
}

/// Each parameter, with the first operation that has it.
fn add_parameters(found: &mut Vec<Entry>) {
    for (_, parameter) in entries(&DOCUMENT["components"]["parameters"]) {
        let operations = SECTIONS.iter().flat_map(|section| {
            let operations = section.operations.iter();
            operations.map(move |operation| (section, operation))
        });
        let mut users = operations.filter(|(_, operation)| operation.parameters.contains(&parameter));
        let Some((section, operation)) = users.next() else {
            continue;
        };
        let name = text(&parameter["name"]);
        found.push(Entry::new(
            Kind::Field,
            name,
            format!("{name} in {}", text(&parameter["in"])),
            format!("{}#{}", section.url(), operation.id),
            text(&parameter["description"]).to_owned(),
        ));
    }
}

fn add_fields(found: &mut Vec<Entry>) {
    for (name, schema) in entries(&DOCUMENT["components"]["schemas"]) {
        let Some(url) = SCHEMA_URLS.get(name) else {
            continue;
        };
        for (field, description) in field_names(schema, "") {
            let title = format!("{name}.{field}");
            found.push(Entry::new(
                Kind::Field,
                &field,
                title,
                url.clone(),
                description.to_owned(),
            ));
        }
    }
}

/// The results of a search, by kind.
pub fn render_results(query: &str) -> Markup {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut groups = Vec::new();
    for (kind, title) in KINDS {
        let of_kind = ENTRIES.iter().filter(|entry| entry.kind == kind);
        let matches = of_kind.filter_map(|entry| Some((entry.rank(&words)?, entry)));
        let mut matches: Vec<_> = matches.collect();
        matches.sort_by_key(|(rank, entry)| (*rank, entry.name.len()));
        groups.push((title, matches));
    }
    let is_empty = groups.iter().all(|(_, matches)| matches.is_empty());
    html! {
        div #results .results {
            @if is_empty { p .none { "No results for “" (query) "”." } }
            @for (title, matches) in groups.iter().filter(|(_, matches)| !matches.is_empty()) {
                section {
                    h2 { (title) " (" (matches.len()) ")" }
                    ul {
                        @for (_, entry) in matches.iter().take(MAX_RESULTS) {
                            li { a href=(entry.url) { code { (entry.name) } " " span .note { (entry.note) } } }
                        }
                    }
                    @if matches.len() > MAX_RESULTS { p .quiet { "Only the first " (MAX_RESULTS) " are shown." } }
                }
            }
        }
    }
}
