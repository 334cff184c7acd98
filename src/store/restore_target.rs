//! The database that a restore writes to.

use std::path::PathBuf;

use super::context::StoreContext;
use super::database::Database;
use super::error::StoreError;
use super::migrate::Schema;
use super::unfinished_restore::TargetState;
use super::{Store, sqlite};
use crate::model::time::Time;

/// The location of the database.
#[derive(Clone, Debug)]
pub enum TargetLocation {
    /// The folder of an embedded store.
    Folder(PathBuf),
    Database(Box<Database>),
}

/// A marked database. No other restore can use a shared database while this value exists. An embedded store is
/// protected by the lock on its folder instead.
pub enum RestoreTarget {
    Folder(PathBuf),
    #[cfg(feature = "postgres")]
    Database(Box<Database>, super::postgres::MarkedDatabase),
}

impl TargetLocation {
    /// The content of the database. Creates nothing.
    pub fn state(&self) -> Result<TargetState, StoreError> {
        match self {
            TargetLocation::Folder(folder) => sqlite::target_state(folder),
            #[cfg(feature = "postgres")]
            TargetLocation::Database(database) => super::postgres::target_state(database),
            #[cfg(not(feature = "postgres"))]
            TargetLocation::Database(_) => Err(without_postgres()),
        }
    }

    /// Clears an unfinished restore of the same archive, and marks the database. Refuses a database with other content.
    pub fn mark(&self, archive: &str, now: Time) -> Result<RestoreTarget, StoreError> {
        match self {
            TargetLocation::Folder(folder) => {
                sqlite::mark_target(folder, archive, now)?;
                Ok(RestoreTarget::Folder(folder.clone()))
            }
            #[cfg(feature = "postgres")]
            TargetLocation::Database(database) => {
                let marked = super::postgres::MarkedDatabase::mark(database, archive, now)?;
                Ok(RestoreTarget::Database(database.clone(), marked))
            }
            #[cfg(not(feature = "postgres"))]
            TargetLocation::Database(_) => Err(without_postgres()),
        }
    }
}

impl RestoreTarget {
    /// Opens the marked database with a schema, and applies the missing migrations.
    pub fn open(&self, schema: Schema, context: StoreContext) -> Result<Store, StoreError> {
        let schema = schema.restoring();
        match self {
            RestoreTarget::Folder(folder) => Store::open_embedded_with(folder, &schema, context),
            #[cfg(feature = "postgres")]
            RestoreTarget::Database(database, _) => Store::open_shared_with(database, &schema, context),
        }
    }

    /// Empties the database after a failure. If this fails, the mark remains, and the restore can be started again.
    pub fn abandon(self) -> Result<(), StoreError> {
        match self {
            RestoreTarget::Folder(folder) => sqlite::remove_database(&folder),
            #[cfg(feature = "postgres")]
            RestoreTarget::Database(_, marked) => marked.abandon(),
        }
    }
}

#[cfg(not(feature = "postgres"))]
fn without_postgres() -> StoreError {
    StoreError::Schema("this Garth was built without PostgreSQL".to_owned())
}
