//! `garth demo`: creates a store with sample data and serves it.

mod builder;
mod company;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;

use super::bootstrap_token::output_is_log;
use super::policy::policy_of;
use super::settings::{MinutesByPriority, Settings};
use super::startup_message::{DemoMessage, store_options};
use super::store_args::{StoreArgs, describe_error};
use super::{bucket_keys, serve};
use crate::files::Files;
use crate::model::target::TargetMinutes;
use crate::model::token::Secret;
use crate::rules::{Error, passwords};
use crate::store::context::{Clock, RandomSource};
use crate::store::{Store, StoreContext};
use builder::{Credentials, DemoBuilder};

const DEFAULT_FOLDER: &str = "./garth-demo";
/// The file that identifies a demo folder. Its content shows whether the sample data is complete.
const STATE_FILE: &str = "demo";
const STATE_INCOMPLETE: &str = "begun\n";
const STATE_COMPLETE: &str = "whole\n";
/// The number of days that the sample data covers.
const HISTORY_DAYS: i64 = 14;

#[derive(Args)]
pub struct Options {
    /// Set and print one new password for all users of an existing demo
    #[arg(long)]
    reset_passwords: bool,

    #[command(flatten)]
    settings: Settings,
}

/// The targets of the demo, unless the settings have others.
const FIRST_RESPONSE_MINUTES: TargetMinutes = TargetMinutes([None, Some(24 * 60), Some(4 * 60), Some(30)]);
const RESOLUTION_MINUTES: TargetMinutes =
    TargetMinutes([None, Some(5 * 24 * 60), Some(24 * 60), Some(4 * 60)]);

pub async fn run(store: &StoreArgs, options: Options) -> anyhow::Result<()> {
    let folder = store
        .data
        .clone()
        .unwrap_or_else(|| PathBuf::from(DEFAULT_FOLDER));
    let mut store = store.clone();
    store.data = Some(folder.clone());
    let mut settings = serve::merge_settings(&store, options.settings)?;
    let targets = [FIRST_RESPONSE_MINUTES, RESOLUTION_MINUTES].map(MinutesByPriority);
    settings.desk.first_response_minutes.get_or_insert(targets[0]);
    settings.desk.resolution_minutes.get_or_insert(targets[1]);
    ensure!(
        store.database(&settings)?.is_none(),
        "garth demo creates its own store in a folder and cannot use a database: leave out --database"
    );
    ensure!(
        !(options.reset_passwords && output_is_log()),
        "--reset-passwords prints a password, but a service manager logs the output: run the command in a terminal"
    );
    let exists = exists(&folder)?;
    // Bind the address before the demo is created, because its password is printed only once.
    let prepared = serve::prepare(&store, settings).await?;
    let message: DemoMessage = match (exists, options.reset_passwords) {
        (false, _) => {
            let credentials = create(&folder, &prepared.settings).await?;
            Box::new(move |url| created_message(url, &folder, &credentials))
        }
        (true, true) => {
            let password = reset_passwords(&folder, &prepared.settings).await?;
            Box::new(move |url| existing_message(url, Some(&password)))
        }
        (true, false) => Box::new(move |url| existing_message(url, None)),
    };
    serve::start(prepared, Some(message)).await
}

/// Whether the folder contains a complete demo. An incomplete demo or another store is an error.
fn exists(folder: &Path) -> anyhow::Result<bool> {
    match std::fs::read_to_string(folder.join(STATE_FILE)) {
        Ok(state) if state == STATE_COMPLETE => Ok(true),
        Ok(_) => bail!(
            "the demo in {} is incomplete: delete the folder and run `garth demo` again",
            folder.display()
        ),
        Err(_) if folder.join("garth.db").exists() => bail!(
            "the store in {} is not a demo: choose another folder with --data",
            folder.display()
        ),
        Err(_) => Ok(false),
    }
}

/// Creates the demo. The caller holds the folder's lock.
async fn create(folder: &Path, settings: &Settings) -> anyhow::Result<Credentials> {
    let write_state = |state: &str| {
        let path = folder.join(STATE_FILE);
        std::fs::write(&path, state).with_context(|| format!("cannot write {}", path.display()))
    };
    write_state(STATE_INCOMPLETE)?;
    let now = Clock::System.now();
    let start = now.plus_seconds(-HISTORY_DAYS * 24 * 3600);
    let store = open(folder, settings, Clock::fixed(start))?;
    let keys = bucket_keys::read(&settings.attachments)?;
    let files = Files::open_with(settings.attachments.url.as_deref(), folder, keys.as_ref())?;
    let builder = DemoBuilder::new(store.clone(), files, now);
    let credentials = company::create(&builder).await.context("creating the demo")?;
    drop(builder);
    store.close().await?;
    write_state(STATE_COMPLETE)?;
    Ok(credentials)
}

/// Sets a new password for all users of the demo. The caller holds the folder's lock.
async fn reset_passwords(folder: &Path, settings: &Settings) -> anyhow::Result<Secret> {
    let store = open(folder, settings, Clock::System)?;
    let password = builder::random_password(&store);
    let hash = passwords::hash(&password).map_err(describe_error)?;
    let reset = store.write(move |tx| {
        for (name, _) in company::users::USERS {
            match passwords::set(tx, name, &hash) {
                // The user may have been deleted.
                Ok(_) | Err(Error::NotFound) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    });
    reset
        .await
        .map_err(describe_error)
        .context("resetting the passwords of the demo")?;
    store.close().await?;
    Ok(password)
}

fn open(folder: &Path, settings: &Settings, clock: Clock) -> anyhow::Result<Store> {
    let context = StoreContext {
        clock,
        random: RandomSource::System,
        policy: policy_of(settings)?.into(),
    };
    let opened = Store::open_embedded(folder, context);
    opened.with_context(|| format!("cannot open the store in {}", folder.display()))
}

/// The message after the demo was created. If the output is a log, the message contains no secrets.
fn created_message(url: &str, folder: &Path, credentials: &Credentials) -> String {
    let Credentials { password, token } = credentials;
    let users = user_list();
    if output_is_log() {
        let store_options = store_options(folder, false);
        return format!(
            "\nCreated the demo, a small company with networks, instances and tickets.\nOpen {url} and log in as one of \
             these users:\n\n{users}\nTheir password is not printed, because this output is logged. To set the password of \
             one of them:\n\n    garth user link mara{store_options}\n"
        );
    }
    format!(
        "\nCreated the demo, a small company with networks, instances and tickets.\nOpen {url} and log in as one of the \
         users below. They all have this password, shown only once:\n\n    {}\n\n{users}\nTo call the API as mara:\n\n    \
         curl -H \"Authorization: Bearer {}\" {url}/v4/vpcs\n",
        password.reveal(),
        token.reveal()
    )
}

/// The message for a demo that already existed.
fn existing_message(url: &str, new_password: Option<&Secret>) -> String {
    let users = user_list();
    let password = match new_password {
        Some(password) => format!("Their new password, shown only once:\n\n    {}\n", password.reveal()),
        None => {
            "Their password was printed when the demo was created. To set a new one, stop the demo and run it with \
             --reset-passwords.\n"
                .to_owned()
        }
    };
    format!("\nUsing the existing demo. Open {url} and log in as one of these users:\n\n{users}\n{password}")
}

fn user_list() -> String {
    let line = |(name, description): &(&str, &str)| format!("    {name:<12}{description}\n");
    company::users::USERS.iter().map(line).collect()
}
