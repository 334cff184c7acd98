//! Addresses of instances outside of VPCs: public addresses, and an address in the provider's private
//! network.

use std::net::Ipv4Addr;

use crate::model::id::{InstanceId, SubnetId, VpcId};
use crate::model::reason::{Code, Reason, Reasons};

/// The first and the last address that an instance can have in the private network 192.168.128.0/17.
pub const PRIVATE_ADDRESSES: (u32, u32) = (0xC0A8_8001, 0xC0A8_FFFE);
pub const PRIVATE_MASK: u32 = 0xFFFF_8000;
pub const PRIVATE_PREFIX: u8 = 17;

/// An IPv4 address of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ip {
    pub address: u32,
    pub kind: IpKind,
    /// The reverse DNS name that the owner has set; `None` for the provider's default name.
    pub rdns: Option<Hostname>,
    pub instance: InstanceId,
    pub instance_label: String,
    pub region: String,
    /// The address in a VPC that 1:1 NAT translates this address to.
    pub translated: Option<NatTarget>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpKind {
    Public,
    Private,
}

/// The address in a VPC that a public address is translated to (1:1 NAT).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NatTarget {
    pub vpc: VpcId,
    pub subnet: SubnetId,
    pub address: u32,
}

/// The name of a host: at least two labels of ASCII letters, digits and dashes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hostname(String);

impl Hostname {
    pub const MAX_LENGTH: usize = 253;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let is_address = raw.parse::<Ipv4Addr>().is_ok();
        let is_name = raw.len() <= Self::MAX_LENGTH && raw.contains('.') && raw.split('.').all(is_label);
        let valid = is_name && !is_address;
        match valid {
            true => Ok(Self(raw.to_owned())),
            false => Err(vec![Reason::new(Code::RdnsInvalid, "Domain is not valid.")]),
        }
    }

    /// The name from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        Self::parse(&raw).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Hostname;

    #[test]
    fn a_hostname_has_two_labels_or_more() {
        for good in ["web.example.com", "192.0.2.3.nip.io", "a-b.c"] {
            assert!(Hostname::parse(good).is_ok(), "{good}");
        }
        let long = format!("{}.example.com", "a".repeat(64));
        for bad in [
            "",
            "web",
            ".com",
            "a..b",
            "-a.b",
            "a-.b",
            "a b.c",
            "a_b.c",
            "é.example",
            "192.0.2.3",
            &long,
        ] {
            assert!(Hostname::parse(bad).is_err(), "{bad}");
        }
    }
}
