//! The number of messages that arrived by mail, by outcome and reason.

use crate::model::time::Time;

/// What happened to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// The messages with one outcome and reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailCount {
    pub outcome: MailOutcome,
    pub reason: String,
    pub messages: i64,
    pub last_received: Time,
}
