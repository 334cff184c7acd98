//! Migrations of the schema.
//!
//! Migrations are numbered SQL files that never change after their release. The store records the checksum of each
//! applied migration, and a build refuses a store whose checksums differ. A build also refuses a store that a newer
//! build has migrated, unless `schema_compatibility` permits the older build (decision 0025).

use sha2::{Digest, Sha256};

use super::error::StoreError;
use super::sql::Sql;
use super::tx::ReadTx;
use super::unfinished_restore;
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

/// The migrations of a build, in order. Servers use the migrations of this build. Tests also use the
/// migrations of earlier and later builds.
#[derive(Clone, Debug)]
pub struct Schema {
    migrations: Vec<Migration>,
    missing: MissingMigrations,
    /// Whether to open a store whose restore has not finished.
    is_restoring: bool,
}

/// How to open a store without some of the migrations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MissingMigrations {
    Apply,
    Refuse,
    /// Open the store with its schema, to read it.
    Ignore,
}

impl Schema {
    pub fn current() -> Self {
        Self {
            migrations: MIGRATIONS.to_vec(),
            missing: MissingMigrations::Apply,
            is_restoring: false,
        }
    }

    /// The schema of this build, for a store that must not be changed. A store with an older schema is
    /// refused.
    pub fn current_only() -> Self {
        Self {
            missing: MissingMigrations::Refuse,
            ..Self::current()
        }
    }

    /// The schema of this build, for a store that is only read: one with an older schema is opened as it is.
    pub fn as_stored() -> Self {
        Self {
            missing: MissingMigrations::Ignore,
            ..Self::current()
        }
    }

    /// The schema of an earlier build, whose newest migration has this number.
    pub fn at(number: i64) -> Self {
        let known = MIGRATIONS.iter().filter(|known| known.number <= number);
        Self {
            migrations: known.copied().collect(),
            ..Self::current()
        }
    }

    /// The schema of a later build, which has one more migration.
    pub fn with(mut self, migration: Migration) -> Self {
        self.migrations.push(migration);
        self
    }

    /// The same schema, for a store whose restore has not finished. All other schemas refuse such a store.
    pub fn restoring(self) -> Self {
        Self {
            is_restoring: true,
            ..self
        }
    }

    /// Whether the store must not be changed.
    pub fn is_fixed(&self) -> bool {
        self.missing != MissingMigrations::Apply
    }

    pub fn migrations(&self) -> &[Migration] {
        &self.migrations
    }

    /// The number of the newest migration.
    pub fn newest(&self) -> i64 {
        self.migrations.last().map_or(0, |migration| migration.number)
    }

