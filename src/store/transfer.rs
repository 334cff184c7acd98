//! Reads and writes whole tables, for `garth backup` and `garth restore`.

use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::migrate::Schema;
use super::search;
use super::tables::{OTHER_TABLES, TABLES, Table};
use super::tx::{ReadTx, WriteTx};
use super::unfinished_restore;
use super::value::{Value, args};

/// The columns of a row, in the order of `columns`.
pub type RowValues = Vec<Value<'static>>;

/// The number of rows of a table and the sum of their hashes. It does not depend on the order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableChecksum {
    pub rows: u64,
    checksum: u128,
}

/// The oldest schema that can be transferred. Earlier migrations removed or replaced tables; later ones only add.
const OLDEST_SCHEMA: i64 = 12;
const ROWS_PER_BATCH: i64 = 500;
/// This limit keeps the number of arguments of a statement below the limits of both engines.
const ROWS_PER_INSERT: usize = 100;

/// The number of the store's newest migration. Refuses a store whose tables this build does not know.
pub fn schema(tx: &mut ReadTx) -> Result<i64, StoreError> {
    let stored: i64 = tx
        .one("SELECT coalesce(max(number), 0) FROM migration", args![])?
        .take()?;
    let supported = Schema::current().newest();
    if stored > supported {
        return Err(StoreError::Schema(format!(
            "the store has schema {stored}, but this build supports only schemas up to {supported}: use a newer Garth"
        )));
    }
    if stored < OLDEST_SCHEMA {
        return Err(StoreError::Schema(format!(
            "the store has schema {stored}, but schema {OLDEST_SCHEMA} or later is required: start `garth serve` of this \
             version once to upgrade the store"
        )));
    }
    Ok(stored)
}

/// The tables of the store, each after the tables that it refers to. A store with an older schema has not all of them.
pub fn tables(tx: &mut ReadTx) -> Result<Vec<&'static Table>, StoreError> {
    let existing = tx.tables()?;
    let is_known = |name: &String| {
        let mut known = TABLES.iter().map(|table| table.name).chain(OTHER_TABLES);
        known.any(|known| known == name) || name == unfinished_restore::TABLE
    };
    if let Some(unknown) = existing.iter().find(|name| !is_known(name)) {
        return Err(StoreError::Schema(format!(
            "the store has the table {unknown}, which this build does not know: use the Garth that created it, or drop \
             the table"
        )));
    }
    let exists = |table: &&Table| existing.iter().any(|name| name == table.name);
    Ok(TABLES.iter().filter(exists).collect())
}

/// The columns of a table, in order.
pub fn columns(tx: &mut ReadTx, table: &Table) -> Result<Vec<String>, StoreError> {
    tx.columns(table.name)
}

/// The last ID that the table has generated; 0 for a table without a sequence.
pub fn last_id(tx: &mut ReadTx, table: &Table) -> Result<i64, StoreError> {
    match table.has_sequence {
        true => tx.last_generated_id(table.name),
        false => Ok(0),
    }
}

/// Reads a table in batches, in the order of its primary key. The table must begin with the columns of the key.
pub fn each_batch<E: From<StoreError>>(
    tx: &mut ReadTx,
    table: &Table,
    mut work: impl FnMut(Vec<RowValues>) -> Result<(), E>,
) -> Result<(), E> {
    let key = table.key.join(", ");
    let placeholders: Vec<_> = (1..=table.key.len()).map(|number| format!("${number}")).collect();
    let after_last = format!("WHERE ({key}) > ({})", placeholders.join(", "));
    let mut last: RowValues = Vec::new();
    loop {
        let condition = if last.is_empty() { "" } else { after_last.as_str() };
        let sql = format!(
            "SELECT * FROM {} {condition} ORDER BY {key} LIMIT {ROWS_PER_BATCH}",
            table.name
        );
        let rows: Vec<RowValues> = tx
            .all(&sql, &last)?
            .into_iter()
            .map(|mut row| row.rest())
            .collect();
        let Some(end) = rows.last() else { return Ok(()) };
        last = end[..table.key.len()].to_vec();
        work(rows)?;
    }
}

/// The number of rows with a value whose type differs from the type of its column. A transfer would lose such values.
pub fn mistyped_rows(tx: &mut ReadTx, table: &Table) -> Result<i64, StoreError> {
    match tx.mistyped_condition(table.name)? {
        None => Ok(0),
        Some(condition) => {
            let sql = format!("SELECT count(*) FROM {} WHERE {condition}", table.name);
            tx.one(&sql, args![])?.take()
        }
    }
}

/// Deletes all rows, because a new store begins with some, and the backup has them, too.
pub fn clear(tx: &mut WriteTx) -> Result<(), StoreError> {
    for table in tables(tx)?.iter().rev() {
        tx.execute(&format!("DELETE FROM {}", table.name), args![])?;
    }
    Ok(())
}

pub fn insert(
    tx: &mut WriteTx,
    table: &Table,
    columns: &[String],
    rows: &[RowValues],
) -> Result<(), StoreError> {
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
        let (name, columns) = (table.name, columns.join(", "));
        let sql = format!("INSERT INTO {name} ({columns}) VALUES {}", values.join(", "));
        tx.execute(&sql, &args)?;
    }
    Ok(())
}

/// Sets the last ID that the table has generated, so that the next one is higher.
pub fn set_last_id(tx: &mut WriteTx, table: &Table, last_id: i64) -> Result<(), StoreError> {
    match table.has_sequence && last_id > 0 {
        true => tx.set_last_generated_id(table.name, last_id),
        false => Ok(()),
    }
}

/// Rebuilds the tables that a backup does not contain.
pub fn rebuild(tx: &mut WriteTx) -> Result<(), StoreError> {
    search::rebuild(tx)
}

pub fn checksum(tx: &mut ReadTx, table: &Table) -> Result<TableChecksum, StoreError> {
    let mut sum = TableChecksum::default();
    each_batch(tx, table, |rows| {
        rows.iter().for_each(|row| sum.add(row));
        Ok::<_, StoreError>(())
    })?;
    Ok(sum)
}

impl TableChecksum {
    pub fn add(&mut self, row: &[Value]) {
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
