//! The `event` table.
//!
//! `append` and `append_pipelined` insert an event in the transaction of the change that the event records. `progress`
//! updates the event while the operation runs, and `delete_before` deletes events past their retention.
//!
//! The URLs of entities are derived from their kinds and IDs. The columns for them in the first schema are unused since
//! then, and `secondary_url` has the changes of an update (`Changes::to_text`).

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::entity::Entity;
use crate::model::event::{Action, Event};
use crate::model::event_change::Changes;
use crate::model::id::{AccountId, EventId, UserId};
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::store::changes::Owner;
use crate::store::entity_columns::EntityColumns;
use crate::store::error::StoreError;
use crate::store::filter::{Field, FilterShape, Kind};
use crate::store::list::{Collection, ListQuery, Part, Tallied, Visibility, id_list};
use crate::store::model_rows::ModelRows;
use crate::store::notifier::Topic;
use crate::store::tallies::Tally;
use crate::store::tx::{PendingQuery, ReadTx, WriteTx};
use crate::store::value::{Row, args};

// The columns `seen` and `read` depend on the user who reads the events. The ID of this user is always `$2`.
// The columns are subqueries instead of joins, because a query that only counts events would evaluate the
// joins, too.
macro_rules! seen {
    () => {
        "CASE WHEN e.id <= (SELECT s.events_seen FROM app_user s WHERE s.id = $2) THEN 1 ELSE 0 END"
    };
}
macro_rules! read {
    () => {
        "CASE WHEN EXISTS (SELECT 1 FROM event_read r WHERE r.app_user = $2 AND r.event = e.id) THEN 1 ELSE 0 END"
    };
}
// The columns that do not depend on the reader.
macro_rules! stored {
    () => {
        "e.id, e.created, e.action, e.username, e.entity_kind, e.entity_id, e.entity_label,
        e.secondary_kind, e.secondary_id, e.secondary_label, e.status, e.percent_complete, e.duration,
        e.secondary_url"
    };
}
const COLUMNS: &str = concat!(stored!(), ", ", seen!(), ", ", read!());

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("event e", concat!(stored!(), ", 0, 0"), |row| read(row).map(drop));

macro_rules! fields {
    ($username:expr) => {
        [
            Field::new("id", Kind::Integer, "e.id"),
            Field::new("action", Kind::Text, "e.action"),
            Field::new("created", Kind::Time, "e.created").increasing(),
            Field::new("read", Kind::Boolean, read!()),
            Field::new("seen", Kind::Boolean, seen!()),
            Field::new("status", Kind::Text, "e.status"),
            Field::new("username", Kind::Text, $username),
            Field::new("entity.id", Kind::Integer, "e.entity_id"),
            Field::new("entity.type", Kind::Text, "e.entity_kind").synonyms(&[("compute", "linode")]),
            Field::new("secondary_entity.id", Kind::Integer, "e.secondary_id"),
            Field::new("secondary_entity.type", Kind::Text, "e.secondary_kind")
                .synonyms(&[("compute", "linode")]),
        ]
    };
}

pub static FIELDS: [Field; 11] = fields!("e.username");

/// The fields for staff, to whom an event of staff shows the username of its author.
pub static PROVIDER_FIELDS: [Field; 11] = fields!(
    "COALESCE((SELECT w.username FROM app_user w WHERE w.id = e.author AND w.account IS NULL), e.username)"
);

/// The user who reads events, and the events that the user can see.
#[derive(Clone, Copy, Debug)]
pub struct Reader {
    pub account: AccountId,
    pub user: UserId,
    pub visibility: Visibility,
    /// The start of the retention period. Earlier events are hidden.
    pub since: Time,
}

/// A page of events, newest first. With `after`, a page of the events after this ID, oldest first.
pub fn list(
    tx: &mut ReadTx,
    reader: Reader,
    after: Option<EventId>,
    query: &ListQuery,
) -> Result<Paged<Event>, StoreError> {
    let mut collection = visible_to(reader);
    if let (Visibility::All, None, FilterShape::All) = (reader.visibility, after, query.filter.shape()) {
        collection.tallied = tallied(tx, reader)?;
    }
    if let Some(after) = after {
        collection.args.push(after.into());
        collection.condition += &format!(" AND e.id > ${}", collection.args.len());
        collection.order = None;
    }
    collection.page(tx, query, read)
}

