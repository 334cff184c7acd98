//! Merges of tickets: another ticket of the account continues a duplicate, which is closed (decision 0044).

use crate::model::grant::Permission;
use crate::model::history::HistoryStep;
use crate::model::id::TicketId;
use crate::model::merge_text;
use crate::model::reason::{Code, Reason};
use crate::model::reply::ReplyText;
use crate::model::ticket::{DeskTicket, Ticket};
use crate::rules::agent::Agent;
use crate::rules::desk::{author, closing, load, load_unchanged};
use crate::rules::error::Result;
use crate::rules::form::Form;
use crate::rules::replies;
use crate::rules::request::Request;
use crate::rules::tickets::{TicketAuthor, append_history, apply_transition, refuse_unless_allowed};
use crate::rules::transitions::TicketAction;
use crate::store::history::NewHistory;
use crate::store::{self, ReadTx, WriteTx};

/// Merges a ticket into the ticket `into`: the target gets a message with the texts of the source, and the source a
/// message that names the target. Then the source is closed. It cannot be reopened.
pub fn create(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let mut source = load_unchanged(tx, id, request)?.ticket;
    let mut form = request.form()?;
    let into = form.required_integer("into").map(TicketId);
    refuse_unless_allowed(tx, &mut form, &source, TicketAction::StaffReply);
    let target = match into {
        Some(into) => read_target(tx, &mut form, &source, into)?,
        None => None,
    };
    let mut target = form.finish(|| target)?;

    let author = author(tx, agent);
    let is_source_waiting = store::tickets::waits_for_provider(tx, source.id)?;
    let is_target_waiting = is_source_waiting || store::tickets::waits_for_provider(tx, target.id)?;
    let replies = store::replies::all(tx, source.id)?;
    let text = merge_text::for_target(&source, &replies);
    post(tx, &mut target, &author, &text, is_target_waiting)?;
    record(tx, &target, &author, HistoryStep::MergedFrom, source.id)?;
    let text = merge_text::for_source(&target);
    post(tx, &mut source, &author, &text, is_source_waiting)?;
    apply_transition(tx, &mut source, &author, closing())?;
    store::tickets::set_merged_into(tx, source.id, target.id)?;
    record(tx, &source, &author, HistoryStep::MergedInto, target.id)?;
    load(tx, id)
}

/// The ticket that continues a ticket: the ticket itself, unless it was merged.
pub fn continuation(tx: &mut ReadTx, id: TicketId) -> Result<TicketId> {
    let mut current = id;
    // A merged ticket is closed and cannot become a target, so there are no cycles.
    while let Some(next) = store::tickets::merged_into(tx, current)? {
        current = next;
    }
    Ok(current)
}

/// The tickets that were merged into a ticket. The caller must have loaded the ticket.
pub fn sources(tx: &mut ReadTx, target: TicketId) -> Result<Vec<TicketId>> {
    Ok(store::tickets::merged_from(tx, target)?)
}

/// The target, if the source can be merged into it.
fn read_target(tx: &mut ReadTx, form: &mut Form, source: &Ticket, into: TicketId) -> Result<Option<Ticket>> {
    let found = store::tickets::find(tx, source.account, into)?.filter(|target| target.id != source.id);
    let Some(target) = found else {
        let text = "Must be the ID of another ticket of the same account";
        form.refuse("into", Reason::new(Code::MergeInvalid, text));
        return Ok(None);
    };
    if let Some(text) = missing_access(tx, source, &target)? {
        form.refuse("into", Reason::new(Code::MergeInvalid, text));
    }
    refuse_unless_allowed(tx, form, &target, TicketAction::StaffReply);
    Ok(Some(target))
}

/// The reason why a merge into another ticket of the account is refused, if an opener lacks access: no user may see
/// more than before, and the customer must be able to continue in the target.
pub fn missing_access(tx: &mut ReadTx, source: &Ticket, target: &Ticket) -> Result<Option<String>> {
    let no_access = |opened: &Ticket, hidden: &Ticket| {
        format!(
            "{}, who opened ticket {}, has no access to ticket {}",
            opened.opened_by, opened.id, hidden.id
        )
    };
    if !is_open_to_opener(tx, source, target, Permission::ReadWrite)? {
        return Ok(Some(no_access(source, target)));
    }
    let may_read =
        is_from_staff_only(tx, source)? || is_open_to_opener(tx, target, source, Permission::ReadOnly)?;
    Ok((!may_read).then(|| no_access(target, source)))
}

/// Whether staff wrote all messages of a ticket, for example after a call of the customer.
fn is_from_staff_only(tx: &mut ReadTx, ticket: &Ticket) -> Result<bool> {
    let has_merged_texts = !sources(tx, ticket.id)?.is_empty();
    if ticket.opener.is_some() || has_merged_texts {
        return Ok(false);
    }
    let replies = store::replies::all(tx, ticket.id)?;
    Ok(replies.iter().all(|reply| reply.from_staff))
}

/// Whether the user who opened a ticket has this permission on another ticket of the account.
fn is_open_to_opener(tx: &mut ReadTx, opened: &Ticket, other: &Ticket, access: Permission) -> Result<bool> {
    let Some(user) = opened.opener else {
        return Ok(true);
    };
    // A user who was deleted sees no ticket.
    let Some(user) = store::users::find_by_id(tx, user)? else {
        return Ok(true);
    };
    Ok(other.permission_of(&user) >= Some(access))
}

/// Adds a message of the merge. It is no answer: if the ticket waited for the provider, it still does.
fn post(
    tx: &mut WriteTx,
    ticket: &mut Ticket,
    author: &TicketAuthor,
    text: &ReplyText,
    is_waiting: bool,
) -> Result<()> {
    let answers = is_waiting.then_some(false);
    replies::add_message(tx, ticket, author, TicketAction::StaffReply, (text, answers)).map(drop)
}

fn record(
    tx: &mut WriteTx,
    ticket: &Ticket,
    author: &TicketAuthor,
    step: HistoryStep,
    other: TicketId,
) -> Result<()> {
    let details = NewHistory {
        after: Some(other.to_string()),
        ..NewHistory::default()
    };
    append_history(tx, ticket, author, step, &details)
}
