//! `garth jobs …`: background jobs.

use std::io::{IsTerminal, Write};

use anyhow::{Context, bail, ensure};
use clap::Subcommand;
use serde::Serialize;

use super::arguments;
use super::output::Output;
use super::store_args::{OpenStore, StoreArgs};
use crate::model::id::JobId;
use crate::model::job::JobSummary;
use crate::rules::jobs;

#[derive(Subcommand)]
pub enum Command {
    /// List jobs, dead ones first, then by due time
    List {
        /// List only dead jobs: those that have failed 10 times and are not retried
        #[arg(long)]
        dead: bool,
    },
    /// Retry a job immediately
    ///
    /// A running server runs the job within a few seconds, even if the job is dead or waiting for a retry. The count of
    /// failed attempts starts again at 0. A job that is running cannot be retried.
    Retry {
        /// ID of the job
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
    /// Delete a job without running it
    ///
    /// Asks for confirmation, unless --yes is set. Recurring jobs cannot be dropped.
    Drop {
        /// ID of the job
        #[arg(value_parser = arguments::id)]
        id: i64,
        /// Drop the job without confirmation
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Serialize)]
struct JobView {
    id: i64,
    kind: String,
    subject: String,
    /// `scheduled`, `running` or `dead`.
    status: &'static str,
    due: String,
    attempts: i64,
    lease_owner: Option<String>,
    lease_until: Option<String>,
    last_error: Option<String>,
}

impl From<JobSummary> for JobView {
    fn from(job: JobSummary) -> Self {
        Self {
            id: job.id.0,
            status: job.status(),
            kind: job.kind,
            subject: job.subject,
            due: job.due.to_string(),
            attempts: job.attempts,
            lease_owner: job.lease_owner,
            lease_until: job.lease_until.map(|until| until.to_string()),
            last_error: job.last_error,
        }
    }
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::List { dead } => list(&store, output, dead).await,
        Command::Retry { id } => {
            let retried = store.write(move |tx| jobs::retry(tx, JobId(id))).await;
            let retried = retried.with_context(|| format!("job {id}"))?;
            ensure!(retried, "job {id} is running and cannot be retried");
            output.one(&serde_json::json!({}), &format!("job {id} is due now"))
        }
        Command::Drop { id, yes } => {
            let job = store.read(move |tx| jobs::load(tx, JobId(id))).await;
            let job = job.with_context(|| format!("job {id}"))?;
            let refusal = format!("job {id} ({}) is recurring and cannot be dropped", job.kind);
            ensure!(!job.is_recurring(), refusal);
            if !yes {
                confirm(&format!("Drop job {id} ({} {})?", job.kind, job.subject))?;
            }
            let dropped = store.write(move |tx| jobs::discard(tx, JobId(id))).await;
            let dropped = dropped.with_context(|| format!("job {id}"))?;
            ensure!(dropped, refusal);
            output.one(&serde_json::json!({}), &format!("dropped job {id}"))
        }
    }
}

async fn list(store: &OpenStore, output: Output, only_dead: bool) -> anyhow::Result<()> {
    let found = store.read(jobs::list).await?;
    let listed = found.into_iter().filter(|job| job.dead || !only_dead);
    let views: Vec<_> = listed.map(JobView::from).collect();
    let head = ["ID", "KIND", "SUBJECT", "STATUS", "DUE", "ATTEMPTS", "LAST ERROR"];
    output.many(&views, &head, |view| {
        vec![
            view.id.to_string(),
            view.kind.clone(),
            view.subject.clone(),
            view.status.to_owned(),
            view.due.clone(),
            view.attempts.to_string(),
            view.last_error.clone().unwrap_or_default(),
        ]
    })
}

/// Asks for confirmation on the terminal. Without a terminal, `--yes` is required.
fn confirm(question: &str) -> anyhow::Result<()> {
    let input = std::io::stdin();
    ensure!(
        input.is_terminal(),
        "confirmation required: add --yes, or run the command in a terminal"
    );
    write!(std::io::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => bail!("canceled"),
    }
}
