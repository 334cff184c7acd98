//! `garth demo`: a small company to look around in, made by the same rules as everything else, and served.

mod company;
mod maker;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;

use super::greeting::Welcome;
use super::place::{Place, in_words};
use super::policy::policy_of;
use super::settings::Settings;
use super::{bucket_keys, serve};
use crate::files::Files;
use crate::model::token::Secret;
use crate::rules::{Error, passwords};
use crate::store::context::{Clock, RandomSource};
use crate::store::{Store, StoreContext};
use maker::{Made, Maker};

/// Where the demo is, unless something else is said.
const FOLDER: &str = "./garth-demo";
/// The file that shows that a folder holds a demo, and whether all of it.
const MARK: &str = "demo";
const BEGUN: &str = "begun\n";
const WHOLE: &str = "whole\n";
/// The company's story begins so many days ago.
const DAYS: i64 = 14;

#[derive(Args)]
pub struct Options {
    /// Set a new password for all users of a demo that was made before, and print it
    #[arg(long)]
    reset_passwords: bool,

    #[command(flatten)]
    settings: Settings,
}

pub async fn run(place: &Place, options: Options) -> anyhow::Result<()> {
    let folder = place.data.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    let mut place = place.clone();
    place.data = Some(folder.clone());
    let settings = serve::complete(&place, options.settings)?;
    ensure!(
        place.database(&settings)?.is_none(),
        "a demo is made in a folder of its own, not in a database: leave --database out"
    );
    let is_made = is_made(&folder)?;
    // The address is taken before anything is made: a password is shown only once.
    let prepared = serve::prepare(&place, settings).await?;
    let welcome: Welcome = match (is_made, options.reset_passwords) {
        (false, _) => {
            let made = make(&folder, &prepared.settings).await?;
            Box::new(move |url| first(url, &made))
        }
        (true, true) => {
            let password = reset_passwords(&folder, &prepared.settings).await?;
            Box::new(move |url| again(url, Some(&password)))
        }
        (true, false) => Box::new(move |url| again(url, None)),
    };
    serve::start(prepared, Some(welcome)).await
}

/// Whether there is a demo in this folder, if there may be one.
fn is_made(folder: &Path) -> anyhow::Result<bool> {
    match std::fs::read_to_string(folder.join(MARK)) {
        Ok(mark) if mark == WHOLE => Ok(true),
        Ok(_) => bail!(
            "the demo in {} was begun and never finished: remove the folder, then start again",
            folder.display()
        ),
        Err(_) if folder.join("garth.db").exists() => bail!(
            "there is another store in {}, which a demo must not touch: choose another folder with --data",
            folder.display()
        ),
        Err(_) => Ok(false),
    }
}

/// Makes the demo. The caller holds the folder's lock.
async fn make(folder: &Path, settings: &Settings) -> anyhow::Result<Made> {
    let mark = |text: &str| {
        let path = folder.join(MARK);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    };
    mark(BEGUN)?;
    let long_ago = Clock::System.now().plus_seconds(-DAYS * 24 * 3600);
    let store = open(folder, settings, Clock::fixed(long_ago))?;
    let keys = bucket_keys::read(&settings.attachments)?;
    let files = Files::open_with(settings.attachments.url.as_deref(), folder, keys.as_ref())?;
    let maker = Maker::new(store.clone(), files, long_ago.plus_seconds(DAYS * 24 * 3600));
    let made = company::found(&maker).await.context("making the demo")?;
    drop(maker);
    store.close().await?;
    mark(WHOLE)?;
    Ok(made)
}

/// Sets a new password for everybody in the demo. The caller holds the folder's lock.
async fn reset_passwords(folder: &Path, settings: &Settings) -> anyhow::Result<Secret> {
    let store = open(folder, settings, Clock::System)?;
    let password = maker::password(&store);
    let hash = passwords::hash(&password).map_err(in_words)?;
    let reset = store.write(move |tx| {
        for (name, _) in company::PEOPLE {
            match passwords::set(tx, name, &hash) {
                // People look around in a demo, and may have deleted somebody.
                Ok(_) | Err(Error::NotFound) => {}
                Err(other) => return Err(other),
            }
        }
        Ok(())
    });
    reset
        .await
        .map_err(in_words)
        .context("resetting the passwords of the demo")?;
    store.close().await?;
    Ok(password)
}

fn open(folder: &Path, settings: &Settings, clock: Clock) -> anyhow::Result<Store> {
    let context = StoreContext {
        clock,
        random: RandomSource::System,
        policy: policy_of(settings)?,
    };
    let opened = Store::open_embedded(folder, context);
    opened.with_context(|| format!("opening the store in {}", folder.display()))
}

/// What is said when the demo has just been made.
fn first(address: &str, made: &Made) -> String {
    let Made { password, token } = made;
    let people = people();
    format!(
        "\nThis is a demo: a small company with networks, instances and tickets, all of it made up.\nOpen {address} and log in \
         as one of these, all with the password, shown only this once:\n\n    {}\n\n{people}\nThe API as mara:\n\n    curl -H \
         \"Authorization: Bearer {}\" {address}/v4/vpcs\n",
        password.reveal(),
        token.reveal()
    )
}

/// The same when it was there already.
fn again(address: &str, password: Option<&Secret>) -> String {
    let people = people();
    let password = match password {
        Some(password) => format!(
            "Their new password, shown only this once:\n\n    {}\n",
            password.reveal()
        ),
        None => {
            "Their password was shown when the demo was made; to set and show a new one, stop it and add \
                 --reset-passwords.\n"
                .to_owned()
        }
    };
    format!("\nThis demo was made before. Open {address} and log in as one of these:\n\n{people}\n{password}")
}

fn people() -> String {
    let line = |(name, who): &(&str, &str)| format!("    {name:<12}{who}\n");
    company::PEOPLE.iter().map(line).collect()
}
