//! The texts of mails that the provider can change: a signature, and an introduction and a closing for each mail
//! (decision 0049).

use std::collections::BTreeMap;

use super::placeholders;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Prose;

type Text = Prose<1000>;
type Signature = Prose<500>;

const TICKET_PLACEHOLDERS: &[&str] = &[
    "ticket.id",
    "ticket.summary",
    "account.company",
    "author.name",
    "recipient.username",
    "brand.name",
];
const USER_PLACEHOLDERS: &[&str] = &["recipient.username", "brand.name"];
const SIGNATURE_PLACEHOLDERS: &[&str] = &["brand.name"];

/// A mail whose texts the provider can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TemplateKind {
    /// To customers.
    Reply,
    /// To customers.
    Closed,
    /// To customers.
    Reopened,
    /// To customers, about a ticket that staff have opened for them.
    Opened,
    /// To staff, about a ticket that a customer has opened.
    NewTicket,
    /// To the member of staff to whom a ticket was assigned.
    Assigned,
    Invitation,
    Reset,
}

impl TemplateKind {
    pub const ALL: [TemplateKind; 8] = [
        TemplateKind::Reply,
        TemplateKind::Closed,
        TemplateKind::Reopened,
        TemplateKind::Opened,
        TemplateKind::NewTicket,
        TemplateKind::Assigned,
        TemplateKind::Invitation,
        TemplateKind::Reset,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            TemplateKind::Reply => "reply",
            TemplateKind::Closed => "closed",
            TemplateKind::Reopened => "reopened",
            TemplateKind::Opened => "opened",
            TemplateKind::NewTicket => "new_ticket",
            TemplateKind::Assigned => "assigned",
            TemplateKind::Invitation => "invitation",
            TemplateKind::Reset => "reset",
        }
    }

    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    pub fn parse(word: &str) -> Result<Self, Reasons> {
        let words = Self::ALL.map(Self::word);
        Self::find(word).ok_or_else(|| vec![Reason::not_one_of(Code::ChoiceInvalid, &words)])
    }

    /// Whether the mail is about a ticket.
    pub const fn is_about_ticket(self) -> bool {
        !matches!(self, TemplateKind::Invitation | TemplateKind::Reset)
    }

    pub const fn placeholders(self) -> &'static [&'static str] {
        match self.is_about_ticket() {
            true => TICKET_PLACEHOLDERS,
            false => USER_PLACEHOLDERS,
        }
    }

    pub const fn default_introduction(self) -> &'static str {
        match self {
            TemplateKind::Reply => "{{author.name}} replied to ticket #{{ticket.id}}: {{ticket.summary}}",
            TemplateKind::Closed => "{{author.name}} closed ticket #{{ticket.id}}: {{ticket.summary}}",
            TemplateKind::Reopened => "{{author.name}} reopened ticket #{{ticket.id}}: {{ticket.summary}}",
            TemplateKind::Opened | TemplateKind::NewTicket => {
                "{{author.name}} opened ticket #{{ticket.id}}: {{ticket.summary}}"
            }
            TemplateKind::Assigned => {
                "{{author.name}} assigned ticket #{{ticket.id}} to you: {{ticket.summary}}"
            }
            TemplateKind::Invitation => {
                "A user was created for you at {{brand.name}}. Your username is {{recipient.username}}."
            }
            TemplateKind::Reset => {
                "A visitor of the log-in page requested a new password for the user {{recipient.username}}."
            }
        }
    }

    /// The default of the closing; `None` for no text.
    pub const fn default_closing(self) -> Option<&'static str> {
        match self {
            TemplateKind::Invitation => Some("If you did not expect this mail, ignore it."),
            TemplateKind::Reset => {
                Some("If this was not you, ignore this mail. Your password has not changed.")
            }
            _ => None,
        }
    }
}

/// One of the texts that the provider can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextName {
    /// Under each mail about a ticket.
    Signature,
    /// Before the content of a mail.
    Introduction(TemplateKind),
    /// After the content of a mail.
    Closing(TemplateKind),
}

