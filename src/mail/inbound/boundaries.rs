//! The boundaries that a message declares, as far as they can be read without the parser.
//!
//! The limits on parts must hold for every boundary that the parser can find. A boundary in an unusual notation can
//! therefore be any text.

use std::collections::BTreeSet;

const PARAMETER: &[u8] = b"boundary";
/// The time of one comparison, in bytes.
const COMPARISON_COST_BYTES: usize = 16;
/// The shortest delimiter: two dashes, and a boundary of one character.
const MIN_DELIMITER_BYTES: usize = 3;

#[derive(Debug, Default)]
pub struct Boundaries<'a> {
    /// The boundaries, or the start of those that end in an unusual notation. None is empty.
    starts: BTreeSet<&'a [u8]>,
    /// The complete boundaries.
    complete: BTreeSet<&'a [u8]>,
    /// Whether a boundary can be any text.
    has_unknown: bool,
}

/// The value of a parameter.
#[derive(Debug, PartialEq, Eq)]
enum Value<'a> {
    Complete(&'a [u8]),
    Start(&'a [u8]),
    Unknown,
    Missing,
}

impl<'a> Boundaries<'a> {
    /// Adds the boundaries of a header field. Returns their number.
    pub fn add_declared(&mut self, field: &'a [u8]) -> usize {
        let mut count = 0;
        for at in 0..field.len().saturating_sub(PARAMETER.len()) {
            let (name, rest) = field[at..].split_at(PARAMETER.len());
            if !name.eq_ignore_ascii_case(PARAMETER) {
                continue;
            }
            count += 1;
            match read_value(rest) {
                Value::Complete(value) => {
                    self.starts.insert(value);
                    self.complete.insert(value);
                }
                Value::Start(value) => {
                    self.starts.insert(value);
                }
                Value::Unknown => self.has_unknown = true,
                Value::Missing => {}
            }
        }
        count
    }

    /// The time to compare all boundaries with one position, in bytes.
    pub fn cost(&self) -> usize {
        let costs = self
            .starts
            .iter()
            .map(|start| start.len() + COMPARISON_COST_BYTES);
        costs.sum()
    }

    /// The number of delimiters that the parser can find in a line, at most.
    pub fn count_in(&self, line: &[u8]) -> usize {
        if self.starts.is_empty() && !self.has_unknown {
            return 0;
        }
        let (mut count, mut at, mut next_unknown) = (0, 0, 0);
        while let Some(index) = memchr::memchr(b'-', &line[at..]) {
            at += index + 1;
            if line.get(at) != Some(&b'-') {
                continue;
            }
            let rest = &line[at + 1..];
            let is_known = self.starts.iter().any(|start| rest.starts_with(start));
            let is_unknown = self.has_unknown && !rest.is_empty() && at >= next_unknown;
            if is_known || is_unknown {
                count += 1;
                next_unknown = at + MIN_DELIMITER_BYTES;
            }
        }
        count
    }

    /// The boundary of a line that has only a delimiter, and whether it is the last delimiter of the boundary.
    pub fn delimiter<'l>(&self, line: &'l [u8]) -> Option<(&'l [u8], bool)> {
        let text = line.strip_prefix(b"--")?.trim_ascii_end();
        if self.complete.contains(text) {
            return Some((text, false));
        }
        let closed = text.strip_suffix(b"--")?;
        self.complete.contains(closed).then_some((closed, true))
    }
}

/// Reads the text after the name of a parameter.
fn read_value(rest: &[u8]) -> Value<'_> {
    // The parser ignores quotes and backslashes between a name and its value.
    let is_ignored = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\\');
    let Some(at) = rest.iter().position(|byte| !is_ignored(byte)) else {
        return Value::Missing;
    };
    match rest[at] {
        b'=' => {}
        // A parameter in pieces or with a character set (RFC 2231), or a comment.
        b'*' | b'(' => return Value::Unknown,
        _ => return Value::Missing,
    }
    let value = rest[at + 1..].trim_ascii_start();
    let (value, is_quoted) = match value.strip_prefix(b"\"") {
        Some(quoted) => (quoted, true),
        None => (value, false),
    };
    let is_end = |(at, byte): (usize, &u8)| match byte {
        b'"' | b'\\' | b'\r' | b'\n' => true,
        // An encoded word.
        b'=' => value.get(at + 1) == Some(&b'?'),
        b';' | b'(' | b' ' | b'\t' => !is_quoted,
        byte => !byte.is_ascii(),
    };
    let length = value.iter().enumerate().position(is_end).unwrap_or(value.len());
    let (start, rest) = value.split_at(length);
    let is_complete = match is_quoted {
        true => rest.first() == Some(&b'"'),
        false => {
            let rest = rest.trim_ascii_start();
            rest.is_empty() || rest[0] == b';'
        }
    };
    match (start.first(), is_complete) {
        (None, true) => Value::Missing,
        (None, false) | (Some(b' ' | b'\t'), _) => Value::Unknown,
        (Some(_), true) => Value::Complete(start),
        (Some(_), false) => Value::Start(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boundary_is_read_as_far_as_its_notation_is_usual() {
        for (field, expected) in [
            ("=b", Value::Complete(b"b".as_slice())),
            ("=b; charset=x", Value::Complete(b"b")),
            (" = \"a b\"; x=y", Value::Complete(b"a b")),
            ("=\"----=_Part_1\"\r\n", Value::Complete(b"----=_Part_1")),
            ("\"=b", Value::Complete(b"b")),
            ("=b c", Value::Start(b"b")),
            ("=b\\c", Value::Start(b"b")),
            ("=\"b\\c\"", Value::Start(b"b")),
            ("=b(c)", Value::Start(b"b")),
            ("=b=?utf-8?q?c?=", Value::Start(b"b")),
            ("=\"b\r\n c\"", Value::Start(b"b")),
            ("=\u{e4}", Value::Unknown),
            ("=(c)b", Value::Unknown),
            ("=\" b\"", Value::Unknown),
            ("*0=b", Value::Unknown),
            ("*=utf-8''b", Value::Unknown),
            ("(c)=b", Value::Unknown),
            ("=", Value::Missing),
            ("=\"\"", Value::Missing),
            ("=;", Value::Missing),
            (" of parts", Value::Missing),
        ] {
            assert_eq!(read_value(field.as_bytes()), expected, "{field}");
        }
    }

    #[test]
    fn delimiters_are_counted_anywhere_in_a_line() {
        let count = |field: &str, line: &str| {
            let mut boundaries = Boundaries::default();
            boundaries.add_declared(field.as_bytes());
            boundaries.count_in(line.as_bytes())
        };
        assert_eq!(count("boundary=b", "--b--b x--b ---b"), 4);
        assert_eq!(count("boundary=b", "-- \r\n"), 0);
        assert_eq!(count("x=y", "--b"), 0);
        assert_eq!(count("boundary*0=b", "--b--b"), 2);
        assert_eq!(count("boundary*0=b", &"-".repeat(70)), 23);
    }
}
