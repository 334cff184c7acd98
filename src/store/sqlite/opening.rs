//! Opens the database file with the required settings.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::statements::{Statements, database};
use crate::store::context::StoreContext;
use crate::store::engine::CheckDepth;
use crate::store::error::StoreError;
use crate::store::migrate::{Dialect, Schema, migrate};

pub const DIALECT: Dialect = Dialect {
    identity: "INTEGER PRIMARY KEY AUTOINCREMENT",
    number_key: "INTEGER PRIMARY KEY",
    roomy: "",
    keyed: " WITHOUT ROWID",
    text: "TEXT",
    search_table: "CREATE VIRTUAL TABLE ticket_text \
        USING fts5 (ticket UNINDEXED, body, tokenize = 'unicode61 remove_diacritics 0')",
};

/// Version 3.51.3 of SQLite fixes a bug in the write-ahead log that could lose a commit.
const MIN_SQLITE_VERSION: i32 = 3_051_003;

pub fn open_writer(file: &Path) -> Result<Connection, StoreError> {
    if rusqlite::version_number() < MIN_SQLITE_VERSION {
        let text = format!(
            "SQLite {} is too old: version 3.51.3 or later is required",
            rusqlite::version()
        );
        return Err(StoreError::Schema(text));
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open(file, flags)?;
    pragma(&connection, "journal_mode", "wal", Some("wal"))?;
    pragma(&connection, "synchronous", "full", Some("2"))?;
    pragma(&connection, "foreign_keys", "on", Some("1"))?;
    // Holds the original pages for savepoints in memory. By default, SQLite writes them to a file if they
    // exceed 64 KiB.
    pragma(&connection, "temp_store", "memory", Some("2"))?;
    pragma(&connection, "cache_size", "-16384", None)?;
    // SQLite's automatic checkpoint ignores errors. The writer runs checkpoints itself, because a failed flush must
    // stop the store.
    pragma(&connection, "wal_autocheckpoint", "0", Some("0"))?;
    Ok(connection)
}

pub fn open_reader(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = open(file, flags)?;
    pragma(&connection, "query_only", "on", Some("1"))?;
    // Most pages are read from the memory-mapped file. This cache holds only pages that are still in the write-ahead
    // log, and each commit empties it. Every thread that reads has its own cache, so a larger size would waste memory.
    pragma(&connection, "cache_size", "-4096", None)?;
    Ok(connection)
}

fn open(file: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(file, flags).map_err(database)?;
    connection
        .busy_timeout(Duration::from_secs(10))
        .map_err(database)?;
    // Makes query plans independent of arguments. Otherwise, SQLite would prepare a cached statement again for new
    // arguments.
    let config = rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    connection.set_db_config(config, true).map_err(database)?;
    pragma(&connection, "trusted_schema", "off", Some("0"))?;
    pragma(&connection, "mmap_size", "1073741824", None)?;
    Ok(connection)
}

/// Sets a pragma. If `expected` is `Some`, checks that SQLite then returns this value.
fn pragma(
    connection: &Connection,
    name: &str,
    value: &str,
    expected: Option<&str>,
) -> Result<(), StoreError> {
    connection.pragma_update(None, name, value).map_err(database)?;
    let Some(expected) = expected else { return Ok(()) };
    let read_back = |row: &rusqlite::Row<'_>| {
        Ok(match row.get_ref(0)? {
            ValueRef::Integer(number) => number.to_string(),
            other => other.as_str().unwrap_or_default().to_owned(),
        })
    };
    let actual: String = connection
        .pragma_query_value(None, name, read_back)
        .map_err(database)?;
    if actual != expected {
        let text = format!("SQLite did not set {name} to {value}: it is {actual}");
        return Err(StoreError::Schema(text));
    }
    Ok(())
}

/// Reads the whole file on a separate connection and returns the errors in its structure: at most 100 of them.
pub fn check(file: &Path, depth: CheckDepth) -> Result<Vec<String>, StoreError> {
    let (mut errors, checked) = check_structure(file, depth)?;
    match checked {
        Ok(()) => {}
        Err(cause) if is_damage(&cause) => errors.push(cause.to_string()),
        Err(cause) => return Err(database(cause)),
    }
    Ok(errors)
}

/// Like `check`, for a store that cannot be opened. Fails if SQLite cannot read anything, for example because the file
/// is not a database.
pub fn check_unopened(file: &Path) -> Result<Vec<String>, StoreError> {
    let (errors, checked) = check_structure(file, CheckDepth::Full)?;
    match checked {
        Err(cause) if errors.is_empty() => Err(database(cause)),
        _ => Ok(errors),
    }
}

/// The errors in the structure of the file, and whether the check has reached its end.
fn check_structure(
    file: &Path,
    depth: CheckDepth,
) -> Result<(Vec<String>, rusqlite::Result<()>), StoreError> {
    let connection = open_reader(file)?;
    let pragma = match depth {
        CheckDepth::Quick => "quick_check",
        CheckDepth::Full => "integrity_check",
    };
    let mut errors = Vec::new();
    let checked = connection.pragma_query(None, pragma, |row| {
        // A row can have several lines. The first line of some rows only names the database.
        let text: String = row.get(0)?;
        let lines = text
            .lines()
            .filter(|line| *line != "ok" && !line.starts_with("***"));
        errors.extend(lines.map(str::to_owned));
        Ok(())
    });
    Ok((errors, checked))
}

/// Whether the error shows that the file is damaged, or that a part of it cannot be read.
fn is_damage(cause: &rusqlite::Error) -> bool {
    matches!(
        cause.sqlite_error_code(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::SystemIoFailure)
    )
}

