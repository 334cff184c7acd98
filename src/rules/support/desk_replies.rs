//! Replies to customers by the provider's staff, with a text or a canned reply.

use crate::model::attachment::NewAttachment;
use crate::model::history::HistoryStep;
use crate::model::id::{CannedReplyId, HistoryId, TicketId};
use crate::model::reason::{Code, Reason};
use crate::model::reply::{Reply, ReplyText};
use crate::model::ticket::DeskTicket;
use crate::rules::agent::Agent;
use crate::rules::desk::{author, closing, load, load_unchanged};
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::history::{is_duplicate, since};
use crate::rules::request::Request;
use crate::rules::tickets::{apply_transition, refuse_unless_allowed};
use crate::rules::transitions::TicketAction;
use crate::rules::{canned_replies, desk_attachments, replies};
use crate::store::{self, ReadTx, WriteTx};

/// Replies to the customer, with a text or a canned reply. With `close`, the ticket is closed after the reply.
pub fn create(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<Reply> {
    let desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    let text = read_reply(tx, agent, &desk, &mut form)?;
    send(tx, agent, desk, (form, text), &[])
}

/// Replies from a page that shows the ticket up to the step `seen`, and attaches stored files. A duplicate submission is
/// not sent again, and its files are not attached. The reply is refused if a colleague or the customer has since added a
/// step that can make the reply outdated.
pub fn create_once(
    tx: &mut WriteTx,
    agent: &Agent,
    id: TicketId,
    request: &Request,
    seen: Option<HistoryId>,
    files: &[NewAttachment],
) -> Result<Option<Reply>> {
    let desk = load(tx, id)?;
    let mut form = request.form()?;
    let text = read_reply(tx, agent, &desk, &mut form)?;
    if is_duplicate(tx, agent, id, HistoryStep::Reply, text.as_ref(), seen)? {
        return Ok(None);
    }
    let unseen = match seen {
        Some(seen) => since(tx, agent, id, seen)?,
        None => Vec::new(),
    };
    if unseen.iter().any(|step| may_outdate_reply(step.step)) {
        return Err(Error::Stale);
    }
    request.check_if_match(&desk)?;
    send(tx, agent, desk, (form, text), files).map(Some)
}

/// Adds the reply and the files, unless the form has errors or the ticket's state does not allow a reply.
fn send(
    tx: &mut WriteTx,
    agent: &Agent,
    mut desk: DeskTicket,
    (mut form, text): (Form, Option<ReplyText>),
    files: &[NewAttachment],
) -> Result<Reply> {
    let action = TicketAction::StaffReply;
    refuse_unless_allowed(tx, &mut form, &desk.ticket, action);
    let closes = form.boolean("close").unwrap_or(false);
    let text = form.finish(|| text)?;
    let author = author(tx, agent);
    let reply = replies::add(tx, &mut desk.ticket, &author, action, &text)?;
    desk_attachments::add_all(tx, &mut desk.ticket, &author, files)?;
    if closes {
        apply_transition(tx, &mut desk.ticket, &author, closing())?;
    }
    Ok(reply)
}

/// Whether a reply can become outdated because of this step.
fn may_outdate_reply(step: HistoryStep) -> bool {
    match step {
        HistoryStep::Opened | HistoryStep::Reply | HistoryStep::Attachment => true,
        HistoryStep::Claim | HistoryStep::Release | HistoryStep::Close | HistoryStep::Reopen => true,
        HistoryStep::MergedInto | HistoryStep::MergedFrom => true,
        HistoryStep::Note
        | HistoryStep::Closable
        | HistoryStep::Priority
        | HistoryStep::Tags
        | HistoryStep::AttachmentRefused
        | HistoryStep::Download => false,
    }
}

/// The text of a reply: the description in the form, or a canned reply.
fn read_reply(
    tx: &mut ReadTx,
    agent: &Agent,
    desk: &DeskTicket,
    form: &mut Form,
) -> Result<Option<ReplyText>> {
    match form.integer("canned_reply_id") {
        Some(canned) => fill_canned(tx, agent, desk, form, CannedReplyId(canned)),
        // `canned_reply_id` is invalid and has an error, so `description` is not required.
        None if form.has("canned_reply_id") => Ok(form.optional("description", ReplyText::parse)),
        None => Ok(form.required("description", ReplyText::parse)),
    }
}

fn fill_canned(
    tx: &mut ReadTx,
    agent: &Agent,
    desk: &DeskTicket,
    form: &mut Form,
    canned: CannedReplyId,
) -> Result<Option<ReplyText>> {
    if form.has("description") {
        let text = "Send description or canned_reply_id, not both";
        form.refuse("canned_reply_id", Reason::new(Code::CannedReplyInvalid, text));
        return Ok(None);
    }
    let Some(canned) = store::canned_replies::find(tx, canned)? else {
        let text = "Canned reply not found";
        form.refuse("canned_reply_id", Reason::new(Code::CannedReplyInvalid, text));
        return Ok(None);
    };
    let text = canned_replies::fill(tx, agent, &canned, desk);
    match ReplyText::parse(&text) {
        Ok(text) => Ok(Some(text)),
        Err(reasons) => {
            for reason in reasons {
                form.refuse("canned_reply_id", reason);
            }
            Ok(None)
        }
    }
}
