//! The `note` table: internal notes of staff. Queries for tenants do not read this table.

use crate::model::id::TicketId;
use crate::model::reply::{Note, ReplyText};
use crate::store::error::StoreError;
use crate::store::search;
use crate::store::tx::WriteTx;
use crate::store::value::args;

pub fn insert(
    tx: &mut WriteTx,
    ticket: TicketId,
    created_by: &str,
    description: &ReplyText,
) -> Result<Note, StoreError> {
    let now = tx.now();
    let mut row = tx.one(
        "INSERT INTO note (ticket, created, created_by, description) VALUES ($1, $2, $3, $4)
         RETURNING id, created, created_by, description",
        args![ticket, now, created_by, description],
    )?;
    tx.execute("UPDATE ticket SET notes = notes + 1 WHERE id = $1", args![ticket])?;
    search::add(tx, ticket, &[description.as_str()])?;
    Ok(Note {
        id: row.take()?,
        created: row.take()?,
        created_by: row.take()?,
        description: row.take()?,
    })
}
