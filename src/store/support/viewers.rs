//! The `ticket_viewer` table: the browser tabs in which staff have a ticket open. A tab renews its row while it is
//! open.

use crate::model::id::{TicketId, UserId};
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::notifier::Topic;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

/// Renews the row of a tab. If the tab has no row, inserts one and notifies the subscribers of the desk.
pub fn renew(tx: &mut WriteTx, ticket: TicketId, tab: &str, user: UserId) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE ticket_viewer SET seen = $3 WHERE ticket = $1 AND tab = $2";
    if tx.execute(sql, args![ticket, tab, now])? == 0 {
        tx.execute(
            "INSERT INTO ticket_viewer (ticket, tab, app_user, seen) VALUES ($1, $2, $3, $4)",
            args![ticket, tab, user, now],
        )?;
        tx.notify_on_commit(Topic::Desk);
    }
    Ok(())
}

pub fn delete(tx: &mut WriteTx, ticket: TicketId, tab: &str) -> Result<(), StoreError> {
    let sql = "DELETE FROM ticket_viewer WHERE ticket = $1 AND tab = $2";
    if tx.execute(sql, args![ticket, tab])? > 0 {
        tx.notify_on_commit(Topic::Desk);
    }
    Ok(())
}

/// The names of the staff users who had the ticket open after a time, except one user.
pub fn others(
    tx: &mut ReadTx,
    ticket: TicketId,
    except: UserId,
    since: Time,
) -> Result<Vec<String>, StoreError> {
    let rows = tx.all(
        "SELECT DISTINCT u.username FROM ticket_viewer v JOIN app_user u ON u.id = v.app_user
         WHERE v.ticket = $1 AND v.app_user <> $2 AND v.seen > $3 ORDER BY u.username",
        args![ticket, except, since],
    )?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

/// Deletes the rows that were not renewed after a time.
pub fn delete_before(tx: &mut WriteTx, before: Time) -> Result<(), StoreError> {
    tx.execute("DELETE FROM ticket_viewer WHERE seen <= $1", args![before])?;
    Ok(())
}
