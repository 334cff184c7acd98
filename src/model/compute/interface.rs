//! An interface of a config. It connects the instance to the internet, to a VLAN or to a subnet of a VPC.

use std::net::Ipv4Addr;

use crate::model::cidr::{Cidr, Cidr6};
use crate::model::family::{Family, V4};
use crate::model::id::{InstanceId, InterfaceId, SubnetId, VpcId};
use crate::model::reason::{Code, Reason, Reasons};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interface {
    pub id: InterfaceId,
    pub instance: InstanceId,
    pub purpose: Purpose,
    pub primary: bool,
    /// Whether the running instance uses the interface.
    pub active: bool,
    /// The label of the VLAN. Only a VLAN interface has a label and an `ipam_address`.
    pub label: Option<String>,
    pub ipam_address: Option<String>,
    /// Only a VPC interface has an attachment.
    pub vpc: Option<VpcAttachment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VpcAttachment {
    pub vpc: VpcId,
    pub subnet: SubnetId,
    pub address: u32,
    /// The public address of the 1:1 NAT.
    pub nat_1_1: Option<u32>,
    pub ranges: Vec<Cidr>,
    /// `None` if the subnet has no IPv6 range.
    pub ipv6: Option<Ipv6Attachment>,
}

/// The IPv6 networks of a VPC interface. All of them have the prefix length 64.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ipv6Attachment {
    /// The network in which the instance configures its address (SLAAC).
    pub slaac: Option<Cidr6>,
    /// The networks that are routed to the interface.
    pub ranges: Vec<Cidr6>,
    /// Whether the networks can be reached from the internet.
    pub is_public: bool,
}

impl VpcAttachment {
    /// The IPv4 address and ranges.
    pub fn networks(&self) -> impl Iterator<Item = Cidr> {
        let address = Cidr::around(self.address, V4::UNIT_PREFIX);
        std::iter::once(address).chain(self.ranges.iter().copied())
    }

    /// The IPv6 networks.
    pub fn networks6(&self) -> impl Iterator<Item = Cidr6> {
        let networks = |ipv6: &Ipv6Attachment| {
            let slaac = ipv6.slaac.into_iter();
            slaac.chain(ipv6.ranges.clone()).collect::<Vec<_>>()
        };
        self.ipv6.iter().flat_map(networks)
    }
}

/// The address that an instance configures in a network (SLAAC): the network, followed by an interface identifier that
/// is derived from the MAC address of the instance (RFC 4291, appendix A).
pub fn slaac_address(network: Cidr6, instance: InstanceId) -> u128 {
    let [_, _, _, _, a, b, c, d] = instance.0.to_be_bytes();
    // The MAC address is 22:00:a:b:c:d. The identifier inverts the bit for "locally administered".
    let identifier = u64::from_be_bytes([0x20, 0x00, a, 0xff, 0xfe, b, c, d]);
    network.first() | u128::from(identifier)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    Public,
    Vlan,
    Vpc,
}

impl Purpose {
    pub const fn word(self) -> &'static str {
        match self {
            Purpose::Public => "public",
            Purpose::Vlan => "vlan",
            Purpose::Vpc => "vpc",
        }
    }

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        match raw {
            "public" => Ok(Purpose::Public),
            "vlan" => Ok(Purpose::Vlan),
            "vpc" => Ok(Purpose::Vpc),
            _ => {
                let text = "Must be public, vlan or vpc";
                Err(vec![Reason::new(Code::PurposeInvalid, text)])
            }
        }
    }
}

/// Parses a single address in canonical form.
pub fn parse_address(raw: &str) -> Result<u32, Reasons> {
    match raw.parse::<Ipv4Addr>() {
        Ok(address) if address.to_string() == raw => Ok(address.to_bits()),
        _ => Err(vec![Reason::new(Code::AddressInvalid, "Must be an IPv4 address")]),
    }
}

pub fn write_address(address: u32) -> String {
    Ipv4Addr::from_bits(address).to_string()
}
