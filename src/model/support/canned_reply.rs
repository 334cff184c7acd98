//! Canned replies with placeholders.

use super::placeholders;
use crate::model::id::CannedReplyId;
use crate::model::reason::Reasons;
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
        placeholders::check(raw, &PLACEHOLDERS)?;
        Ok(Self(raw.to_owned()))
    }

    /// The template from a database row, if it is valid. A placeholder that only a newer build supports is replaced by
    /// an empty text.
    pub fn checked(raw: String) -> Option<Self> {
        ReplyText::parse(&raw).is_ok().then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names of the placeholders in the text.
    pub fn placeholders(&self) -> Vec<&str> {
        placeholders::names(&self.0).map(str::trim).collect()
    }

    /// Replaces every placeholder.
    pub fn fill(&self, value: impl Fn(&str) -> String) -> String {
        placeholders::fill(&self.0, value)
    }
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
        assert_eq!(template.placeholders(), ["customer.username", "ticket.id"]);
        assert!(Template::parse("Hello {{name}}").is_err());
        assert!(Template::parse("Hello {{ticket.id").is_err());
        assert!(Template::parse("  ").is_err());
    }
}
