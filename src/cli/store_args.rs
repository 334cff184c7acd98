//! The options that select the store, and access to it from commands.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;

use super::database::DatabaseArgs;
use super::policy::policy_of;
use super::settings::Settings;
use super::{data_folder, server_notification, server_url, settings_file};
use crate::rules::{Error, Result};
use crate::store::context::{Clock, RandomSource};
use crate::store::{Database, ReadTx, Schema, Store, StoreContext, WriteTx};

#[derive(Args, Clone, Debug)]
pub struct StoreArgs {
    /// Data folder with the embedded store [default: ./garth-data; for garth demo: ./garth-demo]
    #[arg(
        long,
        global = true,
        env = "GARTH_DATA",
        value_name = "FOLDER",
        help_heading = "Store"
    )]
    pub data: Option<PathBuf>,

    /// Settings file (TOML)
    #[arg(
        long,
        global = true,
        env = "GARTH_CONFIG",
        value_name = "FILE",
        help_heading = "Store"
    )]
    pub config: Option<PathBuf>,

    #[command(flatten)]
    database: DatabaseArgs,
}

impl StoreArgs {
    /// The settings in the settings file, if one is set.
    pub fn settings_file(&self) -> anyhow::Result<Settings> {
        match &self.config {
            None => Ok(Settings::default()),
            Some(path) => settings_file::read(path),
        }
    }

    /// The folder of the embedded store.
    pub fn folder(&self, file: &Settings) -> PathBuf {
        let folder = self.data.clone().or_else(|| file.data.clone());
        folder.unwrap_or_else(|| PathBuf::from("./garth-data"))
    }

    /// The PostgreSQL database to use instead of the embedded store, if one is set.
    pub fn database(&self, file: &Settings) -> anyhow::Result<Option<Database>> {
        self.database
            .find(self.is_folder_on_command_line(), file.database_in_file())
    }

    /// Whether `--data` names the folder. `GARTH_DATA` does not count: units and images set it for all stores,
    /// because a node on PostgreSQL also needs a folder, for uploads in progress.
    fn is_folder_on_command_line(&self) -> bool {
        let in_environment = std::env::var_os("GARTH_DATA").map(PathBuf::from);
        self.data.is_some() && self.data != in_environment
    }

    /// Opens the store for a command other than the server. A store with an older schema is upgraded.
    pub fn open(&self) -> anyhow::Result<OpenStore> {
        self.open_with(&Schema::current())
    }

    /// Opens the store with a schema, which may forbid upgrading it.
    pub fn open_with(&self, schema: &Schema) -> anyhow::Result<OpenStore> {
        let settings = Settings::from_environment()?.or(self.settings_file()?);
        let policy = policy_of(&settings)?;
        let context = StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy: policy.into(),
        };
        if let Some(database) = self.database(&settings)? {
            let store = Store::open_shared_with(&database, schema, context);
            let store = store.with_context(|| format!("cannot open the store at {}", database.shown()))?;
            return Ok(OpenStore {
                store,
                folder: None,
                public_url: settings.public_url,
            });
        }
        let folder = self.folder(&settings);
        let exists = folder.join("garth.db").try_exists();
        if !exists.map_err(|error| data_folder::access_error(&folder, error))? {
            bail!(
                "there is no store in {}: specify its folder with --data, or create it with `garth serve`",
                folder.display()
            );
        }
        let store = Store::open_embedded_with(&folder, schema, context)
            .with_context(|| format!("cannot open the store in {}", folder.display()))?;
        Ok(OpenStore {
            store,
            folder: Some(folder),
            public_url: settings.public_url,
        })
    }
}

pub fn open_shared(database: &Database, context: StoreContext) -> anyhow::Result<Store> {
    let opened = Store::open_shared(database, context);
    opened.with_context(|| format!("cannot open the store at {}", database.shown()))
}

