//! Joining: a token of `garth host add` is exchanged for the credential of the host.

use serde::{Deserialize, Serialize};

/// The body of `POST /agent/join`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    pub protocol: u32,
    pub token: String,
    pub agent_version: String,
    /// The host that the agent has been so far. A token of another host is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_id: Option<i64>,
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
