//! Plain English: the length of Markdown lines, American spelling, and idioms that readers stumble over.
//!
//! In Markdown, code blocks and code spans are skipped. In source files, comments, strings and the words of names are
//! checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::assert_none;
use crate::sources::root;

const MAX_COLUMNS: usize = 120;

/// Markdown that programs write.
const GENERATED: [&str; 1] = ["bench/results"];

/// Other text files that are checked in full.
const TEXT_FILES: [&str; 18] = [
    "deploy/Containerfile",
    "deploy/compose.yaml",
    "deploy/garth.service",
    "deploy/garth.toml",
    "deploy/ha/etcd.env",
    "deploy/ha/garth.env",
    "deploy/ha/haproxy-database.cfg",
    "deploy/ha/haproxy-nodes.cfg",
    "deploy/ha/patroni.yaml",
    "deploy/haproxy.cfg",
    "deploy/helm/garth/values.yaml",
    "deploy/make-secrets",
    "deploy/prometheus-rules.yaml",
    "examples/ci/github-actions.yml",
    "examples/ci/gitlab-ci.yml",
    "release/build",
    "release/deb/README.Debian",
    "release/deb/build",
];

/// Folders of source files that are checked, with the minimum number of files in each. Add the others as they become
/// clean.
const CLEAN_SOURCES: [(&str, usize); 19] = [
    ("bench", 20),
    ("examples", 8),
    ("helpers", 20),
    ("release", 1),
    ("src/agent", 15),
    ("src/agent_protocol", 5),
    ("src/api", 40),
    ("src/backup", 10),
    ("src/cli", 25),
    ("src/console", 45),
    ("src/exchange", 15),
    ("src/files", 5),
    ("src/jobs", 4),
    ("src/model", 40),
    ("src/rules", 50),
    ("src/store", 45),
    ("src/uploads", 2),
    ("src/web", 45),
    ("tests", 130),
];

/// Folders and files in `CLEAN_SOURCES` that are not checked yet, and this list of idioms.
const UNCHECKED: [&str; 5] = [
    "tests/api/account",
    "tests/api/compute",
    "tests/api/identity",
    "tests/api/network",
    "tests/tidy/prose.rs",
];

/// The extensions of source files.
const SOURCE_EXTENSIONS: [&str; 6] = ["rs", "py", "mjs", "lua", "c", "go"];

/// A word or phrase, and a replacement. `*` at the end stands for any ending.
const IDIOMS: &[(&str, &str)] = &[
    (
        "whoever",
        "name the person or program: the caller, the client, the operator",
    ),
    ("whomever", "name the person or program"),
    ("nobody", "no user, no client; or name the actor"),
    ("anybody", "any user, any client"),
    ("somebody", "a user, a client; or name the actor"),
    ("everybody", "all users"),
    ("told", "notified, reported, sent"),
    ("tells", "reports, returns, shows"),
    ("of which", "start a new sentence"),
    ("that which", "name it"),
    ("wish*", "request"),
    ("ask for", "request, require"),
    ("asks for", "requests, requires"),
    ("asked for", "requested, required"),
    ("who asks", "the caller"),
    ("who is asking", "the caller"),
    ("hear", "receive"),
    ("hears", "receives"),
    ("heard", "received"),
    ("kept", "stored, retained"),
    ("what is", "name it"),
    ("what was", "name it"),
    ("what are", "name them"),
    ("what has", "name it"),
    ("what it", "name it"),
    ("what they", "name it"),
    ("what comes", "name it"),
    ("what came", "name it"),
    ("what goes", "name it"),
    ("come of", "result from"),
    ("comes of", "results from"),
    ("came of", "resulted from"),
    ("at once", "immediately, together, concurrently"),
    ("anew", "again"),
    ("beside", "next to, together with, in addition to"),
    ("besides", "also"),
    ("for ever", "without limit"),
    ("in vain", "without effect"),
    ("give back", "release, return"),
    ("gives back", "releases, returns"),
    ("given back", "released, returned"),
    ("take back", "revoke, roll back"),
    ("takes back", "revokes, rolls back"),
    ("taken back", "revoked, rolled back"),
    ("hand out", "issue, return"),
    ("hands out", "issues, returns"),
    ("hand over", "pass"),
    ("hands over", "passes"),
    ("handed over", "passed"),
    ("let go", "release"),
    ("lets go", "releases"),
    ("is away", "is unreachable"),
    ("of its own", "its own"),
    ("of their own", "their own"),
    ("of one's own", "its own"),
    ("whatever", "any, all"),
    ("wherever", "in every place where"),
    ("furnish*", "create, prepare"),
    ("halves", "partial, incomplete"),
    ("patience", "timeout"),
    ("under way", "pending, in progress"),
    ("on its way", "pending, in progress"),
    ("on their way", "pending, in progress"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("goes away", "fails, is deleted, disconnects"),
    ("is gone", "is deleted, is missing"),
    ("such a thing", "name it"),
    ("so many", "this number of"),
    ("looked at", "read, checked"),
    ("is meant", "is intended"),
    ("by turns", "in turn"),
    ("again and again", "repeatedly"),
    ("all is well", "ok, passed"),
    ("all is clear", "name the condition"),
    ("behaviour*", "behavior"),
    ("catalogue*", "catalog"),
    ("colour*", "color"),
    ("favour*", "favor"),
    ("honour*", "honor"),
    ("licence*", "license"),
    ("neighbour*", "neighbor"),
    ("normalis*", "normalize"),
    ("optimis*", "optimize"),
    ("organis*", "organize"),
    ("recognis*", "recognize"),
    ("sanitis*", "sanitize"),
    ("serialis*", "serialize"),
];

/// Phrases that are plain English although they contain an idiom.
const EXCEPTIONS: [&str; 2] = ["what is wrong", "asks for confirmation"];

/// Source files that need an idiom, such as a value of the console.
const FILE_EXCEPTIONS: [(&str, &str); 3] = [
    ("src/api/other_products/objects.rs", "what is"),
    ("src/api/other_products/objects.rs", "what was"),
    ("tests/api/upgrades.rs", "nobody"),
];

/// A word that matches no idiom and separates phrases.
const BREAK: &str = "|";

/// A word in lower case, and the number of its line.
type Word = (String, usize);

/// All Markdown files below the root, as paths from there.
fn markdown_files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            let relative = path.strip_prefix(root()).expect("a path below the root");
            if path.is_dir() {
                let skipped = name.starts_with('.') || ["target", "node_modules"].contains(&name.as_str());
                let generated = GENERATED.iter().any(|generated| relative == Path::new(generated));
                if !skipped && !generated {
                    folders.push(path);
                }
            } else if name.ends_with(".md") {
                found.push(relative.to_owned());
            }
        }
    }
    found.sort();
    assert!(found.len() > 35, "only {} Markdown files were found", found.len());
    found
}