    fn find(&self, number: i64) -> Option<&Migration> {
        self.migrations.iter().find(|known| known.number == number)
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
    Migration {
        number: 13,
        name: "disks",
        sql: include_str!("migrations/0013_disks.sql"),
    },
    Migration {
        number: 14,
        name: "addresses",
        sql: include_str!("migrations/0014_addresses.sql"),
    },
    Migration {
        number: 15,
        name: "tags, keys and log-ins",
        sql: include_str!("migrations/0015_tags_keys_logins.sql"),
    },
    Migration {
        number: 16,
        name: "account details",
        sql: include_str!("migrations/0016_account_details.sql"),
    },
    Migration {
        number: 17,
        name: "disk images",
        sql: include_str!("migrations/0017_disk_images.sql"),
    },
    Migration {
        number: 18,
        name: "ipv6",
        sql: include_str!("migrations/0018_ipv6.sql"),
    },
    Migration {
        number: 19,
        name: "hosts",
        sql: include_str!("migrations/0019_hosts.sql"),
    },
    Migration {
        number: 20,
        name: "received mail",
        sql: include_str!("migrations/0020_received_mail.sql"),
    },
    Migration {
        number: 21,
        name: "traffic",
        sql: include_str!("migrations/0021_traffic.sql"),
    },
    Migration {
        number: 22,
        name: "underlay_revision",
        sql: include_str!("migrations/0022_underlay_revision.sql"),
    },
    Migration {
        number: 23,
        name: "encryption",
        sql: include_str!("migrations/0023_encryption.sql"),
    },
    Migration {
        number: 24,
        name: "administration",
        sql: include_str!("migrations/0024_administration.sql"),
    },
    Migration {
        number: 25,
        name: "announcements",
        sql: include_str!("migrations/0025_announcements.sql"),
    },
    Migration {
        number: 26,
        name: "branding",
        sql: include_str!("migrations/0026_branding.sql"),
    },
    Migration {
        number: 27,
        name: "desk",
        sql: include_str!("migrations/0027_desk.sql"),
    },
    Migration {
        number: 28,
        name: "catalog",
        sql: include_str!("migrations/0028_catalog.sql"),
    },
    Migration {
        number: 29,
        name: "merges",
        sql: include_str!("migrations/0029_merges.sql"),
    },
    Migration {
        number: 30,
        name: "outgoing mail",
        sql: include_str!("migrations/0030_outgoing_mail.sql"),
    },
    Migration {
        number: 31,
        name: "mail counts",
        sql: include_str!("migrations/0031_mail_counts.sql"),
    },
    Migration {
        number: 32,
        name: "host warnings",
        sql: include_str!("migrations/0032_host_warnings.sql"),
    },
    Migration {
        number: 33,
        name: "mail templates",
        sql: include_str!("migrations/0033_mail_templates.sql"),
    },
    Migration {
        number: 34,
        name: "large accounts",
        sql: include_str!("migrations/0034_large_accounts.sql"),
    },
];

/// The parts of the schema that differ between the engines. In the migrations, each field replaces the placeholder with
/// the field's name.
pub struct Dialect {
    /// A primary key that the database generates and never reuses.
    pub identity: &'static str,
    /// A primary key that the application sets.
    pub number_key: &'static str,
    /// The storage options of a table whose rows are often updated.
    pub roomy: &'static str,
    /// The storage options of a table whose rows are always found by their key.
    pub keyed: &'static str,
    /// Text that sorts by its bytes.
    pub text: &'static str,
    /// The table `ticket_text (ticket, body)`, with a full-text index of `body`.
    pub search_table: &'static str,
}

/// Applies the missing migrations. The caller must hold the write lock, and must commit.
pub fn migrate(sql: &mut dyn Sql, dialect: &Dialect, schema: &Schema, now: Time) -> Result<(), StoreError> {
    let tables = sql.tables()?;
    if !schema.is_restoring {
        unfinished_restore::refuse(&tables)?;
    }
    if schema.is_fixed() && !tables.iter().any(|table| table == "migration") {
        return Err(StoreError::Schema(
            "the database has none of Garth's tables".to_owned(),
        ));
    }
    sql.execute(
        "CREATE TABLE IF NOT EXISTS migration (
            number BIGINT PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied BIGINT NOT NULL)",
        args![],
    )?;
    let applied = read_applied(sql)?;
    refuse_other_checksums(schema, &applied)?;
    let newest = applied.last().map_or(0, |(number, _)| *number);
    let is_unknown = |(number, _): &(i64, String)| schema.find(*number).is_none();
    if applied.iter().any(is_unknown) {
        return permit_newer(sql, schema, newest);
    }
    let is_missing = |known: &&Migration| applied.iter().all(|(number, _)| *number != known.number);
    for missing in schema.migrations.iter().filter(is_missing) {
        if schema.missing == MissingMigrations::Ignore {
            break;
        }
        if schema.missing == MissingMigrations::Refuse {
            return Err(StoreError::OlderSchema(format!(
                "the store has schema {newest}, but this build has schema {}: start `garth serve` of this version once to \
                 upgrade the store, or use the version that wrote it",
                schema.newest()
            )));
        }
        apply(sql, dialect, missing, now)?;
        if !applied.is_empty() {
            tracing::info!(number = missing.number, name = missing.name, "migration applied");
        }
    }
    if applied.is_empty() && schema.missing == MissingMigrations::Apply {
        tracing::info!(schema = schema.newest(), "store created");
    }
    Ok(())
}

/// The numbers and checksums of a store's applied migrations, in order.
fn read_applied(sql: &mut dyn Sql) -> Result<Vec<(i64, String)>, StoreError> {
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
            return Err(StoreError::OtherSchema(format!(
                "migration {number} ({}) of this store differs from the migration of this build",
                known.name
            )));
        }
    }
    Ok(())
}

/// Accepts a store that a newer build has migrated, if the store is still compatible with the schema of this
/// build.
fn permit_newer(sql: &mut dyn Sql, schema: &Schema, newest: i64) -> Result<(), StoreError> {
    let supported = schema.newest();
    match oldest_schema(sql)? {
        Some(oldest) if oldest <= supported => {
            tracing::info!(
                store_schema = newest,
                build_schema = supported,
                oldest_compatible_schema = oldest,
                "store schema is newer but compatible"
            );
            Ok(())
        }
        oldest => Err(StoreError::OtherSchema(format!(
            "this store was last used by a newer Garth (the store has schema {newest} and requires a build with schema \
             {} or later, but this build has schema {supported}): use the newer version, or restore a backup",
            oldest.unwrap_or(newest)
        ))),
    }
}

/// Refuses a store that an incompatible build has migrated after this build opened it.
pub fn refuse_incompatible(tx: &mut ReadTx, newest: i64) -> Result<(), StoreError> {
    let sql = "SELECT oldest_schema FROM schema_compatibility";
    let oldest: i64 = tx.one(sql, args![])?.take()?;
    match oldest <= newest {
        true => Ok(()),
        false => Err(StoreError::OtherSchema(format!(
            "a newer Garth has migrated the store: it requires a build with schema {oldest} or later, but this build \
             has schema {newest}"
        ))),
    }
}

/// The oldest schema that is compatible with the store; `None` if migration 11 is not applied.
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
    Ok(())
}

/// The checksum that a store records for a migration.
pub fn checksum_of(migration: &Migration) -> String {
    hex(&Sha256::digest(migration.sql.as_bytes()))
}