/// The next events after an ID, oldest first.
pub fn next(tx: &mut ReadTx, reader: Reader, after: EventId, limit: i64) -> Result<Vec<Event>, StoreError> {
    let Collection {
        from,
        condition,
        mut args,
        ..
    } = visible_to(reader);
    args.extend(args![after, limit].iter().cloned());
    let (after, limit) = (args.len() - 1, args.len());
    let sql = format!(
        "SELECT {COLUMNS} FROM {from} WHERE {condition} AND e.id > ${after} ORDER BY e.id LIMIT ${limit}"
    );
    tx.read(&sql, &args, read)
}

pub fn find(tx: &mut ReadTx, reader: Reader, id: EventId) -> Result<Option<Event>, StoreError> {
    let Collection {
        from,
        condition,
        mut args,
        ..
    } = visible_to(reader);
    args.push(id.into());
    let sql = format!(
        "SELECT {COLUMNS} FROM {from} WHERE {condition} AND e.id = ${}",
        args.len()
    );
    tx.find(&sql, &args)?.as_mut().map(read).transpose()
}

/// The kinds of objects that have pages and can be deleted.
pub const DELETABLE: [&str; 3] = ["vpc", "subnet", "linode"];

/// Those of these IDs that are objects of the account, of one of the kinds in `DELETABLE`.
pub fn existing(
    tx: &mut ReadTx,
    account: AccountId,
    kind: &str,
    ids: &[i64],
) -> Result<Vec<i64>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let from = match kind {
        "vpc" => "vpc o",
        "subnet" => "(SELECT s.id, v.account FROM subnet s JOIN vpc v ON v.id = s.vpc) o",
        _ => "instance o",
    };
    let (list, mut args) = id_list(ids);
    args.push(account.into());
    let sql = format!(
        "SELECT o.id FROM {from} WHERE o.id IN {list} AND o.account = ${}",
        args.len()
    );
    tx.read(&sql, &args, |row| row.take())
}

/// The ID of the account's newest event; zero if there is none.
pub fn last_id(tx: &mut ReadTx, account: AccountId) -> Result<EventId, StoreError> {
    let sql = "SELECT coalesce(max(id), 0) FROM event WHERE account = $1";
    tx.one(sql, args![account])?.take()
}

/// The number of unseen events of other users, among the newest `max_scanned` unseen events. Every page of the console
/// shows this number. The limit bounds the cost of the query for a user with many unseen events.
pub fn unseen(tx: &mut ReadTx, reader: Reader, max_scanned: i64) -> Result<i64, StoreError> {
    let Collection {
        from,
        condition,
        mut args,
        ..
    } = visible_to(reader);
    args.push(max_scanned.into());
    let sql = format!(
        "SELECT count(*) FROM (SELECT e.author FROM {from} WHERE {condition}
             AND e.id > (SELECT s.events_seen FROM app_user s WHERE s.id = $2) ORDER BY e.id DESC LIMIT ${}) newest
         WHERE newest.author IS DISTINCT FROM $2",
        args.len()
    );
    tx.one(&sql, &args)?.take()
}

/// An event to insert.
pub struct NewEvent<'a> {
    pub action: Action,
    pub username: &'a str,
    /// The tenant or the member of staff who caused the event; `None` for jobs and commands of the provider.
    pub author: Option<UserId>,
    pub entity: Option<&'a Entity>,
    pub secondary: Option<&'a Entity>,
    /// The kind and the ID of an object. A restricted user sees the event only if the user is its author or has access
    /// to this object.
    pub guard: (&'static str, i64),
    pub progress: Progress,
    pub changes: &'a Changes,
}

/// The progress of the operation that an event describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub status: &'static str,
    pub percent: Option<i64>,
    /// In microseconds.
    pub duration: Option<i64>,
}

