//! The `ticket_tag` table.

use std::collections::HashMap;

use crate::model::id::TicketId;
use crate::model::ticket::DeskTicket;
use crate::model::ticket_tag::TicketTag;
use crate::store::error::StoreError;
use crate::store::list::id_list;
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

const COLUMNS: &str = "g.ticket, g.label";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("ticket_tag g", COLUMNS, |row| read(row).map(drop));

/// Replaces the tags of a ticket.
pub fn set(tx: &mut WriteTx, ticket: TicketId, tags: &[TicketTag]) -> Result<(), StoreError> {
    tx.execute("DELETE FROM ticket_tag WHERE ticket = $1", args![ticket])?;
    for tag in tags {
        let sql = "INSERT INTO ticket_tag (ticket, label) VALUES ($1, $2)";
        tx.execute(sql, args![ticket, tag])?;
    }
    Ok(())
}

/// The first tags in use, by name.
pub fn in_use(tx: &mut ReadTx, limit: i64) -> Result<Vec<TicketTag>, StoreError> {
    let sql = "SELECT label FROM ticket_tag GROUP BY label ORDER BY label LIMIT $1";
    tx.read(sql, args![limit], |row| row.take())
}

/// Adds the tags to the tickets, by name.
pub(in crate::store) fn add_tags<'a>(
    tx: &mut ReadTx,
    tickets: impl Iterator<Item = &'a mut DeskTicket>,
) -> Result<(), StoreError> {
    let mut tickets: HashMap<TicketId, &mut DeskTicket> =
        tickets.map(|desk| (desk.ticket.id, desk)).collect();
    if tickets.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = tickets.keys().map(|id| id.0).collect();
    let (list, args) = id_list(&ids);
    let sql =
        format!("SELECT {COLUMNS} FROM ticket_tag g WHERE g.ticket IN {list} ORDER BY g.ticket, g.label");
    for (ticket, tag) in tx.read(&sql, &args, read)? {
        if let Some(desk) = tickets.get_mut(&ticket) {
            desk.tags.push(tag);
        }
    }
    Ok(())
}

fn read(row: &mut Row) -> Result<(TicketId, TicketTag), StoreError> {
    Ok((row.take()?, row.take()?))
}