pub fn migrate_embedded(
    connection: &Connection,
    schema: &Schema,
    context: &StoreContext,
) -> Result<(), StoreError> {
    let mut statements = Statements::on(connection);
    statements.run("BEGIN IMMEDIATE")?;
    let migrated = migrate(&mut statements, &DIALECT, schema, context.clock.now());
    statements.run(if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    migrated
}

pub fn make_private_folder(folder: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt;
    let created = std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder);
    created.map_err(|e| StoreError::Files(format!("creating the data folder {}", folder.display()), e))
}

/// Creates the file so that only its owner has access, regardless of the mode of the folder. SQLite creates the
/// write-ahead log with the same mode.
pub fn make_private_file(file: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(file);
    created.map(drop).map_err(|e| {
        use std::os::unix::fs::MetadataExt;
        let path = file.display();
        let text = match std::fs::metadata(file) {
            Ok(metadata) => format!("opening {path}, which belongs to the user {}", metadata.uid()),
            Err(_) => format!("creating {path}"),
        };
        StoreError::Files(text, e)
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;
    use crate::model::time::Time;

    #[test]
    fn migration_8_revokes_authorizations_of_staff_for_clients_of_accounts() {
        let connection = Connection::open_in_memory().expect("memory");
        pragma(&connection, "foreign_keys", "on", Some("1")).expect("a pragma");
        let mut statements = Statements::on(&connection);
        let now = Time::from_micros(1);
        migrate(&mut statements, &DIALECT, &Schema::at(7), now).expect("the store as it was");
        let rows = "INSERT INTO account (id, company, email, created) VALUES (1, '', '', 0);
            INSERT INTO app_user (id, account, username, email, restricted, created)
                VALUES (1, 1, 'ada', '', 0, 0), (2, NULL, 'agent', '', 0, 0);
            INSERT INTO oauth_client (id, number, account, label, redirect_uri, secret, is_public, status, created)
                VALUES ('own', 1, NULL, '', '', '', 0, 'active', 0), ('tenant', 2, 1, '', '', '', 0, 'active', 0);
            INSERT INTO oauth_grant (id, client, app_user, scopes, created)
                VALUES (1, 'own', 1, '*', 5), (2, 'own', 2, '*', 5), (3, 'tenant', 1, '*', 5), (4, 'tenant', 2, '*', 5);
            INSERT INTO refresh_token (hash, oauth_grant, created, expiry)
                VALUES ('a', 1, 5, 9), ('b', 2, 5, 9), ('c', 3, 5, 9), ('d', 4, 5, 9);
            INSERT INTO token (app_user, kind, label, hash, prefix, scopes, created, oauth_grant)
                VALUES (1, 'oauth', '', 'a', '', '*', 5, 1), (2, 'oauth', '', 'b', '', '*', 5, 2),
                       (1, 'oauth', '', 'c', '', '*', 5, 3), (2, 'oauth', '', 'd', '', '*', 5, 4),
                       (2, 'personal', '', 'e', '', '*', 5, NULL);";
        connection.execute_batch(rows).expect("rows of that time");

        migrate(&mut statements, &DIALECT, &Schema::at(8), now).expect("the migration");

        let list = |column: &str, from: &str| -> String {
            let sql =
                format!("SELECT group_concat(x, '') FROM (SELECT {column} AS x FROM {from} ORDER BY x)");
            connection.query_row(&sql, [], |row| row.get(0)).expect("SQL")
        };
        assert_eq!(list("hash", "token WHERE revoked IS NULL"), "abce");
        assert_eq!(list("hash", "token WHERE revoked IS NOT NULL"), "d");
        assert_eq!(list("hash", "refresh_token"), "abc");
        assert_eq!(list("id", "oauth_grant"), "123");
    }

    #[test]
    fn migration_10_converts_due_work_of_instances_to_jobs() {
        let connection = Connection::open_in_memory().expect("memory");
        let mut statements = Statements::on(&connection);
        let now = Time::from_micros(1);
        migrate(&mut statements, &DIALECT, &Schema::at(9), now).expect("the store as it was");
        let rows = "PRAGMA foreign_keys = off;
            INSERT INTO due_work (instance, event, step, due)
            VALUES (1, 11, 'start', 100), (1, 11, 'finish', 200), (2, 12, 'finish', 150);";
        connection.execute_batch(rows).expect("rows of that time");

        migrate(&mut statements, &DIALECT, &Schema::current(), now).expect("the migrations");

        let sql = "SELECT group_concat(kind || ' ' || subject || ': ' || payload || ' at ' || available, ', ') FROM job";
        let jobs: String = connection.query_row(sql, [], |row| row.get(0)).expect("SQL");
        assert_eq!(
            jobs,
            "instance_power 1: start 11 200 at 100, instance_power 2: finish 12 at 150"
        );
        let remaining: i64 = connection
            .query_row("SELECT count(*) FROM due_work", [], |row| row.get(0))
            .expect("SQL");
        assert_eq!(remaining, 0);
    }

    #[test]
    fn check_reports_an_overwritten_page() {
        let file = std::env::temp_dir().join(format!("garth-check-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let connection = open_writer(&file).unwrap();
        let sql = "CREATE TABLE thing (number BIGINT PRIMARY KEY, words TEXT);
            INSERT INTO thing WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 2000)
                SELECT n, 'some words for a row' FROM count;";
        connection.execute_batch(sql).unwrap();
        drop(connection);
        assert_eq!(check(&file, CheckDepth::Quick).unwrap(), [""; 0]);

        let damaged = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        damaged.write_all_at(&[0xff; 4096], 4096 * 5).unwrap();

        assert!(!check(&file, CheckDepth::Quick).unwrap().is_empty());
        std::fs::remove_file(&file).unwrap();
    }
}
