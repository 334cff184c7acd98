//! Which store a command works on.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;

use super::address;
use super::database::DatabaseArgs;
use super::policy::policy_of;
use super::settings::Settings;
use super::wake;
use crate::rules::error::{BodyFault, FieldError, FilesFault};
use crate::rules::{Error, Result};
use crate::store::context::{Clock, RandomSource};
use crate::store::{Database, ReadTx, Store, StoreContext, WriteTx};

#[derive(Args, Clone, Debug)]
pub struct Place {
    /// Folder of the embedded store [default: ./garth-data; of the demo: ./garth-demo]
    #[arg(
        long,
        global = true,
        env = "GARTH_DATA",
        value_name = "FOLDER",
        help_heading = "Store"
    )]
    pub data: Option<PathBuf>,

    /// TOML file with settings
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

impl Place {
    /// What the settings file says, if there is one.
    pub fn file(&self) -> anyhow::Result<Settings> {
        match &self.config {
            None => Ok(Settings::default()),
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .with_context(|| format!("reading the settings file {}", file.display()))?;
                toml::from_str(&text).map_err(|wrong| {
                    anyhow!(
                        "in the settings file {}, {}",
                        file.display(),
                        place_of(&text, &wrong)
                    )
                })
            }
        }
    }

    /// The folder of the embedded store.
    pub fn folder(&self, file: &Settings) -> PathBuf {
        let folder = self.data.clone().or_else(|| file.data.clone());
        folder.unwrap_or_else(|| PathBuf::from("./garth-data"))
    }

    /// The database that holds the store instead of the folder, if there is one.
    pub fn database(&self, file: &Settings) -> anyhow::Result<Option<Database>> {
        self.database.find(self.data.is_some(), file.database_in_file())
    }

    /// Opens the store for a command that is not the server.
    pub fn open(&self) -> anyhow::Result<Opened> {
        let settings = Settings::from_environment()?.or(self.file()?);
        let policy = policy_of(&settings)?;
        let context = StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy,
        };
        if let Some(database) = self.database(&settings)? {
            let store = open_shared(&database, context)?;
            return Ok(Opened {
                store,
                folder: None,
                public_url: settings.public_url,
            });
        }
        let folder = self.folder(&settings);
        let exists = folder.join("garth.db").try_exists();
        if !exists.with_context(|| format!("reading the data folder {}", folder.display()))? {
            bail!(
                "there is no store in {}: run `garth serve` once, or say where it is with --data",
                folder.display()
            );
        }
        let store = Store::open_embedded(&folder, context)?;
        Ok(Opened {
            store,
            folder: Some(folder),
            public_url: settings.public_url,
        })
    }
}

pub fn open_shared(database: &Database, context: StoreContext) -> anyhow::Result<Store> {
    let opened = Store::open_shared(database, context);
    opened.with_context(|| format!("opening the store at {}", database.shown()))
}

/// A store opened beside a server that may be running.
pub struct Opened {
    store: Store,
    /// Where a server beside it is to be woken; nodes of a database wake each other.
    folder: Option<PathBuf>,
    public_url: Option<String>,
}

impl Opened {
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut ReadTx) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        self.store.read(work).await.map_err(in_words)
    }

    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteTx) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let made = self.store.write(work).await.map_err(in_words)?;
        if let Some(folder) = &self.folder {
            wake::poke(folder);
        }
        Ok(made)
    }

    /// Where people find the server, as far as this command can know.
    pub fn url(&self) -> Option<String> {
        let set = self.public_url.as_ref();
        let set = set.map(|url| url.trim_end_matches('/').to_owned());
        set.or_else(|| address::of_server(self.folder.as_ref()?))
    }

    pub fn now(&self) -> crate::model::time::Time {
        self.store.context().clock.now()
    }
}

