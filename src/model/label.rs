//! Display names of VPCs and subnets (decision 0005).

use super::reason::{Code, Reason, Reasons};

/// 1 to 64 ASCII letters, digits and dashes, without two dashes in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label(String);

impl Label {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let mut wrong = Reasons::new();
        if !(1..=64).contains(&raw.chars().count()) {
            let text = "Label must be between 1 and 64 characters";
            wrong.push(Reason::new(Code::LabelLength, text));
        }
        if !raw.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            let text = "Must only use ASCII letters, numbers, and dashes";
            wrong.push(Reason::new(Code::LabelCharacters, text));
        }
        if raw.contains("--") {
            let text = "Label must not contain two dashes in a row";
            wrong.push(Reason::new(Code::LabelDashes, text));
        }
        if wrong.is_empty() {
            Ok(Self(raw.to_owned()))
        } else {
            Err(wrong)
        }
    }

    /// For a label that was parsed before it was stored.
    pub fn stored(raw: String) -> Self {
        Self(raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
