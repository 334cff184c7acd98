//! Two of the staff with the same ticket before them see each other.
//!
//! Each open page renews its row, on whichever node it is; who has not renewed it for a while is
//! gone, however that came about.

use crate::model::id::TicketId;
use crate::model::time::Time;
use crate::model::token::hex;
use crate::rules::agent::Agent;
use crate::rules::desk;
use crate::rules::error::Result;
use crate::store::{self, ReadTx, WriteTx};

/// For how many seconds one counts as present after one was last seen.
const LASTS: i64 = 45;

/// A page with the ticket on it was opened: the name of its tab.
pub fn arrive(tx: &mut WriteTx, agent: &Agent, ticket: TicketId) -> Result<String> {
    desk::load(tx, ticket)?;
    let before = present_since(tx);
    store::viewers::delete_before(tx, before)?;
    let tab = hex(&tx.random()[16..]);
    store::viewers::renew(tx, ticket, &tab, agent.user)?;
    Ok(tab)
}

/// The page is still open.
pub fn stay(tx: &mut WriteTx, agent: &Agent, ticket: TicketId, tab: &str) -> Result<()> {
    Ok(store::viewers::renew(tx, ticket, tab, agent.user)?)
}

pub fn leave(tx: &mut WriteTx, ticket: TicketId, tab: &str) -> Result<()> {
    Ok(store::viewers::delete(tx, ticket, tab)?)
}

/// Which colleagues have the ticket before them.
pub fn others(tx: &mut ReadTx, agent: &Agent, ticket: TicketId) -> Result<Vec<String>> {
    let since = present_since(tx);
    Ok(store::viewers::others(tx, ticket, agent.user, since)?)
}

fn present_since(tx: &ReadTx) -> Time {
    tx.now().plus_seconds(-LASTS)
}
