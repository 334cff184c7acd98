//! Attachments of all accounts, for the provider's staff, who can attach files, too. The history records downloads.

use crate::model::attachment::{Attachment, FileName, NewAttachment};
use crate::model::history::HistoryStep;
use crate::model::id::{AttachmentId, TicketId};
use crate::model::page::Paged;
use crate::model::ticket::Ticket;
use crate::rules::agent::Agent;
use crate::rules::attachments::{self, UploadInfo};
use crate::rules::desk::{author, load};
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::request::{Expected, check_if_match};
use crate::rules::tickets::{TicketAuthor, append_history};
use crate::rules::transitions::TicketAction;
use crate::store::history::NewHistory;
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, id: TicketId, list: &ListRequest) -> Result<Paged<Attachment>> {
    load(tx, id)?;
    let query = list.read(tx.policy(), &store::attachments::FIELDS)?;
    Ok(store::attachments::list(tx, id, &query)?)
}

/// An attachment, without recording a download.
pub fn view(tx: &mut ReadTx, id: TicketId, file: AttachmentId) -> Result<Attachment> {
    load(tx, id)?;
    store::attachments::find(tx, id, file)?.ok_or(Error::NotFound)
}

/// An attachment to download. Records the download in the history.
pub fn download(tx: &mut WriteTx, agent: &Agent, id: TicketId, file: AttachmentId) -> Result<Attachment> {
    let desk = load(tx, id)?;
    let attachment = store::attachments::find(tx, id, file)?.ok_or(Error::NotFound)?;
    let details = NewHistory {
        after: Some(attachment.name.as_str().to_owned()),
        attachment: Some(file),
        ..NewHistory::default()
    };
    let author = author(tx, agent);
    append_history(tx, &desk.ticket, &author, HistoryStep::Download, &details)?;
    Ok(attachment)
}

/// Checks whether staff can attach a file, before its content is read. Returns the multipart boundary.
pub fn expect(tx: &mut ReadTx, ticket: TicketId, upload: &UploadInfo) -> Result<String> {
    let desk = load(tx, ticket)?;
    check_if_match(upload.expected.as_ref(), &desk)?;
    let boundary = upload.boundary.clone().map_err(Error::Body)?;
    attachments::refuse_unless_attachable(tx, &desk.ticket, TicketAction::StaffAttach)?;
    Ok(boundary)
}

/// Attaches stored files to a ticket: all of them, or nothing. They do not count toward the quota of the account, which
/// cannot prevent them.
pub fn create(
    tx: &mut WriteTx,
    agent: &Agent,
    ticket: TicketId,
    expected: Option<&Expected>,
    files: &[NewAttachment],
) -> Result<()> {
    let mut desk = load(tx, ticket)?;
    check_if_match(expected, &desk)?;
    let author = author(tx, agent);
    add_all(tx, &mut desk.ticket, &author, files)
}

/// Attaches stored files of staff to a ticket.
pub(super) fn add_all(
    tx: &mut WriteTx,
    ticket: &mut Ticket,
    author: &TicketAuthor,
    files: &[NewAttachment],
) -> Result<()> {
    let action = TicketAction::StaffAttach;
    for new in files {
        attachments::refuse_unless_attachable(tx, ticket, action)?;
        attachments::add(tx, ticket, author, action, new)?;
    }
    Ok(())
}

/// Records in the history that the scanner refused a file of staff.
pub fn record_refused(tx: &mut WriteTx, agent: &Agent, ticket: TicketId, name: &FileName) -> Result<()> {
    let ticket = load(tx, ticket)?.ticket;
    let author = author(tx, agent);
    attachments::append_refused(tx, &ticket, &author, name)
}
