//! The steps of the history that start and stop the clocks of tickets.

use std::collections::HashMap;

use crate::model::clock::{ClockChange, ClockStep};
use crate::model::history::HistoryStep;
use crate::model::id::TicketId;
use crate::model::report::Period;
use crate::model::ticket::Priority;
use crate::store::error::StoreError;
use crate::store::list::id_list;
use crate::store::tx::ReadTx;
use crate::store::value::{Row, Value, args};

/// The priority and the steps of a ticket.
pub type PriorityAndSteps = (Priority, Vec<ClockStep>);

/// The steps of these tickets.
pub fn steps(
    tx: &mut ReadTx,
    tickets: &[TicketId],
) -> Result<HashMap<TicketId, PriorityAndSteps>, StoreError> {
    if tickets.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<i64> = tickets.iter().map(|ticket| ticket.0).collect();
    let (list, args) = id_list(&ids);
    load(tx, &format!("t.id IN {list}"), &args)
}

/// The steps of all tickets that are not closed.
pub fn steps_of_open_tickets(tx: &mut ReadTx) -> Result<HashMap<TicketId, PriorityAndSteps>, StoreError> {
    load(tx, "t.is_closed = 0", args![])
}

/// The steps of the tickets that were opened in a period.
pub fn steps_of_opened_tickets(
    tx: &mut ReadTx,
    period: &Period,
) -> Result<HashMap<TicketId, PriorityAndSteps>, StoreError> {
    let condition = "t.opened >= $1 AND t.opened < $2";
    load(tx, condition, args![period.start(), period.end()])
}

fn load(
    tx: &mut ReadTx,
    condition: &str,
    args: &[Value],
) -> Result<HashMap<TicketId, PriorityAndSteps>, StoreError> {
    let words = [
        HistoryStep::Opened,
        HistoryStep::Reply,
        HistoryStep::Close,
        HistoryStep::Reopen,
    ];
    let words = words.map(|step| format!("'{}'", step.word())).join(", ");
    let sql = format!(
        "SELECT h.ticket, t.priority, h.step, h.created, coalesce(r.answers, h.from_staff)
         FROM ticket t JOIN ticket_history h ON h.ticket = t.id LEFT JOIN reply r ON r.id = h.reply
         WHERE {condition} AND h.step IN ({words}) ORDER BY h.ticket, h.id"
    );
    let mut found = HashMap::new();
    for (ticket, priority, step) in tx.read(&sql, args, read)? {
        let (_, steps) = found.entry(ticket).or_insert((priority, Vec::new()));
        steps.push(step);
    }
    Ok(found)
}

fn read(row: &mut Row) -> Result<(TicketId, Priority, ClockStep), StoreError> {
    let (ticket, priority) = (row.take()?, row.take()?);
    let (step, at, from_staff): (HistoryStep, _, bool) = (row.take()?, row.take()?, row.take()?);
    let change = match step {
        HistoryStep::Close => ClockChange::Close,
        HistoryStep::Reopen => ClockChange::Reopen,
        _ if from_staff => ClockChange::StaffMessage,
        _ => ClockChange::CustomerMessage,
    };
    Ok((ticket, priority, ClockStep { at, change }))
}
