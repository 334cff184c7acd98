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

fn is_forbidden_control(c: char) -> bool {
    c.is_control() && !matches!(c, '\t' | '\n' | '\r')
}
