//! Joining: a token of `garth host add` is exchanged for the credential of the host.

use serde::{Deserialize, Serialize};

/// The body of `POST /agent/join`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    pub protocol: u32,
    pub token: String,
    pub agent_version: String,
}

/// The response. The credential is sent as a bearer token with all other requests.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinResponse {
    pub protocol: u32,
    pub host_id: i64,
    pub label: String,
    pub region: String,
    pub credential: String,
}
