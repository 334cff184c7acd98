//! Replies to tickets, from the account's side (interface §4.3).

use super::caller::Caller;
use super::error::Result;
use super::lists::ListRequest;
use super::request::Request;
use super::tickets::{self, Doing, Party, act};
use super::transitions::Act;
use crate::model::grant::Permission;
use crate::model::history::Step;
use crate::model::id::TicketId;
use crate::model::page::Paged;
use crate::model::reply::{NewReply, Reply, ReplyText};
use crate::model::ticket::Ticket;
use crate::store::history::NewHistory;
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, caller: &Caller, ticket: TicketId, list: &ListRequest) -> Result<Paged<Reply>> {
    tickets::load_for(tx, caller, ticket, Permission::ReadOnly)?;
    let wanted = list.read(tx.policy(), &store::replies::FIELDS)?;
    Ok(store::replies::list(tx, ticket, &wanted)?)
}

pub fn create(tx: &mut WriteTx, caller: &Caller, ticket: TicketId, request: &Request) -> Result<Reply> {
    let mut ticket = tickets::load_for(tx, caller, ticket, Permission::ReadWrite)?;
    request.unchanged(&ticket)?;
    let mut form = request.form()?;
    let description = form.required("description", ReplyText::parse);
    tickets::refuse_unless_allowed(tx, &mut form, &ticket, Act::CustomerReply);
    let description = form.finish(|| description)?;
    add(
        tx,
        &mut ticket,
        &Party::of(caller),
        Act::CustomerReply,
        &description,
    )
}

/// Adds a reply by either side, if the ticket's state allows one.
pub fn add(
    tx: &mut WriteTx,
    ticket: &mut Ticket,
    party: &Party,
    how: Act,
    description: &ReplyText,
) -> Result<Reply> {
    let new = NewReply {
        created_by: &party.shown,
        description,
        from_staff: party.is_staff(),
        gravatar_id: &party.gravatar_id,
    };
    let reply = store::replies::insert(tx, ticket.id, &new)?;
    let details = NewHistory {
        reply: Some(reply.id),
        ..NewHistory::default()
    };
    act(tx, ticket, party, Doing::new(how, Step::Reply).with(details))?;
    Ok(reply)
}
