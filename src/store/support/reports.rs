//! Queries for reports: the tickets that were opened or closed in a period.

use std::collections::HashMap;

use crate::model::id::{AccountId, TicketId};
use crate::model::report::Period;
use crate::model::ticket_tag::TicketTag;
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::{Row, args};

/// An opening or closing of a ticket.
pub struct Occurrence {
    pub ticket: TicketId,
    pub account: AccountId,
    pub at: Time,
}

/// The tickets that were opened in the period.
pub fn opened(tx: &mut ReadTx, period: &Period) -> Result<Vec<Occurrence>, StoreError> {
    let sql = "SELECT id, account, opened FROM ticket WHERE opened >= $1 AND opened < $2 ORDER BY id";
    tx.read(sql, args![period.start(), period.end()], read)
}

/// The closings in the period. A ticket that was reopened can have several.
pub fn closed(tx: &mut ReadTx, period: &Period) -> Result<Vec<Occurrence>, StoreError> {
    let sql = "SELECT h.ticket, t.account, h.created FROM ticket_history h JOIN ticket t ON t.id = h.ticket
        WHERE h.step = 'close' AND h.created >= $1 AND h.created < $2 ORDER BY h.id";
    tx.read(sql, args![period.start(), period.end()], read)
}

/// The tags of the tickets that were opened or closed in the period.
pub fn tags(tx: &mut ReadTx, period: &Period) -> Result<HashMap<TicketId, Vec<TicketTag>>, StoreError> {
    let sql = "SELECT ticket, label FROM ticket_tag WHERE ticket IN (
            SELECT id FROM ticket WHERE opened >= $1 AND opened < $2
            UNION SELECT ticket FROM ticket_history WHERE step = 'close' AND created >= $1 AND created < $2)";
    let rows = tx.read(sql, args![period.start(), period.end()], |row| {
        Ok((row.take()?, row.take()?))
    })?;
    let mut tags: HashMap<TicketId, Vec<TicketTag>> = HashMap::new();
    for (ticket, tag) in rows {
        tags.entry(ticket).or_default().push(tag);
    }
    Ok(tags)
}

/// The company of each of these accounts, or else the e-mail address.
pub fn account_names(
    tx: &mut ReadTx,
    accounts: &[AccountId],
) -> Result<HashMap<AccountId, String>, StoreError> {
    if accounts.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<i64> = accounts.iter().map(|account| account.0).collect();
    let (list, args) = crate::store::list::id_list(&ids);
    let sql = format!(
        "SELECT id, CASE WHEN company = '' THEN email ELSE company END FROM account WHERE id IN {list}"
    );
    let rows = tx.read(&sql, &args, |row| Ok((row.take()?, row.take()?)))?;
    Ok(rows.into_iter().collect())
}

fn read(row: &mut Row) -> Result<Occurrence, StoreError> {
    Ok(Occurrence {
        ticket: row.take()?,
        account: row.take()?,
        at: row.take()?,
    })
}
