//! Texts with placeholders: `{{name}}` is replaced by a value.

use crate::model::reason::{Code, Reason, Reasons};

/// Refuses placeholders that are unknown or not closed.
pub fn check(text: &str, known: &[&str]) -> Result<(), Reasons> {
    let is_unknown = |name: &&str| !known.contains(&name.trim());
    match names(text).find(is_unknown) {
        None if text.matches("{{").count() > names(text).count() => {
            let text = "Unclosed placeholder: missing }}";
            Err(vec![Reason::new(Code::PlaceholderUnknown, text)])
        }
        None => Ok(()),
        Some(name) => {
            let text = format!(
                "Unknown placeholder {{{{{name}}}}}; must be one of {}",
                known.join(", ")
            );
            Err(vec![Reason::new(Code::PlaceholderUnknown, text)])
        }
    }
}

/// Replaces every placeholder once. A value that contains a placeholder remains as it is.
pub fn fill(text: &str, value: impl Fn(&str) -> String) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, name, after)) = next(rest) {
        filled.push_str(before);
        filled.push_str(&value(name.trim()));
        rest = after;
    }
    filled + rest
}

/// The names of the placeholders in a text, with the spaces around them.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, after) = next(rest)?;
        rest = after;
        Some(name)
    })
}

/// The text before the next `{{name}}`, the name, and the text after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}
