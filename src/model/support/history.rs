//! The history of a ticket, which only staff see.

use crate::model::id::{AttachmentId, HistoryId, NoteId, ReplyId};
use crate::model::ticket::Status;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct History {
    pub id: HistoryId,
    pub step: HistoryStep,
    pub created: Time,
    pub created_by: String,
    pub from_staff: bool,
    /// The status of the ticket after the step.
    pub status: Status,
    pub before: Option<String>,
    pub after: Option<String>,
    /// The text of a reply or a note.
    pub description: Option<String>,
    pub reply: Option<ReplyId>,
    pub note: Option<NoteId>,
    pub attachment: Option<AttachmentId>,
}

macro_rules! steps {
    ($($name:ident = $word:literal),+ $(,)?) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum HistoryStep { $($name),+ }

        impl HistoryStep {
            pub const fn word(self) -> &'static str {
                match self { $(HistoryStep::$name => $word),+ }
            }

            pub fn with_word(raw: &str) -> Option<Self> {
                match raw { $($word => Some(HistoryStep::$name),)+ _ => None }
            }
        }
    };
}

steps! {
    Opened = "opened",
    Reply = "reply",
    Note = "note",
    Claim = "claim",
    Release = "release",
    Close = "close",
    Reopen = "reopen",
    Closable = "closable",
    Priority = "priority",
    Tags = "tags",
    Attachment = "attachment",
    AttachmentRefused = "attachment_refused",
    Download = "download",
    MergedInto = "merged_into",
    MergedFrom = "merged_from",
}
