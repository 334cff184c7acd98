//! The protocol of one connection, without I/O: bytes in, actions out.

use smtp_proto::{Error as CommandError, MAIL_BODY_BINARYMIME, MAIL_REQUIRETLS, MailFrom, Request};

use super::command_lines::{CommandLine, CommandLines};
use super::message_data::MessageData;
use super::reply::{self, Reply};
use crate::mail::delivery::Envelope;
use crate::mail::inbound::MAX_MESSAGE_BYTES;

/// The maximum number of recipients of a message. Senders split messages with more (RFC 5321, section 4.5.3.1.10).
const MAX_RECIPIENTS: usize = 100;
/// The server closes the connection after this number of errors of the client.
const MAX_ERRORS: u32 = 20;

/// The next step of a connection.
#[derive(Debug)]
pub enum Action {
    Send(Reply),
    /// Send the reply to LHLO.
    SendExtensions,
    /// Count the refused message under this reason, and send the reply.
    Refuse(Reply, &'static str),
    /// Check this address, and pass the verdict to `answer_recipient`.
    CheckRecipient(String),
    /// Deliver the message, and send one reply for each recipient.
    Deliver(Envelope),
    /// Send the reply, and close the connection.
    Close(Reply),
}

/// Whether the desk accepts messages to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecipientVerdict {
    Accepted,
    Unknown,
    /// The store cannot answer.
    Unavailable,
}

/// The state of one connection.
#[derive(Debug, Default)]
pub struct Session {
    input: CommandLines,
    is_greeted: bool,
    errors: u32,
    mail: Option<Mail>,
    /// The address that the caller checks.
    checked_recipient: Option<String>,
    data: Option<MessageData>,
}

/// The envelope so far.
#[derive(Debug)]
struct Mail {
    sender: String,
    recipients: Vec<String>,
}

impl Session {
    /// Adds bytes that the client has sent.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.push(bytes);
    }

    /// Whether the client is sending the text of a message.
    pub fn is_receiving(&self) -> bool {
        self.data.is_some()
    }

    /// The next action; `None` if the session needs more bytes.
    pub fn next_action(&mut self) -> Option<Action> {
        if self.data.is_some() {
            return self.receive_data();
        }
        let action = match self.input.next_line()? {
            CommandLine::TooLong => Action::Send(reply::LINE_TOO_LONG),
            CommandLine::Malformed => Action::Send(reply::LINE_MALFORMED),
            CommandLine::Line(mut line) => {
                line.push(b'\n');
                match Request::parse(&mut line.iter()) {
                    Ok(request) => self.execute(request.into_owned()),
                    Err(error) => Action::Send(error_reply(&error)),
                }
            }
        };
        Some(self.count_errors(action))
    }

    fn receive_data(&mut self) -> Option<Action> {
        let data = self.data.as_mut()?;
        self.input.take_with(|bytes| data.decode(bytes));
        let data = self.data.take_if(|data| data.is_complete())?;
        let mail = self.mail.take()?;
        Some(Action::Deliver(Envelope {
            recipients: mail.recipients,
            sender: Some(mail.sender),
            message: data.into_content(),
        }))
    }

    fn execute(&mut self, request: Request<String>) -> Action {
        match request {
            Request::Lhlo { .. } => {
                self.is_greeted = true;
                self.mail = None;
                Action::SendExtensions
            }
            Request::Ehlo { .. } | Request::Helo { .. } => Action::Send(reply::NOT_SMTP),
            Request::Mail { from } => self.begin(from),
            Request::Rcpt { to } => match &self.mail {
                None => Action::Send(reply::BAD_SEQUENCE),
                Some(mail) if mail.recipients.len() >= MAX_RECIPIENTS => {
                    Action::Send(reply::TOO_MANY_RECIPIENTS)
                }
                Some(_) => {
                    self.checked_recipient = Some(to.address.clone());
                    Action::CheckRecipient(to.address)
                }
            },
            Request::Data => match &self.mail {
                None => Action::Send(reply::BAD_SEQUENCE),
                Some(mail) if mail.recipients.is_empty() => Action::Send(reply::NO_RECIPIENTS),
                Some(_) => {
                    self.data = Some(MessageData::new(MAX_MESSAGE_BYTES));
                    Action::Send(reply::START_DATA)
                }
            },
            Request::Rset => {
                self.mail = None;
                Action::Send(reply::OK)
            }
            Request::Noop { .. } => Action::Send(reply::OK),
            Request::Vrfy { .. } => Action::Send(reply::CANNOT_VERIFY),
            Request::Quit => Action::Close(reply::GOODBYE),
            _ => Action::Send(reply::NOT_IMPLEMENTED),
        }
    }

    fn begin(&mut self, from: MailFrom<String>) -> Action {
        if !self.is_greeted || self.mail.is_some() {
            return Action::Send(reply::BAD_SEQUENCE);
        }
        if from.flags & (MAIL_BODY_BINARYMIME | MAIL_REQUIRETLS) != 0 {
            return Action::Send(reply::PARAMETER_UNKNOWN);
        }
        if from.size > MAX_MESSAGE_BYTES {
            return Action::Refuse(reply::TOO_LARGE, "too_large");
        }
        self.mail = Some(Mail {
            sender: from.address,
            recipients: Vec::new(),
        });
        Action::Send(reply::SENDER_OK)
    }

    /// Continues after `CheckRecipient`. Returns the reply.
    pub fn answer_recipient(&mut self, verdict: RecipientVerdict) -> Reply {
        match (self.checked_recipient.take(), &mut self.mail, verdict) {
            (Some(recipient), Some(mail), RecipientVerdict::Accepted) => {
                mail.recipients.push(recipient);
                reply::RECIPIENT_OK
            }
            (_, _, RecipientVerdict::Unknown) => reply::RECIPIENT_UNKNOWN,
            _ => reply::UNAVAILABLE,
        }
    }

    /// Counts the errors of the client. Refused addresses and messages are none.
    fn count_errors(&mut self, action: Action) -> Action {
        if matches!(action, Action::Send(reply) if reply.code >= 500) {
            self.errors += 1;
        }
        match self.errors {
            0..MAX_ERRORS => action,
            _ => Action::Close(reply::TOO_MANY_ERRORS),
        }
    }
}

fn error_reply(error: &CommandError) -> Reply {
    match error {
        CommandError::UnknownCommand => reply::COMMAND_UNKNOWN,
        CommandError::InvalidSenderAddress => reply::SENDER_INVALID,
        CommandError::InvalidRecipientAddress => reply::RECIPIENT_INVALID,
        CommandError::UnsupportedParameter { .. } | CommandError::InvalidParameter { .. } => {
            reply::PARAMETER_UNKNOWN
        }
        _ => reply::SYNTAX,
    }
}
