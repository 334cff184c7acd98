//! Bringing a store's tables to the shape this build knows.
//!
//! Migrations are numbered SQL files that never change once released: each is recorded with a
//! checksum, and a store whose record differs is refused rather than guessed at. A store that a newer build has
//! migrated is refused too, unless `schema_compatibility` permits this build (decision 0025).

use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::sql::Sql;
use super::tx::ReadTx;
use super::value::{Row, args};
use crate::model::time::Time;
use crate::model::token::hex;

/// A step from one schema to the next.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    pub number: i64,
    pub name: &'static str,
    pub sql: &'static str,
}

/// The migrations that a build knows, in their order. A store is opened with those of this build; tests open one
/// with those of an earlier or a later build.
#[derive(Clone, Debug)]
pub struct Schema(Vec<Migration>);

impl Schema {
    pub fn current() -> Self {
        Self(MIGRATIONS.to_vec())
    }

    /// The schema of an earlier build, whose newest migration has this number.
    pub fn at(number: i64) -> Self {
        let known = MIGRATIONS.iter().filter(|known| known.number <= number);
        Self(known.copied().collect())
    }

    /// The schema of a later build.
    pub fn with(mut self, migration: Migration) -> Self {
        self.0.push(migration);
        self
    }

    pub fn migrations(&self) -> &[Migration] {
        &self.0
    }

    /// The number of the newest migration.
    pub fn newest(&self) -> i64 {
        self.0.last().map_or(0, |migration| migration.number)
    }

    fn find(&self, number: i64) -> Option<&Migration> {
        self.0.iter().find(|known| known.number == number)
    }
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "foundation",
        sql: include_str!("migrations/0001_foundation.sql"),
    },
    Migration {
        number: 2,
        name: "compute",
        sql: include_str!("migrations/0002_compute.sql"),
    },
    Migration {
        number: 3,
        name: "support",
        sql: include_str!("migrations/0003_support.sql"),
    },
    Migration {
        number: 4,
        name: "identity",
        sql: include_str!("migrations/0004_identity.sql"),
    },
    Migration {
        number: 5,
        name: "tallies",
        sql: include_str!("migrations/0005_tallies.sql"),
    },
    Migration {
        number: 6,
        name: "viewers",
        sql: include_str!("migrations/0006_viewers.sql"),
    },
    Migration {
        number: 7,
        name: "tallies by owner",
        sql: include_str!("migrations/0007_tallies_by_owner.sql"),
    },
    Migration {
        number: 8,
        name: "identity rules",
        sql: include_str!("migrations/0008_identity_rules.sql"),
    },
    Migration {
        number: 9,
        name: "attachment checks",
        sql: include_str!("migrations/0009_attachment_checks.sql"),
    },
    Migration {
        number: 10,
        name: "jobs",
        sql: include_str!("migrations/0010_jobs.sql"),
    },
    Migration {
        number: 11,
        name: "schema compatibility",
        sql: include_str!("migrations/0011_schema_compatibility.sql"),
    },
    Migration {
        number: 12,
        name: "revisions",
        sql: include_str!("migrations/0012_revisions.sql"),
    },
];

/// A table, for whoever has to do with all of them.
pub struct Table {
    pub name: &'static str,
    /// What tells its rows apart: its first columns.
    pub key: &'static [&'static str],
    /// Whether its key is a number that counts up.
    pub counts: bool,
}

/// All tables that are copied, each behind those it refers to. The record of migrations and the oldest schema that is
/// compatible with them are each store's own, and the words that are searched for are made anew.
pub const TABLES: &[Table] = &[
    counted("account"),
    counted("app_user"),
    keyed("global_grant", &["app_user", "name"]),
    keyed("entity_grant", &["app_user", "kind", "entity"]),
    counted("token"),
    counted("vpc"),
    counted("subnet"),
    counted("event"),
    keyed("event_read", &["app_user", "event"]),
    counted("instance"),
    keyed("public_address", &["address"]),
    counted("disk"),
    counted("config"),
    counted("interface"),
    keyed("interface_range", &["interface", "place"]),
    keyed("free_range", &["subnet", "first_address"]),
    counted("due_work"),
    counted("job"),
    counted("ticket"),
    counted("reply"),
    counted("note"),
    counted("attachment"),
    keyed("attachment_check", &["attachment"]),
    keyed("upload", &["file_key"]),
    counted("ticket_history"),
    keyed("ticket_viewer", &["ticket", "tab"]),
    counted("canned_reply"),
    keyed("entity", &["account", "kind", "id"]),
    counted("vlan"),
    keyed("oauth_client", &["id"]),
    counted("oauth_grant"),
    keyed("oauth_code", &["hash"]),
    keyed("refresh_token", &["hash"]),
    keyed("session", &["hash"]),
    keyed("password_link", &["hash"]),
    keyed("server_secret", &["name"]),
    keyed("tally", &["owner", "collection", "span", "bucket"]),
    keyed("account_revision", &["account"]),
    keyed("change_log", &["account", "revision", "kind", "id"]),
];

const fn counted(name: &'static str) -> Table {
    Table {
        name,
        key: &["id"],
        counts: true,
    }
}

