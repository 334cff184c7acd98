//! Attempts of users to log in.

use crate::model::id::LoginRecordId;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoginRecord {
    pub id: LoginRecordId,
    pub created: Time,
    /// The address or network of the client; empty if the provider does not record it.
    pub ip: String,
    /// The name and the restriction of the user at that time.
    pub username: String,
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
