//! What is said on a ticket: to everybody on it, or among the staff only.

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
    /// Whether it came from the provider.
    pub from_staff: bool,
    pub gravatar_id: String,
}

/// A reply about to be kept.
#[derive(Clone, Debug)]
pub struct NewReply<'a> {
    pub created_by: &'a str,
    pub description: &'a ReplyText,
    pub from_staff: bool,
    pub gravatar_id: &'a str,
}

/// What the staff tell each other; no tenant ever sees it or anything of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    pub id: NoteId,
    pub created: Time,
    pub created_by: String,
    pub description: ReplyText,
}