const fn keyed(name: &'static str, key: &'static [&'static str]) -> Table {
    Table {
        name,
        key,
        counts: false,
    }
}

/// The words in which the engines' schemas differ.
pub struct Dialect {
    /// A primary key that counts up and never reuses a number.
    pub identity: &'static str,
    /// A primary key that is a number given to it.
    pub number_key: &'static str,
    /// What is said of a table whose rows change often.
    pub roomy: &'static str,
    /// What is said of a table that is only ever looked into by its key.
    pub keyed: &'static str,
    /// Text that sorts by its bytes.
    pub text: &'static str,
    /// The table `ticket_text (ticket, body)`, with whatever finds words in its `body`.
    pub search_table: &'static str,
}

/// Applies what is missing. The caller holds the write lock and commits.
pub fn migrate(sql: &mut dyn Sql, dialect: &Dialect, schema: &Schema, now: Time) -> Result<(), StoreError> {
    sql.execute(
        "CREATE TABLE IF NOT EXISTS migration (
            number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied BIGINT NOT NULL)",
        args![],
    )?;
    let applied = applied(sql)?;
    refuse_other_checksums(schema, &applied)?;
    let newest = applied.last().map_or(0, |(number, _)| *number);
    let unknown = |(number, _): &(i64, String)| schema.find(*number).is_none();
    if applied.iter().any(unknown) {
        return permit_newer(sql, schema, newest);
    }
    let is_missing = |known: &&Migration| applied.iter().all(|(number, _)| *number != known.number);
    for missing in schema.0.iter().filter(is_missing) {
        apply(sql, dialect, missing, now)?;
    }
    Ok(())
}

/// The numbers and checksums of the migrations that a store has, in their order.
fn applied(sql: &mut dyn Sql) -> Result<Vec<(i64, String)>, StoreError> {
    let rows = sql.query("SELECT number, checksum FROM migration ORDER BY number", args![])?;
    let read = |mut row: Row| Ok((row.take()?, row.take()?));
    rows.into_iter().map(read).collect()
}

fn refuse_other_checksums(schema: &Schema, applied: &[(i64, String)]) -> Result<(), StoreError> {
    for (number, checksum) in applied {
        let Some(known) = schema.find(*number) else {
            continue;
        };
        if *checksum != checksum_of(known) {
            return Err(StoreError::Schema(format!(
                "migration {number} ({}) of this store is not the one this build knows",
                known.name
            )));
        }
    }
    Ok(())
}

/// Whether this build may use a store that a newer one has migrated: the store records the oldest schema for which
/// that holds.
fn permit_newer(sql: &mut dyn Sql, schema: &Schema, newest: i64) -> Result<(), StoreError> {
    let known = schema.newest();
    match oldest_schema(sql)? {
        Some(oldest) if oldest <= known => {
            tracing::info!(
                store = newest,
                build = known,
                oldest,
                "store schema is newer but compatible"
            );
            Ok(())
        }
        oldest => Err(StoreError::Schema(format!(
            "this store was last used by a newer Garth (its schema is at {newest}, which needs a build that knows {}, \
             and this build knows {known}): use that version, or restore a backup",
            oldest.unwrap_or(newest)
        ))),
    }
}

/// Refuses a store that an incompatible build has migrated since this one opened it.
pub fn refuse_incompatible(tx: &mut ReadTx, newest: i64) -> Result<(), StoreError> {
    let sql = "SELECT oldest_schema FROM schema_compatibility";
    let oldest: i64 = tx.one(sql, args![])?.take()?;
    match oldest <= newest {
        true => Ok(()),
        false => Err(StoreError::Schema(format!(
            "a newer Garth has migrated the store: it needs a build that knows {oldest}, and this build knows {newest}"
        ))),
    }
}

/// The oldest schema whose builds may use the store; `None` before migration 11.
fn oldest_schema(sql: &mut dyn Sql) -> Result<Option<i64>, StoreError> {
    if !sql.tables()?.iter().any(|table| table == "schema_compatibility") {
        return Ok(None);
    }
    let mut rows = sql.query("SELECT oldest_schema FROM schema_compatibility", args![])?;
    rows.first_mut().map(Row::take).transpose()
}

fn apply(sql: &mut dyn Sql, dialect: &Dialect, migration: &Migration, now: Time) -> Result<(), StoreError> {
    let script = migration
        .sql
        .replace("{identity}", dialect.identity)
        .replace("{number_key}", dialect.number_key)
        .replace("{roomy}", dialect.roomy)
        .replace("{keyed}", dialect.keyed)
        .replace("{text}", dialect.text)
        .replace("{search_table}", dialect.search_table);
    for statement in script.split(";\n").map(str::trim).filter(|s| !s.is_empty()) {
        sql.execute(statement, args![])?;
    }
    sql.execute(
        "INSERT INTO migration (number, name, checksum, applied) VALUES ($1, $2, $3, $4)",
        args![migration.number, migration.name, checksum_of(migration), now],
    )?;
    tracing::info!(
        number = migration.number,
        name = migration.name,
        "migration applied"
    );
    Ok(())
}

/// What is recorded of a migration beside its number.
pub fn checksum_of(migration: &Migration) -> String {
    hex(&Sha256::digest(migration.sql.as_bytes()))
}
