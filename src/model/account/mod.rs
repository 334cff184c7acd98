//! A customer of the provider: the owner of VPCs, users and events.

pub mod accent_color;
pub mod announcement;
pub mod brand_image;
pub mod branding;
pub mod change;
pub mod contact;
pub mod event;
pub mod event_change;
pub mod found_network;
pub mod object_tag;
mod png;
pub mod settings;
pub mod status;
mod svg;

use sha2::{Digest, Sha256};

use self::contact::Contact;
use self::settings::AccountSettings;
use self::status::AccountStatus;
use super::id::AccountId;
use super::policy::Quota;
use super::time::Time;
use super::token::hex;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Account {
    pub id: AccountId,
    pub company: String,
    pub email: String,
    /// The e-mail address at the creation of the account. It never changes, because `euuid` depends on it.
    pub first_email: String,
    pub contact: Contact,
    pub settings: AccountSettings,
    pub status: AccountStatus,
    pub created: Time,
    pub quota: QuotaOverride,
}

impl Account {
    /// A stable, unique identifier in UUID form.
    pub fn euuid(&self) -> String {
        let seed = format!("{} {} {}", self.id, self.created.micros(), self.first_email);
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

/// The limits of an account that differ from the provider's defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QuotaOverride {
    pub vpcs_per_region: Option<i64>,
    pub subnets_per_vpc: Option<i64>,
    pub attachment_bytes: Option<i64>,
}

impl QuotaOverride {
    /// The quota: these overrides, and `defaults` for limits without an override.
    pub fn over(self, defaults: Quota) -> Quota {
        Quota {
            vpcs_per_region: self.vpcs_per_region.unwrap_or(defaults.vpcs_per_region),
            subnets_per_vpc: self.subnets_per_vpc.unwrap_or(defaults.subnets_per_vpc),
            attachment_bytes: self.attachment_bytes.unwrap_or(defaults.attachment_bytes),
        }
    }
}

/// The largest limit of a number of objects.
pub const MAX_OBJECT_QUOTA: i64 = 1_000_000;
/// The largest limit of the size of attachments: 1 PiB. JSON numbers are exact in all clients up to 2^53.
pub const MAX_ATTACHMENT_QUOTA: i64 = 1 << 50;

/// A new value for one limit of an account's quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaValue {
    /// The provider's current default.
    Default,
    Limit(i64),
}

impl QuotaValue {
    fn to_override(self) -> Option<i64> {
        match self {
            QuotaValue::Default => None,
            QuotaValue::Limit(limit) => Some(limit),
        }
    }
}

/// A change of an account's quota; `None` leaves a limit unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotaChange {
    pub vpcs_per_region: Option<QuotaValue>,
    pub subnets_per_vpc: Option<QuotaValue>,
    pub attachment_bytes: Option<QuotaValue>,
}

impl QuotaChange {
    pub fn apply_to(self, current: QuotaOverride) -> QuotaOverride {
        let apply = |change: Option<QuotaValue>, current| change.map_or(current, QuotaValue::to_override);
        QuotaOverride {
            vpcs_per_region: apply(self.vpcs_per_region, current.vpcs_per_region),
            subnets_per_vpc: apply(self.subnets_per_vpc, current.subnets_per_vpc),
            attachment_bytes: apply(self.attachment_bytes, current.attachment_bytes),
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
