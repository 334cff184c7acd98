//! Versions of the desk and of a ticket. The console compares them to detect changes.

use crate::model::entity_tag::EntityTag;
use crate::model::id::TicketId;
use crate::rules::agent::Agent;
use crate::rules::desk::load;
use crate::rules::error::Result;
use crate::rules::viewers;
use crate::store::{self, ReadTx};

/// A version of the desk, to detect changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeskVersion {
    /// Changes when any ticket changes.
    pub queue: String,
    /// Changes when the watched ticket or its viewers change.
    pub ticket: String,
}

/// The current version. Without a watched ticket, the field `ticket` is empty.
pub fn current(tx: &mut ReadTx, agent: &Agent, watched: Option<TicketId>) -> Result<DeskVersion> {
    let (newest, recent_count) = store::history::watermark(tx)?;
    let ticket = match watched {
        None => String::new(),
        Some(id) => {
            let state = (load(tx, id)?, viewers::others(tx, agent, id)?);
            EntityTag::of(&state).to_string().replace('"', "")
        }
    };
    Ok(DeskVersion {
        queue: format!("{newest}.{recent_count}"),
        ticket,
    })
}
