//! Targets of the desk: when a first response and a resolution are due (decision 0040).
//!
//! `model/support/clock.rs` has the rule: a function of the history of a ticket.

use crate::model::clock::Clock;
use crate::model::id::TicketId;
use crate::model::ticket::DeskTicket;
use crate::rules::error::Result;
use crate::store::{self, ReadTx};

/// Adds the targets to the tickets. Without targets in the settings, this reads nothing.
pub(super) fn add(tx: &mut ReadTx, tickets: &mut [DeskTicket]) -> Result<()> {
    let targets = tx.policy().support.targets;
    if targets.is_empty() {
        return Ok(());
    }
    let now = tx.now();
    let ids: Vec<_> = tickets.iter().map(|desk| desk.ticket.id).collect();
    let steps = store::targets::steps(tx, &ids)?;
    for desk in tickets {
        if let Some((_, steps)) = steps.get(&desk.ticket.id) {
            desk.targets = targets.of(desk.priority, &Clock::after(steps), now);
        }
    }
    Ok(())
}

/// The tickets by the time left until the next target is missed. Tickets whose clock runs come first, then those whose
/// clock stands still, those without targets, and closed tickets. Tickets with the same time left remain in their order.
pub(super) fn sort_by_time_left(tx: &mut ReadTx, tickets: &mut [TicketId]) -> Result<()> {
    let (targets, now) = (tx.policy().support.targets, tx.now());
    if targets.is_empty() {
        return Ok(());
    }
    let steps = store::targets::steps_of_open_tickets(tx)?;
    let rank = |ticket: &TicketId| {
        let Some((priority, steps)) = steps.get(ticket) else {
            return (3, 0);
        };
        let targets = targets.of(*priority, &Clock::after(steps), now);
        match targets.as_ref().and_then(|targets| targets.next()) {
            Some(next) if next.due.is_some() => (0, next.remaining_seconds),
            Some(next) => (1, next.remaining_seconds),
            None => (2, 0),
        }
    };
    tickets.sort_by_cached_key(rank);
    Ok(())
}
