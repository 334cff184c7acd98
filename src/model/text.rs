//! Free text that people write.

use super::reason::{Code, Reason, Reasons};

/// What a VPC is for, in its owner's words: at most 255 characters, perhaps none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Description(String);

impl Description {
    const MAX: usize = 255;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let mut wrong = Reasons::new();
        if raw.chars().count() > Self::MAX {
            let text = format!("Must be at most {} characters", Self::MAX);
            wrong.push(Reason::new(Code::TooLong, text));
        }
        if raw.chars().any(is_forbidden_control) {
            let text = "Must not contain control characters other than tab and line breaks";
            wrong.push(Reason::new(Code::ControlCharacters, text));
        }
        if wrong.is_empty() {
            Ok(Self(raw.to_owned()))
        } else {
            Err(wrong)
        }
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
        let mut wrong = length(raw, MAX);
        if raw.chars().any(is_forbidden_control) {
            let text = "Must not contain control characters other than tab and line breaks";
            wrong.push(Reason::new(Code::ControlCharacters, text));
        }
        if wrong.is_empty() {
            Ok(Self(raw.to_owned()))
        } else {
            Err(wrong)
        }
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
        let mut wrong = length(raw, MAX);
        if raw.chars().any(|c| c.is_control() && c != '\t') {
            let text = "Must be one line without control characters other than tab";
            wrong.push(Reason::new(Code::ControlCharacters, text));
        }
        if wrong.is_empty() {
            Ok(Self(raw.to_owned()))
        } else {
            Err(wrong)
        }
    }

    /// For a line that was parsed before it was stored.
    pub fn stored(raw: String) -> Self {
        Self(raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
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

fn is_forbidden_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}
