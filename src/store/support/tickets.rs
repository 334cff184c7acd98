//! The `ticket` table, with the columns that the account sees. `desk` adds the columns that only staff see.

use std::collections::{HashMap, HashSet};

use crate::model::change::ChangeKind;
use crate::model::entity::Entity;
use crate::model::id::{AccountId, TicketId, UserId};
use crate::model::page::Paged;
use crate::model::ticket::{NewTicket, Side, Status, Ticket};
use crate::model::time::Time;
use crate::store::entity_columns::EntityColumns;
use crate::store::error::StoreError;
use crate::store::filter::{Comparison, Field, Filter, FilterShape, Kind};
use crate::store::list::{Collection, ListQuery, Part, Tallied, id_list, id_lists};
use crate::store::model_rows::ModelRows;
use crate::store::search;
use crate::store::tallies::Tally;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

pub(in crate::store) const COLUMNS: &str =
    "t.id, t.account, t.summary, t.description, t.status, t.closable, t.closed,
    t.opened, t.opened_by, t.opener, t.updated, t.updated_by, t.gravatar_id,
    t.entity_kind, t.entity_id, t.entity_label, t.replies, t.merged_into";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("ticket t", COLUMNS, |row| read(row).map(drop));
/// Open tickets first, then by descending ID (interface §4.3).
pub(in crate::store) const ORDER: &str = "t.is_closed ASC, t.id DESC";
pub(in crate::store) const CLOSABLE: &str = "CASE WHEN t.closable <> 0 AND t.is_closed = 0 THEN 1 ELSE 0 END";

pub static FIELDS: [Field; 12] = [
    Field::new("id", Kind::Integer, "t.id"),
    Field::new("summary", Kind::Text, "t.summary"),
    Field::new("status", Kind::Text, "t.status"),
    Field::new("closable", Kind::Boolean, CLOSABLE),
    Field::new("closed", Kind::Time, "t.closed"),
    Field::new("opened", Kind::Time, "t.opened"),
    Field::new("opened_by", Kind::Text, "t.opened_by"),
    Field::new("updated", Kind::Time, "t.updated"),
    Field::new("updated_by", Kind::Text, "t.updated_by"),
    // Always NULL. The field exists because a published client sorts by it.
    Field::new("severity", Kind::Integer, "CAST(NULL AS BIGINT)"),
    Field::new("entity.id", Kind::Integer, "t.entity_id"),
    Field::new("entity.type", Kind::Text, "t.entity_kind").synonyms(&[("compute", "linode")]),
];

/// The fields in which tenants search. Their search does not use the full-text index, because the index contains notes.
static SEARCH_FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "t.id"),
    Field::new("summary", Kind::Text, "t.summary"),
    Field::new("description", Kind::Text, "t.description"),
    Field::new("opened_by", Kind::Text, "t.opened_by"),
    Field::new("replies", Kind::Text, "r.description")
        .subquery("SELECT 1 FROM reply r WHERE r.ticket = t.id"),
];

/// The filter for tickets that contain all these words. `#7` selects the ticket with the ID 7.
pub fn search_filter(words: &str) -> Filter {
    let number = words.strip_prefix('#').and_then(|number| number.parse().ok());
    if let Some(number) = number {
        return Filter::Test(&SEARCH_FIELDS[0], Comparison::Equal, Value::Int(number));
    }
    let matches_word = |word: &str| {
        let contains = |field| Filter::Test(field, Comparison::Contains, Value::from(word.to_owned()));
        Filter::Any(SEARCH_FIELDS.iter().map(contains).collect())
    };
    Filter::All(words.split_whitespace().map(matches_word).collect())
}

/// Whether the last message is from the provider. The provider's own tickets have no opener.
static IS_LAST_FROM_PROVIDER: Field = Field::new(
    "last_from_provider",
    Kind::Boolean,
    "coalesce((SELECT coalesce(l.answers, l.from_staff) FROM reply l WHERE l.ticket = t.id ORDER BY l.id DESC LIMIT 1),
        CASE WHEN t.opener IS NULL THEN 1 ELSE 0 END)",
);

/// The condition that a ticket waits for this side. Closed tickets wait for no side.
pub fn waiting_for_filter(side: Side) -> Filter {
    let last_from_provider = Value::from(side == Side::Customer);
    Filter::All(vec![
        Filter::Test(
            &FIELDS[2],
            Comparison::NotEqual,
            Value::from(Status::Closed.word()),
        ),
        Filter::Test(&IS_LAST_FROM_PROVIDER, Comparison::Equal, last_from_provider),
    ])
}

/// Whether the last message of a ticket is from the customer.
pub fn waits_for_provider(tx: &mut ReadTx, id: TicketId) -> Result<bool, StoreError> {
    let sql = format!(
        "SELECT 1 FROM ticket t WHERE t.id = $1 AND {} = 0",
        IS_LAST_FROM_PROVIDER.sql
    );
    Ok(tx.find(&sql, args![id])?.is_some())
}

