//! Messages that arrive by mail, after parsing.

use crate::model::id::ReplyId;

/// The line above which users write their reply. Garth's own messages contain it, and everything from this line on is
/// folded in a reply.
pub const REPLY_MARKER: &str = "Write your reply above this line";

/// A parsed message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedMail {
    /// Without angle brackets. `None` if the message has none, or a malformed one.
    pub message_id: Option<String>,
    pub sender: Option<MailSender>,
    pub subject: String,
    /// The new text, without quoted text and signature.
    pub text: String,
    /// The quoted text and the signature.
    pub folded: String,
    pub files: Vec<MailFile>,
    /// The number of files beyond the limit, which are dropped.
    pub dropped_files: usize,
    /// Set if no person wrote the message.
    pub automatic: Option<Automatic>,
    pub bounce: Option<Bounce>,
}

impl ReceivedMail {
    /// The message without its files.
    pub fn without_files(&self) -> Self {
        Self {
            message_id: self.message_id.clone(),
            sender: self.sender.clone(),
            subject: self.subject.clone(),
            text: self.text.clone(),
            folded: self.folded.clone(),
            files: Vec::new(),
            bounce: self.bounce.clone(),
            ..*self
        }
    }
}

/// The quoted text and the signature of a message that became a reply, or opened a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldedText {
    /// `None` if the message opened the ticket.
    pub reply: Option<ReplyId>,
    pub text: String,
}

impl FoldedText {
    /// The text of a reply; `None` as the ID for the text of the ticket.
    pub fn find(texts: &[FoldedText], reply: Option<ReplyId>) -> Option<&str> {
        let found = texts.iter().find(|folded| folded.reply == reply);
        found.map(|folded| folded.text.as_str())
    }
}

/// The author of a message: the one address in `From`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailSender {
    /// In lower case.
    pub address: String,
    /// Whether the mail server has verified that the message is from the domain of the address.
    pub is_verified: bool,
}

/// A file of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailFile {
    /// As sent.
    pub name: String,
    pub content: Vec<u8>,
}

/// How a message shows that a program wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Automatic {
    /// An automatic reply or a notification (RFC 3834).
    AutoSubmitted,
    /// A report on the delivery of another message, or a message without a return address.
    Bounce,
    /// A mailing list or bulk mail.
    Bulk,
    /// The message has passed through too many servers, or comes from Garth itself.
    Loop,
}

impl Automatic {
    pub const fn word(self) -> &'static str {
        match self {
            Automatic::AutoSubmitted => "automatic",
            Automatic::Bounce => "bounce",
            Automatic::Bulk => "bulk",
            Automatic::Loop => "loop",
        }
    }
}

/// A report that a message was not delivered (RFC 3464).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounce {
    /// The address to which the message could not be delivered, in lower case.
    pub recipient: String,
    /// Whether the address can never receive messages, as opposed to a full mailbox or a delay.
    pub is_permanent: bool,
    /// The enhanced status code, such as `5.1.1`; empty if it is malformed.
    pub status: String,
}
