//! Replies by the account's users (interface §4.3), and `add`, with which staff reply, too.

use crate::model::grant::Permission;
use crate::model::history::HistoryStep;
use crate::model::id::{ReplyId, TicketId};
use crate::model::page::Paged;
use crate::model::reply::{NewReply, Reply, ReplyText};
use crate::model::ticket::Ticket;
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::submission::{REPEAT_WINDOW_SECONDS, Submission};
use crate::rules::tickets::{self, TicketAuthor, Transition, apply_transition};
use crate::rules::transitions::TicketAction;
use crate::store::history::NewHistory;
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, caller: &Caller, ticket: TicketId, list: &ListRequest) -> Result<Paged<Reply>> {
    tickets::load_for(tx, caller, ticket, Permission::ReadOnly)?;
    let query = list.read(tx.policy(), &store::replies::FIELDS)?;
    Ok(store::replies::list(tx, ticket, &query)?)
}

/// The ID of the newest reply to a ticket; 0 if there is none. The caller must have loaded the ticket.
pub fn newest(tx: &mut ReadTx, ticket: TicketId) -> Result<i64> {
    Ok(store::replies::newest(tx, ticket)?)
}

pub fn create(tx: &mut WriteTx, caller: &Caller, ticket: TicketId, request: &Request) -> Result<Reply> {
    let (mut ticket, description) = read_reply(tx, caller, ticket, request)?;
    let author = TicketAuthor::of(caller);
    add(
        tx,
        &mut ticket,
        &author,
        TicketAction::CustomerReply,
        &description,
    )
}

/// Replies from a page on which `newest` was the newest reply. Adds nothing if the submission is a duplicate.
pub fn create_once(
    tx: &mut WriteTx,
    caller: &Caller,
    ticket: TicketId,
    request: &Request,
    newest: i64,
) -> Result<Submission<ReplyId>> {
    let (mut ticket, description) = read_reply(tx, caller, ticket, request)?;
    let author = TicketAuthor::of(caller);
    let recent = tx.now().plus_seconds(-REPEAT_WINDOW_SECONDS);
    if let Some(existing) =
        store::replies::find_duplicate(tx, ticket.id, &new_reply(&author, &description), newest, recent)?
    {
        return Ok(Submission::Duplicate(existing));
    }
    let reply = add(
        tx,
        &mut ticket,
        &author,
        TicketAction::CustomerReply,
        &description,
    )?;
    Ok(Submission::Created(reply.id))
}

fn read_reply(
    tx: &mut ReadTx,
    caller: &Caller,
    ticket: TicketId,
    request: &Request,
) -> Result<(Ticket, ReplyText)> {
    let ticket = tickets::load_for(tx, caller, ticket, Permission::ReadWrite)?;
    request.check_if_match(&ticket)?;
    let mut form = request.form()?;
    let description = form.required("description", ReplyText::parse);
    tickets::refuse_unless_allowed(tx, &mut form, &ticket, TicketAction::CustomerReply);
    Ok((ticket, form.finish(|| description)?))
}

fn new_reply<'a>(author: &'a TicketAuthor, description: &'a ReplyText) -> NewReply<'a> {
    NewReply {
        created_by: &author.display_name,
        description,
        from_staff: author.is_staff(),
        gravatar_id: &author.gravatar_id,
        answers: None,
    }
}

/// Adds a reply of a tenant or of staff. Fails if the ticket's state does not allow a reply.
pub fn add(
    tx: &mut WriteTx,
    ticket: &mut Ticket,
    author: &TicketAuthor,
    action: TicketAction,
    description: &ReplyText,
) -> Result<Reply> {
    add_message(tx, ticket, author, action, (description, None))
}

/// Like `add`. `answers` is whether the ticket does not wait for the provider after the reply, if this differs from
/// other replies of the author.
pub(super) fn add_message(
    tx: &mut WriteTx,
    ticket: &mut Ticket,
    author: &TicketAuthor,
    action: TicketAction,
    (description, answers): (&ReplyText, Option<bool>),
) -> Result<Reply> {
    let new = NewReply {
        answers,
        ..new_reply(author, description)
    };
    let reply = store::replies::insert(tx, ticket.id, &new)?;
    let details = NewHistory {
        reply: Some(reply.id),
        ..NewHistory::default()
    };
    apply_transition(
        tx,
        ticket,
        author,
        Transition::new(action, HistoryStep::Reply).with(details),
    )?;
    Ok(reply)
}
