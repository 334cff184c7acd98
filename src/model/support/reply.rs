//! Replies and internal notes on a ticket.

use crate::model::id::{NoteId, ReplyId};
use crate::model::text::Prose;
use crate::model::time::Time;

pub type ReplyText = Prose<65_535>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reply {
    pub id: ReplyId,
    pub created: Time,
    pub created_by: String,
    pub description: ReplyText,
    /// Whether staff wrote the reply.
    pub from_staff: bool,
    pub gravatar_id: String,
}

/// A reply to store.
#[derive(Clone, Debug)]
pub struct NewReply<'a> {
    pub created_by: &'a str,
    pub description: &'a ReplyText,
    pub from_staff: bool,
    pub gravatar_id: &'a str,
    /// Whether the ticket does not wait for the provider after this reply; `None` means `from_staff`.
    pub answers: Option<bool>,
}

/// An internal note, which tenants never see.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    pub id: NoteId,
    pub created: Time,
    pub created_by: String,
    pub description: ReplyText,
}
