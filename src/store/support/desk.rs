//! The tickets of all accounts, with the columns that only staff see.

use std::collections::HashMap;

use crate::model::id::{TicketId, UserId};
use crate::model::page::{Page, Paged};
use crate::model::ticket::{Claim, Customer, DeskTicket, Priority, WaitingTickets};
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::filter::{Field, FilterShape, Kind};
use crate::store::list::{Collection, ListQuery, id_list, id_lists};
use crate::store::search;
use crate::store::ticket_tags::add_tags;
use crate::store::tickets::{self, add_attachments};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const FROM: &str = "ticket t JOIN account a ON a.id = t.account
    LEFT JOIN app_user c ON c.id = t.opener LEFT JOIN app_user s ON s.id = t.claimer";
/// The tables of all fields.
const FILTERED_FROM: &str = "ticket t LEFT JOIN app_user s ON s.id = t.claimer";
const COLUMNS: &str = "a.company, a.email, a.status, c.username, c.email, c.restricted, t.priority,
    t.claimer, s.username, t.claimed, t.managed_issue, t.notes, t.revision";
/// The time since which a ticket waits for the provider: that of the first message after the last answer. NULL if the
/// ticket is closed, or if its last message is an answer. The provider's own tickets have no opener.
const WAITING_SINCE: &str = "CASE
    WHEN t.is_closed <> 0 THEN NULL
    WHEN t.opener IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM reply l WHERE l.ticket = t.id AND coalesce(l.answers, l.from_staff) = 1) THEN t.opened
    ELSE (SELECT min(m.created) FROM reply m WHERE m.ticket = t.id AND m.id > coalesce(
        (SELECT max(l.id) FROM reply l WHERE l.ticket = t.id AND coalesce(l.answers, l.from_staff) = 1), 0)) END";

pub static FIELDS: [Field; 20] = [
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
    Field::new("tags", Kind::Text, "g.label").subquery("SELECT 1 FROM ticket_tag g WHERE g.ticket = t.id"),
    Field::new("managed_issue", Kind::Boolean, "t.managed_issue"),
    Field::new("replies", Kind::Integer, "t.replies"),
    Field::new("notes", Kind::Integer, "t.notes"),
];

/// A page of the tickets that contain all these words. Without words, a page of all tickets.
///
/// The page is found by its IDs, and only its own rows are joined: to count, filter and sort whole rows would read the
/// texts of all tickets.
pub fn list(tx: &mut ReadTx, words: &[String], query: &ListQuery) -> Result<Paged<DeskTicket>, StoreError> {
    let is_whole_queue =
        words.is_empty() && query.order.is_none() && matches!(query.filter.shape(), FilterShape::All);
    let ids = match is_whole_queue {
        true => whole_queue(tx, query.page)?,
        false => matching(tx, words, query, tickets::ORDER)?,
    };
    load_page(tx, ids)
}

/// Like `list`, but the tickets that have waited longest for the provider come first, and tickets that do not wait come
/// last. The order of the query is ignored.
pub fn list_by_wait(
    tx: &mut ReadTx,
    words: &[String],
    query: &ListQuery,
) -> Result<Paged<DeskTicket>, StoreError> {
    let query = ListQuery {
        order: None,
        ..query.clone()
    };
    let order = format!("{WAITING_SINCE} ASC NULLS LAST, t.is_closed ASC, t.id ASC");
    let ids = matching(tx, words, &query, &order)?;
    load_page(tx, ids)
}

fn load_page(tx: &mut ReadTx, ids: Paged<TicketId>) -> Result<Paged<DeskTicket>, StoreError> {
    let Paged { items, page, results } = ids;
    let items = load_all(tx, &items)?;
    Ok(Paged { items, page, results })
}

/// The IDs of a page of all tickets, in their default order. An index has the tickets in this order, so that the page is
/// read without sorting, and counted without reading tickets.
fn whole_queue(tx: &mut ReadTx, page: Page) -> Result<Paged<TicketId>, StoreError> {
    let mut counts = [0; 2];
    let sql = "SELECT is_closed, count(*) FROM ticket GROUP BY is_closed";
    for mut row in tx.all(sql, args![])? {
        let is_closed: bool = row.take()?;
        counts[usize::from(is_closed)] = row.take()?;
    }
    let (mut skip, mut items) = (page.offset(), Vec::new());
    for (is_closed, count) in [false, true].into_iter().zip(counts) {
        let limit = page.size - items.len() as i64;
        if skip < count && limit > 0 {
            let sql = "SELECT id FROM ticket WHERE is_closed = $1 ORDER BY id DESC LIMIT $2 OFFSET $3";
            items.extend(tx.read(sql, args![is_closed, limit, skip], read_id)?);
        }
        skip = skip.saturating_sub(count).max(0);
    }
    let results = counts.iter().sum();
    Ok(Paged { items, page, results })
}

