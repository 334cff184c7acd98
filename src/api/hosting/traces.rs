//! The JSON view of a trace.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::time::Time;
use crate::model::trace::{Hop, ReportAge};
use crate::rules::traces::Traced;
use crate::web::answer;

#[derive(Serialize)]
pub struct TraceView<'a> {
    instance_id: i64,
    address: String,
    outcome: &'static str,
    cause: Option<&'static str>,
    reason: Option<&'a str>,
    hops: Vec<HopView<'a>>,
    reports: Vec<ReportView<'a>>,
}

#[derive(Serialize)]
struct HopView<'a> {
    place: &'a str,
    action: &'a str,
}

/// The report of a host on the path.
#[derive(Serialize)]
struct ReportView<'a> {
    host: &'a str,
    #[serde(serialize_with = "answer::optional_time")]
    last_seen: Option<Time>,
    age_seconds: Option<i64>,
    stale: bool,
}

impl<'a> TraceView<'a> {
    pub fn new(traced: &'a Traced) -> Self {
        let trace = &traced.trace;
        let hop = |hop: &'a Hop| HopView {
            place: &hop.place,
            action: &hop.action,
        };
        let report = |report: &'a ReportAge| ReportView {
            host: &report.host,
            last_seen: report.last_seen,
            age_seconds: report.last_seen.map(|_| report.seconds),
            stale: report.is_stale(),
        };
        Self {
            instance_id: traced.instance.id.0,
            address: traced.address.to_string(),
            outcome: trace.outcome.word(),
            cause: trace.outcome.cause().map(|cause| cause.word()),
            reason: trace.outcome.reason(),
            hops: trace.hops.iter().map(hop).collect(),
            reports: trace.reports.iter().map(report).collect(),
        }
    }
}

pub fn one(traced: &Traced, _: &ViewContext) -> Response {
    answer::json(StatusCode::OK, &TraceView::new(traced))
}
