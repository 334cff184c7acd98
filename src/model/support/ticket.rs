//! Tickets.

use crate::model::account::status::AccountStatus;
use crate::model::entity::Entity;
use crate::model::grant::Permission;
use crate::model::id::{AccountId, TicketId, UserId};
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::target::TicketTargets;
use crate::model::text::{Line, Prose};
use crate::model::ticket_tag::TicketTag;
use crate::model::time::Time;
use crate::model::user::User;

pub type Summary = Line<64>;
pub type TicketText = Prose<65_000>;

/// A ticket as its account sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub id: TicketId,
    pub account: AccountId,
    pub summary: Summary,
    pub description: TicketText,
    pub status: Status,
    /// Whether users of the account are allowed to close the ticket while it is open.
    pub may_close: bool,
    pub closed: Option<Time>,
    pub opened: Time,
    pub opened_by: String,
    /// `None` if staff opened the ticket.
    pub opener: Option<UserId>,
    pub updated: Time,
    pub updated_by: Option<String>,
    pub gravatar_id: String,
    /// The names of the attachments.
    pub attachments: Vec<String>,
    /// The subject, with its current label.
    pub entity: Option<Entity>,
    /// The number of replies, so that a new reply changes the entity tag.
    pub replies: i64,
    /// The ticket that continues this ticket, which is closed.
    pub merged_into: Option<TicketId>,
}

/// The side that an open ticket waits for: the side that did not write the last message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Customer,
    Provider,
}

impl Ticket {
    /// The permission of a user of the account. The opener has full access, other users need account access.
    pub fn permission(&self, user: UserId, account_access: Option<Permission>) -> Option<Permission> {
        match self.opener == Some(user) {
            true => Some(Permission::ReadWrite),
            false => account_access,
        }
    }

    /// The permission of a user of the account, with its account access.
    pub fn permission_of(&self, user: &User) -> Option<Permission> {
        self.permission(
            user.id,
            Permission::on_account(user.restricted, user.account_access),
        )
    }

    pub fn closable(&self) -> bool {
        self.may_close && self.status != Status::Closed
    }
}

/// A ticket as the provider's staff see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeskTicket {
    pub ticket: Ticket,
    pub company: String,
    pub email: String,
    pub account_status: AccountStatus,
    /// The user who opened the ticket; `None` if staff opened it, or if the user was deleted.
    pub customer: Option<Customer>,
    pub priority: Priority,
    /// By name.
    pub tags: Vec<TicketTag>,
    /// `None` if the priority has no targets.
    pub targets: Option<TicketTargets>,
    pub claim: Option<Claim>,
    pub managed_issue: bool,
    pub notes: i64,
    /// Increases with every change of the ticket, including notes.
    pub revision: i64,
}

/// The tickets that wait for an answer of the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitingTickets {
    pub count: i64,
    /// The time of the customer's message that has been waiting longest.
    pub oldest: Option<Time>,
    /// The ticket with this message.
    pub oldest_ticket: Option<TicketId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Customer {
    pub username: String,
    pub email: String,
    pub restricted: bool,
}

/// The member of staff to whom a ticket is assigned, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    pub agent: UserId,
    pub username: String,
    pub since: Time,
}

#[derive(Clone, Debug)]
pub struct NewTicket {
    pub account: AccountId,
    pub summary: Summary,
    pub description: TicketText,
    pub entity: Option<Entity>,
    pub managed_issue: bool,
    pub may_close: bool,
    pub priority: Priority,
    /// `None` for staff.
    pub opener: Option<UserId>,
    pub opened_by: String,
    pub gravatar_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    New,
    Open,
    Closed,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Status::New => "new",
            Status::Open => "open",
            Status::Closed => "closed",
        }
    }

    pub fn with_word(raw: &str) -> Option<Self> {
        [Status::New, Status::Open, Status::Closed]
            .into_iter()
            .find(|status| status.word() == raw)
    }
}

/// The priority, which only staff see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    Low,
    Normal,
    High,
    Urgent,
}

impl Priority {
    /// In ascending order.
    pub const WORDS: [&str; 4] = ["low", "normal", "high", "urgent"];
    const ALL: [Priority; 4] = [Priority::Low, Priority::Normal, Priority::High, Priority::Urgent];

    pub const fn rank(self) -> i64 {
        self as i64
    }

    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    pub fn ranked(rank: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.rank() == rank)
    }

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let found = Self::ALL.into_iter().find(|priority| priority.word() == raw);
        found.ok_or_else(|| vec![Reason::not_one_of(Code::ChoiceInvalid, &Self::WORDS)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_in_characters_and_blank_text_is_empty() {
        assert!(Summary::parse(&"ä".repeat(64)).is_ok());
        assert!(Summary::parse(&"ä".repeat(65)).is_err());
        assert!(TicketText::parse(&"𝄞".repeat(65_000)).is_ok());
        assert!(TicketText::parse(&"𝄞".repeat(65_001)).is_err());
        for blank in ["", " ", "\t\n ", "\u{a0}"] {
            assert!(TicketText::parse(blank).is_err(), "{blank:?}");
        }
    }

    #[test]
    fn a_summary_is_one_line_and_texts_have_no_control_characters() {
        assert!(Summary::parse("a\tb").is_ok());
        assert!(Summary::parse("a\nb").is_err());
        assert!(TicketText::parse("a\r\nb\tc").is_ok());
        for bad in ["a\u{0}", "a\u{7}", "a\u{85}", "a\u{1b}[2J"] {
            assert!(TicketText::parse(bad).is_err(), "{bad:?}");
        }
    }
}
