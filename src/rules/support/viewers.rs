//! Viewers of a ticket: members of staff see which colleagues have the same ticket open.
//!
//! Each open page renews its row, on any node. A row that is not renewed expires, so a crash leaves no stale
//! viewer.

use crate::model::id::TicketId;
use crate::model::time::Time;
use crate::model::token::hex;
use crate::rules::agent::Agent;
use crate::rules::desk;
use crate::rules::error::Result;
use crate::store::{self, ReadTx, WriteTx};

/// The lifetime of a row in seconds, from its last renewal.
const VIEWER_TTL_SECONDS: i64 = 45;

/// Registers a page that shows the ticket; returns the ID of its tab.
pub fn register(tx: &mut WriteTx, agent: &Agent, ticket: TicketId) -> Result<String> {
    desk::load(tx, ticket)?;
    let before = present_since(tx);
    store::viewers::delete_before(tx, before)?;
    let tab = hex(&tx.random()[16..]);
    store::viewers::renew(tx, ticket, &tab, agent.user)?;
    Ok(tab)
}

/// Renews the row of an open page.
pub fn renew(tx: &mut WriteTx, agent: &Agent, ticket: TicketId, tab: &str) -> Result<()> {
    Ok(store::viewers::renew(tx, ticket, tab, agent.user)?)
}

pub fn remove(tx: &mut WriteTx, ticket: TicketId, tab: &str) -> Result<()> {
    Ok(store::viewers::delete(tx, ticket, tab)?)
}

/// The colleagues who have the ticket open.
pub fn others(tx: &mut ReadTx, agent: &Agent, ticket: TicketId) -> Result<Vec<String>> {
    let since = present_since(tx);
    Ok(store::viewers::others(tx, ticket, agent.user, since)?)
}

fn present_since(tx: &ReadTx) -> Time {
    tx.now().plus_seconds(-VIEWER_TTL_SECONDS)
}
