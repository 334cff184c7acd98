//! Reads the settings file, and reports errors in it without quoting values, which may be passwords.

use std::path::Path;

use anyhow::{Context, anyhow};

use super::settings::Settings;

/// The message for an unknown name lists all accepted names, if there are at most this many.
const MAX_LISTED_NAMES: usize = 6;
/// Otherwise, the message suggests at most this many similar names.
const MAX_SUGGESTIONS: usize = 3;

pub fn read(path: &Path) -> anyhow::Result<Settings> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the settings file {}", path.display()))?;
    toml::from_str(&text)
        .map_err(|error| anyhow!("settings file {}, {}", path.display(), describe(&text, &error)))
}

/// The line number, the setting and the error. The parser's own message is not used, because it quotes the whole line.
fn describe(text: &str, error: &toml::de::Error) -> String {
    let start = error.span().map_or(0, |span| span.start);
    let line = text.get(..start).unwrap_or_default().matches('\n').count();
    let name = text.lines().nth(line).and_then(|line| line.split('=').next());
    let name = name.unwrap_or_default().trim();
    let message = describe_unknown_name(error.message()).unwrap_or_else(|| error.message().to_owned());
    format!("line {} ({name}): {message}", line + 1)
}

/// The message for an unknown setting. It suggests similar names instead of listing all settings.
fn describe_unknown_name(message: &str) -> Option<String> {
    let rest = message.strip_prefix("unknown field `")?;
    let (unknown, accepted) = rest.split_once('`')?;
    // Every second part is between backticks.
    let accepted: Vec<&str> = accepted.split('`').skip(1).step_by(2).collect();
    let mut similar: Vec<(usize, &str)> = accepted
        .iter()
        .map(|name| (distance(unknown, name), *name))
        .filter(|(distance, _)| *distance <= unknown.len() / 2)
        .collect();
    similar.sort_unstable();
    let list = |names: &[&str]| names.join("`, `");
    let hint = if accepted.len() <= MAX_LISTED_NAMES {
        format!("expected one of `{}`", list(&accepted))
    } else if similar.is_empty() {
        "see `garth serve --help` for the settings".to_owned()
    } else {
        let names: Vec<&str> = similar
            .iter()
            .map(|(_, name)| *name)
            .take(MAX_SUGGESTIONS)
            .collect();
        format!("similar settings: `{}`", list(&names))
    };
    Some(format!("unknown setting `{unknown}`; {hint}"))
}

/// The Levenshtein distance between two names.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> String {
        let error = toml::from_str::<Settings>(text).expect_err(text);
        describe(text, &error)
    }

    #[test]
    fn an_unknown_setting_is_answered_with_similar_names() {
        assert_eq!(
            error_of("event_days = 3\npage_size_minimum = 5"),
            "line 2 (page_size_minimum): unknown setting `page_size_minimum`; similar settings: `page_size_min`"
        );
        assert_eq!(
            error_of("zzzzzzzz = 5"),
            "line 1 (zzzzzzzz): unknown setting `zzzzzzzz`; see `garth serve --help` for the settings"
        );
        assert_eq!(
            error_of("[quota]\nvpcs = 5"),
            "line 2 (vpcs): unknown setting `vpcs`; expected one of `vpcs_per_region`, `subnets_per_vpc`, `attachment_bytes`"
        );
    }

    #[test]
    fn distances_count_edits() {
        for (a, b, expected) in [
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("listen", "lisen", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
