//! The attachment storage, for commands that attach files.

use anyhow::Context;

use super::bucket_keys;
use super::settings::Settings;
use super::store_args::{OpenStore, StoreArgs};
use crate::files::{Files, Scanner};
use crate::uploads::Uploads;

/// Opens the attachment storage of a store, with the scanner.
pub fn open(store: &StoreArgs, opened: &OpenStore) -> anyhow::Result<Uploads> {
    let settings = Settings::from_environment()?.or(store.settings_file()?);
    let scanner = settings.attachments.scan_command.as_deref();
    let scanner =
        scanner.map(|command| Scanner::parse(command).context("attachments.scan_command: must not be empty"));
    let keys = bucket_keys::read(&settings.attachments)?;
    let folder = store.folder(&settings);
    Ok(Uploads {
        store: opened.store().clone(),
        files: Files::open_with(settings.attachments.url.as_deref(), &folder, keys.as_ref())?,
        scanner: scanner.transpose()?,
    })
}
