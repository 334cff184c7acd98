//! The `disk` table.

use crate::model::change::ChangeKind;
use crate::model::disk::{Disk, DiskStatus, Filesystem, NewDisk};
use crate::model::id::{DiskId, InstanceId};
use crate::model::page::Paged;
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "d.id, d.instance, d.label, d.status, d.filesystem, d.size, d.image,
    i.disk_encryption, d.created, coalesce(d.updated, d.created)";
const FROM: &str = "disk d JOIN instance i ON i.id = d.instance";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new(FROM, COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 7] = [
    Field::new("id", Kind::Integer, "d.id"),
    Field::new("label", Kind::Text, "d.label"),
    Field::new("status", Kind::Text, "d.status"),
    Field::new("filesystem", Kind::Text, "d.filesystem"),
    Field::new("size", Kind::Integer, "d.size"),
    Field::new("created", Kind::Time, "d.created"),
    Field::new("updated", Kind::Time, "coalesce(d.updated, d.created)"),
];

pub fn list(tx: &mut ReadTx, instance: InstanceId, query: &ListQuery) -> Result<Paged<Disk>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: FROM,
        condition: "d.instance = $1".to_owned(),
        args: args![instance].to_vec(),
        key: &["d.id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

/// All disks of an instance, ordered by ID.
pub fn of_instance(tx: &mut ReadTx, instance: InstanceId) -> Result<Vec<Disk>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE d.instance = $1 ORDER BY d.id");
    tx.read(&sql, args![instance], read)
}

pub fn find(tx: &mut ReadTx, instance: InstanceId, id: DiskId) -> Result<Option<Disk>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE d.id = $1 AND d.instance = $2");
    tx.find(&sql, args![id, instance])?.as_mut().map(read).transpose()
}

/// A disk of any instance.
pub fn find_any(tx: &mut ReadTx, id: DiskId) -> Result<Option<Disk>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE d.id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

/// Whether at least one disk of the instance is not ready, because work on the disk is in progress.
pub fn are_busy(tx: &mut ReadTx, instance: InstanceId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM disk WHERE instance = $1 AND status <> $2 LIMIT 1";
    let row = tx.find(sql, args![instance, DiskStatus::Ready.word()])?;
    Ok(row.is_some())
}

pub fn insert(
    tx: &mut WriteTx,
    instance: InstanceId,
    new: &NewDisk,
    status: DiskStatus,
) -> Result<DiskId, StoreError> {
    let now = tx.now();
    let id: DiskId = tx
        .one(
            "INSERT INTO disk (instance, label, status, filesystem, size, image, created, updated)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING id",
            args![
                instance,
                &new.label,
                status.word(),
                new.filesystem.word(),
                new.size,
                new.image.as_deref(),
                now
            ],
        )?
        .take()?;
    tx.changed(Owner::Instance(instance), ChangeKind::Disk, id.0)?;
    Ok(id)
}

pub fn update(tx: &mut WriteTx, disk: &Disk) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE disk SET label = $2, status = $3, filesystem = $4, size = $5, updated = $6 WHERE id = $1",
        args![
            disk.id,
            &disk.label,
            disk.status.word(),
            disk.filesystem.word(),
            disk.size,
            disk.updated,
        ],
    )?;
    tx.changed(Owner::Instance(disk.instance), ChangeKind::Disk, disk.id.0)
}

/// Sets all disks of an instance to ready.
pub fn set_ready(tx: &mut WriteTx, instance: InstanceId) -> Result<(), StoreError> {
    let sql = "UPDATE disk SET status = $2 WHERE instance = $1 AND status <> $2 RETURNING id";
    for mut row in tx.all(sql, args![instance, DiskStatus::Ready.word()])? {
        let id: DiskId = row.take()?;
        tx.changed(Owner::Instance(instance), ChangeKind::Disk, id.0)?;
    }
    Ok(())
}

pub fn delete(tx: &mut WriteTx, disk: &Disk) -> Result<(), StoreError> {
    tx.execute("DELETE FROM disk WHERE id = $1", args![disk.id])?;
    tx.changed(Owner::Instance(disk.instance), ChangeKind::Disk, disk.id.0)
}

fn read(row: &mut Row) -> Result<Disk, StoreError> {
    Ok(Disk {
        id: row.take()?,
        instance: row.take()?,
        label: row.take()?,
        status: row.take()?,
        filesystem: row.take()?,
        size: row.take()?,
        image: row.take()?,
        encryption: row.take()?,
        created: row.take()?,
        updated: row.take()?,
    })
}

impl FromValue for DiskStatus {
    fn from_value(value: Value) -> Option<Self> {
        let word = value.as_text()?;
        DiskStatus::ALL.into_iter().find(|status| status.word() == word)
    }
}

impl FromValue for Filesystem {
    fn from_value(value: Value) -> Option<Self> {
        Filesystem::with_word(value.as_text()?)
    }
}
