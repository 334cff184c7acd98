//! Tags, with which an account groups its objects.

use crate::model::reason::{Code, Reason, Reasons};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectTag {
    pub id: i64,
    pub label: TagLabel,
}

/// 3 to 50 characters on one line, not all of them spaces.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagLabel(String);

impl TagLabel {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let valid = (3..=50).contains(&raw.chars().count())
            && !raw.chars().any(char::is_control)
            && !raw.trim().is_empty();
        match valid {
            true => Ok(Self(raw.to_owned())),
            false => {
                let text = "A tag must be 3 to 50 characters, without control characters and not only spaces";
                Err(vec![Reason::new(Code::TagInvalid, text)])
            }
        }
    }

    /// The label from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        Self::parse(&raw).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
