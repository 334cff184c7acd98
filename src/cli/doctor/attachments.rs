//! The storage of attachments, and the command that scans them.

use std::path::Path;

use super::advice::Advice;
use super::files::examine_private_folder;
use super::folder::FolderProblem;
use crate::cli::bucket_keys;
use crate::cli::settings::Settings;
use crate::cli::store_args::StoreArgs;
use crate::files::{Files, Scanner, storage_folder};

pub async fn examine(args: &StoreArgs, settings: &Settings) -> Vec<Advice> {
    let data = args.folder(settings);
    let mut advice = Vec::new();
    match storage_folder(settings.attachments.url.as_deref(), &data) {
        Some(folder) => advice.extend(examine_folder(&folder, &data, settings)),
        None => advice.extend(examine_bucket(&data, settings).await),
    }
    let command = settings.attachments.scan_command.as_deref();
    if let Some(Err(problem)) = command.and_then(Scanner::parse).map(|scanner| scanner.find()) {
        advice.push(Advice::new(
            "attachments.scan_command",
            problem,
            "install the scanner, or correct the setting: until then, every upload fails",
        ));
    }
    advice
}

fn examine_folder(folder: &Path, data: &Path, settings: &Settings) -> Vec<Advice> {
    let Some(problem) = FolderProblem::find(folder) else {
        return examine_private_folder(folder, "attachments", settings);
    };
    // The first start creates the folder, and creates it in the data folder, whose problems are reported anyway.
    let is_new = !data.join("spool").exists();
    let is_reported = folder.starts_with(data) && FolderProblem::find(data).is_some();
    if is_reported || (is_new && matches!(problem, FolderProblem::Missing)) {
        return Vec::new();
    }
    let fix = problem.permissions_fix(folder).unwrap_or_else(|| {
        "mount the disk with the attachments, or correct attachments.url; if there are no attachments yet, create the \
         folder"
            .to_owned()
    });
    vec![Advice::new("attachments", problem.describe(folder), fix)]
}

/// Finds a bucket that does not respond. Invalid settings of the bucket are reported as settings.
async fn examine_bucket(data: &Path, settings: &Settings) -> Option<Advice> {
    let keys = bucket_keys::read(&settings.attachments).ok()?;
    let url = settings.attachments.url.as_deref();
    let files = Files::open_existing(url, data, keys.as_ref()).ok()?;
    let cause = files.probe().await.err()?;
    Some(Advice::new(
        "attachments",
        format!("the bucket is not available: {cause}"),
        "check the name of the bucket in attachments.url, its keys, and AWS_ENDPOINT_URL",
    ))
}
