//! A customer of the provider: what owns VPCs, users and events.

use super::id::AccountId;
use super::time::Time;

#[derive(Clone, Debug)]
pub struct Account {
    pub id: AccountId,
    pub company: String,
    pub email: String,
    pub created: Time,
    pub quota: QuotaOverride,
}

/// Where an account's quota differs from the provider's.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuotaOverride {
    pub vpcs_per_region: Option<i64>,
    pub subnets_per_vpc: Option<i64>,
}

/// An account as the provider's staff see it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeskAccount {
    pub id: AccountId,
    pub company: String,
    pub email: String,
    pub created: Time,
    pub tickets_open: i64,
    pub tickets: i64,
    pub users: i64,
}
