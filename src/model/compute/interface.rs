//! An interface of a config. It connects the instance to the internet, to a VLAN or to a subnet of a VPC.

use std::net::Ipv4Addr;

use crate::model::cidr::Cidr;
use crate::model::id::{InterfaceId, SubnetId, VpcId};
use crate::model::reason::{Code, Reason, Reasons};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interface {
    pub id: InterfaceId,
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
