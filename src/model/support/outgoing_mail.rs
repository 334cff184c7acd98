//! Mails that Garth sends (decision 0045).

use crate::model::id::{OutgoingMailId, ReplyId, SuppressedAddressId, TicketId, UserId};
use crate::model::time::Time;
use crate::model::user::Email;

const FIRST_RETRY_SECONDS: i64 = 30;
const MAX_RETRY_SECONDS: i64 = 3600;
/// A mail that could not be sent within this time has failed.
const MAX_AGE_SECONDS: i64 = 5 * 24 * 3600;
/// The error of a mail that is not sent because an earlier mail to its address failed.
pub const ADDRESS_SUPPRESSED: &str = "address_suppressed";
/// The time between two mails about a ticket to the same person. What happens in between is in the second one.
pub const DIGEST_SECONDS: i64 = 60;

/// A mail, as staff see it. It has no content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OutgoingMail {
    pub id: OutgoingMailId,
    pub kind: MailKind,
    pub ticket: Option<TicketId>,
    /// `None` if the user was deleted.
    pub recipient: Option<UserId>,
    pub address: Email,
    /// Without angle brackets.
    pub message_id: String,
    pub state: MailState,
    /// Whether an earlier attempt ended without a known result, so that the recipient may have the mail twice.
    pub maybe_repeated: bool,
    pub attempts: i64,
    pub queued: Time,
    pub last_attempt: Option<Time>,
    pub sent: Option<Time>,
    /// An SMTP status such as `550 5.1.1`, or a word. Never an address.
    pub error: Option<String>,
}

impl OutgoingMail {
    /// The time of the next attempt after a failed one; `None` if the mail has failed.
    pub fn next_attempt(&self, now: Time) -> Option<Time> {
        let doublings = self.attempts.clamp(1, 20) - 1;
        let delay = (FIRST_RETRY_SECONDS << doublings).min(MAX_RETRY_SECONDS);
        let next = now.plus_seconds(delay);
        (next <= self.queued.plus_seconds(MAX_AGE_SECONDS)).then_some(next)
    }

    /// Whether the mail can still get notices. Its recipient may already have a mail with its Message-ID, otherwise.
    pub fn accepts_notices(&self) -> bool {
        self.state == MailState::Queued && !self.maybe_repeated
    }

    /// The time of the last step, from which the next mail about the ticket must keep its distance.
    pub fn last_step(&self) -> Time {
        self.sent.or(self.last_attempt).unwrap_or(self.queued)
    }
}

/// A mail about a message of a ticket that was not delivered, or not yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndeliveredMail {
    /// `None` for the text of the ticket.
    pub reply: Option<ReplyId>,
    pub id: OutgoingMailId,
    pub address: Email,
    pub state: MailState,
    pub error: Option<String>,
    /// The number of newer mails about the ticket.
    pub newer: i64,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }

            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.word() == word)
            }
        }
    };
}

words!(
    /// The purpose of a mail.
    MailKind {
        /// To a user of an account, about a ticket.
        Ticket = "ticket",
        /// To a member of staff, about a ticket.
        Desk = "desk",
        /// A link for the first password of a user.
        Invitation = "invitation",
        /// A link for a new password.
        Reset = "reset",
        /// About a change that can be an attack on a user.
        Security = "security",
    }
);

words!(
    MailState {
        /// To be sent, for the first time or again.
        Queued = "queued",
        /// An attempt is running, or its process has died.
        Sending = "sending",
        /// The mail server has accepted the mail.
        Sent = "sent",
        /// The mail server has refused the mail, or was not available for too long.
        Failed = "failed",
        /// Not sent, because the address is suppressed or the user no longer gets such mails.
        Suppressed = "suppressed",
        /// A mail server has accepted the mail, and has returned it later.
        Bounced = "bounced",
    }
);

words!(
    /// What happened on a ticket, or to a user.
    NoticeKind {
        Opened = "opened",
        Reply = "reply",
        Closed = "closed",
        Reopened = "reopened",
        /// The ticket was assigned to the recipient.
        Assigned = "assigned",
        /// The recipient has a new personal token.
        TokenCreated = "token_created",
        /// The recipient has changed the password.
        PasswordChanged = "password_changed",
        /// The password was set with a link.
        PasswordSetByLink = "password_set_by_link",
        /// A log-in on a device on which the recipient has not logged in before.
        NewDevice = "new_device",
    }
);