/// All source files below a folder, as paths from the root.
fn source_files(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let relative = path.strip_prefix(root()).expect("a path below the root");
            if UNCHECKED.iter().any(|unchecked| relative == Path::new(unchecked)) {
                continue;
            }
            let extension = path.extension().and_then(|extension| extension.to_str());
            // A script without an extension is called `run`.
            let is_source = extension.map_or(path.ends_with("run"), |extension| {
                SOURCE_EXTENSIONS.contains(&extension)
            });
            if path.is_dir() {
                folders.push(path);
            } else if is_source {
                found.push(relative.to_owned());
            }
        }
    }
    found.sort();
    found
}

fn read(file: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(file)).expect("a text file")
}

/// The lines of Markdown that are prose, with their numbers. Code blocks are left out.
fn prose_lines(markdown: &str) -> Vec<(usize, &str)> {
    let mut in_fence = false;
    let mut lines = Vec::new();
    for (index, line) in markdown.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence && !line.starts_with("    ") {
            lines.push((index + 1, line));
        }
    }
    lines
}

/// The words of Markdown. A code span is one word that matches nothing.
fn markdown_words(markdown: &str) -> Vec<Word> {
    let lines = prose_lines(markdown).into_iter();
    let without_spans = |line: &str| {
        let parts = line.split('`').enumerate();
        let prose = parts.map(|(index, part)| if index % 2 == 0 { part } else { " ` " });
        prose.collect::<String>()
    };
    lines
        .flat_map(|(number, line)| words_of(&without_spans(line), number))
        .collect()
}

/// The words of source code: those of comments, strings and names. Punctuation separates phrases.
fn source_words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start().trim_start_matches(['/', '!', '#', '*', '-']);
        for part in line.split_inclusive(|letter: char| !is_word_letter(letter)) {
            let word = part.trim_end_matches(|letter: char| !is_word_letter(letter));
            let split = words_of_name(word).into_iter();
            words.extend(split.map(|word| (word, index + 1)));
            let separator = &part[word.len()..];
            if !separator
                .chars()
                .all(|letter| letter.is_whitespace() || letter == '_')
            {
                words.push((BREAK.to_owned(), index + 1));
            }
        }
    }
    words
}

fn is_word_letter(letter: char) -> bool {
    letter.is_alphanumeric() || "'’-".contains(letter)
}

/// `TestApp` has the words `test` and `app`.
fn words_of_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = None;
    for letter in name.chars() {
        let starts_word = letter.is_uppercase() && previous.is_some_and(char::is_lowercase);
        match words.last_mut() {
            Some(word) if !starts_word => word.extend(letter.to_lowercase()),
            _ => words.push(letter.to_lowercase().collect()),
        }
        previous = Some(letter);
    }
    words
}

fn words_of(line: &str, number: usize) -> Vec<Word> {
    let is_separator = |letter: char| !letter.is_alphanumeric() && !"'’`-".contains(letter);
    let words = line.split(is_separator).filter(|word| !word.is_empty());
    words.map(|word| (word.to_lowercase(), number)).collect()
}

