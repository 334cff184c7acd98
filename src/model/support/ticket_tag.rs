//! Tags with which staff group tickets.

use crate::model::reason::{Code, Reason, Reasons};

/// 3 to 50 characters in lower case, without spaces at the ends, control characters and commas.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TicketTag(String);

impl TicketTag {
    /// The maximum number of characters.
    pub const MAX: usize = 50;

    /// Parses a tag, without the spaces at its ends and in lower case, so that staff do not create several spellings of
    /// a tag. A comma separates tags in the console.
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let label: String = raw.trim_matches(' ').chars().map(lower_case).collect();
        let is_forbidden = |c: char| c.is_control() || c == ',';
        let has_length = raw.chars().count() <= Self::MAX && label.chars().count() >= 3;
        match has_length && !label.contains(is_forbidden) {
            true => Ok(Self(label)),
            false => {
                let text =
                    "A tag of a ticket must be 3 to 50 characters, without control characters and commas";
                Err(vec![Reason::new(Code::TagInvalid, text)])
            }
        }
    }

    /// The tag from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        Self::parse(&raw).ok().filter(|tag| tag.0 == raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The character in lower case, if this is one character.
fn lower_case(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => c,
    }
}

/// The tags as one text: `billing, network`.
pub fn join(tags: &[TicketTag]) -> String {
    tags.iter().map(TicketTag::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_trimmed_and_in_lower_case() {
        for (raw, tag) in [("billing", "billing"), ("  Rack 4 ", "rack 4"), ("ÜBER", "über")] {
            assert_eq!(
                TicketTag::parse(raw).map(|tag| tag.0),
                Ok(tag.to_owned()),
                "{raw:?}"
            );
            assert!(TicketTag::checked(tag.to_owned()).is_some(), "{tag:?}");
        }
        assert!(TicketTag::parse(&"ä".repeat(50)).is_ok());
        for bad in ["", "ab", "  a  ", "one, two", "a\nb\nc", &"ä".repeat(51)] {
            assert!(TicketTag::parse(bad).is_err(), "{bad:?}");
        }
        assert!(TicketTag::checked("Billing".to_owned()).is_none());
    }
}
