//! The continuous archive: whether the server's uploads succeed.

use super::advice::Advice;
use crate::archiving::format::precise;
use crate::archiving::status;
use crate::cli::data_folder;
use crate::cli::settings::Settings;
use crate::cli::store_args::StoreArgs;
use crate::model::time::Time;
use crate::store::context::Clock;

/// A running server records a success every 30 seconds.
const MAX_AGE_SECONDS: i64 = 300;

pub fn examine(args: &StoreArgs, settings: &Settings) -> Option<Advice> {
    settings.archive.as_ref()?;
    let folder = args.folder(settings);
    let status = status::read(&folder)?;
    let until = Time::from_micros(status.archived_until_micros);
    let is_running = data_folder::locking_process(&folder)
        .is_some_and(|process| std::path::Path::new(&format!("/proc/{process}")).exists());
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
        "check that the folder or bucket is reachable and has space; the server then catches up by itself",
    ))
}
