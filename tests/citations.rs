//! Checks citations: each "interface §n" must be a section of docs/interface.md, and each "decision n" a file
//! of docs/decisions. Each decision must be cited in `src`, at the code that implements it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Decisions that no single place in `src` implements.
const GENERAL_DECISIONS: [u32; 0] = [];

const CITING: [&str; 9] = [
    "src",
    "tests",
    "docs",
    "bench/analysis.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "openapi.yaml",
];
const EXTENSIONS: [&str; 6] = ["rs", "md", "py", "mjs", "sql", "yaml"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The text of every file with citations, by relative path. Comment lines are joined, so that a citation may
/// be split across lines.
fn texts() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut pending: Vec<PathBuf> = CITING.iter().map(|name| root().join(name)).collect();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder").flatten();
            pending.extend(entries.map(|entry| entry.path()));
        } else if can_cite(&path) {
            let text = fs::read_to_string(&path).expect("a text file");
            let name = path.strip_prefix(root()).expect("a path below the root");
            found.insert(name.to_string_lossy().into_owned(), joined(&text));
        }
    }
    found
}

fn can_cite(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    // This file has invalid citations on purpose.
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
        && !path.ends_with("tests/citations.rs")
}

fn joined(text: &str) -> String {
    let bare = |line: &str| line.trim().trim_start_matches(['/', '!', '#']).trim().to_owned();
    text.lines().map(bare).collect::<Vec<_>>().join(" ")
}

/// The section numbers of docs/interface.md: `4` and `4.1`.
fn parts() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/interface.md")).expect("docs/interface.md");
    let number = |line: &str| {
        let heading = line.strip_prefix("### ").or_else(|| line.strip_prefix("## "))?;
        let number = heading.split(' ').next()?.trim_end_matches('.');
        number
            .starts_with(|first: char| first.is_ascii_digit())
            .then(|| number.to_owned())
    };
    text.lines().filter_map(number).collect()
}

/// The file names in docs/decisions, by number.
fn decisions() -> BTreeMap<u32, String> {
    let files = fs::read_dir(root().join("docs/decisions"))
        .expect("docs/decisions")
        .flatten();
    let numbered = |name: String| Some((name.get(..4)?.parse().ok()?, name));
    files
        .filter_map(|file| numbered(file.file_name().to_string_lossy().into_owned()))
        .collect()
}

/// The text after each `§`, and whether the word "interface" precedes the `§`.
fn interface_citations(text: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for (index, _) in text.match_indices('§') {
        let number: String = text[index + '§'.len_utf8()..]
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect();
        let names_interface = text[..index].trim_end().ends_with("interface");
        if !number.is_empty() {
            found.push((number.trim_end_matches('.').to_owned(), names_interface));
        }
    }
    found
}

/// The numbers in "decision 17", "decision 0017" and "decisions 0017, 0018 and 0019".
fn decision_citations(text: &str) -> Vec<u32> {
    let text = text.to_ascii_lowercase();
    let mut found = Vec::new();
    for (index, word) in text.match_indices("decision") {
        let rest = &text[index + word.len()..];
        let plural = rest.starts_with('s');
        let mut rest = rest.strip_prefix('s').unwrap_or(rest);
        while let Some((number, left)) = leading_number(rest) {
            found.push(number);
            let next = left.strip_prefix(',').or_else(|| left.strip_prefix(" and"));
            match next.filter(|_| plural) {
                Some(next) => rest = next,
                None => break,
            }
        }
    }
    found
}

/// The number after a blank, and the rest of the text.
fn leading_number(text: &str) -> Option<(u32, &str)> {
    let text = text.strip_prefix(' ')?;
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The file names in `decisions/0017-identity.md`.
fn decision_links(text: &str) -> Vec<&str> {
    const FOLDER: &str = "decisions/";
    let name = |(at, _)| {
        let rest = &text[at + FOLDER.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c));
        let name = &rest[..end.unwrap_or(rest.len())];
        name.ends_with(".md").then_some(name)
    };
    text.match_indices(FOLDER).filter_map(name).collect()
}

#[test]
fn every_cited_section_of_the_interface_exists() {
    let (parts, mut invalid, mut count) = (parts(), Vec::new(), 0);
    for (file, text) in texts() {
        for (part, names_interface) in interface_citations(&text) {
            count += 1;
            if !names_interface || !parts.contains(&part) {
                invalid.push(format!("{file}: §{part}"));
            }
        }
    }
    assert!(
        invalid.is_empty(),
        "not a section of docs/interface.md:\n{}",
        invalid.join("\n")
    );
    assert!(count > 10, "only {count} citations were found");
}

#[test]
fn every_cited_decision_exists() {
    let (decisions, mut invalid, mut count) = (decisions(), Vec::new(), 0);
    for (file, text) in texts() {
        for number in decision_citations(&text) {
            count += 1;
            if !decisions.contains_key(&number) {
                invalid.push(format!("{file}: decision {number}"));
            }
        }
        for name in decision_links(&text) {
            count += 1;
            if !decisions.values().any(|file| file == name) {
                invalid.push(format!("{file}: decisions/{name}"));
            }
        }
    }
    assert!(
        invalid.is_empty(),
        "not a file of docs/decisions:\n{}",
        invalid.join("\n")
    );
    assert!(count > 10, "only {count} citations were found");
}

#[test]
fn every_decision_is_cited_in_the_code() {
    let sources = texts().into_iter().filter(|(file, _)| file.starts_with("src/"));
    let cited: BTreeSet<u32> = sources.flat_map(|(_, text)| decision_citations(&text)).collect();
    let decisions = decisions();
    let uncited: Vec<&String> = decisions
        .iter()
        .filter(|(number, _)| !cited.contains(number) && !GENERAL_DECISIONS.contains(number))
        .map(|(_, file)| file)
        .collect();
    assert!(uncited.is_empty(), "not cited in src: {uncited:?}");
}

#[test]
fn citations_are_parsed_in_every_spelling() {
    let text = joined("/// As interface §4.1, and (interface\n/// §3, rule 2). Not §9.\n");
    let read = [("4.1", true), ("3", true), ("9", false)].map(|(part, named)| (part.to_owned(), named));
    assert_eq!(interface_citations(&text), read);
    let text = joined(
        "//! Decision 17, decision\n//! 0003; decisions 0001, 0002 and 4, decided 5. Decision making.",
    );
    assert_eq!(decision_citations(&text), [17, 3, 1, 2, 4]);
    let text = "[a](../decisions/0017-identity.md) in `docs/decisions/`";
    assert_eq!(decision_links(text), ["0017-identity.md"]);
}
