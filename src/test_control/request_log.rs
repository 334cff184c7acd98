//! The record of requests: method, path, status, operation and account. It has no tokens, queries or bodies.

use std::collections::VecDeque;

use axum::http::Method;
use serde::{Serialize, Serializer};

/// Older requests are removed.
const MAX_RECORDED_REQUESTS: usize = 10_000;

#[derive(Clone, Debug, Serialize)]
pub struct RecordedRequest {
    #[serde(serialize_with = "method")]
    pub method: Method,
    /// The path that the client sent, without secrets.
    pub path: String,
    /// The status of the response; `None` if the connection was dropped instead.
    pub status: Option<u16>,
    /// `None` if the path belongs to no operation.
    pub operation: Option<&'static str>,
    /// The ID of the account of the token; `None` if there is none.
    pub account_id: Option<i64>,
    /// Whether a fault was injected.
    pub fault: bool,
}

fn method<S: Serializer>(method: &Method, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(method.as_str())
}

#[derive(Default)]
pub struct RequestLog {
    requests: VecDeque<RecordedRequest>,
}

impl RequestLog {
    pub fn record(&mut self, request: RecordedRequest) {
        if self.requests.len() == MAX_RECORDED_REQUESTS {
            self.requests.pop_front();
        }
        self.requests.push_back(request);
    }

    /// The recorded requests, newest last.
    pub fn requests(&self) -> &VecDeque<RecordedRequest> {
        &self.requests
    }

    pub fn clear(&mut self) {
        self.requests.clear();
    }
}