/// The IDs of a page of the tickets that match. `order` applies if the query has no order.
fn matching(
    tx: &mut ReadTx,
    words: &[String],
    query: &ListQuery,
    order: &str,
) -> Result<Paged<TicketId>, StoreError> {
    let (condition, args) = search::condition(tx, words);
    let collection = Collection {
        columns: "t.id",
        from: FILTERED_FROM,
        condition,
        args,
        key: &["t.id"],
        order: Some(order),
        tallied: None,
    };
    collection.page(tx, query, read_id)
}

fn read_id(row: &mut Row) -> Result<TicketId, StoreError> {
    row.take()
}

/// The IDs of all tickets that match, in the default order.
pub fn all_matching(
    tx: &mut ReadTx,
    words: &[String],
    query: &ListQuery,
) -> Result<Vec<TicketId>, StoreError> {
    let query = ListQuery {
        page: Page {
            number: 1,
            size: i64::MAX,
        },
        filter: query.filter.clone(),
        order: None,
    };
    Ok(matching(tx, words, &query, tickets::ORDER)?.items)
}

/// The tickets with these IDs, in the same order.
pub fn load_all(tx: &mut ReadTx, ids: &[TicketId]) -> Result<Vec<DeskTicket>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let (list, args) = id_list(&numbers);
    let sql = format!("SELECT {} FROM {FROM} WHERE t.id IN {list}", columns());
    let mut found = tx.read(&sql, &args, read)?;
    let positions: HashMap<TicketId, usize> = ids.iter().copied().zip(0..).collect();
    found.sort_by_key(|found| positions.get(&found.ticket.id));
    add_attachments(tx, found.iter_mut().map(|found| &mut found.ticket))?;
    add_tags(tx, found.iter_mut())?;
    Ok(found)
}

/// The open tickets whose last message is from the customer.
pub fn waiting(tx: &mut ReadTx) -> Result<WaitingTickets, StoreError> {
    let sql = format!(
        "SELECT count(*) OVER (), w.since, w.id
         FROM (SELECT t.id, {WAITING_SINCE} AS since FROM ticket t WHERE t.is_closed = 0) w
         WHERE w.since IS NOT NULL ORDER BY w.since, w.id LIMIT 1"
    );
    let Some(mut row) = tx.find(&sql, args![])? else {
        return Ok(WaitingTickets::default());
    };
    Ok(WaitingTickets {
        count: row.take()?,
        oldest: row.take()?,
        oldest_ticket: row.take()?,
    })
}

/// The times since which these tickets wait for the provider. Tickets that do not wait are left out.
pub fn waiting_since(tx: &mut ReadTx, ids: &[TicketId]) -> Result<HashMap<TicketId, Time>, StoreError> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut found = HashMap::new();
    for (list, args) in id_lists(&ids) {
        let sql = format!("SELECT t.id, {WAITING_SINCE} FROM ticket t WHERE t.id IN {list}");
        for mut row in tx.all(&sql, &args)? {
            let (id, since) = (row.take()?, row.take::<Option<Time>>()?);
            found.extend(since.map(|since| (id, since)));
        }
    }
    Ok(found)
}

pub fn find(tx: &mut ReadTx, id: TicketId) -> Result<Option<DeskTicket>, StoreError> {
    let sql = format!("SELECT {} FROM {FROM} WHERE t.id = $1", columns());
    let Some(mut row) = tx.find(&sql, args![id])? else {
        return Ok(None);
    };
    let mut found = read(&mut row)?;
    add_attachments(tx, std::iter::once(&mut found.ticket))?;
    add_tags(tx, std::iter::once(&mut found))?;
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
        account_status: row.take()?,
        customer: read_customer(row)?,
        priority: row.take()?,
        tags: Vec::new(),
        targets: None,
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
