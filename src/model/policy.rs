//! What the provider has decided: limits and choices that rules look up and never guess.

use super::cidr::Cidr;
use super::image::Image;
use super::plan::Plan;
use super::reason::{Code, Reason, Reasons};
use super::region::{Region, RegionId};

#[derive(Clone, Debug)]
pub struct Policy {
    pub regions: Vec<Region>,
    pub plans: Vec<Plan>,
    pub images: Vec<Image>,
    /// Where instances get their public addresses from.
    pub public_ranges: Vec<Cidr>,
    /// How long a boot, reboot or shutdown takes, in milliseconds.
    pub settle_ms: i64,
    /// Ranges that no subnet may touch.
    pub forbidden_ranges: Vec<Cidr>,
    pub quota: Quota,
    pub page_size_min: i64,
    /// How long events are kept, in days.
    pub event_days: i64,
    pub support: Support,
    pub oauth: Oauth,
}

/// How programs get to act for users.
#[derive(Clone, Copy, Debug)]
pub struct Oauth {
    /// Whether a browser may be given a token itself, in the fragment of an address.
    pub implicit: bool,
    /// Whether clients with a secret must send a code challenge too. linode_api4 sends none.
    pub require_pkce: bool,
}

/// How tickets are handled.
#[derive(Clone, Debug)]
pub struct Support {
    /// The name under which the staff's doings are told to tenants.
    pub provider: String,
    /// Whose avatar stands beside it.
    pub provider_email: String,
    /// For how many days after it was closed a customer's reply opens a ticket again; `None` is never.
    pub reopen_days: Option<i64>,
    /// Whether a ticket may only be about what the directory knows.
    pub strict_entities: bool,
    pub attachment_max_bytes: i64,
    pub attachments_per_ticket: i64,
}

/// How much an account may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    pub vpcs_per_region: i64,
    pub subnets_per_vpc: i64,
    /// Bytes of all attachments of its tickets.
    pub attachment_bytes: i64,
}

impl Policy {
    /// The region of that id, whatever it can hold.
    pub fn region(&self, raw: &str) -> Result<RegionId, Reasons> {
        match self.regions.iter().find(|region| region.id == raw) {
            Some(region) => Ok(RegionId(region.id.clone())),
            None => {
                let known: Vec<_> = self.regions.iter().map(|region| region.id.as_str()).collect();
                let text = format!("region is not valid; choose one of {}", known.join(", "));
                Err(vec![Reason::new(Code::RegionInvalid, text)])
            }
        }
    }

    /// The region of that id, if it can hold VPCs; else the reason names those that can.
    pub fn vpc_region(&self, raw: &str) -> Result<RegionId, Reasons> {
        let able = |region: &&Region| region.can(Region::VPCS);
        match self.regions.iter().filter(able).find(|region| region.id == raw) {
            Some(region) => Ok(RegionId(region.id.clone())),
            None => {
                let able: Vec<_> = self.regions.iter().filter(able).collect();
                let able: Vec<_> = able.iter().map(|region| region.id.as_str()).collect();
                let text = format!("region is not valid; choose one of {}", able.join(", "));
                Err(vec![Reason::new(Code::RegionInvalid, text)])
            }
        }
    }
}
