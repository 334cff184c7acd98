//! The JSON view of a trace.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::trace::Outcome;
use crate::rules::traces::Traced;
use crate::web::answer;

#[derive(Serialize)]
struct TraceView<'a> {
    instance_id: i64,
    address: String,
    outcome: &'static str,
    cause: Option<&'static str>,
    reason: Option<&'a str>,
    hops: Vec<HopView<'a>>,
}

#[derive(Serialize)]
struct HopView<'a> {
    place: &'a str,
    action: &'a str,
}

pub fn one(traced: &Traced, _: &ViewContext) -> Response {
    let (outcome, cause, reason) = match &traced.trace.outcome {
        Outcome::Delivered => ("delivered", None, None),
        Outcome::Dropped(cause, reason) => ("dropped", Some(cause.word()), Some(reason.as_str())),
        Outcome::Uncertain(reason) => ("uncertain", None, Some(reason.as_str())),
    };
    let hops = traced.trace.hops.iter();
    let view = TraceView {
        instance_id: traced.instance.id.0,
        address: traced.address.to_string(),
        outcome,
        cause,
        reason,
        hops: hops
            .map(|hop| HopView {
                place: &hop.place,
                action: &hop.action,
            })
            .collect(),
    };
    answer::json(StatusCode::OK, &view)
}
