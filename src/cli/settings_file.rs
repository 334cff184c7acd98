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
    let place = match setting_at(text, line) {
        name if is_setting_name(&name) => format!("line {} ({name})", line + 1),
        // The line is not `name = value`, so its text could be a value.
        _ => format!("line {}", line + 1),
    };
    let message = describe_unknown_name(error.message())
        .or_else(|| describe_out_of_range(error.message()))
        .or_else(|| describe_wrong_type(error.message()))
        .unwrap_or_else(|| error.message().to_owned());
    format!("{place}: {message}")
}

fn is_setting_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    !name.is_empty() && name.chars().all(is_allowed)
}

/// The name of the setting on a line, with the table that it is in: `quota.vpcs_per_region`.
fn setting_at(text: &str, line: usize) -> String {
    let lines: Vec<&str> = text.lines().take(line + 1).map(str::trim).collect();
    let key = lines.last().copied().unwrap_or_default();
    if key.starts_with('[') {
        return table_name(key);
    }
    let key = key.split('=').next().unwrap_or_default().trim();
    let table = lines.iter().rev().find(|line| line.starts_with('['));
    match table {
        Some(table) => format!("{}.{key}", table_name(table)),
        None => key.to_owned(),
    }
}

fn table_name(header: &str) -> String {
    let name = header.split('#').next().unwrap_or_default();
    name.trim_matches(|c: char| c == '[' || c == ']' || c.is_whitespace())
        .to_owned()
}

/// The message for an integer that the setting cannot have, such as a negative number of connections.
fn describe_out_of_range(message: &str) -> Option<String> {
    let rest = message
        .strip_prefix("invalid value: integer")
        .or(message.strip_prefix("invalid type: integer"))?;
    let (first, last) = match rest.split_once(", expected ")?.1 {
        "i64" => (i64::MIN, i64::MAX),
        "u64" | "usize" => (0, i64::MAX),
        "u32" => (0, i64::from(u32::MAX)),
        "u16" => (0, i64::from(u16::MAX)),
        _ => return None,
    };
    Some(format!("must be a whole number from {first} to {last}"))
}

/// The message for a value of the wrong type. It has the types, but not the value.
fn describe_wrong_type(message: &str) -> Option<String> {
    let (found, expected) = message
        .strip_prefix("invalid type: ")?
        .split_once(", expected ")?;
    let found = found.split(['`', '"']).next().unwrap_or_default().trim();
    let found = match found {
        "string" => "a string",
        "integer" => "an integer",
        "floating point" => "a float",
        "boolean" => "a boolean",
        "sequence" => "an array",
        "map" => "a table",
        other => other,
    };
    let expected = match expected {
        "i64" | "u64" | "u32" | "u16" | "usize" => "an integer",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        "path string" => "a string",
        table if table.starts_with("struct ") => "a table",
        other => other,
    };
    Some(format!("must be {expected}, not {found}"))
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
            "line 2 (quota.vpcs): unknown setting `vpcs`; expected one of `vpcs_per_region`, `subnets_per_vpc`, `attachment_bytes`"
        );
    }

    #[test]
    fn a_line_that_is_no_setting_is_not_quoted() {
        for text in [
            "database: \"postgres://garth:s3cret@db/garth\"",
            "[tls]\n\"postgres://garth:s3cret@db/garth\"",
            "data = \"\"\"\npostgres://garth:s3cret@db/garth",
        ] {
            let message = error_of(text);
            assert!(
                message.starts_with("line ") && !message.contains("s3cret"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_value_of_the_wrong_type_is_answered_with_both_types() {
        for (text, expected) in [
            (
                "event_days = 'few'",
                "line 1 (event_days): must be an integer, not a string",
            ),
            (
                "event_days = 1.5",
                "line 1 (event_days): must be an integer, not a float",
            ),
            (
                "public_url = 5",
                "line 1 (public_url): must be a string, not an integer",
            ),
            ("data = true", "line 1 (data): must be a string, not a boolean"),
            (
                "tls_cert = []",
                "line 1 (tls_cert): must be a string, not an array",
            ),
            (
                "trusted_proxies = 'all'",
                "line 1 (trusted_proxies): must be an array, not a string",
            ),
            ("quota = 5", "line 1 (quota): must be a table, not an integer"),
            (
                "[quota] # limits\n\nvpcs_per_region = 'x'",
                "line 3 (quota.vpcs_per_region): must be an integer, not a string",
            ),
            (
                "oauth.implicit = 'yes'",
                "line 1 (oauth.implicit): must be true or false, not a string",
            ),
            (
                "min_free_bytes = -1",
                "line 1 (min_free_bytes): must be a whole number from 0 to 9223372036854775807",
            ),
            (
                "limits.connections = 99999999999",
                "line 1 (limits.connections): must be a whole number from 0 to 4294967295",
            ),
            (
                "event_days = 99999999999999999999",
                "line 1 (event_days): must be a whole number from -9223372036854775808 to 9223372036854775807",
            ),
            (
                "log = 3",
                "line 1 (log): must be a log level or a table of log settings, not an integer",
            ),
            (
                "[[types]]\nid = 'a'\nmemory = 'much'",
                "line 3 (types.memory): must be an integer, not a string",
            ),
        ] {
            assert_eq!(error_of(text), expected, "{text}");
        }
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