impl TextName {
    /// The name in the store.
    pub fn word(self) -> String {
        match self {
            TextName::Signature => "signature".to_owned(),
            TextName::Introduction(kind) => format!("{}.introduction", kind.word()),
            TextName::Closing(kind) => format!("{}.closing", kind.word()),
        }
    }

    pub fn find(word: &str) -> Option<Self> {
        if word == "signature" {
            return Some(TextName::Signature);
        }
        let (kind, part) = word.split_once('.')?;
        let kind = TemplateKind::find(kind)?;
        match part {
            "introduction" => Some(TextName::Introduction(kind)),
            "closing" => Some(TextName::Closing(kind)),
            _ => None,
        }
    }

    pub const fn max_chars(self) -> usize {
        match self {
            TextName::Signature => Signature::MAX,
            _ => Text::MAX,
        }
    }

    pub const fn placeholders(self) -> &'static [&'static str] {
        match self {
            TextName::Signature => SIGNATURE_PLACEHOLDERS,
            TextName::Introduction(kind) | TextName::Closing(kind) => kind.placeholders(),
        }
    }
}

/// A text with placeholders. Its line breaks are line feeds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MailText(String);

impl MailText {
    pub fn parse(raw: &str, name: TextName) -> Result<Self, Reasons> {
        let text = raw.replace("\r\n", "\n").replace('\r', "\n");
        match name {
            TextName::Signature => Signature::parse(&text).map(drop)?,
            _ => Text::parse(&text).map(drop)?,
        }
        placeholders::check(&text, name.placeholders())?;
        Ok(Self(text))
    }

    /// The text from a database row, if it is valid. A placeholder that only a newer build supports is replaced by an
    /// empty text.
    pub fn checked(raw: String) -> Option<Self> {
        let text = Text::checked(raw)?;
        Some(Self(text.as_str().to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The texts that differ from their default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MailTemplates(pub BTreeMap<TextName, MailText>);

impl MailTemplates {
    pub fn text(&self, name: TextName) -> Option<&str> {
        self.0.get(&name).map(MailText::as_str)
    }

    /// Sets a text, or restores its default.
    pub fn set(&mut self, name: TextName, text: Option<MailText>) {
        match text {
            Some(text) => self.0.insert(name, text),
            None => self.0.remove(&name),
        };
    }

    /// A text with its placeholders filled in; `None` if it has its default.
    pub fn fill(&self, name: TextName, value: impl Fn(&str) -> String) -> Option<String> {
        let text = self.text(name)?.trim();
        Some(placeholders::fill(text, value))
    }
}

/// Fills in the placeholders of a default.
pub fn fill_default(text: &str, value: impl Fn(&str) -> String) -> String {
    placeholders::fill(text, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_defaults_are_valid() {
        for kind in TemplateKind::ALL {
            assert_eq!(TemplateKind::find(kind.word()), Some(kind));
            for name in [TextName::Introduction(kind), TextName::Closing(kind)] {
                assert_eq!(TextName::find(&name.word()), Some(name));
            }
            let introduction = TextName::Introduction(kind);
            assert!(MailText::parse(kind.default_introduction(), introduction).is_ok());
            if let Some(closing) = kind.default_closing() {
                assert!(MailText::parse(closing, TextName::Closing(kind)).is_ok());
            }
        }
        assert_eq!(TextName::find("signature"), Some(TextName::Signature));
        assert_eq!(TextName::find("reply.signature"), None);
        assert_eq!(TextName::find("lost.closing"), None);
    }

    #[test]
    fn a_text_has_only_the_placeholders_of_its_mail() {
        let reply = TextName::Introduction(TemplateKind::Reply);
        let invitation = TextName::Introduction(TemplateKind::Invitation);
        assert!(
            MailText::parse("{{ ticket.id }}\r\n{", reply).is_ok_and(|text| !text.as_str().contains('\r'))
        );
        assert!(MailText::parse("{{ticket.id}}", invitation).is_err());
        assert!(MailText::parse("{{brand.name}}", TextName::Signature).is_ok());
        assert!(MailText::parse("{{recipient.username}}", TextName::Signature).is_err());
        assert!(MailText::parse(&"x".repeat(501), TextName::Signature).is_err());
        assert!(MailText::parse(&"x".repeat(1001), reply).is_err());
    }
}