/// A part of a mail.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Notice {
    pub kind: NoticeKind,
    pub reply: Option<ReplyId>,
    /// The name of the author, as the recipient may see it. For a notice about a user: the details.
    pub author: String,
}

/// An address to which no mail is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SuppressedAddress {
    pub id: SuppressedAddressId,
    pub address: Email,
    /// The status with which a mail server has refused the address.
    pub status: String,
    pub since: Time,
}

/// Which mails a member of staff gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StaffMailChoice {
    pub new_tickets: bool,
    /// A colleague has assigned a ticket to the member of staff.
    pub assigned: bool,
    /// Replies to the tickets of the member of staff.
    pub replies: bool,
}

impl StaffMailChoice {
    pub const ALL: Self = Self {
        new_tickets: true,
        assigned: true,
        replies: true,
    };
    pub const NONE: Self = Self {
        new_tickets: false,
        assigned: false,
        replies: false,
    };
}

/// The result of an attempt to send a mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendResult {
    /// The mail server has accepted the mail.
    Sent,
    /// There is nothing to send: the mail was suppressed, or has been sent.
    Skipped,
    /// The next attempt can succeed. With `maybe_sent`, the connection ended after the content was sent, so that the
    /// server may have accepted the mail.
    Retry { status: String, maybe_sent: bool },
    /// The server refuses the mail permanently.
    Refused { status: String },
}

/// Whether a status means that an address never accepts mail: `5.1.x`, bad destination address (RFC 3463). `5.1.7` and
/// `5.1.8` are about the sender.
pub fn is_bad_address(status: &str) -> bool {
    let is_address = |word: &str| {
        word.strip_prefix("5.1.")
            .is_some_and(|detail| !matches!(detail, "7" | "8"))
    };
    status.split(' ').any(is_address)
}

/// Whether a permanent status in the answer to a recipient is about the recipient: the address (`5.1.x`, except the
/// sender), the mailbox (`5.2.x`) or the way to it (`5.4.x`). Other answers, such as `554 5.7.1 relaying denied`, are
/// about the sender or the settings of the mail server.
pub fn is_bad_recipient(status: &str) -> bool {
    match status.split_once(' ') {
        Some((_, enhanced)) => {
            is_bad_address(enhanced) || enhanced.starts_with("5.2.") || enhanced.starts_with("5.4.")
        }
        // Without an enhanced status code, these codes are about the mailbox (RFC 5321, section 4.2.3).
        None => matches!(status, "550" | "551" | "552" | "553"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mail(attempts: i64) -> OutgoingMail {
        OutgoingMail {
            id: OutgoingMailId(1),
            kind: MailKind::Ticket,
            ticket: None,
            recipient: None,
            address: Email::parse("ada@example.com").expect("an address"),
            message_id: String::new(),
            state: MailState::Queued,
            maybe_repeated: false,
            attempts,
            queued: Time::from_seconds(0),
            last_attempt: None,
            sent: None,
            error: None,
        }
    }

    #[test]
    fn retries_back_off_to_an_hour_and_end_after_five_days() {
        let mut now = Time::from_seconds(0);
        let mut attempts = 1;
        let mut waits = Vec::new();
        while let Some(next) = mail(attempts).next_attempt(now) {
            waits.push(next.seconds() - now.seconds());
            (now, attempts) = (next, attempts + 1);
        }
        assert_eq!(waits[..9], [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
        let days = now.seconds() as f64 / 86_400.0;
        assert!((4.9..=5.0).contains(&days), "{days} days");
    }

    #[test]
    fn only_a_refused_recipient_is_a_bad_address() {
        for status in ["550 5.1.1", "5.1.10", "553 5.1.3"] {
            assert!(is_bad_address(status), "{status}");
        }
        for status in [
            "550",
            "550 5.7.1",
            "552 5.2.2",
            "550 5.1.8",
            "450 4.1.1",
            "15.1.1",
        ] {
            assert!(!is_bad_address(status), "{status}");
        }
    }
}
