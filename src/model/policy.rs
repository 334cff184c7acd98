//! The provider's policy: limits and choices from the settings.

use super::cidr::{Cidr, Cidr6};
use super::id::TicketId;
use super::image::Image;
use super::plan::Plan;
use super::reason::{Code, Reason, Reasons};
use super::region::{Region, RegionId};
use super::reply_address::MailAddress;
use super::target::Targets;
use super::token::hex;
use super::user::Email;

#[derive(Clone, Debug)]
pub struct Policy {
    pub regions: Vec<Region>,
    pub plans: Vec<Plan>,
    pub images: Vec<Image>,
    /// The ranges of the instances' public addresses.
    pub public_ranges: Vec<Cidr>,
    /// The maximum number of additional public addresses of an account. The first public address of an
    /// instance does not count.
    pub additional_addresses: i64,
    /// The domain of the default reverse DNS names of public addresses; `None` if they have no default names.
    pub rdns_domain: Option<String>,
    /// The duration of a boot, reboot or shutdown, in milliseconds.
    pub settle_ms: i64,
    /// Ranges that subnets must not overlap.
    pub forbidden_ranges: Vec<Cidr>,
    /// The private ranges without the forbidden ranges, in which every subnet is.
    pub default_ranges: Vec<Cidr>,
    pub ipv6: Ipv6Policy,
    pub quota: Quota,
    pub page_size_min: i64,
    /// Whether responses have the keys that only newer clients of the public service know: `ipv4`, `ipv6` and
    /// `vpc_type`.
    pub wire_extras: bool,
    /// The retention of events, in days.
    pub event_days: i64,
    pub support: Support,
    /// `None` if the desk has no mail address.
    pub mail: Option<MailPolicy>,
    /// `None` if Garth sends no mail.
    pub outgoing_mail: Option<OutgoingMailPolicy>,
    pub oauth: Oauth,
}

/// The policy for the IPv6 ranges of VPCs.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6Policy {
    /// The range from which VPCs get their ranges; `None` if VPCs have no IPv6.
    pub pool: Option<Cidr6>,
    /// The time from the release of a range until another VPC can get it.
    pub retention_seconds: i64,
}

/// The policy for OAuth.
#[derive(Clone, Copy, Debug)]
pub struct Oauth {
    /// Whether the implicit flow is allowed. It returns a token in the URL fragment.
    pub implicit: bool,
    /// Whether confidential clients, too, must send a code challenge (PKCE). linode_api4 does not send it.
    pub require_pkce: bool,
}

/// The policy for tickets.
#[derive(Clone, Debug)]
pub struct Support {
    /// The name under which tenants see the staff.
    pub provider: String,
    /// The e-mail address that determines the provider's avatar (Gravatar).
    pub provider_email: String,
    /// The number of days during which a customer's reply reopens a closed ticket; `None` for never.
    pub reopen_days: Option<i64>,
    /// Whether tickets can refer to an object of another service only if the object is in the directory.
    pub strict_entities: bool,
    pub attachment_max_bytes: i64,
    pub attachments_per_ticket: i64,
    pub targets: Targets,
}

/// The policy for messages that arrive by mail.
#[derive(Clone, Debug)]
pub struct MailPolicy {
    /// The address of the desk. Signed addresses are derived from it.
    pub reply_address: MailAddress,
    /// The name of the mail server whose verdict on senders counts.
    pub authserv_id: String,
}

/// How the Message-IDs of mails begin, and those of their threads.
const MAIL_PREFIX: &str = "mail-";
/// The number of random bytes in the Message-ID of a mail.
const MAIL_BYTES: usize = 16;
const THREAD_PREFIX: &str = "ticket-";

/// The policy for mails that Garth sends.
#[derive(Clone, Debug)]
pub struct OutgoingMailPolicy {
    pub from: Email,
    /// The word before the number of the ticket in subjects; `None` for the name of the brand.
    pub subject_prefix: Option<String>,
    /// The URL of the console, for links, without a slash at the end.
    pub public_url: String,
}

impl OutgoingMailPolicy {
    /// A new Message-ID of a mail, without angle brackets.
    pub fn message_id(&self, random: &[u8; 32]) -> String {
        format!(
            "{MAIL_PREFIX}{}@{}",
            hex(&random[32 - MAIL_BYTES..]),
            self.domain()
        )
    }

    /// The Message-ID to which all mails about a ticket refer. No mail has it.
    pub fn thread_id(&self, ticket: TicketId) -> String {
        format!("{THREAD_PREFIX}{ticket}@{}", self.domain())
    }

    /// Whether a Message-ID has the form of those of mails. A message that arrives with one of them is in a loop.
    pub fn is_own_message_id(&self, id: &str) -> bool {
        let Some((local, domain)) = id.rsplit_once('@') else {
            return false;
        };
        let digits = local.strip_prefix(MAIL_PREFIX).unwrap_or_default();
        let is_random =
            digits.len() == 2 * MAIL_BYTES && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_random && domain.eq_ignore_ascii_case(self.domain())
    }

    fn domain(&self) -> &str {
        let address = self.from.as_str();
        address.split_once('@').map_or(address, |(_, domain)| domain)
    }
}

/// The limits of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    pub vpcs_per_region: i64,
    pub subnets_per_vpc: i64,
    /// The maximum total size of the attachments of all its tickets.
    pub attachment_bytes: i64,
}

impl Policy {
    /// The region with this ID.
    pub fn region(&self, raw: &str) -> Result<RegionId, Reasons> {
        match self.regions.iter().find(|region| region.id == raw) {
            Some(region) => Ok(RegionId(region.id.clone())),
            None => {
                let ids: Vec<_> = self.regions.iter().map(|region| region.id.as_str()).collect();
                let text = format!("region is not valid; choose one of {}", ids.join(", "));
                Err(vec![Reason::new(Code::RegionInvalid, text)])
            }
        }
    }

    /// The prefix lengths that the IPv6 range of a VPC can have in a region; empty if VPCs have no IPv6 there.
    pub fn ipv6_prefix_lengths(&self, region: &Region) -> &'static [u8] {
        match self.ipv6.pool {
            Some(pool) => region.ipv6_prefix_lengths(pool.prefix()),
            None => &[],
        }
    }

    /// The region with this ID, if VPCs can be created in it. The error lists the regions in which they can.
    pub fn vpc_region(&self, raw: &str) -> Result<RegionId, Reasons> {
        let supports_vpcs = |region: &&Region| region.offers(Region::VPCS);
        match self
            .regions
            .iter()
            .filter(supports_vpcs)
            .find(|region| region.id == raw)
        {
            Some(region) => Ok(RegionId(region.id.clone())),
            None => {
                let regions: Vec<_> = self.regions.iter().filter(supports_vpcs).collect();
                let ids: Vec<_> = regions.iter().map(|region| region.id.as_str()).collect();
                let text = format!("region is not valid; choose one of {}", ids.join(", "));
                Err(vec![Reason::new(Code::RegionInvalid, text)])
            }
        }
    }
}