/// Whether the phrase begins at the first of these words.
fn starts_with_phrase(words: &[Word], phrase: &str) -> bool {
    let mut rest = words.iter().map(|(word, _)| word.as_str());
    phrase
        .split(' ')
        .all(|part| match (part.strip_suffix('*'), rest.next()) {
            (Some(stem), Some(word)) => word.starts_with(stem),
            (None, Some(word)) => word == part,
            (_, None) => false,
        })
}

/// An idiom, its replacement, and the number of its line.
type Found = (&'static str, &'static str, usize);

/// The idioms in these words, and the exceptions that were needed.
fn idioms(words: &[Word]) -> (Vec<Found>, BTreeSet<&'static str>) {
    let mut by_first_byte: BTreeMap<u8, Vec<_>> = BTreeMap::new();
    for entry in IDIOMS {
        by_first_byte
            .entry(entry.0.as_bytes()[0])
            .or_default()
            .push(entry);
    }
    let (mut found, mut needed) = (Vec::new(), BTreeSet::new());
    for (at, (word, line)) in words.iter().enumerate() {
        let rest = &words[at..];
        let candidates = by_first_byte.get(&word.as_bytes()[0]).into_iter().flatten();
        let mut matching = candidates.filter(|(idiom, _)| starts_with_phrase(rest, idiom));
        let Some((idiom, instead)) = matching.next() else {
            continue;
        };
        match EXCEPTIONS.iter().find(|phrase| starts_with_phrase(rest, phrase)) {
            Some(exception) => {
                needed.insert(*exception);
            }
            None => found.push((*idiom, *instead, *line)),
        }
    }
    (found, needed)
}

/// Every checked text: its name and its words.
fn texts() -> Vec<(String, Vec<Word>)> {
    let mut texts = Vec::new();
    for file in markdown_files() {
        texts.push((file.display().to_string(), markdown_words(&read(&file))));
    }
    for file in TEXT_FILES {
        let text = read(file);
        let lines = text.lines().enumerate();
        let words = lines.flat_map(|(index, line)| words_of(line, index + 1));
        texts.push((file.to_owned(), words.collect()));
    }
    for (folder, minimum) in CLEAN_SOURCES {
        let files = source_files(folder);
        assert!(
            files.len() >= minimum,
            "{folder} has only {} source files",
            files.len()
        );
        for file in files {
            let words = source_words(&read(&file));
            texts.push((file.display().to_string(), words));
        }
    }
    texts
}

#[test]
fn texts_have_none_of_the_listed_idioms() {
    let (mut found, mut needed, mut needed_in_files) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (name, words) in texts() {
        let (idioms, exceptions) = idioms(&words);
        for (idiom, instead, line) in idioms {
            match FILE_EXCEPTIONS.contains(&(name.as_str(), idiom)) {
                true => drop(needed_in_files.insert((name.clone(), idiom))),
                false => found.push(format!("{name}:{line}: \"{idiom}\" ({instead})")),
            }
        }
        needed.extend(exceptions);
    }
    assert_none("prose is plain English", found);
    let unused = EXCEPTIONS
        .iter()
        .filter(|exception| !needed.contains(**exception));
    let unused = unused.map(|exception| (*exception).to_owned());
    assert_none("every exception is needed", unused.collect());
    assert_eq!(
        needed_in_files.len(),
        FILE_EXCEPTIONS.len(),
        "only these exceptions are needed: {needed_in_files:?}"
    );
}

#[test]
fn lines_of_markdown_fit_120_columns() {
    let mut found = Vec::new();
    for file in markdown_files() {
        let text = read(&file);
        let lines = prose_lines(&text).into_iter();
        // The row of a table cannot be broken.
        let long = lines
            .filter(|(_, line)| !line.trim_start().starts_with('|') && line.chars().count() > MAX_COLUMNS);
        found.extend(long.map(|(number, line)| format!("{}:{number}: {line}", file.display())));
    }
    assert_none("Markdown fits 120 columns", found);
}

#[test]
fn idioms_are_found_in_prose_and_in_names() {
    let markdown = "It says, of\nWhich `whoever` is one.\n\n    nobody\n\n```\nnobody\n```\nA Neighbour. Say what is wrong.\n";
    let place = |(idiom, _, line): &Found| (*idiom, *line);
    let (found, needed) = idioms(&markdown_words(markdown));
    let found: Vec<_> = found.iter().map(place).collect();
    assert_eq!(found, [("of which", 1), ("neighbour*", 9)]);
    assert_eq!(needed, BTreeSet::from(["what is wrong"]));

    let rust = "/// It is given\n/// Back.\nfn at_once() { print(\"told {what} is\") }\nstruct WishList;\nkept_(what, is)\n";
    let (found, _) = idioms(&source_words(rust));
    let found: Vec<_> = found.iter().map(place).collect();
    let expected = [
        ("given back", 1),
        ("at once", 3),
        ("told", 3),
        ("wish*", 4),
        ("kept", 5),
    ];
    assert_eq!(found, expected);
}
