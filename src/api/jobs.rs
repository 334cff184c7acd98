//! Operations on background jobs for staff, and their JSON views.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::{ViewContext, change_at, done, list, view_at};
use crate::model::job::JobSummary;
use crate::model::page::Paged;
use crate::model::staff_role::StaffRole;
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::answer;
use crate::web::operation::{Operation, get, post};

/// The operations on jobs (decision 0034).
pub fn operations() -> Vec<Operation> {
    vec![
        get(
            "getJobs",
            "/provider/jobs",
            list(|tx, _: &Staff, list| rules::jobs::page(tx, list), page),
        )
        .of_provider(StaffRole::Operator)
        .list(),
        get(
            "getJob",
            "/provider/jobs/{jobId}",
            view_at(|tx, _: &Staff, id| rules::jobs::load(tx, id), one),
        )
        .of_provider(StaffRole::Operator),
        post(
            "retryJob",
            "/provider/jobs/{jobId}/retry",
            change_at(
                |tx, _: &Staff, id, request| rules::jobs::retry_from(tx, id, request),
                one,
            ),
        )
        .of_provider(StaffRole::Operator),
        post(
            "cancelJob",
            "/provider/jobs/{jobId}/cancel",
            change_at(
                |tx, _: &Staff, id, request| rules::jobs::cancel(tx, id, request),
                done,
            ),
        )
        .of_provider(StaffRole::Operator),
    ]
}

#[derive(Serialize)]
struct JobView<'a> {
    id: i64,
    kind: &'a str,
    subject: &'a str,
    status: &'static str,
    attempts: i64,
    #[serde(serialize_with = "answer::time")]
    due: Time,
    last_error: Option<&'a str>,
    recurring: bool,
}

impl<'a> JobView<'a> {
    fn new(job: &'a JobSummary) -> Self {
        Self {
            id: job.id.0,
            kind: &job.kind,
            subject: &job.subject,
            status: job.status(),
            attempts: job.attempts,
            due: job.due,
            last_error: job.last_error.as_deref(),
            recurring: job.is_recurring(),
        }
    }
}

fn one(job: &JobSummary, _: &ViewContext) -> Response {
    answer::one(job, &JobView::new(job))
}

fn page(jobs: &Paged<JobSummary>, _: &ViewContext) -> Response {
    answer::page(jobs, JobView::new)
}
