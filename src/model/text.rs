//! Free text.

use super::reason::{Code, Reason, Reasons};

/// The description of a VPC: at most 255 characters, possibly empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Description(String);

impl Description {
    const MAX: usize = 255;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let errors = match raw.chars().count() > Self::MAX {
            true => {
                let text = format!("Must be at most {} characters", Self::MAX);
                vec![Reason::new(Code::TooLong, text)]
            }
            false => Reasons::new(),
        };
        checked(raw, errors, LineBreaks::Allowed).map(Self)
    }

    /// The description from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        let valid = is_short(&raw, Self::MAX) && is_plain(&raw, LineBreaks::Allowed);
        valid.then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Multi-line text: 1 to `MAX` characters, stored unchanged. A text of only white space counts as empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prose<const MAX: usize>(String);

impl<const MAX: usize> Prose<MAX> {
    pub const MAX: usize = MAX;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        checked(raw, length_errors(raw, MAX), LineBreaks::Allowed).map(Self)
    }

    /// The text from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        is_text(&raw, MAX, LineBreaks::Allowed).then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A single line of text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line<const MAX: usize>(String);

impl<const MAX: usize> Line<MAX> {
    pub const MAX: usize = MAX;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        checked(raw, length_errors(raw, MAX), LineBreaks::Refused).map(Self)
    }

    /// The line from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        is_text(&raw, MAX, LineBreaks::Refused).then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A single line of at most `MAX` characters, possibly empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OptionalLine<const MAX: usize>(String);

impl<const MAX: usize> OptionalLine<MAX> {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let errors = match is_short(raw, MAX) {
            true => Reasons::new(),
            false => vec![Reason::new(
                Code::TooLong,
                format!("Must be at most {MAX} characters"),
            )],
        };
        checked(raw, errors, LineBreaks::Refused).map(Self)
    }

    /// The line from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        (is_short(&raw, MAX) && is_plain(&raw, LineBreaks::Refused)).then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether line breaks are allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineBreaks {
    Allowed,
    Refused,
}

/// Checks that a text has no control characters except tabs and, if allowed, line breaks. Returns the text,
/// or the earlier `errors` and the new error.
fn checked(raw: &str, mut errors: Reasons, breaks: LineBreaks) -> Result<String, Reasons> {
    if !is_plain(raw, breaks) {
        let text = match breaks {
            LineBreaks::Allowed => "Must not contain control characters other than tab and line breaks",
            LineBreaks::Refused => "Must be one line without control characters other than tab",
        };
        errors.push(Reason::new(Code::ControlCharacters, text));
    }
    match errors.is_empty() {
        true => Ok(raw.to_owned()),
        false => Err(errors),
    }
}

fn length_errors(raw: &str, max_chars: usize) -> Reasons {
    let text = format!("Must be 1 to {max_chars} characters");
    if raw.trim().is_empty() {
        vec![Reason::new(Code::TooShort, format!("{text} and not blank"))]
    } else if raw.chars().count() > max_chars {
        vec![Reason::new(Code::TooLong, text)]
    } else {
        Vec::new()
    }
}

/// Whether a text has 1 to `max_chars` characters, at least one of them visible, and no control characters.
fn is_text(raw: &str, max_chars: usize, breaks: LineBreaks) -> bool {
    is_short(raw, max_chars) && !raw.trim().is_empty() && is_plain(raw, breaks)
}

fn is_short(raw: &str, max_chars: usize) -> bool {
    raw.len() <= max_chars || raw.chars().count() <= max_chars
}

/// Whether a text has no control characters except tabs and, if allowed, line breaks.
fn is_plain(raw: &str, breaks: LineBreaks) -> bool {
    let breaks_allowed = breaks == LineBreaks::Allowed;
    let is_allowed_control = |byte: u8| byte == b'\t' || (breaks_allowed && (byte == b'\n' || byte == b'\r'));
    // In UTF-8, every forbidden control character starts with a suspect byte. Most texts contain no suspect
    // byte, so the slower check of each character rarely runs. Speed matters, because every row is checked.
    let is_suspect = |byte: u8| (byte < b' ' && !is_allowed_control(byte)) || byte == 0x7f || byte == 0xc2;
    let has_suspect = raw.bytes().fold(false, |found, byte| found | is_suspect(byte));
    let is_allowed = |c: char| !c.is_control() || u8::try_from(c).is_ok_and(is_allowed_control);
    !has_suspect || raw.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_validated_like_requests() {
        let texts = [
            "",
            " ",
            "a",
            "a\nb",
            "a\tb",
            "a\0b",
            "\u{85}",
            "äöü",
            "aaaa",
            "𝄞𝄞𝄞",
            "𝄞𝄞𝄞𝄞",
        ];
        for text in texts {
            let row = || text.to_owned();
            assert_eq!(
                Description::checked(row()),
                Description::parse(text).ok(),
                "{text:?}"
            );
            assert_eq!(Prose::<3>::checked(row()), Prose::parse(text).ok(), "{text:?}");
            assert_eq!(Line::<3>::checked(row()), Line::parse(text).ok(), "{text:?}");
            assert_eq!(
                OptionalLine::<3>::checked(row()),
                OptionalLine::parse(text).ok(),
                "{text:?}"
            );
        }
        for length in [255, 256] {
            let text = "ä".repeat(length);
            assert_eq!(Description::checked(text.clone()), Description::parse(&text).ok());
        }
    }
}
