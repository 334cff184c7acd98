//! Replies of the server, with enhanced status codes (RFC 3463).

use crate::mail::delivery::Delivery;

/// A reply: its code, its enhanced status code and its text. No reply has content of the message or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    pub code: u16,
    /// Empty for the replies that have none: the greeting, those of LHLO and the reply to DATA.
    pub status: &'static str,
    pub text: &'static str,
}

const fn reply(code: u16, status: &'static str, text: &'static str) -> Reply {
    Reply { code, status, text }
}

pub const OK: Reply = reply(250, "2.0.0", "ok");
pub const SENDER_OK: Reply = reply(250, "2.1.0", "sender ok");
pub const RECIPIENT_OK: Reply = reply(250, "2.1.5", "recipient ok");
pub const START_DATA: Reply = reply(354, "", "end the message with CRLF.CRLF");
pub const GOODBYE: Reply = reply(221, "2.0.0", "goodbye");
pub const CANNOT_VERIFY: Reply = reply(252, "2.5.0", "use RCPT to verify an address");

pub const TIMED_OUT: Reply = reply(421, "4.4.2", "timed out");
pub const SHUTTING_DOWN: Reply = reply(421, "4.3.2", "the server is shutting down");
pub const TOO_MANY_CONNECTIONS: Reply = reply(421, "4.3.2", "too many connections");
pub const TOO_MANY_ERRORS: Reply = reply(421, "4.7.0", "too many errors");
pub const UNAVAILABLE: Reply = reply(451, "4.3.0", "try again later");
pub const TOO_MANY_RECIPIENTS: Reply = reply(452, "4.5.3", "too many recipients");

pub const LINE_TOO_LONG: Reply = reply(500, "5.5.2", "line too long");
pub const LINE_MALFORMED: Reply = reply(500, "5.5.2", "lines must end with CRLF");
pub const COMMAND_UNKNOWN: Reply = reply(500, "5.5.1", "unknown command");
pub const NOT_SMTP: Reply = reply(500, "5.5.1", "this is LMTP: use LHLO");
pub const SYNTAX: Reply = reply(501, "5.5.4", "syntax error");
pub const SENDER_INVALID: Reply = reply(501, "5.1.7", "invalid sender address");
pub const RECIPIENT_INVALID: Reply = reply(501, "5.1.3", "invalid recipient address");
pub const NOT_IMPLEMENTED: Reply = reply(502, "5.5.1", "command not implemented");
pub const BAD_SEQUENCE: Reply = reply(503, "5.5.1", "bad sequence of commands");
pub const NO_RECIPIENTS: Reply = reply(503, "5.5.1", "no valid recipients");
pub const PARAMETER_UNKNOWN: Reply = reply(555, "5.5.4", "unsupported parameter");
pub const RECIPIENT_UNKNOWN: Reply = reply(550, "5.1.1", "no such address");
pub const TOO_LARGE: Reply = reply(552, "5.3.4", "message too large");

impl Reply {
    /// The line of the protocol.
    pub fn line(&self) -> String {
        match self.status {
            "" => format!("{} {}\r\n", self.code, self.text),
            status => format!("{} {status} {}\r\n", self.code, self.text),
        }
    }

    /// The reply for one recipient after the message.
    pub fn to(delivery: Delivery) -> Self {
        match delivery {
            Delivery::Accepted(_) | Delivery::Dropped(_) => OK,
            Delivery::Deferred("too_many") => reply(451, "4.7.0", "too many messages, try again later"),
            Delivery::Deferred(_) => UNAVAILABLE,
            Delivery::Refused(reason) => match reason {
                "address_invalid" | "address_unknown" => RECIPIENT_UNKNOWN,
                "too_large" => TOO_LARGE,
                "too_complex" | "no_header" => reply(554, "5.6.0", "the message cannot be read"),
                "ticket_closed" => reply(550, "5.2.1", "the ticket is closed"),
                "mail_disabled" => reply(550, "5.3.2", "the desk does not accept mail"),
                _ => reply(550, "5.7.1", "the sender has no permission"),
            },
        }
    }
}
