//! `garth demo`: a small company to look around in, made by the same rules as everything else, and served.

mod company;
mod maker;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use super::data_folder;
use super::place::Place;
use super::policy::policy_of;
use super::serve::{self, Welcome};
use super::settings::Settings;
use crate::files::Files;
use crate::store::world::{Chance, Clock};
use crate::store::{Store, World};
use maker::{Made, Maker};

/// Where the demo is, unless something else is said.
const FOLDER: &str = "./garth-demo";
/// The file that shows that a folder holds a demo, and whether all of it.
const MARK: &str = "demo";
const BEGUN: &str = "begun\n";
const WHOLE: &str = "whole\n";
/// The company's story begins so many days ago.
const DAYS: i64 = 14;

pub async fn run(place: &Place, settings: Settings) -> anyhow::Result<()> {
    let folder = place.data.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    let mut place = place.clone();
    place.data = Some(folder.clone());
    let settings = serve::complete(&place, settings)?;
    ensure!(
        place.database(&settings)?.is_none(),
        "a demo is made in a folder of its own, not in a database: leave --database out"
    );
    let mark = folder.join(MARK);
    let welcome: Welcome = match std::fs::read_to_string(&mark) {
        Ok(mark) if mark == WHOLE => {
            let folder = folder.clone();
            Box::new(move |address| again(address, &folder))
        }
        Ok(_) => bail!(
            "the demo in {} was begun and never finished: remove the folder, then start again",
            folder.display()
        ),
        Err(_) if folder.join("garth.db").exists() => bail!(
            "there is another store in {}, which a demo must not touch: choose another folder with --data",
            folder.display()
        ),
        Err(_) => {
            let made = make(&folder, &settings).await?;
            Box::new(move |address| first(address, &made))
        }
    };
    serve::start(&place, settings, Some(welcome)).await
}

async fn make(folder: &Path, settings: &Settings) -> anyhow::Result<Made> {
    let _lock = data_folder::lock(folder)?;
    let mark = |text: &str| {
        let path = folder.join(MARK);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    };
    mark(BEGUN)?;
    let long_ago = Clock::System.now().plus_seconds(-DAYS * 24 * 3600);
    let world = World {
        clock: Clock::fixed(long_ago),
        chance: Chance::System,
        policy: policy_of(settings)?,
    };
    let store = Store::open_embedded(folder, world)
        .with_context(|| format!("making a store in {}", folder.display()))?;
    let files = Files::open(settings.attachments.url.as_deref(), folder)?;
    let maker = Maker::new(store.clone(), files, long_ago.plus_seconds(DAYS * 24 * 3600));
    let made = company::found(&maker).await.context("making the demo")?;
    drop(maker);
    store.close().await?;
    mark(WHOLE)?;
    Ok(made)
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
fn again(address: &str, folder: &Path) -> String {
    format!(
        "\nThis demo was made before. Open {address} and log in as one of these:\n\n{}\nIts password was shown when it was made; \
         to set another one:\n\n    garth user password mara --password-stdin --data {}\n",
        people(),
        folder.display()
    )
}

fn people() -> String {
    let line = |(name, who): &(&str, &str)| format!("    {name:<12}{who}\n");
    company::PEOPLE.iter().map(line).collect()
}
