//! The `announcement` table.

use crate::model::announcement::{Announcement, NewAnnouncement, Severity};
use crate::model::change::ChangeKind;
use crate::model::id::AnnouncementId;
use crate::model::page::Paged;
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "id, title, body, severity, starts, ends, created, updated";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("announcement", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 7] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("title", Kind::Text, "title"),
    Field::new("severity", Kind::Text, "severity"),
    Field::new("starts", Kind::Time, "starts"),
    Field::new("ends", Kind::Time, "ends"),
    Field::new("created", Kind::Time, "created"),
    Field::new("updated", Kind::Time, "updated"),
];

/// The same columns, with the names of notifications.
pub static NOTIFICATION_FIELDS: [Field; 4] = [
    Field::new("label", Kind::Text, "title"),
    Field::new("severity", Kind::Text, "severity"),
    Field::new("when", Kind::Time, "starts"),
    Field::new("until", Kind::Time, "ends"),
];

/// The condition that an announcement is shown. `$1` is the current time.
const CURRENT: &str = "starts <= $1 AND (ends IS NULL OR ends > $1)";

pub fn list(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<Announcement>, StoreError> {
    page(tx, query, "1 = 1", Vec::new())
}

/// The announcements that tenants see now.
pub fn list_current(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<Announcement>, StoreError> {
    let now = tx.now();
    page(tx, query, CURRENT, args![now].to_vec())
}

fn page(
    tx: &mut ReadTx,
    query: &ListQuery,
    condition: &str,
    args: Vec<Value<'_>>,
) -> Result<Paged<Announcement>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "announcement",
        condition: condition.to_owned(),
        args,
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

/// The newest announcements that tenants see now.
pub fn current(tx: &mut ReadTx, limit: i64) -> Result<Vec<Announcement>, StoreError> {
    let now = tx.now();
    let sql =
        format!("SELECT {COLUMNS} FROM announcement WHERE {CURRENT} ORDER BY starts DESC, id DESC LIMIT $2");
    tx.read(&sql, args![now, limit], read)
}

pub fn find(tx: &mut ReadTx, id: AnnouncementId) -> Result<Option<Announcement>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM announcement WHERE id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

pub fn insert(tx: &mut WriteTx, new: &NewAnnouncement) -> Result<Announcement, StoreError> {
    let now = tx.now();
    let sql = format!(
        "INSERT INTO announcement (title, body, severity, starts, ends, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING {COLUMNS}"
    );
    let args = args![
        new.title.as_str(),
        new.text.as_str(),
        new.severity.word(),
        new.starts,
        new.ends,
        now
    ];
    let announcement = read(&mut tx.one(&sql, args)?)?;
    tx.changed(PROVIDER, ChangeKind::Announcement, announcement.id.0)?;
    Ok(announcement)
}

pub fn update(tx: &mut WriteTx, announcement: &Announcement) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE announcement SET title = $2, body = $3, severity = $4, starts = $5, ends = $6, updated = $7
         WHERE id = $1",
        args![
            announcement.id,
            announcement.title.as_str(),
            announcement.text.as_str(),
            announcement.severity.word(),
            announcement.starts,
            announcement.ends,
            announcement.updated
        ],
    )?;
    tx.changed(PROVIDER, ChangeKind::Announcement, announcement.id.0)
}

pub fn delete(tx: &mut WriteTx, id: AnnouncementId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM announcement WHERE id = $1", args![id])?;
    tx.changed(PROVIDER, ChangeKind::Announcement, id.0)
}

fn read(row: &mut Row) -> Result<Announcement, StoreError> {
    Ok(Announcement {
        id: row.take()?,
        title: row.take()?,
        text: row.take()?,
        severity: row.take()?,
        starts: row.take()?,
        ends: row.take()?,
        created: row.take()?,
        updated: row.take()?,
    })
}

impl FromValue for Severity {
    fn from_value(value: Value) -> Option<Self> {
        Severity::parse(value.as_text()?).ok()
    }
}
