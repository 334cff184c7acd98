//! The database that several nodes share, as commands and the settings file name it.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use serde::Deserialize;

use super::secret_file;
use crate::model::token::Secret;
use crate::store::Database;

#[derive(Args, Clone, Debug)]
pub struct DatabaseArgs {
    /// PostgreSQL database shared by several nodes, instead of the embedded store: postgres://user@host/name
    #[arg(
        long,
        global = true,
        env = "GARTH_DATABASE",
        hide_env_values = true,
        value_name = "URL",
        help_heading = "Store"
    )]
    pub database: Option<DatabaseUrl>,

    /// File with the database's password, if it is not in the URL; else PGPASSWORD is taken
    #[arg(
        long,
        global = true,
        env = "GARTH_DATABASE_PASSWORD_FILE",
        value_name = "FILE",
        help_heading = "Store"
    )]
    pub database_password_file: Option<PathBuf>,

    /// Connections to the database that this node keeps [default: 8]
    #[arg(long, global = true, env = "GARTH_DATABASE_CONNECTIONS", value_name = "N", help_heading = "Store",
        value_parser = clap::value_parser!(u16).range(2..=1000))]
    pub database_connections: Option<u16>,
}

/// It may have a password in it, so it is never printed.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub struct DatabaseUrl(Secret);

impl From<String> for DatabaseUrl {
    fn from(url: String) -> Self {
        Self(Secret::new(url))
    }
}

impl FromStr for DatabaseUrl {
    type Err = std::convert::Infallible;

    fn from_str(url: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(url.to_owned()))
    }
}

impl DatabaseUrl {
    pub fn to_database(&self) -> Database {
        Database::at(self.0.reveal())
    }
}

/// The database as the settings file names it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DatabaseInFile<'a> {
    pub url: Option<&'a DatabaseUrl>,
    pub password_file: Option<&'a Path>,
    pub connections: Option<u16>,
}

impl DatabaseArgs {
    /// The database to work on, if there is to be one. A folder that was named on the command line or in the
    /// environment wins against a database that only the settings file names.
    pub fn find(&self, folder_is_named: bool, file: DatabaseInFile) -> anyhow::Result<Option<Database>> {
        let from_file = file.url.filter(|_| !folder_is_named);
        let Some(url) = self.database.as_ref().or(from_file) else {
            return Ok(None);
        };
        let mut database = url.to_database();
        let connections = self.database_connections.or(file.connections);
        database.connections = connections.map_or(Database::DEFAULT_CONNECTIONS, usize::from);
        let password_file = self.database_password_file.as_deref();
        if let Some(path) = password_file.or(file.password_file) {
            database.password = Some(secret_file::read("database_password_file", path)?);
        }
        Ok(Some(database))
    }
}
