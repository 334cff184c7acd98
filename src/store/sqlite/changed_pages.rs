//! Makes a database equal to a copy of it, with one commit that writes only the pages that differ.
//!
//! The table `sqlite_dbpage` has a row for each page. It is an option of SQLite (`.cargo/config.toml`).

use std::path::Path;

use rusqlite::types::Null;
use rusqlite::{Connection, TransactionBehavior, params};

use super::opening::{open_reader, open_writer};
use super::statements::database;
use crate::store::error::StoreError;

const READ_PAGES: &str = "SELECT data FROM sqlite_dbpage ORDER BY pgno";
/// A page that is `NULL` is deleted, with all pages after it.
const WRITE_PAGE: &str = "INSERT INTO sqlite_dbpage (pgno, data) VALUES ($1, $2)";
/// The position of the schema version in the first page.
const SCHEMA_VERSION: std::ops::Range<usize> = 40..44;

/// Whether this build of SQLite can read and write pages.
pub fn is_supported(connection: &Connection) -> Result<bool, StoreError> {
    let sql = "SELECT sqlite_compileoption_used('ENABLE_DBPAGE_VTAB')";
    connection.query_row(sql, [], |row| row.get(0)).map_err(database)
}

/// The version of the schema. SQLite changes it with the schema, and connections then read the schema again.
pub fn schema_version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "schema_version", |row| row.get(0))
}

/// Makes the database equal to `copy`. The schema of the database had the version `copied_version` when it was copied.
pub fn write(copy: &Connection, copied_version: u32, file: &Path) -> Result<(), StoreError> {
    let mut writer = open_writer(file)?;
    let reader = open_reader(file)?;
    let mut write = || {
        // Until the commit, no other connection can write, so the reader reads the pages that are replaced. It maps
        // them into memory. A connection that writes would copy them.
        let commit = writer.transaction_with_behavior(TransactionBehavior::Immediate)?;
        write_pages(copy, &reader, &commit)?;
        // Only now, because SQLite would read the new schema before the next statement.
        let version = schema_version(&reader)?;
        if version != copied_version {
            commit.pragma_update(None, "schema_version", version.wrapping_add(1))?;
        }
        commit.commit()
    };
    write().map_err(database)
}

fn write_pages(copy: &Connection, reader: &Connection, writer: &Connection) -> rusqlite::Result<()> {
    let (mut copied, mut current) = (copy.prepare(READ_PAGES)?, reader.prepare(READ_PAGES)?);
    let (mut copied, mut current) = (copied.query([])?, current.query([])?);
    let mut write = writer.prepare(WRITE_PAGE)?;
    let mut pages = 0;
    while let Some(page) = copied.next()? {
        pages += 1;
        let page = page.get_ref(0)?.as_blob()?;
        match current.next()? {
            Some(current) => {
                let current = current.get_ref(0)?.as_blob()?;
                if pages == 1 {
                    write.execute(params![pages, first_page(page, current)])?;
                } else if page != current {
                    write.execute(params![pages, page])?;
                }
            }
            None => drop(write.execute(params![pages, page])?),
        }
    }
    if current.next()?.is_some() {
        write.execute(params![pages + 1, Null])?;
    }
    Ok(())
}

/// The first page of the copy, with the current schema version. The copy itself has another version.
fn first_page(copied: &[u8], current: &[u8]) -> Vec<u8> {
    let mut page = copied.to_vec();
    page[SCHEMA_VERSION].copy_from_slice(&current[SCHEMA_VERSION]);
    page
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::*;
    use crate::store::engine::DatabaseCopy;
    use crate::store::sqlite::memory_copy::MemoryCopy;

    /// Rows on many pages.
    const ROWS: &str = "CREATE TABLE thing (number INTEGER PRIMARY KEY, words TEXT);
        INSERT INTO thing WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 20000)
            SELECT n, 'some words for a row' FROM count;";

    struct Database {
        file: Arc<PathBuf>,
        connection: Connection,
    }

    impl Database {
        fn new(name: &str) -> Self {
            let file = std::env::temp_dir().join(format!("garth-pages-{name}-{}.db", std::process::id()));
            let connection = open_writer(&file).expect("a new database");
            connection.execute_batch(ROWS).expect("rows");
            let file = Arc::new(file);
            Self { file, connection }
        }

        fn change(&self, sql: &str) {
            self.connection.execute_batch(sql).expect("a change");
        }

        /// The result of a query with one row and column, on a connection that remains open.
        fn query(&self, sql: &str) -> String {
            let read = |row: &rusqlite::Row<'_>| Ok(format!("{:?}", row.get_ref(0)?));
            self.connection.query_row(sql, [], read).expect("a result")
        }

        fn content(&self) -> [String; 3] {
            [
                "SELECT count(*) || '/' || sum(number) || '/' || count(DISTINCT words) FROM thing",
                "PRAGMA page_count",
                "PRAGMA integrity_check",
            ]
            .map(|sql| self.query(sql))
        }
    }

    impl Drop for Database {
        fn drop(&mut self) {
            for suffix in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{suffix}", self.file.display()));
            }
        }
    }

    #[test]
    fn this_build_can_access_pages() {
        let connection = Connection::open_in_memory().expect("memory");
        assert!(is_supported(&connection).expect("an option"));
    }

    #[test]
    fn a_database_that_was_changed_grew_or_shrank_is_restored() {
        let database = Database::new("restored");
        let copy = MemoryCopy::of(&database.file).expect("a copy");
        let content = database.content();
        assert!(content[2].contains("[111, 107]"), "{content:?}");
        for change in [
            "UPDATE thing SET words = 'other words' WHERE number % 1000 = 0",
            "INSERT INTO thing SELECT number + 20000, words FROM thing",
            "DELETE FROM thing; VACUUM",
            "UPDATE thing SET words = number || words",
            "CREATE TABLE other (words TEXT); INSERT INTO other SELECT words FROM thing",
        ] {
            database.change(change);
            assert_ne!(database.content(), content, "{change}");
            copy.restore().expect("a restore");
            assert_eq!(database.content(), content, "{change}");
        }
    }

    #[test]
    fn only_pages_that_differ_are_written() {
        let database = Database::new("written");
        let copy = MemoryCopy::of(&database.file).expect("a copy");
        database.change("UPDATE thing SET words = 'other' WHERE number = 7; PRAGMA wal_checkpoint(TRUNCATE)");
        copy.restore().expect("a restore");
        let log = std::fs::metadata(format!("{}-wal", database.file.display())).expect("a log");
        // The header of the log, and the first page and the page of the row, each with its own header.
        assert_eq!(log.len(), 32 + 2 * (24 + 4096));
    }

    #[test]
    fn connections_forget_a_schema_of_after_the_copy() {
        let database = Database::new("schema");
        let version = schema_version(&database.connection).expect("a version");
        let copy = MemoryCopy::of(&database.file).expect("a copy");
        copy.restore().expect("a restore");
        assert_eq!(schema_version(&database.connection).ok(), Some(version));

        database.change("CREATE TABLE other (words TEXT)");
        assert_eq!(database.query("SELECT count(*) FROM other"), "Integer(0)");
        copy.restore().expect("a restore");
        let read = database
            .connection
            .query_row("SELECT count(*) FROM other", [], |_| Ok(()));
        assert!(read.is_err(), "the table no longer exists");
        assert!(schema_version(&database.connection).expect("a version") > version);
    }
}
