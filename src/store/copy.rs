//! A whole store on its way from one place to another, table by table.
//!
//! The source is read at one moment; the target takes all of it in one transaction, reads it back and keeps
//! it only if it is the same.

use std::sync::mpsc::{Receiver, SyncSender};

use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::migrate::{Schema, TABLES, Table};
use super::search;
use super::tx::{ReadTx, WriteTx};
use super::value::{Value, args};

/// Rows of a table, or the end of it.
pub enum Part {
    Rows(Vec<Vec<Value<'static>>>),
    /// All rows were sent: what they were, and the last number that the table's key has given out.
    End {
        sum: Sum,
        last_id: i64,
    },
}

/// What a table holds, in whatever order: the number of its rows, and the sum of their checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub rows: u64,
    checksum: u128,
}

const BATCH: i64 = 500;

/// How many rows there are in all.
pub fn count(tx: &mut ReadTx) -> Result<u64, StoreError> {
    let mut all = 0;
    for table in TABLES {
        let rows: i64 = tx
            .one(&format!("SELECT count(*) FROM {}", table.name), args![])?
            .take()?;
        all += rows.unsigned_abs();
    }
    Ok(all)
}

/// Sends every table, in the order in which they can be filled.
pub fn send(tx: &mut ReadTx, parts: &SyncSender<Part>) -> Result<(), StoreError> {
    refuse_newer(tx)?;
    let gone = |_| StoreError::Unavailable("nobody takes what is copied any more".to_owned());
    for table in TABLES {
        let mut sum = Sum::default();
        each_batch(tx, table, |rows| {
            rows.iter().for_each(|row| sum.add(row));
            parts.send(Part::Rows(rows)).map_err(gone)
        })?;
        let last_id = if table.counts {
            tx.last_generated_id(table.name)?
        } else {
            0
        };
        parts.send(Part::End { sum, last_id }).map_err(gone)?;
    }
    Ok(())
}

/// Fills the tables of a store that nobody has used; what each of them holds then.
pub fn receive(
    tx: &mut WriteTx,
    parts: &Receiver<Part>,
    mut progress: impl FnMut(&'static str, usize),
) -> Result<Vec<(&'static str, Sum)>, StoreError> {
    refuse_newer(tx)?;
    // What a fresh store begins with is among what is copied.
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
                    let text = "the source could not be read to its end".to_owned();
                    return Err(StoreError::Unavailable(text));
                }
            }
        };
        if table.counts && last_id > 0 {
            tx.set_last_generated_id(table.name, last_id)?;
        }
        let mut kept = Sum::default();
        each_batch(tx, table, |rows| {
            rows.iter().for_each(|row| kept.add(row));
            Ok(())
        })?;
        if kept != sent {
            let text = format!(
                "{}: {} rows were sent and {} are there, or not the same; nothing was kept",
                table.name, sent.rows, kept.rows
            );
            return Err(StoreError::Unexpected(text));
        }
        filled.push((table.name, kept));
    }
    search::rebuild(tx)?;
    Ok(filled)
}

/// A store that a newer build has migrated has tables or columns that this one does not know and would leave out.
fn refuse_newer(tx: &mut ReadTx) -> Result<(), StoreError> {
    let newest: i64 = tx
        .one("SELECT coalesce(max(number), 0) FROM migration", args![])?
        .take()?;
    let known = Schema::current().newest();
    match newest > known {
        true => Err(StoreError::Schema(format!(
            "the schema of this store is at {newest}, and this build can copy stores up to {known}: use the newer Garth"
        ))),
        false => Ok(()),
    }
}

/// A table by its key, which stands in its first columns, a few rows at a time.
fn each_batch(
    tx: &mut ReadTx,
    table: &Table,
    mut work: impl FnMut(Vec<Vec<Value<'static>>>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let key = table.key.join(", ");
    let marks: Vec<_> = (1..=table.key.len()).map(|number| format!("${number}")).collect();
    let beyond = format!("WHERE ({key}) > ({})", marks.join(", "));
    let mut last: Vec<Value<'static>> = Vec::new();
    loop {
        let condition = if last.is_empty() { "" } else { beyond.as_str() };
        let sql = format!(
            "SELECT * FROM {} {condition} ORDER BY {key} LIMIT {BATCH}",
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
    // As many rows in one statement as stay below what either engine takes as arguments.
    for some in rows.chunks(100) {
        let mut args = Vec::new();
        let mut values = Vec::new();
        for row in some {
            let marks: Vec<_> = (1..=row.len())
                .map(|at| format!("${}", args.len() + at))
                .collect();
            values.push(format!("({})", marks.join(", ")));
            args.extend(row.iter().map(Value::borrowed));
        }
        tx.execute(
            &format!("INSERT INTO {} VALUES {}", table.name, values.join(", ")),
            &args,
        )?;
    }
    Ok(())
}

impl Sum {
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
        let mut half = [0; 16];
        half.copy_from_slice(&hash.finalize()[..16]);
        self.rows += 1;
        self.checksum = self.checksum.wrapping_add(u128::from_be_bytes(half));
    }
}
