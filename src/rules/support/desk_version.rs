//! Versions of the desk and of a ticket, with which the console detects changes.

use crate::model::id::TicketId;
use crate::model::tag::Tag;
use crate::rules::agent::Agent;
use crate::rules::desk::load;
use crate::rules::error::Result;
use crate::rules::viewers;
use crate::store::{self, ReadTx};

/// A version of the desk, to detect changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeskVersion {
    /// Changes with any ticket.
    pub queue: String,
    /// Changes with one ticket, or with its viewers.
    pub ticket: String,
}

/// The current version; the second part only for a watched ticket.
pub fn current(tx: &mut ReadTx, agent: &Agent, watched: Option<TicketId>) -> Result<DeskVersion> {
    let (newest, near) = store::history::watermark(tx)?;
    let ticket = match watched {
        None => String::new(),
        Some(id) => {
            let state = (load(tx, id)?, viewers::others(tx, agent, id)?);
            Tag::of(&state).to_string().replace('"', "")
        }
    };
    Ok(DeskVersion {
        queue: format!("{newest}.{near}"),
        ticket,
    })
}
