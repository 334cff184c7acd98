//! A customer of the provider: what owns VPCs, users and events.

pub mod event;

use sha2::{Digest, Sha256};

use super::id::AccountId;
use super::policy::Quota;
use super::time::Time;
use super::token::hex;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    pub id: AccountId,
    pub company: String,
    pub email: String,
    pub created: Time,
    pub quota: QuotaOverride,
}

impl Account {
    /// A name for the account that looks like no other's and stays the same.
    pub fn euuid(&self) -> String {
        let seed = format!("{} {} {}", self.id, self.created.micros(), self.email);
        let digits = hex(&Sha256::digest(seed.as_bytes())).to_uppercase();
        format!(
            "{}-{}-{}-{}",
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..32]
        )
    }
}

/// Where an account's quota differs from the provider's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QuotaOverride {
    pub vpcs_per_region: Option<i64>,
    pub subnets_per_vpc: Option<i64>,
    pub attachment_bytes: Option<i64>,
}

impl QuotaOverride {
    /// The quota that comes of it where this one is the usual.
    pub fn over(self, usual: Quota) -> Quota {
        Quota {
            vpcs_per_region: self.vpcs_per_region.unwrap_or(usual.vpcs_per_region),
            subnets_per_vpc: self.subnets_per_vpc.unwrap_or(usual.subnets_per_vpc),
            attachment_bytes: self.attachment_bytes.unwrap_or(usual.attachment_bytes),
        }
    }
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
