//! Attachments of tickets.
//!
//! A file is stored before a transaction creates the attachment, so a visible attachment is always complete.
//! A job deletes files that did not become attachments. These rules do not access the files.

use crate::model::attachment::{Attachment, FileName, NewAttachment};
use crate::model::event::Action;
use crate::model::grant::Permission;
use crate::model::history::HistoryStep;
use crate::model::id::{AttachmentId, TicketId};
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::ticket::Ticket;
use crate::model::token::hex;
use crate::rules::accounts;
use crate::rules::caller::Caller;
use crate::rules::error::{BodyFault, Error, FilesFault, Result};
use crate::rules::lists::ListRequest;
use crate::rules::request::{Expected, check_if_match};
use crate::rules::tickets::{self, TicketAuthor, Transition, append_history, apply_transition};
use crate::rules::transitions::{self, TicketAction};
use crate::store::history::NewHistory;
use crate::store::{self, ReadTx, WriteTx};

/// The information about an upload before its content arrives.
#[derive(Clone, Debug)]
pub struct UploadInfo {
    pub expected: Option<Expected>,
    /// The multipart boundary.
    pub boundary: Result<String, BodyFault>,
}

pub fn list(
    tx: &mut ReadTx,
    caller: &Caller,
    ticket: TicketId,
    list: &ListRequest,
) -> Result<Paged<Attachment>> {
    tickets::load_for(tx, caller, ticket, Permission::ReadOnly)?;
    let query = list.read(tx.policy(), &store::attachments::FIELDS)?;
    Ok(store::attachments::list(tx, ticket, &query)?)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, ticket: TicketId, id: AttachmentId) -> Result<Attachment> {
    tickets::load_for(tx, caller, ticket, Permission::ReadOnly)?;
    let found = store::attachments::find(tx, ticket, id)?;
    found.ok_or(Error::NotFound)
}

/// Checks whether a file can be attached, before its content is read. Returns the multipart boundary.
pub fn expect(tx: &mut ReadTx, caller: &Caller, ticket: TicketId, upload: &UploadInfo) -> Result<String> {
    let ticket = tickets::load_for(tx, caller, ticket, Permission::ReadWrite)?;
    check_if_match(upload.expected.as_ref(), &ticket)?;
    let boundary = upload.boundary.clone().map_err(Error::Body)?;
    refuse_unless_attachable(tx, &ticket, TicketAction::CustomerAttach)?;
    // Every file has at least one byte, so an account that has used its quota is refused before the content
    // is read.
    refuse_over_quota(tx, caller, 1)?;
    Ok(boundary)
}

/// Creates a storage key. The key is recorded until the stored file becomes an attachment.
pub fn begin(tx: &mut WriteTx) -> Result<String> {
    let key = hex(&tx.random()[..]);
    store::attachments::begin_upload(tx, &key)?;
    Ok(key)
}

/// Creates an attachment from a stored file. The checks run again, because the ticket could have changed
/// since the upload began.
pub fn create(
    tx: &mut WriteTx,
    caller: &Caller,
    ticket: TicketId,
    expected: Option<&Expected>,
    new: &NewAttachment,
) -> Result<Attachment> {
    let mut ticket = tickets::load_for(tx, caller, ticket, Permission::ReadWrite)?;
    check_if_match(expected, &ticket)?;
    refuse_unless_attachable(tx, &ticket, TicketAction::CustomerAttach)?;
    refuse_over_quota(tx, caller, new.size)?;
    let author = TicketAuthor::of(caller);
    add(tx, &mut ticket, &author, TicketAction::CustomerAttach, new)
}

/// Adds an attachment of a tenant or of staff. The caller has called `refuse_unless_attachable`.
pub(super) fn add(
    tx: &mut WriteTx,
    ticket: &mut Ticket,
    author: &TicketAuthor,
    action: TicketAction,
    new: &NewAttachment,
) -> Result<Attachment> {
    if !store::attachments::delete_upload(tx, &new.key)? {
        let cause = "the upload took so long that it was abandoned and its file was deleted";
        return Err(Error::Files(FilesFault::Storage(cause.to_owned())));
    }
    let created_by = (author.display_name.as_str(), author.is_staff());
    let attachment = store::attachments::insert(tx, ticket.account, ticket.id, created_by, new)?;
    store::attachment_checks::insert(tx, attachment.id)?;
    let details = NewHistory {
        after: Some(new.name.as_str().to_owned()),
        attachment: Some(attachment.id),
        ..NewHistory::default()
    };
    let attaching = Transition::new(action, HistoryStep::Attachment).with(details);
    let attaching = attaching.with_event(Action::TicketAttachmentUpload);
    apply_transition(tx, ticket, author, attaching)?;
    Ok(attachment)
}

/// Records in the history that the scanner refused a file.
pub fn record_refused(tx: &mut WriteTx, caller: &Caller, ticket: TicketId, name: &FileName) -> Result<()> {
    let ticket = tickets::load_for(tx, caller, ticket, Permission::ReadWrite)?;
    append_refused(tx, &ticket, &TicketAuthor::of(caller), name)
}

pub(super) fn append_refused(
    tx: &mut WriteTx,
    ticket: &Ticket,
    author: &TicketAuthor,
    name: &FileName,
) -> Result<()> {
    let details = NewHistory {
        after: Some(name.as_str().to_owned()),
        ..NewHistory::default()
    };
    append_history(tx, ticket, author, HistoryStep::AttachmentRefused, &details)
}

/// Lets the next sweep delete the files of all unfinished uploads. The only server of a store calls this at
/// its start, when no upload can be running.
pub fn abandon_uploads(tx: &mut WriteTx) -> Result<()> {
    Ok(store::attachments::expire_uploads(tx)?)
}

/// Keys of uploads that began at least `seconds` ago and did not become attachments.
pub fn stale(tx: &mut ReadTx, seconds: i64) -> Result<Vec<String>> {
    const MAX_STALE_KEYS: i64 = 100;
    let before = tx.now().plus_seconds(1 - seconds);
    Ok(store::attachments::stale_uploads(tx, before, MAX_STALE_KEYS)?)
}

/// Deletes the record of an upload whose file was deleted.
pub fn forget(tx: &mut WriteTx, key: &str) -> Result<()> {
    store::attachments::delete_upload(tx, key)?;
    Ok(())
}

fn refuse_over_quota(tx: &mut ReadTx, caller: &Caller, size: i64) -> Result<()> {
    let limit = accounts::quota(tx, caller.account)?.attachment_bytes;
    let used = store::attachments::bytes_of(tx, caller.account)?;
    if used.saturating_add(size) > limit {
        let text =
            format!("The account can have at most {limit} bytes of attachments and already has {used}");
        let reason = Reason::new(Code::QuotaExceeded, text);
        return Err(Error::on("file", reason));
    }
    Ok(())
}

/// Each side, the account and the provider, can attach up to the limit of files to a ticket.
pub(super) fn refuse_unless_attachable(tx: &mut ReadTx, ticket: &Ticket, action: TicketAction) -> Result<()> {
    let allowed = transitions::after(ticket, action, tx.now(), &tx.policy().support);
    allowed.map_err(Error::whole)?;
    let limit = tx.policy().support.attachments_per_ticket;
    let from_staff = action == TicketAction::StaffAttach;
    if store::attachments::count(tx, ticket.id, from_staff)? >= limit {
        let text = format!("A ticket can have at most {limit} attachments");
        return Err(Error::refused(Code::AttachmentLimit, text));
    }
    Ok(())
}
