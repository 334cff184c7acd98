//! The rows of a whole store, in memory. Test control restores them in one transaction (decision 0035).
//!
//! The statements are those of `garth backup` and `garth restore`, so they are the same for both engines.

use super::error::StoreError;
use super::notifier::Topic;
use super::tables::{TABLES, Table};
use super::transfer::{self, RowValues};
use super::tx::{ReadTx, WriteTx};
use super::value::args;

const TOKENS: &str = "token";

/// The rows of all tables at one moment.
pub struct TableSnapshot {
    tables: Vec<TableRows>,
}

struct TableRows {
    table: &'static Table,
    columns: Vec<String>,
    rows: Vec<RowValues>,
    /// The last ID that the table has generated.
    last_id: i64,
}

impl TableSnapshot {
    pub fn read(tx: &mut ReadTx) -> Result<Self, StoreError> {
        let mut tables = Vec::new();
        for table in transfer::tables(tx)? {
            let mut rows = Vec::new();
            transfer::each_batch(tx, table, |batch| {
                rows.extend(batch);
                Ok::<_, StoreError>(())
            })?;
            tables.push(TableRows {
                table,
                columns: transfer::columns(tx, table)?,
                rows,
                last_id: transfer::last_id(tx, table)?,
            });
        }
        Ok(Self { tables })
    }

    /// Replaces all rows of the store. The next IDs are those that followed the snapshot.
    pub fn restore(&self, tx: &mut WriteTx) -> Result<(), StoreError> {
        transfer::clear(tx)?;
        for TableRows {
            table,
            columns,
            rows,
            last_id,
        } in &self.tables
        {
            transfer::insert(tx, table, columns, rows)?;
            if table.has_sequence {
                tx.set_last_generated_id(table.name, *last_id)?;
            }
        }
        tx.notify_on_commit(Topic::Catalog);
        transfer::rebuild(tx)
    }
}

/// The row of a token. The text of a token is not stored, so only its row can create the same token again.
pub struct StoredToken {
    columns: Vec<String>,
    row: RowValues,
}

impl StoredToken {
    /// The token of the first start; `None` if the store has none.
    pub fn of_first_user(tx: &mut ReadTx) -> Result<Option<Self>, StoreError> {
        let columns = tx.columns(TOKENS)?;
        let row = tx.find("SELECT * FROM token WHERE id = 1 AND app_user = 1", args![])?;
        Ok(row.map(|mut row| Self {
            columns,
            row: row.rest(),
        }))
    }

    /// Inserts the token into a store without tokens.
    pub fn insert(&self, tx: &mut WriteTx) -> Result<(), StoreError> {
        let tokens = TABLES.iter().find(|table| table.name == TOKENS);
        let tokens = tokens.expect("the list of tables has the tokens");
        transfer::insert(tx, tokens, &self.columns, std::slice::from_ref(&self.row))?;
        tx.set_last_generated_id(TOKENS, 1)
    }
}