/// Which of these tickets have a last message from the provider.
pub fn answered(tx: &mut ReadTx, ids: &[TicketId]) -> Result<HashSet<TicketId>, StoreError> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut answered = HashSet::new();
    for (list, args) in id_lists(&ids) {
        let sql = format!(
            "SELECT t.id FROM ticket t WHERE t.id IN {list} AND {} <> 0",
            IS_LAST_FROM_PROVIDER.sql
        );
        for mut row in tx.all(&sql, &args)? {
            answered.insert(row.take()?);
        }
    }
    Ok(answered)
}

/// The tickets of an account. With `opener`, only the tickets that this user opened.
pub fn list(
    tx: &mut ReadTx,
    account: AccountId,
    opener: Option<UserId>,
    query: &ListQuery,
) -> Result<Paged<Ticket>, StoreError> {
    let mut collection = Collection {
        columns: COLUMNS,
        from: "ticket t",
        condition: "t.account = $1".to_owned(),
        args: args![account].to_vec(),
        key: &["t.id"],
        order: Some(ORDER),
        tallied: tallied(account, query),
    };
    if let Some(opener) = opener {
        collection.condition += " AND t.opener = $2";
        collection.args.push(opener.into());
        collection.tallied = None;
    }
    let mut tickets = collection.page(tx, query, read)?;
    add_attachments(tx, tickets.items.iter_mut())?;
    Ok(tickets)
}

pub fn find(tx: &mut ReadTx, account: AccountId, id: TicketId) -> Result<Option<Ticket>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM ticket t WHERE t.id = $1 AND t.account = $2");
    let Some(mut row) = tx.find(&sql, args![id, account])? else {
        return Ok(None);
    };
    let mut ticket = read(&mut row)?;
    add_attachments(tx, std::iter::once(&mut ticket))?;
    Ok(Some(ticket))
}

/// The ID of the newest ticket that `opener` has opened; zero if there is none. `None` stands for the
/// provider.
pub fn newest(tx: &mut ReadTx, opener: Option<UserId>) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(max(id), 0) FROM ticket WHERE opener IS NOT DISTINCT FROM $1";
    tx.one(sql, args![opener])?.take()
}

/// A ticket by the same opener with the same texts and entity. It must come after the ticket `after`, or be the
/// opener's newest ticket and not older than `recent`.
pub fn find_duplicate(
    tx: &mut ReadTx,
    new: &NewTicket,
    after: i64,
    recent: Time,
) -> Result<Option<TicketId>, StoreError> {
    let newest = newest(tx, new.opener)?;
    let entity = new.entity.as_ref();
    let row = tx.find(
        "SELECT id FROM ticket WHERE opener IS NOT DISTINCT FROM $1 AND (id > $2 OR (id = $3 AND opened >= $4)) AND account = $5
             AND summary = $6 AND description = $7 AND coalesce(entity_kind, '') = $8 AND coalesce(entity_id, 0) = $9
         ORDER BY id DESC LIMIT 1",
        args![
            new.opener,
            after,
            newest,
            recent,
            new.account,
            &new.summary,
            &new.description,
            entity.map_or("", |entity| entity.kind.word()),
            entity.map_or(0, |entity| entity.id),
        ],
    )?;
    row.map(|mut row| row.take()).transpose()
}

pub fn insert(tx: &mut WriteTx, new: &NewTicket) -> Result<TicketId, StoreError> {
    let now = tx.now();
    let entity = new.entity.as_ref();
    let id: TicketId = tx
        .one(
            "INSERT INTO ticket (account, summary, description, status, is_closed, closable, opened, opened_by,
                 opener, updated, updated_by, gravatar_id, entity_kind, entity_id, entity_label,
                 managed_issue, priority)
             VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $6, $7, $9, $10, $11, $12, $13, $14)
             RETURNING id",
            args![
                new.account,
                &new.summary,
                &new.description,
                Status::New.word(),
                new.may_close,
                now,
                new.opened_by.as_str(),
                new.opener,
                new.gravatar_id.as_str(),
                entity.map(|entity| entity.kind.word()),
                entity.map(|entity| entity.id),
                entity.map(|entity| entity.label.as_str()),
                new.managed_issue,
                new.priority.rank(),
            ],
        )?
        .take()?;
    tx.tally(tally_of(new.account, Status::New), id.0, 1);
    tx.changed(new.account, ChangeKind::Ticket, id.0)?;
    search::add(tx, id, &[new.summary.as_str(), new.description.as_str()])?;
    Ok(id)
}

/// Updates the columns of a ticket that can change. `before` is its previous status.
pub fn update(tx: &mut WriteTx, ticket: &Ticket, before: Status) -> Result<(), StoreError> {
    tx.tally(tally_of(ticket.account, before), ticket.id.0, -1);
    tx.tally(tally_of(ticket.account, ticket.status), ticket.id.0, 1);
    tx.execute(
        "UPDATE ticket SET status = $2, is_closed = $3, closable = $4, closed = $5, updated = $6, updated_by = $7
         WHERE id = $1",
        args![
            ticket.id,
            ticket.status.word(),
            ticket.status == Status::Closed,
            ticket.may_close,
            ticket.closed,
            ticket.updated,
            ticket.updated_by.as_deref(),
        ],
    )?;
    tx.changed(ticket.account, ChangeKind::Ticket, ticket.id.0)
}