/// An error for the terminal.
pub fn in_words(error: Error) -> anyhow::Error {
    match error {
        Error::Unauthenticated => anyhow!("the token is not valid"),
        Error::ScopeMissing { needed, .. } => anyhow!("the token lacks the scope {needed}"),
        Error::Forbidden => anyhow!("this user lacks the permission for that"),
        Error::WrongSide => anyhow!("this user is not one of the provider's staff"),
        Error::NotFound => anyhow!("not found"),
        Error::TooMany { wait } => anyhow!("too many attempts: wait {wait} seconds, then retry"),
        Error::Stale => anyhow!("it has changed in the meantime: read it again, then retry"),
        Error::Body(fault) => anyhow!("{}", fault_in_words(fault)),
        Error::Refused(errors) => {
            let line = |error: &FieldError| match &error.field {
                Some(field) => format!("{field}: {}", error.reason),
                None => error.reason.clone(),
            };
            anyhow!("{}", errors.iter().map(line).collect::<Vec<_>>().join("; "))
        }
        Error::Files(FilesFault::Storage(cause)) => anyhow!("the file storage failed: {cause}"),
        Error::Files(FilesFault::Scanner(cause)) => anyhow!("the file scanner failed: {cause}"),
        Error::Files(FilesFault::Damaged) => anyhow!("the stored file is damaged"),
        Error::Store(cause) => anyhow::Error::new(cause),
    }
}

fn fault_in_words(fault: BodyFault) -> String {
    match fault {
        BodyFault::TooLarge { most } => format!("the input is larger than {most} bytes"),
        BodyFault::FileTooLarge { most } => format!("the file is larger than {most} bytes"),
        BodyFault::TooSlow => "the input did not arrive in time".to_owned(),
        BodyFault::NotJson { sent } | BodyFault::NotMultipart { sent } | BodyFault::NotForm { sent } => {
            format!("the input has the wrong content type: {sent}")
        }
        BodyFault::Unreadable(reason) => reason.text,
    }
}

/// Reads an argument with the model's own words for what is wrong with it.
pub fn parse_with<T>(
    parse: fn(&str) -> std::result::Result<T, crate::model::reason::Reasons>,
) -> impl Fn(&str) -> std::result::Result<T, String> + Clone + Send + Sync + 'static
where
    T: 'static,
{
    move |raw| {
        parse(raw).map_err(|reasons| {
            let reasons: Vec<_> = reasons.into_iter().map(|reason| reason.text).collect();
            reasons.join("; ")
        })
    }
}

/// Where in a settings file something is wrong, and what. The parser's own words quote the whole line, which may
/// have a password in it.
fn place_of(text: &str, wrong: &toml::de::Error) -> String {
    let start = wrong.span().map_or(0, |span| span.start);
    let line = text.get(..start).unwrap_or_default().matches('\n').count();
    let name = text.lines().nth(line).and_then(|line| line.split('=').next());
    let name = name.unwrap_or_default().trim();
    format!("line {} ({name}): {}", line + 1, wrong.message())
}

/// The file whose lock says that a server runs on this folder.
pub fn lock_file(folder: &Path) -> PathBuf {
    folder.join("serve.lock")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reason::{Code, Reason};
    use crate::model::scope::Scopes;
    use crate::store::StoreError;

    #[test]
    fn every_error_is_a_sentence_on_the_command_line() {
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
            Error::WrongSide,
            Error::NotFound,
            Error::Stale,
            Error::Body(BodyFault::TooLarge { most: 5 }),
            Error::Body(BodyFault::FileTooLarge { most: 5 }),
            Error::Body(BodyFault::TooSlow),
            Error::Body(BodyFault::NotJson { sent: sent.clone() }),
            Error::Body(BodyFault::NotMultipart { sent: sent.clone() }),
            Error::Body(BodyFault::NotForm { sent }),
            Error::Body(BodyFault::Unreadable(reason.clone())),
            Error::whole(reason),
            Error::Files(FilesFault::Storage("the bucket is away".to_owned())),
            Error::Files(FilesFault::Scanner("it crashed".to_owned())),
            Error::Store(StoreError::Full),
        ];
        for error in errors {
            let text = in_words(error).to_string();
            let plain = |c: char| !matches!(c, '{' | '}' | '(' | ')' | '"');
            assert!(text.chars().all(plain) && text.contains(' '), "{text}");
            assert!(text.starts_with(|c: char| c.is_ascii_lowercase()), "{text}");
        }
    }
}
