//! The store: whether it opens, its version, the settings of its database, and work that failed.

use std::path::Path;

use super::advice::Advice;
use crate::cli::data_folder;
use crate::cli::settings::Settings;
use crate::cli::store_args::{StoreArgs, describe_error};
use crate::rules::Error;
use crate::store::diagnosis::Diagnosis;
use crate::store::{Schema, jobs, scrub};

pub async fn examine(args: &StoreArgs, settings: &Settings) -> Vec<Advice> {
    let folder = args.folder(settings);
    let uses_embedded_store = matches!(args.database(settings), Ok(None));
    if uses_embedded_store && !folder.join("garth.db").exists() {
        // A new installation: the first start creates the store.
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
            let fix = "read the message; if the schema is older, make a backup and start the new version of the server";
            advice.push(Advice::new("store", format!("{error:#}"), fix));
            return advice;
        }
    };
    let found = opened.store().read_once(|tx| {
        let diagnoses = tx.diagnose()?;
        let dead: i64 = jobs::count(tx)?.iter().map(|count| count.dead).sum();
        Ok::<_, Error>((diagnoses, dead, scrub::count_damaged(tx)?))
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
