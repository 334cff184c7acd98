//! The tickets of all accounts, with the columns that only staff see.

use crate::model::id::{TicketId, UserId};
use crate::model::page::Paged;
use crate::model::ticket::{Claim, Customer, DeskTicket, Priority};
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::search;
use crate::store::tickets::{self, add_attachments};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const FROM: &str = "ticket t JOIN account a ON a.id = t.account
    LEFT JOIN app_user c ON c.id = t.opener LEFT JOIN app_user s ON s.id = t.claimer";
const COLUMNS: &str = "a.company, a.email, c.username, c.email, c.restricted, t.priority,
    t.claimer, s.username, t.claimed, t.managed_issue, t.notes, t.revision";

pub static FIELDS: [Field; 19] = [
    Field::new("id", Kind::Integer, "t.id"),
    Field::new("summary", Kind::Text, "t.summary"),
    Field::new("status", Kind::Text, "t.status"),
    Field::new("closable", Kind::Boolean, tickets::CLOSABLE),
    Field::new("closed", Kind::Time, "t.closed"),
    Field::new("opened", Kind::Time, "t.opened"),
    Field::new("opened_by", Kind::Text, "t.opened_by"),
    Field::new("updated", Kind::Time, "t.updated"),
    Field::new("updated_by", Kind::Text, "t.updated_by"),
    Field::new("entity.id", Kind::Integer, "t.entity_id"),
    Field::new("entity.type", Kind::Text, "t.entity_kind").synonyms(&[("compute", "linode")]),
    Field::new("account_id", Kind::Integer, "t.account"),
    Field::new("account.id", Kind::Integer, "t.account"),
    Field::new("claimed_by", Kind::Text, "s.username"),
    Field::new("claimed", Kind::Time, "t.claimed"),
    Field::new("priority", Kind::Rank(&Priority::WORDS), "t.priority"),
    Field::new("managed_issue", Kind::Boolean, "t.managed_issue"),
    Field::new("replies", Kind::Integer, "t.replies"),
    Field::new("notes", Kind::Integer, "t.notes"),
];

/// A page of the tickets that contain all these words. Without words, a page of all tickets.
pub fn list(tx: &mut ReadTx, words: &[String], query: &ListQuery) -> Result<Paged<DeskTicket>, StoreError> {
    let (condition, args) = search::condition(tx, words);
    let columns = columns();
    let collection = Collection {
        columns: &columns,
        from: FROM,
        condition,
        args,
        key: &["t.id"],
        order: Some(tickets::ORDER),
        tallied: None,
    };
    let mut found = collection.page(tx, query, read)?;
    add_attachments(tx, found.items.iter_mut().map(|found| &mut found.ticket))?;
    Ok(found)
}

pub fn find(tx: &mut ReadTx, id: TicketId) -> Result<Option<DeskTicket>, StoreError> {
    let sql = format!("SELECT {} FROM {FROM} WHERE t.id = $1", columns());
    let Some(mut row) = tx.find(&sql, args![id])? else {
        return Ok(None);
    };
    let mut found = read(&mut row)?;
    add_attachments(tx, std::iter::once(&mut found.ticket))?;
    Ok(Some(found))
}

/// Assigns a ticket to a staff user, or unassigns it.
pub fn set_claimer(tx: &mut WriteTx, id: TicketId, agent: Option<UserId>) -> Result<(), StoreError> {
    let since = agent.map(|_| tx.now());
    let sql = "UPDATE ticket SET claimer = $2, claimed = $3 WHERE id = $1";
    tx.execute(sql, args![id, agent, since])?;
    Ok(())
}

pub fn set_priority(tx: &mut WriteTx, id: TicketId, priority: Priority) -> Result<(), StoreError> {
    let sql = "UPDATE ticket SET priority = $2 WHERE id = $1";
    tx.execute(sql, args![id, priority.rank()])?;
    Ok(())
}

fn columns() -> String {
    format!("{}, {COLUMNS}", tickets::COLUMNS)
}

fn read(row: &mut Row) -> Result<DeskTicket, StoreError> {
    Ok(DeskTicket {
        ticket: tickets::read(row)?,
        company: row.take()?,
        email: row.take()?,
        customer: read_customer(row)?,
        priority: row.take()?,
        claim: read_claim(row)?,
        managed_issue: row.take()?,
        notes: row.take()?,
        revision: row.take()?,
    })
}

fn read_customer(row: &mut Row) -> Result<Option<Customer>, StoreError> {
    let (username, email, restricted): (Option<_>, Option<_>, Option<_>) =
        (row.take()?, row.take()?, row.take()?);
    let customer = || {
        Some(Customer {
            username: username?,
            email: email?,
            restricted: restricted?,
        })
    };
    Ok(customer())
}

fn read_claim(row: &mut Row) -> Result<Option<Claim>, StoreError> {
    let (agent, username, since): (Option<_>, Option<_>, Option<_>) = (row.take()?, row.take()?, row.take()?);
    let claim = || {
        Some(Claim {
            agent: agent?,
            username: username?,
            since: since?,
        })
    };
    Ok(claim())
}

impl FromValue for Priority {
    fn from_value(value: Value) -> Option<Self> {
        Priority::ranked(i64::from_value(value)?)
    }
}
