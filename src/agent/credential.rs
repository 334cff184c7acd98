//! The credential of the host, with the server that it is for.

use serde::{Deserialize, Serialize};

/// The content of `credential.json`.
#[derive(Serialize, Deserialize)]
pub struct Credential {
    pub server: String,
    pub host_id: i64,
    pub label: String,
    pub credential: String,
    /// The PEM certificates to trust instead of those of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}