/// A store opened by a command, while a server may be running on it.
pub struct OpenStore {
    store: Store,
    /// The folder whose server is notified of changes. `None` for a database: its nodes notify each other.
    folder: Option<PathBuf>,
    public_url: Option<String>,
}

impl OpenStore {
    pub fn store(&self) -> &Store {
        &self.store
    }

    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut ReadTx) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        self.store.read(work).await.map_err(describe_error)
    }

    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteTx) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let written = self.store.write(work).await.map_err(describe_error)?;
        self.notify_server();
        Ok(written)
    }

    /// Notifies the server on the same folder that something has changed.
    pub fn notify_server(&self) {
        if let Some(folder) = &self.folder {
            server_notification::send(folder);
        }
    }

    /// The server's URL: `public_url` if it is set, otherwise the URL of the server that runs on the same
    /// folder.
    pub fn server_url(&self) -> Option<String> {
        let public_url = self.public_url.as_ref();
        let public_url = public_url.map(|url| url.trim_end_matches('/').to_owned());
        public_url.or_else(|| server_url::of_server(self.folder.as_ref()?))
    }

    /// The folder of the store, if it is embedded.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The time in whole seconds, like that of transactions.
    pub fn now(&self) -> crate::model::time::Time {
        self.store.context().clock.now().to_second()
    }
}

/// Converts an error of the rules to a message for the terminal.
pub fn describe_error(error: Error) -> anyhow::Error {
    match error {
        Error::Unauthenticated => anyhow!("the token is not valid"),
        Error::ScopeMissing { needed, .. } => {
            anyhow!("the token does not have the scope {needed}: create one with --scopes {needed}")
        }
        Error::Forbidden => anyhow!("the user does not have permission: grant it with `garth user grant`"),
        Error::WrongAudience => {
            anyhow!("the user is not a member of the staff: create staff with `garth user create --staff`")
        }
        Error::Store(cause) => anyhow::Error::new(cause),
        other => anyhow!("{other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reason::{Code, Reason};
    use crate::model::scope::Scopes;
    use crate::model::staff_role::StaffRole;
    use crate::rules::error::{BodyFault, FilesFault, NoAccess};
    use crate::store::StoreError;

    #[test]
    fn every_error_has_a_message_without_debug_output() {
        let held = Scopes::parse("vpc:read_only").unwrap();
        let Ok(Scopes::Only(needed)) = Scopes::parse("vpc:read_write") else {
            panic!("a scope");
        };
        let needed = needed[0];
        let sent = "text/plain".to_owned();
        let reason = Reason::new(Code::Required, "label is required");
        let errors = [
            Error::Unauthenticated,
            Error::ScopeMissing { needed, held },
            Error::Forbidden,
            Error::NoAccess(NoAccess::UserDisabled),
            Error::RoleMissing {
                needed: StaffRole::Admin,
            },
            Error::WrongAudience,
            Error::NotFound,
            Error::Stale,
            Error::Body(BodyFault::TooLarge { max_bytes: 5 }),
            Error::Body(BodyFault::FileTooLarge { max_bytes: 5 }),
            Error::Body(BodyFault::TooSlow),
            Error::Body(BodyFault::NotJson { sent: sent.clone() }),
            Error::Body(BodyFault::NotMultipart { sent: sent.clone() }),
            Error::Body(BodyFault::NotForm { sent: sent.clone() }),
            Error::Body(BodyFault::NotImage { sent }),
            Error::Body(BodyFault::Unreadable(reason.clone())),
            Error::whole(reason),
            Error::Files(FilesFault::Storage("the bucket is unreachable".to_owned())),
            Error::Files(FilesFault::Scanner("it crashed".to_owned())),
            Error::Store(StoreError::Full),
        ];
        for error in errors {
            let text = describe_error(error).to_string();
            let plain = |c: char| !matches!(c, '{' | '}' | '(' | ')' | '"');
            assert!(text.chars().all(plain) && text.contains(' '), "{text}");
            assert!(text.starts_with(|c: char| c.is_ascii_lowercase()), "{text}");
        }
    }
}
