//! The list of background jobs: retry and cancel.

use axum::extract::State;
use maud::{Markup, html};

use super::account_summary::refused;
use super::tabs::{JOBS as LIST, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::FormData;
use crate::console::layout::{empty_state, pagination, pluralize, redirect_with_notice, time};
use crate::console::query::Query;
use crate::console::threads::confirmation;
use crate::console::visit::Visit;
use crate::model::id::JobId;
use crate::model::job::{JobKind, JobSummary};
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let list_request = query.list_request();
    let jobs = app
        .read(staff, move |tx, _| rules::jobs::page(tx, &list_request))
        .await?;
    let body = html! {
        (tabs(&visit, LIST.1))
        div .title { h1 { "Jobs" } }
        p .lead { "Background work. A job that fails ten times is dead, until you retry or cancel it." }
        @if let Some(message) = &visit.refused { div .alert role="alert" { p { (message) } } }
        @if jobs.items.is_empty() {
            (empty_state("No jobs", "There is no background work.", None))
        } @else {
            p .count role="status" { (pluralize(jobs.results as usize, "job", "jobs")) }
            table .list {
                thead { tr {
                    th scope="col" { "Job" } th scope="col" { "Status" } th scope="col" { "Due" } th scope="col" { "Attempts" }
                    th scope="col" { "Last error" } th scope="col" { span .hidden { "Actions" } }
                } }
                tbody { @for job in &jobs.items { (row(&visit, job)) } }
            }
            (pagination(&jobs, LIST.1))
        }
    };
    Ok(visit.page("Jobs", &[], &body))
}

/// The work of a job in words.
fn task(job: &JobSummary) -> Option<&'static str> {
    JobKind::parse(&job.kind).map(|kind| match kind {
        JobKind::InstancePower => "Start or stop an instance",
        JobKind::DiskWork => "Work on a disk",
        JobKind::HostDrain => "Drain a host",
        JobKind::MailSend => "Send a mail",
        JobKind::IdentityRetention => "Remove expired sessions, links and tokens",
        JobKind::EventRetention => "Delete old events",
        JobKind::UploadSweep => "Remove incomplete uploads",
        JobKind::AttachmentScrub => "Verify attachments",
        JobKind::DatabaseCheck => "Check the database",
    })
}

fn row(visit: &Visit, job: &JobSummary) -> Markup {
    let action = |action: &str| format!("{}/{}/{action}", LIST.1, job.id);
    html! {
        tr {
            th scope="row" { @if let Some(task) = task(job) { (task) br; } span .quiet.small { (job.kind) @if !job.subject.is_empty() { " " (job.subject) } } " " span .id { (job.id) } }
            td data-label="Status" { span .tag .bad[job.dead] .on[job.lease_owner.is_some()] { (job.status()) } }
            td data-label="Due" { (time(job.due)) }
            td data-label="Attempts" { (job.attempts) }
            td data-label="Last error" { (job.last_error.as_deref().unwrap_or_default()) }
            td { div .actions {
                form method="post" action=(action("retry")) {
                    (visit.form_token())
                    button type="submit" { @if job.attempts == 0 { "Run now" } @else { "Retry" } span .hidden { " job " (job.id) } }
                }
                @if job.is_recurring() {
                    span .quiet.small { "Recurring: cannot be canceled" }
                } @else {
                    (confirmation("Cancel", (true, None), &html! {
                        p { "The job is deleted, and its work is not completed. The instance or disk of the job stays busy until it is deleted. A host stops draining." }
                        form method="post" action=(action("cancel")) {
                            (visit.form_token())
                            button .danger type="submit" { "Cancel job " (job.id) }
                        }
                    }))
                }
            } }
        }
    }
}

pub async fn retry(State(app): State<App>, staff: Staff, At(id): At<JobId>, data: FormData) -> PageResult {
    let request = data.request(Vec::new());
    let retried = app
        .write(staff, move |tx, _| rules::jobs::retry_from(tx, id, &request))
        .await;
    match retried {
        Ok(_) => Ok(redirect_with_notice(LIST.1, "job-retried")),
        Err(error) => refused(LIST.1, error),
    }
}

pub async fn cancel(State(app): State<App>, staff: Staff, At(id): At<JobId>, data: FormData) -> PageResult {
    let request = data.request(Vec::new());
    let canceled = app
        .write(staff, move |tx, _| rules::jobs::cancel(tx, id, &request))
        .await;
    match canceled {
        Ok(()) => Ok(redirect_with_notice(LIST.1, "job-canceled")),
        Err(error) => refused(LIST.1, error),
    }
}
