//! Attachments of all accounts, for the provider's staff. The history records downloads.

use crate::model::attachment::Attachment;
use crate::model::history::HistoryStep;
use crate::model::id::{AttachmentId, TicketId};
use crate::model::page::Paged;
use crate::rules::agent::Agent;
use crate::rules::desk::{author, load};
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::tickets::append_history;
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
