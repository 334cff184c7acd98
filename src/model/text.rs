//! Free text that people write.

use super::reason::{Code, Reason, Reasons};

/// What a VPC is for, in its owner's words: at most 255 characters, perhaps none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Description(String);

impl Description {
    const MAX: usize = 255;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let wrong = match raw.chars().count() > Self::MAX {
            true => {
                let text = format!("Must be at most {} characters", Self::MAX);
                vec![Reason::new(Code::TooLong, text)]
            }
            false => Reasons::new(),
        };
        checked(raw, wrong, Breaks::Allowed).map(Self)
    }

    /// For a description that was parsed before it was stored.
    pub fn stored(raw: String) -> Self {
        Self(raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What people write to each other: 1 to `MAX` characters, kept as it was sent. Only blanks count as
/// nothing at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Prose<const MAX: usize>(String);

impl<const MAX: usize> Prose<MAX> {
    pub const MAX: usize = MAX;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        checked(raw, length(raw, MAX), Breaks::Allowed).map(Self)
    }

    /// For a text that was parsed before it was stored.
    pub fn stored(raw: String) -> Self {
        Self(raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A title: the same on one line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line<const MAX: usize>(String);

impl<const MAX: usize> Line<MAX> {
    pub const MAX: usize = MAX;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        checked(raw, length(raw, MAX), Breaks::Refused).map(Self)
    }

    /// For a line that was parsed before it was stored.
    pub fn stored(raw: String) -> Self {
        Self(raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a text may have more than one line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breaks {
    Allowed,
    Refused,
}

/// The text, if nothing was wrong with it before and it has no control characters but tabs and perhaps line
/// breaks.
fn checked(raw: &str, mut wrong: Reasons, breaks: Breaks) -> Result<String, Reasons> {
    let forbidden = |c: char| {
        let line_break = breaks == Breaks::Allowed && matches!(c, '\n' | '\r');
        c.is_control() && c != '\t' && !line_break
    };
    if raw.chars().any(forbidden) {
        let text = match breaks {
            Breaks::Allowed => "Must not contain control characters other than tab and line breaks",
            Breaks::Refused => "Must be one line without control characters other than tab",
        };
        wrong.push(Reason::new(Code::ControlCharacters, text));
    }
    match wrong.is_empty() {
        true => Ok(raw.to_owned()),
        false => Err(wrong),
    }
}

fn length(raw: &str, most: usize) -> Reasons {
    let text = format!("Must be 1 to {most} characters");
    if raw.trim().is_empty() {
        vec![Reason::new(Code::TooShort, format!("{text}, not only blanks"))]
    } else if raw.chars().count() > most {
        vec![Reason::new(Code::TooLong, text)]
    } else {
        Vec::new()
    }
}
