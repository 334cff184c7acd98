//! The options and settings that select a shared PostgreSQL database.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{bail, ensure};
use clap::Args;
use serde::Deserialize;

use super::arguments::integer;
use super::secret_file;
use crate::model::token::Secret;
use crate::store::Database;

#[derive(Args, Clone, Debug)]
pub struct DatabaseArgs {
    /// PostgreSQL database to use instead of the embedded store: postgres://user@host/name
    #[arg(
        long,
        global = true,
        env = "GARTH_DATABASE",
        hide_env_values = true,
        value_name = "URL",
        help_heading = "Store"
    )]
    pub database: Option<DatabaseUrl>,

    /// File with the database password, used if the URL has no password [default: the password in PGPASSWORD]
    #[arg(
        long,
        global = true,
        env = "GARTH_DATABASE_PASSWORD_FILE",
        value_name = "FILE",
        help_heading = "Store"
    )]
    pub database_password_file: Option<PathBuf>,

    /// Number of database connections of this node, 2 to 1000 [default: 8]
    #[arg(long, global = true, env = "GARTH_DATABASE_CONNECTIONS", value_name = "N", help_heading = "Store",
        allow_negative_numbers = true, value_parser = integer(DatabaseArgs::CONNECTIONS))]
    pub database_connections: Option<i64>,
}

/// The URL of a database. It may contain a password, so it is never printed.
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

    fn is_postgres(&self) -> bool {
        let schemes = ["postgres://", "postgresql://"];
        schemes.iter().any(|scheme| self.0.reveal().starts_with(scheme))
    }
}

/// The database settings of the settings file.
#[derive(Clone, Copy, Debug, Default)]
pub struct DatabaseInFile<'a> {
    pub url: Option<&'a DatabaseUrl>,
    pub password_file: Option<&'a Path>,
    pub connections: Option<i64>,
}

impl DatabaseArgs {
    /// The accepted numbers of connections.
    const CONNECTIONS: RangeInclusive<i64> = 2..=1000;

    /// The database to use, if one is set. Refuses a folder on the command line together with a database in the settings
    /// file, because they name two stores.
    pub fn find(
        &self,
        is_folder_on_command_line: bool,
        file: DatabaseInFile,
    ) -> anyhow::Result<Option<Database>> {
        let range = DatabaseArgs::CONNECTIONS;
        if let Some(connections) = file
            .connections
            .filter(|connections| !range.contains(connections))
        {
            let (first, last) = (range.start(), range.end());
            bail!("database_connections: must be a whole number from {first} to {last}, not {connections}");
        }
        ensure!(
            self.database.is_some() || file.url.is_none() || !is_folder_on_command_line,
            "--data selects an embedded store, but the settings file has a database: omit --data to use the database, or \
             omit --config to use the folder. The folder of a node is data in the settings file, or GARTH_DATA"
        );
        let Some(url) = self.database.as_ref().or(file.url) else {
            return Ok(None);
        };
        ensure!(
            url.is_postgres(),
            "database (--database): must be a URL such as postgres://user@host/name"
        );
        let mut database = url.to_database();
        let connections = self.database_connections.or(file.connections);
        let connections = connections.and_then(|connections| usize::try_from(connections).ok());
        database.connections = connections.unwrap_or(Database::DEFAULT_CONNECTIONS);
        let password_file = self.database_password_file.as_deref();
        if let Some(path) = password_file.or(file.password_file) {
            database.password = Some(secret_file::read("database_password_file", path)?);
        }
        Ok(Some(database))
    }
}
