//! The `staff_mail_choice` table: which mails a member of staff gets. Without a row: all.

use crate::model::id::UserId;
use crate::model::outgoing_mail::StaffMailChoice;
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

pub fn find(tx: &mut ReadTx, user: UserId) -> Result<StaffMailChoice, StoreError> {
    let sql = "SELECT new_tickets, assigned, replies FROM staff_mail_choice WHERE app_user = $1";
    let found = tx.find(sql, args![user])?.as_mut().map(read).transpose()?;
    Ok(found.unwrap_or(StaffMailChoice::ALL))
}

/// The members of staff with access who get a mail for each new ticket.
pub fn with_new_tickets(tx: &mut ReadTx) -> Result<Vec<UserId>, StoreError> {
    let sql = "SELECT u.id FROM app_user u LEFT JOIN staff_mail_choice c ON c.app_user = u.id
         WHERE u.account IS NULL AND u.disabled = 0 AND coalesce(c.new_tickets, 1) = 1 ORDER BY u.id";
    tx.read(sql, args![], |row| row.take())
}

pub fn save(tx: &mut WriteTx, user: UserId, choice: StaffMailChoice) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO staff_mail_choice (app_user, new_tickets, assigned, replies) VALUES ($1, $2, $3, $4)
         ON CONFLICT (app_user) DO UPDATE SET new_tickets = excluded.new_tickets, assigned = excluded.assigned,
             replies = excluded.replies",
        args![user, choice.new_tickets, choice.assigned, choice.replies],
    )?;
    Ok(())
}

fn read(row: &mut Row) -> Result<StaffMailChoice, StoreError> {
    Ok(StaffMailChoice {
        new_tickets: row.take()?,
        assigned: row.take()?,
        replies: row.take()?,
    })
}