/// Inserts an event and returns its ID.
pub fn append(tx: &mut WriteTx, account: AccountId, new: &NewEvent) -> Result<EventId, StoreError> {
    let pending = insert(tx, account, new)?;
    let id = tx.receive_one(pending)?;
    tx.tally(tally_of(account), id, 1);
    tx.changed(account, ChangeKind::Event, id)?;
    Ok(EventId(id))
}

/// Inserts an event with a pipelined query, so that the caller does not wait for the ID of the event.
pub fn append_pipelined(tx: &mut WriteTx, account: AccountId, new: &NewEvent) -> Result<(), StoreError> {
    let pending = insert(tx, account, new)?;
    tx.count_on_receipt(tally_of(account), (account, ChangeKind::Event), pending)
}

fn insert(tx: &mut WriteTx, account: AccountId, new: &NewEvent) -> Result<PendingQuery<i64>, StoreError> {
    let now = tx.now();
    let (entity, secondary) = (new.entity, new.secondary);
    tx.order_events(account)?;
    tx.notify_on_commit(Topic::Account(account));
    Ok(tx.send(
        "INSERT INTO event (account, created, action, username,
             entity_kind, entity_id, entity_label, secondary_kind, secondary_id, secondary_label,
             guard_kind, guard_id, status, percent_complete, duration, author, secondary_url)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
         RETURNING id",
        args![
            account,
            now,
            new.action.word(),
            new.username,
            entity.map(|entity| entity.kind.word()),
            entity.map(|entity| entity.id),
            entity.map(|entity| entity.label.as_str()),
            secondary.map(|entity| entity.kind.word()),
            secondary.map(|entity| entity.id),
            secondary.map(|entity| entity.label.as_str()),
            new.guard.0,
            new.guard.1,
            new.progress.status,
            new.progress.percent,
            new.progress.duration,
            new.author,
            new.changes.to_text(),
        ],
        |row| row.take(),
    ))
}

/// The author of an event: the username that the event shows, and the ID of the user.
pub fn author(tx: &mut ReadTx, id: EventId) -> Result<(Option<String>, Option<UserId>), StoreError> {
    let row = tx.find("SELECT username, author FROM event WHERE id = $1", args![id])?;
    let read = row.map(|mut row| Ok((row.take()?, row.take()?))).transpose()?;
    Ok(read.unwrap_or_default())
}

/// The usernames of the members of staff who caused some of these events. Deleted users are missing.
pub fn staff_authors(tx: &mut ReadTx, events: &[Event]) -> Result<HashMap<EventId, String>, StoreError> {
    if events.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<i64> = events.iter().map(|event| event.id.0).collect();
    let (list, args) = id_list(&ids);
    let sql = format!(
        "SELECT e.id, u.username FROM event e JOIN app_user u ON u.id = e.author
         WHERE e.id IN {list} AND u.account IS NULL"
    );
    let found = tx.read(&sql, &args, |row| Ok((row.take()?, row.take()?)))?;
    Ok(found.into_iter().collect())
}

/// Updates the progress of an event.
pub fn progress(tx: &mut WriteTx, id: EventId, progress: Progress) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE event SET status = $2, percent_complete = $3, duration = $4 WHERE id = $1",
        args![id, progress.status, progress.percent, progress.duration],
    )?;
    tx.changed(Owner::Event(id), ChangeKind::Event, id.0)
}

/// Marks the event `upto` and all earlier events as seen by a user.
pub fn mark_seen(tx: &mut WriteTx, user: UserId, upto: EventId) -> Result<(), StoreError> {
    let sql = "UPDATE app_user SET events_seen = $2 WHERE id = $1 AND events_seen < $2";
    match tx.execute(sql, args![user, upto])? {
        0 => Ok(()),
        _ => tx.changed(Owner::User(user), ChangeKind::User, user.0),
    }
}

pub fn mark_read(tx: &mut WriteTx, user: UserId, event: EventId) -> Result<(), StoreError> {
    let sql = "INSERT INTO event_read (app_user, event) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    match tx.execute(sql, args![user, event])? {
        0 => Ok(()),
        _ => tx.changed(Owner::User(user), ChangeKind::Event, event.0),
    }
}

