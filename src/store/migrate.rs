//! Bringing a store's tables to the shape this build knows.
//!
//! Migrations are numbered SQL files that never change once released: each is recorded with a
//! checksum, and a store whose record differs is refused rather than guessed at.

use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::tx::Sql;
use super::value::{Row, args};
use crate::model::time::Time;
use crate::model::token::hex;

struct Migration {
    number: i64,
    name: &'static str,
    sql: &'static str,
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
];

/// A table, for whoever has to do with all of them.
pub struct Table {
    pub name: &'static str,
    /// What tells its rows apart: its first columns.
    pub key: &'static [&'static str],
    /// Whether its key is a number that counts up.
    pub counts: bool,
}

/// All tables that are copied, each behind those it refers to. The record of migrations is each store's own, and
/// the words that are searched for are made anew.
pub const TABLES: &[Table] = &[
    counted("account"),
    counted("app_user"),
    keyed("global_grant", &["app_user", "name"]),
    keyed("entity_grant", &["app_user", "kind", "entity"]),
    counted("token"),
    keyed("identity_version", &["version"]),
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
    /// What is said of a table that is only ever looked into by its key.
    pub keyed: &'static str,
    /// Text that sorts by its bytes.
    pub text: &'static str,
    /// The table `ticket_text (ticket, body)`, with whatever finds words in its `body`.
    pub search_table: &'static str,
}

/// Applies what is missing. The caller holds the write lock and commits.
pub fn migrate(sql: &mut dyn Sql, dialect: &Dialect, now: Time) -> Result<(), StoreError> {
    migrate_to(sql, dialect, now, MIGRATIONS.len())
}

/// The same with the first `count` migrations only.
pub fn migrate_to(sql: &mut dyn Sql, dialect: &Dialect, now: Time, count: usize) -> Result<(), StoreError> {
    sql.execute(
        "CREATE TABLE IF NOT EXISTS migration (
            number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied BIGINT NOT NULL)",
        args![],
    )?;
    let applied = sql.query("SELECT number, checksum FROM migration ORDER BY number", args![])?;
    let applied: Vec<(i64, String)> = applied
        .into_iter()
        .map(|mut row: Row| Ok((row.take()?, row.take()?)))
        .collect::<Result<_, StoreError>>()?;

    for (number, checksum) in &applied {
        let Some(known) = MIGRATIONS.iter().find(|known| known.number == *number) else {
            return Err(StoreError::Schema(format!(
                "this store was last used by a newer Garth (its schema is at {number}, this build knows {}): \
                 use that version, or restore a backup",
                MIGRATIONS.len()
            )));
        };
        if *checksum != checksum_of(known) {
            return Err(StoreError::Schema(format!(
                "migration {number} ({}) of this store is not the one this build knows",
                known.name
            )));
        }
    }

    for missing in MIGRATIONS[..count].iter().skip(applied.len()) {
        let script = missing
            .sql
            .replace("{identity}", dialect.identity)
            .replace("{keyed}", dialect.keyed)
            .replace("{text}", dialect.text)
            .replace("{search_table}", dialect.search_table);
        for statement in script.split(";\n").map(str::trim).filter(|s| !s.is_empty()) {
            sql.execute(statement, args![])?;
        }
        sql.execute(
            "INSERT INTO migration (number, name, checksum, applied) VALUES ($1, $2, $3, $4)",
            args![missing.number, missing.name, checksum_of(missing), now],
        )?;
        tracing::info!(number = missing.number, name = missing.name, "migrated the store");
    }
    Ok(())
}

fn checksum_of(migration: &Migration) -> String {
    hex(&Sha256::digest(migration.sql.as_bytes()))
}
