//! Copies a whole store to another store, table by table.
//!
//! The copy reads the source from one snapshot. It inserts all rows into the target in one transaction, reads them
//! back, and commits only if they are equal to the rows of the source.

use std::sync::mpsc::{Receiver, SyncSender};

use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::migrate::{Schema, TABLES, Table};
use super::search;
use super::tx::{ReadTx, WriteTx};
use super::value::{Value, args};

/// Some rows of a table, or the end of the table.
pub enum Part {
    Rows(Vec<Vec<Value<'static>>>),
    /// The end of a table, with the checksum of all its rows and the last ID that it has generated.
    End {
        sum: TableChecksum,
        last_id: i64,
    },
}

/// The number of rows of a table, and the sum of their hashes. The sum does not depend on the order of the
/// rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableChecksum {
    pub rows: u64,
    checksum: u128,
}

const ROWS_PER_BATCH: i64 = 500;
/// This limit keeps the number of arguments of a statement below the limits of both engines.
const ROWS_PER_INSERT: usize = 100;

/// The number of rows in all tables.
pub fn count(tx: &mut ReadTx) -> Result<u64, StoreError> {
    let mut total = 0;
    for table in TABLES {
        let rows: i64 = tx
            .one(&format!("SELECT count(*) FROM {}", table.name), args![])?
            .take()?;
        total += rows.unsigned_abs();
    }
    Ok(total)
}

/// Sends the rows of every table. A table comes after the tables that it refers to.
pub fn send(tx: &mut ReadTx, parts: &SyncSender<Part>) -> Result<(), StoreError> {
    refuse_newer(tx)?;
    let disconnected = |_| StoreError::Unavailable("the target of the copy has stopped".to_owned());
    for table in TABLES {
        let mut sum = TableChecksum::default();
        each_batch(tx, table, |rows| {
            rows.iter().for_each(|row| sum.add(row));
            parts.send(Part::Rows(rows)).map_err(disconnected)
        })?;
        let last_id = if table.has_sequence {
            tx.last_generated_id(table.name)?
        } else {
            0
        };
        parts.send(Part::End { sum, last_id }).map_err(disconnected)?;
    }
    Ok(())
}

/// Inserts the received rows into the tables of a new store. Returns the checksum of each table.
pub fn receive(
    tx: &mut WriteTx,
    parts: &Receiver<Part>,
    mut progress: impl FnMut(&'static str, usize),
) -> Result<Vec<(&'static str, TableChecksum)>, StoreError> {
    refuse_newer(tx)?;
    // Delete the rows that a new store begins with, because the source has them, too.
    for table in TABLES.iter().rev() {
        tx.execute(&format!("DELETE FROM {}", table.name), args![])?;
    }
    let mut filled = Vec::new();
    for table in TABLES {
        let (sent, last_id) = loop {
            match parts.recv() {
                Ok(Part::Rows(rows)) => {
                    insert(tx, table, &rows)?;
                    progress(table.name, rows.len());
                }
                Ok(Part::End { sum, last_id }) => break (sum, last_id),
                Err(_) => {
                    let text = "the source could not be read completely".to_owned();
                    return Err(StoreError::Unavailable(text));
                }
            }
        };
        if table.has_sequence && last_id > 0 {
            tx.set_last_generated_id(table.name, last_id)?;
        }
        let mut stored = TableChecksum::default();
        each_batch(tx, table, |rows| {
            rows.iter().for_each(|row| stored.add(row));
            Ok(())
        })?;
        if stored != sent {
            let text = format!(
                "table {} differs from its source ({} rows sent, {} rows stored); the copy was rolled back",
                table.name, sent.rows, stored.rows
            );
            return Err(StoreError::Unexpected(text));
        }
        filled.push((table.name, stored));
    }
    search::rebuild(tx)?;
    Ok(filled)
}

/// Refuses a store that a newer build has migrated. Such a store may have tables or columns that this build
/// would not copy.
fn refuse_newer(tx: &mut ReadTx) -> Result<(), StoreError> {
    let newest: i64 = tx
        .one("SELECT coalesce(max(number), 0) FROM migration", args![])?
        .take()?;
    let supported = Schema::current().newest();
    match newest > supported {
        true => Err(StoreError::Schema(format!(
            "the store has schema {newest}, but this build can copy only up to schema {supported}: use a newer Garth"
        ))),
        false => Ok(()),
    }
}

/// Reads a table in batches, in the order of its primary key. The table must begin with the columns of the key.
pub(super) fn each_batch(
    tx: &mut ReadTx,
    table: &Table,
    mut work: impl FnMut(Vec<Vec<Value<'static>>>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let key = table.key.join(", ");
    let placeholders: Vec<_> = (1..=table.key.len()).map(|number| format!("${number}")).collect();
    let after_last = format!("WHERE ({key}) > ({})", placeholders.join(", "));
    let mut last: Vec<Value<'static>> = Vec::new();
    loop {
        let condition = if last.is_empty() { "" } else { after_last.as_str() };
        let sql = format!(
            "SELECT * FROM {} {condition} ORDER BY {key} LIMIT {ROWS_PER_BATCH}",
            table.name
        );
        let rows: Vec<Vec<Value<'static>>> = tx
            .all(&sql, &last)?
            .into_iter()
            .map(|mut row| row.rest())
            .collect();
        let Some(end) = rows.last() else { return Ok(()) };
        last = end[..table.key.len()].to_vec();
        work(rows)?;
    }
}

fn insert(tx: &mut WriteTx, table: &Table, rows: &[Vec<Value>]) -> Result<(), StoreError> {
    for chunk in rows.chunks(ROWS_PER_INSERT) {
        let mut args = Vec::new();
        let mut values = Vec::new();
        for row in chunk {
            let placeholders: Vec<_> = (1..=row.len())
                .map(|at| format!("${}", args.len() + at))
                .collect();
            values.push(format!("({})", placeholders.join(", ")));
            args.extend(row.iter().map(Value::borrowed));
        }
        tx.execute(
            &format!("INSERT INTO {} VALUES {}", table.name, values.join(", ")),
            &args,
        )?;
    }
    Ok(())
}

impl TableChecksum {
    fn add(&mut self, row: &[Value]) {
        let mut hash = Sha256::new();
        for value in row {
            match value {
                Value::Null => hash.update([0]),
                Value::Int(number) => {
                    hash.update([1]);
                    hash.update(number.to_be_bytes());
                }
                Value::Text(text) => {
                    hash.update([2]);
                    hash.update((text.len() as u64).to_be_bytes());
                    hash.update(text.as_bytes());
                }
            }
        }
        let mut prefix = [0; 16];
        prefix.copy_from_slice(&hash.finalize()[..16]);
        self.rows += 1;
        self.checksum = self.checksum.wrapping_add(u128::from_be_bytes(prefix));
    }
}
