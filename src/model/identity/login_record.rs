//! Records of log-in attempts.

use crate::model::id::LoginRecordId;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoginRecord {
    pub id: LoginRecordId,
    pub created: Time,
    /// The address or network of the client; empty if the provider does not record it.
    pub ip: String,
    /// The username at the time of the attempt.
    pub username: String,
    /// Whether the user was restricted at the time of the attempt.
    pub restricted: bool,
    pub status: LoginStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoginStatus {
    Successful,
    Failed,
}

impl LoginStatus {
    pub const fn word(self) -> &'static str {
        match self {
            LoginStatus::Successful => "successful",
            LoginStatus::Failed => "failed",
        }
    }
}
