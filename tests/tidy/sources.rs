//! The source files as text, without their tests.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// All Rust files below a folder of `src`, by relative path, without their tests.
pub fn sources(folder: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root().join("src").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the source").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).expect("a source file");
                found.insert(name(&path), without_tests(&text));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

fn name(path: &Path) -> String {
    let path = path.strip_prefix(root().join("src")).expect("a path below src");
    path.to_string_lossy().into_owned()
}

/// Blanks every item below `#[cfg(test)]`. Line numbers stay the same.
pub fn without_tests(text: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let code = code_only(text);
    let mut blanked = text.to_owned();
    let mut from = 0;
    while let Some(at) = code[from..].find(MARK) {
        let item = from + at + MARK.len();
        let end = item + item_length(&code[item..]);
        blank(&mut blanked, from + at..end);
        from = end;
    }
    blanked
}

/// The length of an item: up to its `;`, or to the end of its block. A `use` has braces but ends at its `;`.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    let words = code.split_whitespace();
    let is_use = words
        .take_while(|word| *word != "{")
        .take(3)
        .any(|word| word == "use");
    for (index, letter) in code.char_indices() {
        match letter {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if letter == '}' && depth == 0 && !is_use {
                    return index + 1;
                }
            }
            ';' if depth == 0 => return index + 1,
            _ => {}
        }
    }
    code.len()
}

/// Blanks comments and string contents, so that only code is left. Positions stay the same.
pub fn code_only(text: &str) -> String {
    let mut code = text.to_owned();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let length = match literal_or_comment(rest) {
            Some(length) => {
                blank(&mut code, at..at + length);
                length
            }
            None => word_length(rest),
        };
        at += length;
    }
    code
}

/// The length of a word, so that the `r` at the end of a name does not start a raw string; otherwise one
/// character.
fn word_length(rest: &str) -> usize {
    let word = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    match word.unwrap_or(rest.len()) {
        0 => rest.chars().next().map_or(1, char::len_utf8),
        length => length,
    }
}

fn literal_or_comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(rest.find("*/").map_or(rest.len(), |end| end + 2));
    }
    let plain = rest.strip_prefix('b').unwrap_or(rest);
    let prefix = rest.len() - plain.len();
    if plain.starts_with('"') {
        return Some(prefix + string_length(plain));
    }
    if let Some(raw) = plain.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = prefix + 1 + hashes + 1;
            return Some(
                rest[body..]
                    .find(&close)
                    .map_or(rest.len(), |end| body + end + close.len()),
            );
        }
    }
    plain
        .starts_with('\'')
        .then(|| character_length(plain))
        .flatten()
        .map(|length| prefix + length)
}

fn string_length(rest: &str) -> usize {
    let mut escaped = false;
    for (index, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal; `None` for a lifetime.
fn character_length(rest: &str) -> Option<usize> {
    let mut letters = rest.char_indices().skip(1);
    match letters.next()?.1 {
        '\\' => {
            letters.next();
            letters.find(|(_, letter)| *letter == '\'').map(|(at, _)| at + 1)
        }
        _ => letters
            .next()
            .filter(|(_, letter)| *letter == '\'')
            .map(|(at, _)| at + 1),
    }
}

fn blank(text: &mut String, range: Range<usize>) {
    let spaces: String = text[range.clone()]
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    text.replace_range(range, &spaces);
}

#[test]
fn only_test_items_are_blanked() {
    let text = "use a;\n#[cfg(test)]\npub(super) use b::{c, d};\nfn e() { \"#[cfg(test)]\" }\n\
                #[cfg(test)]\nmod tests {\n    fn f() { '}' }\n}\nfn g<'a>(_: &'a str) {}\n";
    let left = without_tests(text);
    assert_eq!(left.lines().count(), text.lines().count());
    let lines: Vec<_> = left.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(
        lines,
        ["use a;", "fn e() { \"#[cfg(test)]\" }", "fn g<'a>(_: &'a str) {}"]
    );
}
