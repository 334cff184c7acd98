//! The store: whether it opens, its version, the settings of its database, and work that failed.

use std::path::Path;

use super::advice::Advice;
use crate::cli::data_folder;
use crate::cli::policy::policy_of;
use crate::cli::settings::Settings;
use crate::cli::store_args::{StoreArgs, describe_error};
use crate::rules::Error;
use crate::store::diagnosis::Diagnosis;
use crate::store::{Schema, StoreError, attachment_checks, jobs};

pub async fn examine(args: &StoreArgs, settings: &Settings) -> Vec<Advice> {
    let folder = args.folder(settings);
    let Ok(database) = args.database(settings) else {
        // Invalid settings are reported already.
        return Vec::new();
    };
    let uses_embedded_store = database.is_none();
    if policy_of(settings).is_err() || (uses_embedded_store && !folder.join("garth.db").exists()) {
        // The settings are reported already, or this is a new installation: the first start creates the store.
        return Vec::new();
    }
    let mut advice = Vec::new();
    if uses_embedded_store {
        advice.extend(examine_server(&folder));
        advice.extend(examine_log(&folder));
    }
    let opened = match args.open_with(&Schema::current_only()) {
        Ok(opened) => opened,
        Err(error) => {
            advice.push(Advice::new(
                "store",
                format!("{error:#}"),
                opening_fix(&error, uses_embedded_store),
            ));
            return advice;
        }
    };
    let found = opened.store().read_once(|tx| {
        let diagnoses = tx.diagnose()?;
        let dead: i64 = jobs::count(tx)?.iter().map(|count| count.dead).sum();
        Ok::<_, Error>((diagnoses, dead, attachment_checks::count_damaged(tx)?))
    });
    match found.await.map_err(describe_error) {
        Ok((diagnoses, dead, damaged)) => {
            advice.extend(diagnoses.into_iter().map(database_advice));
            advice.extend(work_advice(dead, damaged));
        }
        Err(error) => advice.push(Advice::new("store", format!("{error:#}"), "run garth check")),
    }
    advice
}

/// The fix for a store that does not open.
fn opening_fix(error: &anyhow::Error, uses_embedded_store: bool) -> &'static str {
    match (error.downcast_ref::<StoreError>(), uses_embedded_store) {
        (Some(StoreError::OlderSchema(_)), _) => {
            "make a backup with garth backup, then start the server, which upgrades the store"
        }
        (Some(StoreError::UnfinishedRestore(_)), _) => "run the same garth restore again, which finishes it",
        (Some(StoreError::Schema(_)), _) => {
            "select a database of Garth with UTF-8: correct --data, --database or the settings file"
        }
        (Some(StoreError::OtherSchema(_)), _) => {
            "use the version of Garth that last used the store, or restore a backup of this version"
        }
        (Some(StoreError::Unavailable(_)), true) => "end the program that locks garth.db",
        (Some(StoreError::Unavailable(_)), false) => {
            "start the database server, and check the host, the user and the password in the settings"
        }
        (Some(StoreError::Files(..)), _) => {
            "run garth as the user of the server, and check the permissions of its files"
        }
        (_, true) => "stop the server, copy the data folder, then restore a backup: garth.db is damaged",
        (_, false) => "check the log of the database server, and the permissions of the database user",
    }
}

/// Above this size, the write-ahead log is not being emptied.
const MAX_LOG_BYTES: u64 = 1 << 30;

/// Finds a write-ahead log that grows, because an old read transaction prevents its reuse.
fn examine_log(folder: &Path) -> Option<Advice> {
    let size = std::fs::metadata(folder.join("garth.db-wal")).ok()?.len();
    (size > MAX_LOG_BYTES).then(|| {
        Advice::new(
            "database",
            format!("the write-ahead log garth.db-wal has {} MiB", size >> 20),
            "end commands and tools that have been reading the database for long",
        )
    })
}

fn database_advice(diagnosis: Diagnosis) -> Advice {
    Advice::new("database", diagnosis.problem, diagnosis.fix)
}

fn work_advice(dead_jobs: i64, damaged: i64) -> Vec<Advice> {
    let mut advice = Vec::new();
    if dead_jobs > 0 {
        advice.push(Advice::new(
            "jobs",
            format!("{dead_jobs} background jobs have failed for good"),
            "run garth jobs list, fix the cause, then run garth jobs retry",
        ));
    }
    if damaged > 0 {
        advice.push(Advice::new(
            "attachments",
            format!("{damaged} attachments do not match their hash"),
            "run garth check --attachments, then restore the files from a backup",
        ));
    }
    advice
}

/// Finds a server that still runs a binary that an upgrade has replaced.
fn examine_server(folder: &Path) -> Option<Advice> {
    let process = data_folder::locking_process(folder)?;
    let program = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
    program.to_string_lossy().ends_with(" (deleted)").then(|| {
        Advice::new(
            "server",
            format!("process {process} runs a binary that was replaced"),
            "restart the server",
        )
    })
}