/// Deletes up to `limit` events that were created before a time. Returns the number of deleted events.
pub fn delete_before(tx: &mut WriteTx, before: Time, limit: i64) -> Result<u64, StoreError> {
    let deleted = tx.all(
        // CROSS JOIN fixes the order of the join: accounts first, because the index on the time starts with the
        // account.
        "DELETE FROM event WHERE id IN (SELECT e.id FROM account a CROSS JOIN event e
             WHERE e.account = a.id AND e.created < $1 LIMIT $2)
         RETURNING account, id",
        args![before, limit],
    )?;
    let rows = deleted.len() as u64;
    for mut row in deleted {
        let (account, id): (AccountId, EventId) = (row.take()?, row.take()?);
        tx.tally(tally_of(account), id.0, -1);
    }
    Ok(rows)
}

/// The tally of an account's events.
fn tally_of(account: AccountId) -> Tally {
    Tally::of("event", account.0)
}

/// The tallies for a list of an account's events. The tally also counts hidden events: events past their
/// retention that are not deleted yet. `None` if a visible event has a lower ID than a hidden event, because
/// the tally then cannot locate a page.
fn tallied(tx: &mut ReadTx, reader: Reader) -> Result<Option<Tallied>, StoreError> {
    let mut row = tx.one(
        "SELECT count(*), coalesce(max(id), 0) FROM event WHERE account = $1 AND created < $2",
        args![reader.account, reader.since],
    )?;
    let (hidden, last): (i64, EventId) = (row.take()?, row.take()?);
    if hidden > 0 {
        let sql = "SELECT count(*) FROM event WHERE account = $1 AND id <= $2";
        let events_up_to_last: i64 = tx.one(sql, args![reader.account, last])?.take()?;
        if events_up_to_last != hidden {
            return Ok(None);
        }
    }
    let part = Part {
        tally: tally_of(reader.account),
        condition: "1 = 1",
        hidden,
    };
    Ok(Some(Tallied {
        parts: vec![part],
        descending: true,
    }))
}

fn visible_to(reader: Reader) -> Collection<'static> {
    // The plus sign prevents the use of the index on the time, because nearly all events match and the order
    // is by ID. The condition always contains `$2`. Otherwise PostgreSQL could not infer the type of `$2` in
    // a query that only counts events.
    let mut condition = "e.account = $1 AND CAST($2 AS BIGINT) IS NOT NULL AND +e.created >= $3".to_owned();
    let mut from = "event e";
    if let Visibility::GrantedTo(_) = reader.visibility {
        from = "event e JOIN app_user u ON u.id = $2";
        condition += " AND (e.author = u.id
            OR EXISTS (SELECT 1 FROM entity_grant g
                WHERE g.app_user = u.id AND g.kind = e.guard_kind AND g.entity = e.guard_id)
            OR (e.guard_kind = 'ticket' AND (u.account_access IS NOT NULL OR EXISTS
                (SELECT 1 FROM ticket t WHERE t.id = e.guard_id AND t.opener = u.id))))";
    }
    Collection {
        columns: COLUMNS,
        from,
        condition,
        args: args![reader.account, reader.user, reader.since].to_vec(),
        key: &["e.id"],
        order: Some("e.id DESC"),
        tallied: None,
    }
}

fn read(row: &mut Row) -> Result<Event, StoreError> {
    let (id, created, action, username) = (row.take()?, row.take()?, row.take()?, row.take()?);
    let (entity, secondary) = (EntityColumns::take(row)?, EntityColumns::take(row)?);
    let kind = entity.kind(secondary.key());
    let secondary_kind = secondary.kind(entity.key());
    Ok(Event {
        id,
        created,
        action,
        username,
        entity: entity.into_entity(kind),
        secondary: secondary.into_entity(secondary_kind),
        status: row.take()?,
        percent: row.take()?,
        duration: row.take()?,
        changes: Changes::from_text(&row.take::<Option<String>>()?.unwrap_or_default()),
        seen: row.take()?,
        read: row.take()?,
    })
}
