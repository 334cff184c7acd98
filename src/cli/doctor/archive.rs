//! The continuous archive: whether the server's uploads succeed.

use std::path::Path;

use super::advice::Advice;
use super::folder::FolderProblem;
use crate::archiving::format::precise;
use crate::archiving::status;
use crate::archiving::target::folder_of;
use crate::cli::data_folder;
use crate::cli::settings::Settings;
use crate::cli::store_args::StoreArgs;
use crate::model::time::Time;
use crate::store::context::Clock;

/// A running server records a success every 30 seconds.
const MAX_AGE_SECONDS: i64 = 300;

const FIX: &str = "check that the folder or bucket is reachable, that the user of the server can write to it (systemd: \
    ReadWritePaths), and that it has space; the server then catches up by itself";

pub fn examine(args: &StoreArgs, settings: &Settings) -> Option<Advice> {
    let url = settings.archive.as_ref()?;
    let problem = folder_of(url).and_then(|folder| Some((FolderProblem::find(&folder)?, folder)));
    match problem {
        None => examine_status(args, settings),
        Some((FolderProblem::Missing, lost)) => {
            examine_status(args, settings).or_else(|| examine_lost(args, settings, &lost))
        }
        Some((problem, folder)) => {
            let fix = problem.permissions_fix(&folder).unwrap_or_else(|| FIX.to_owned());
            Some(Advice::new("archive", problem.describe(&folder), fix))
        }
    }
}

/// Finds a folder that has disappeared. The server creates the folder of a new archive.
fn examine_lost(args: &StoreArgs, settings: &Settings, folder: &Path) -> Option<Advice> {
    status::read(&args.folder(settings))?;
    Some(Advice::new(
        "archive",
        format!(
            "{} does not exist, but this store was archived before",
            folder.display()
        ),
        "mount the disk, or create the folder to begin a new archive; the server does not start without it",
    ))
}

fn examine_status(args: &StoreArgs, settings: &Settings) -> Option<Advice> {
    let folder = args.folder(settings);
    let status = status::read(&folder)?;
    let until = Time::from_micros(status.archived_until_micros);
    let is_running = data_folder::locking_process(&folder)
        .is_some_and(|process| Path::new(&format!("/proc/{process}")).exists());
    let is_old = is_running && until.plus_seconds(MAX_AGE_SECONDS) < Clock::System.now();
    let cause = match status.error {
        Some(error) => error,
        None if is_old => "the server does not upload".to_owned(),
        None => return None,
    };
    Some(Advice::new(
        "archive",
        format!(
            "the archive is behind: it has all writes until {}: {cause}",
            precise(until)
        ),
        FIX,
    ))
}
