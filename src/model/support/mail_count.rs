//! The number of messages that arrived by mail, by outcome and reason.

use crate::model::time::Time;

/// What happened to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MailOutcome {
    Accepted,
    Dropped,
    Refused,
    Deferred,
}

impl MailOutcome {
    pub const ALL: [MailOutcome; 4] = [
        MailOutcome::Accepted,
        MailOutcome::Dropped,
        MailOutcome::Refused,
        MailOutcome::Deferred,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            MailOutcome::Accepted => "accepted",
            MailOutcome::Dropped => "dropped",
            MailOutcome::Refused => "refused",
            MailOutcome::Deferred => "deferred",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == raw)
    }
}

/// The mails that Garth has not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueFigures {
    /// Mails that are to be sent, for the first time or again.
    pub queued: i64,
    /// Mails that the mail server has refused, or that could not be sent for too long.
    pub failed: i64,
    /// The time since which the oldest queued mail waits.
    pub oldest_queued: Option<Time>,
}

/// The state of mail in both directions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MailStatus {
    pub received: Vec<MailCount>,
    pub queue: QueueFigures,
}

/// The messages with one outcome and reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MailCount {
    pub outcome: MailOutcome,
    pub reason: String,
    pub messages: i64,
    pub last_received: Time,
}
