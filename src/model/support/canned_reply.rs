//! Canned replies with placeholders.

use crate::model::id::CannedReplyId;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::reply::ReplyText;
use crate::model::text::Line;
use crate::model::time::Time;

pub type CannedLabel = Line<64>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CannedReply {
    pub id: CannedReplyId,
    pub label: CannedLabel,
    pub description: Template,
    pub created: Time,
    pub updated: Time,
}

/// A text in which `{{name}}` is replaced by a value of the ticket.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template(String);

/// The valid placeholders.
pub const PLACEHOLDERS: [&str; 9] = [
    "ticket.id",
    "ticket.summary",
    "customer.username",
    "account.id",
    "account.company",
    "entity.label",
    "entity.type",
    "agent.username",
    "provider.name",
];

impl Template {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        ReplyText::parse(raw)?;
        let is_unknown = |name: &&str| !PLACEHOLDERS.contains(&name.trim());
        match placeholder_names(raw).find(is_unknown) {
            None if raw.matches("{{").count() > placeholder_names(raw).count() => {
                let text = "Unclosed placeholder: missing }}";
                Err(vec![Reason::new(Code::PlaceholderUnknown, text)])
            }
            None => Ok(Self(raw.to_owned())),
            Some(name) => {
                let text = format!(
                    "Unknown placeholder {{{{{name}}}}}; must be one of {}",
                    PLACEHOLDERS.join(", ")
                );
                Err(vec![Reason::new(Code::PlaceholderUnknown, text)])
            }
        }
    }

    /// The template from a database row, if it is valid. A placeholder that only a newer build supports is replaced by
    /// an empty text.
    pub fn checked(raw: String) -> Option<Self> {
        ReplyText::parse(&raw).is_ok().then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Replaces every placeholder.
    pub fn fill(&self, value: impl Fn(&str) -> String) -> String {
        let mut filled = String::with_capacity(self.0.len());
        let mut rest = self.0.as_str();
        while let Some((before, name, after)) = next_placeholder(rest) {
            filled.push_str(before);
            filled.push_str(&value(name.trim()));
            rest = after;
        }
        filled + rest
    }
}

fn placeholder_names(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, after) = next_placeholder(rest)?;
        rest = after;
        Some(name)
    })
}

/// The text before the next `{{name}}`, the name, and the text after it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (name, after) = rest.split_once("}}")?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_once_and_unknown_placeholders_are_refused() {
        let template = Template::parse("Hello {{customer.username}}, about {{ ticket.id }}: {").unwrap();
        let filled = template.fill(|name| format!("<{name} {{{{ticket.id}}}}>"));
        assert_eq!(
            filled,
            "Hello <customer.username {{ticket.id}}>, about <ticket.id {{ticket.id}}>: {"
        );
        assert!(Template::parse("Hello {{name}}").is_err());
        assert!(Template::parse("Hello {{ticket.id").is_err());
        assert!(Template::parse("  ").is_err());
    }
}
