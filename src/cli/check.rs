//! `garth check`: checks the integrity of a store and of its attachments.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::output::Output;
use super::settings::Settings;
use super::store_args::{StoreArgs, describe_error};
use super::{bucket_keys, serve};
use crate::files::Files;
use crate::rules::Error;
use crate::store::check::{self, Finding};
use crate::store::{CheckDepth, Schema, Store, StoreError, check_embedded_file};
use crate::uploads::check::{check_contents, check_files};

#[derive(Args)]
pub struct Options {
    /// Read every attachment and verify its SHA-256 hash
    #[arg(long)]
    attachments: bool,
}

/// The exit code if problems were found.
const EXIT_PROBLEMS_FOUND: u8 = 1;
/// The exit code if the store cannot be checked.
pub const EXIT_NOT_CHECKED: u8 = 2;

/// An object that violates an invariant.
#[derive(Serialize)]
struct FindingView {
    check: &'static str,
    object: String,
    problem: String,
}

pub async fn run(args: &StoreArgs, output: Output, options: Options) -> anyhow::Result<ExitCode> {
    let settings = serve::merge_settings(args, Settings::from_environment()?)?;
    let opened = match args.open_with(&Schema::current_only()) {
        Ok(opened) => opened,
        Err(error) => return report(output, check_unopened(args, &settings, error)?),
    };
    let store = opened.store();
    let keys = bucket_keys::read(&settings.attachments)?;
    let folder = args.folder(&settings);
    let files = Files::open_existing(settings.attachments.url.as_deref(), &folder, keys.as_ref())
        .context("cannot open the attachment storage")?;
    let bar = progress_bar();
    let findings = find_problems(store, &files, options.attachments, &bar).await;
    bar.finish_and_clear();
    report(output, findings?)
}

async fn find_problems(
    store: &Store,
    files: &Files,
    read_contents: bool,
    bar: &ProgressBar,
) -> anyhow::Result<Vec<Finding>> {
    bar.set_message("the database");
    let mut findings: Vec<_> = store
        .check(CheckDepth::Full)
        .await?
        .into_iter()
        .map(file_finding)
        .collect();
    let progress = bar.clone();
    let checked = store.read_once(move |tx| {
        let findings = check::check_all(tx, |name| {
            progress.set_message(name);
            progress.inc(1);
        });
        Ok::<_, Error>(findings?)
    });
    findings.extend(checked.await.map_err(describe_error)?);
    bar.set_message("attachment files");
    findings.extend(finish(check_files(store, files).await)?);
    if read_contents {
        let progress = |number: usize, total: usize| {
            bar.set_length(total as u64);
            bar.set_position(number as u64);
            bar.set_message("attachment hashes");
        };
        findings.extend(finish(check_contents(store, files, progress).await)?);
    }
    Ok(findings)
}

/// The findings of a check of files. If the rows of the attachments cannot be read, this is a finding, too.
fn finish(checked: Result<Vec<Finding>, Error>) -> anyhow::Result<Vec<Finding>> {
    match checked {
        Err(Error::Store(cause @ (StoreError::Database(_) | StoreError::Corrupt { .. }))) => {
            Ok(vec![Finding {
                invariant: "the files of attachments can be checked",
                object: "attachments".to_owned(),
                problem: format!("cannot be checked: {cause}"),
            }])
        }
        checked => checked.map_err(describe_error),
    }
}

/// Checks the file of a store that does not open. Returns the error if the file cannot be read at all.
fn check_unopened(
    args: &StoreArgs,
    settings: &Settings,
    error: anyhow::Error,
) -> anyhow::Result<Vec<Finding>> {
    let is_damaged = matches!(error.downcast_ref(), Some(StoreError::Database(_)));
    if !is_damaged || args.database(settings)?.is_some() {
        return Err(error);
    }
    let lines = match check_embedded_file(&args.folder(settings)) {
        Ok(lines) if !lines.is_empty() => lines,
        _ => return Err(error),
    };
    let mut findings: Vec<_> = lines.into_iter().map(file_finding).collect();
    findings.push(file_finding(format!("the store cannot be opened: {error:#}")));
    Ok(findings)
}

fn file_finding(problem: String) -> Finding {
    Finding {
        invariant: "the database file is intact",
        object: "database".to_owned(),
        problem,
    }
}

fn report(output: Output, findings: Vec<Finding>) -> anyhow::Result<ExitCode> {
    let view = |finding: Finding| FindingView {
        check: finding.invariant,
        object: finding.object,
        problem: finding.problem,
    };
    let views: Vec<_> = findings.into_iter().map(view).collect();
    if views.is_empty() && !output.json {
        output.text("no problems found")?;
        return Ok(ExitCode::SUCCESS);
    }
    output.many(&views, &["CHECK", "OBJECT", "PROBLEM"], |view| {
        vec![view.check.to_owned(), view.object.clone(), view.problem.clone()]
    })?;
    Ok(match views.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(EXIT_PROBLEMS_FOUND),
    })
}

fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos} of {len}, {msg}");
    let bar = ProgressBar::new(check::invariants().count() as u64);
    bar.set_style(style.expect("the template is valid"));
    bar
}