/// Records that another ticket continues a ticket.
pub fn set_merged_into(tx: &mut WriteTx, id: TicketId, target: TicketId) -> Result<(), StoreError> {
    let sql = "UPDATE ticket SET merged_into = $2 WHERE id = $1";
    tx.execute(sql, args![id, target])?;
    Ok(())
}

/// The ticket that a ticket was merged into.
pub fn merged_into(tx: &mut ReadTx, id: TicketId) -> Result<Option<TicketId>, StoreError> {
    let sql = "SELECT merged_into FROM ticket WHERE id = $1 AND merged_into IS NOT NULL";
    tx.find(sql, args![id])?.map(|mut row| row.take()).transpose()
}

/// The tickets that were merged into a ticket, by ID.
pub fn merged_from(tx: &mut ReadTx, target: TicketId) -> Result<Vec<TicketId>, StoreError> {
    let sql = "SELECT id FROM ticket WHERE merged_into = $1 ORDER BY id";
    tx.read(sql, args![target], |row| row.take())
}

/// The tally that counts tickets with this status: the tally of open tickets or the tally of closed
/// tickets.
fn tally_of(account: AccountId, status: Status) -> Tally {
    match status {
        Status::New | Status::Open => Tally::of("ticket:open", account.0),
        Status::Closed => Tally::of("ticket:closed", account.0),
    }
}

/// The tallies that count the results of a list query. `None` if no tallies exist for the filter.
fn tallied(account: AccountId, query: &ListQuery) -> Option<Tallied> {
    let part = |status, condition| Part {
        tally: tally_of(account, status),
        condition,
        hidden: 0,
    };
    let (open, closed) = (
        part(Status::Open, "t.is_closed = 0"),
        part(Status::Closed, "t.is_closed = 1"),
    );
    let parts = match query.filter.shape() {
        FilterShape::All => vec![open, closed],
        FilterShape::Equal(field, Value::Text(word))
            if field.name == "status" && word == Status::Closed.word() =>
        {
            vec![closed]
        }
        _ => return None,
    };
    Some(Tallied {
        parts,
        descending: true,
    })
}

/// Updates the label of an entity in the tickets that refer to it.
pub fn rename_entity(tx: &mut WriteTx, account: AccountId, entity: &Entity) -> Result<(), StoreError> {
    let renamed = tx.all(
        "UPDATE ticket SET entity_label = $4
         WHERE account = $1 AND entity_kind = $2 AND entity_id = $3 AND entity_label <> $4 RETURNING id",
        args![account, entity.kind.word(), entity.id, entity.label.as_str()],
    )?;
    for mut row in renamed {
        let id: TicketId = row.take()?;
        tx.changed(account, ChangeKind::Ticket, id.0)?;
    }
    Ok(())
}

/// Adds the names of the attachments to the tickets.
pub(in crate::store) fn add_attachments<'a>(
    tx: &mut ReadTx,
    tickets: impl Iterator<Item = &'a mut Ticket>,
) -> Result<(), StoreError> {
    let mut tickets: HashMap<TicketId, &mut Ticket> = tickets.map(|ticket| (ticket.id, ticket)).collect();
    if tickets.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = tickets.keys().map(|id| id.0).collect();
    let (list, args) = id_list(&ids);
    let sql = format!("SELECT ticket, name FROM attachment WHERE ticket IN {list} ORDER BY id");
    for mut row in tx.all(&sql, &args)? {
        if let Some(ticket) = tickets.get_mut(&row.take()?) {
            ticket.attachments.push(row.take()?);
        }
    }
    Ok(())
}

pub(in crate::store) fn read(row: &mut Row) -> Result<Ticket, StoreError> {
    Ok(Ticket {
        id: row.take()?,
        account: row.take()?,
        summary: row.take()?,
        description: row.take()?,
        status: row.take()?,
        may_close: row.take()?,
        closed: row.take()?,
        opened: row.take()?,
        opened_by: row.take()?,
        opener: row.take()?,
        updated: row.take()?,
        updated_by: row.take()?,
        gravatar_id: row.take()?,
        attachments: Vec::new(),
        entity: read_entity(row)?,
        replies: row.take()?,
        merged_into: row.take()?,
    })
}

fn read_entity(row: &mut Row) -> Result<Option<Entity>, StoreError> {
    let entity = EntityColumns::take(row)?;
    let kind = entity.kind(None);
    Ok(entity.into_entity(kind))
}

impl FromValue for Status {
    fn from_value(value: Value) -> Option<Self> {
        Status::with_word(value.as_text()?)
    }
}
