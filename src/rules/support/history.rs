//! The history of a ticket, for the provider's staff.
//!
//! `tickets.rs` appends the steps.

use std::collections::HashMap;

use crate::model::history::{History, HistoryStep};
use crate::model::id::{HistoryId, TicketId};
use crate::model::page::Paged;
use crate::model::reply::ReplyText;
use crate::rules::agent::Agent;
use crate::rules::desk::load;
use crate::rules::error::Result;
use crate::rules::lists::ListRequest;
use crate::rules::submission::REPEAT_WINDOW_SECONDS;
use crate::store::{self, ReadTx};

/// The user who last changed each ticket, for staff. Tenants see the provider's name instead of the name of a
/// member of staff.
pub fn last_changers(tx: &mut ReadTx, tickets: &[TicketId]) -> Result<HashMap<TicketId, String>> {
    Ok(store::history::last_updaters(tx, tickets)?)
}

/// The ID of the newest step of a ticket's history.
pub fn newest(tx: &mut ReadTx, id: TicketId) -> Result<HistoryId> {
    Ok(store::history::newest(tx, id)?)
}

/// The steps that other users have added after the step `seen`.
pub fn since(tx: &mut ReadTx, agent: &Agent, id: TicketId, seen: HistoryId) -> Result<Vec<History>> {
    Ok(store::history::by_others(tx, id, agent.username.as_str(), seen)?)
}

/// The history of a ticket, oldest first.
pub fn list(tx: &mut ReadTx, id: TicketId, list: &ListRequest) -> Result<Paged<History>> {
    load(tx, id)?;
    let query = list.read(tx.policy(), &store::history::FIELDS)?;
    Ok(store::history::list(tx, id, &query)?)
}

/// Whether the agent has already submitted this text after the step `seen`, or as the newest reply or note in the last
/// `REPEAT_WINDOW_SECONDS`.
pub(super) fn is_duplicate(
    tx: &mut ReadTx,
    agent: &Agent,
    id: TicketId,
    step: HistoryStep,
    text: Option<&ReplyText>,
    seen: Option<HistoryId>,
) -> Result<bool> {
    let author = (id, agent.username.as_str());
    let recent = tx.now().plus_seconds(-REPEAT_WINDOW_SECONDS);
    match text {
        Some(text) => Ok(store::history::has_duplicate(
            tx,
            author,
            (step, text),
            seen,
            recent,
        )?),
        None => Ok(false),
    }
}
