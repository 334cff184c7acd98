//! Health endpoints for load balancers and monitoring: liveness and readiness.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::model::reason::Code;
use crate::web::error::{ErrorView, errors_of};
use crate::web::readiness::{self, Report};
use crate::web::{App, answer};

#[derive(serde::Serialize)]
struct HealthView {
    status: &'static str,
}

#[derive(serde::Serialize)]
struct ReadinessView {
    status: &'static str,
    checks: ChecksView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<ErrorView<'static>>,
}

struct ChecksView(Report);

impl Serialize for ChecksView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (check, outcome) in self.0.checks() {
            map.serialize_entry(check, outcome.word())?;
        }
        map.end()
    }
}

/// Liveness: the process answers.
pub async fn alive() -> Response {
    answer::json(StatusCode::OK, &HealthView { status: "ok" })
}

/// Readiness: the store accepts reads and writes, there is disk space, and the server is not shutting down.
pub async fn ready(State(app): State<App>) -> Response {
    let report = readiness::check_now(&app).await;
    let checks = ChecksView(report);
    if report.is_ready() {
        let view = ReadinessView {
            status: "ok",
            checks,
            errors: Vec::new(),
        };
        return answer::json(StatusCode::OK, &view);
    }
    let reason = "The server is not ready; see checks";
    let view = ReadinessView {
        status: "unavailable",
        checks,
        errors: errors_of(Code::StoreUnavailable, None, reason),
    };
    let mut response = answer::json(StatusCode::SERVICE_UNAVAILABLE, &view);
    let one_second = HeaderValue::from_static("1");
    response.headers_mut().insert(header::RETRY_AFTER, one_second);
    response
}
