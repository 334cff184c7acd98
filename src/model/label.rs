//! Labels of VPCs and subnets (decision 0005), and the short labels of configs and disks.

use super::reason::{Code, Reason, Reasons};

/// The maximum number of characters in the label of a config or a disk.
const MAX_SHORT: usize = 48;

/// The label of a config or a disk: 1 to 48 characters without control characters.
pub fn parse_short(raw: &str) -> Result<String, Reasons> {
    if (1..=MAX_SHORT).contains(&raw.chars().count()) && !raw.chars().any(char::is_control) {
        return Ok(raw.to_owned());
    }
    let text = "Label must be between 1 and 48 characters, without control characters";
    Err(vec![Reason::new(Code::LabelLength, text)])
}

/// A short label: `before`, as much of `name` as fits, and `after`. `before` and `after` must be ASCII.
pub fn fit_short(before: &str, name: &str, after: &str) -> String {
    let room = MAX_SHORT - before.len() - after.len();
    let visible = name.chars().filter(|c| !c.is_control());
    let name: String = visible.take(room).collect();
    format!("{before}{name}{after}")
}

/// The label from a database row, if it is valid. Builds before 0.2 derived labels of any length from image
/// names. A label that is too long is truncated.
pub fn checked_short(mut raw: String) -> Option<String> {
    if let Some((end, _)) = raw.char_indices().nth(MAX_SHORT) {
        raw.truncate(end);
    }
    parse_short(&raw).ok()
}

/// 1 to 64 ASCII letters, digits and dashes, without two dashes in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Label(String);

impl Label {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let mut reasons = Reasons::new();
        if !(1..=64).contains(&raw.chars().count()) {
            let text = "Label must be between 1 and 64 characters";
            reasons.push(Reason::new(Code::LabelLength, text));
        }
        if !raw.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            let text = "Must only use ASCII letters, numbers, and dashes";
            reasons.push(Reason::new(Code::LabelCharacters, text));
        }
        if raw.contains("--") {
            let text = "Label must not contain two dashes in a row";
            reasons.push(Reason::new(Code::LabelDashes, text));
        }
        if reasons.is_empty() {
            Ok(Self(raw.to_owned()))
        } else {
            Err(reasons)
        }
    }

    /// The label from a database row, if it is valid. Release builds check only the length, and that the
    /// label is ASCII: a page of VPCs has hundreds of labels, and a full check would make the page 6 %
    /// slower. Debug builds, including the tests, check all rules.
    pub fn checked(raw: String) -> Option<Self> {
        let passes_quick_check = (1..=64).contains(&raw.len()) && raw.is_ascii();
        let valid = passes_quick_check && (cfg!(not(debug_assertions)) || Self::parse(&raw).is_ok());
        valid.then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn rows_are_validated_like_requests() {
        let (longest, longer) = ("a".repeat(64), "a".repeat(65));
        for text in [
            "", "a", "-", "a-b", "a--b", "--", "A9-", "a_b", "a b", "ä", &longest, &longer,
        ] {
            let checked = Label::checked(text.to_owned());
            assert_eq!(checked, Label::parse(text).ok(), "{text:?}");
        }
    }
}
