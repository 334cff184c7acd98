//! The desired state of a host: the VPCs, ports and endpoints that its agent needs (decision 0031).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::agent_protocol::{
    Endpoint, HostState, IpRange, MacAddress, PROTOCOL_VERSION, Port, Slaac, StateMessage, Subnet,
    SubnetRange, Underlay, VpcState,
};
use crate::model::cidr::{Cidr, Cidr6};
use crate::model::id::{HostId, InstanceId, InterfaceId, VpcId};
use crate::model::interface::{Interface, VpcAttachment, slaac_address};
use crate::rules::error::Result;
use crate::rules::host_principal::HostPrincipal;
use crate::rules::{encryption, hosts};
use crate::store::host_revisions::HostSubnet;
use crate::store::ports::PortPlace;
use crate::store::{self, ReadTx, StoreError};

/// The hardware address of the gateways of all subnets, on every host.
const GATEWAY_MAC: MacAddress = MacAddress([0x02, 0x67, 0x61, 0x72, 0x74, 0x68]);
/// The MTU of the underlay until an agent has reported one.
const DEFAULT_MTU: i64 = 1500;
/// A VXLAN network identifier has 24 bits.
const MAX_VNI: i64 = (1 << 24) - 1;

/// The part of the state that a stream has sent.
#[derive(Clone, Debug)]
pub struct SentState {
    revision: i64,
    vpcs: BTreeSet<i64>,
    /// The revision of the underlay that the stream has sent; `None` if it has sent none.
    underlay: Option<i64>,
}

/// The first messages of a stream: a snapshot, unless the agent has the current revision.
pub fn first(
    tx: &mut ReadTx,
    principal: &HostPrincipal,
    after: Option<i64>,
) -> Result<(Vec<StateMessage>, SentState)> {
    principal.confirm(tx)?;
    let host = principal.host;
    let revision = store::host_revisions::current(tx, host)?;
    let vpcs = store::host_revisions::vpcs(tx, host)?;
    let mut sent = SentState {
        revision,
        vpcs: vpcs.into_iter().map(|vpc| vpc.0).collect(),
        underlay: None,
    };
    if after == Some(revision) {
        return Ok((Vec::new(), sent));
    }
    sent.underlay = Some(store::host_revisions::underlay(tx, host)?);
    let state = HostState {
        protocol: PROTOCOL_VERSION,
        revision: revision.unsigned_abs(),
        host_id: host.0,
        underlay: underlay(tx, host)?,
        vpcs: changed_vpcs(tx, host, 0)?,
    };
    Ok((vec![StateMessage::Snapshot(state)], sent))
}

/// The messages after the sent state: the VPCs that changed, and the underlay if it changed. Only the last message has
/// the new revision, so that an agent that does not receive all of them requests a snapshot.
pub fn next(
    tx: &mut ReadTx,
    principal: &HostPrincipal,
    sent: &SentState,
) -> Result<(Vec<StateMessage>, SentState)> {
    principal.confirm(tx)?;
    let host = principal.host;
    let current = store::host_revisions::current(tx, host)?;
    if current == sent.revision {
        return Ok((Vec::new(), sent.clone()));
    }
    let (old, new) = (sent.revision.unsigned_abs(), current.unsigned_abs());
    let present = store::host_revisions::vpcs(tx, host)?;
    let present: BTreeSet<i64> = present.into_iter().map(|vpc| vpc.0).collect();

    let mut messages: Vec<StateMessage> = sent
        .vpcs
        .difference(&present)
        .map(|vpc| StateMessage::VpcRemoved {
            revision: old,
            vpc_id: *vpc,
        })
        .collect();
    for vpc in changed_vpcs(tx, host, sent.revision)? {
        messages.push(StateMessage::Vpc { revision: old, vpc });
    }
    let underlay_revision = store::host_revisions::underlay(tx, host)?;
    // A VPC that was added and removed in the meantime has no message. The agent needs the new revision nevertheless.
    if sent.underlay != Some(underlay_revision) || messages.is_empty() {
        messages.push(StateMessage::Underlay {
            revision: old,
            underlay: underlay(tx, host)?,
        });
    }
    if let Some(last) = messages.last_mut() {
        last.set_revision(new);
    }
    let sent = SentState {
        revision: current,
        vpcs: present,
        underlay: Some(underlay_revision),
    };
    Ok((messages, sent))
}

impl SentState {
    pub fn heartbeat(&self) -> StateMessage {
        StateMessage::Heartbeat {
            revision: self.revision.unsigned_abs(),
        }
    }
}

fn underlay(tx: &mut ReadTx, id: HostId) -> Result<Underlay> {
    let host = hosts::view(tx, id)?;
    let mtu = store::host_reports::smallest_mtu(tx, &host.region)?;
    let region = tx.policy().regions.iter().find(|region| region.id == host.region);
    let resolvers = region.map(|region| [region.resolvers_ipv4.as_str(), region.resolvers_ipv6.as_str()]);
    let peers = store::host_revisions::peers(tx, &host.region, id)?;
    Ok(Underlay {
        address: host.underlay_address.ip(),
        mtu: u16::try_from(mtu.unwrap_or(DEFAULT_MTU)).unwrap_or(u16::MAX),
        hosts: peers.iter().filter_map(|peer| peer.parse().ok()).collect(),
        resolvers: resolvers
            .iter()
            .flatten()
            .flat_map(|list| list.split(','))
            .filter_map(|one| one.trim().parse().ok())
            .collect(),
        encryption: encryption::of_underlay(tx, &host)?,
    })
}

/// The VPCs of a host that changed after a revision.
fn changed_vpcs(tx: &mut ReadTx, host: HostId, after: i64) -> Result<Vec<VpcState>> {
    let mut vpcs: BTreeMap<VpcId, VpcState> = BTreeMap::new();
    for subnet in store::host_revisions::subnets(tx, host, after)? {
        let state = vpcs.entry(subnet.vpc).or_insert_with(|| VpcState {
            id: subnet.vpc.0,
            subnets: Vec::new(),
            ports: Vec::new(),
            endpoints: Vec::new(),
        });
        state.subnets.push(subnet_state(&subnet)?);
    }
    let places = store::ports::places(tx, host, after)?;
    let places: HashMap<InterfaceId, PortPlace> =
        places.into_iter().map(|place| (place.interface, place)).collect();
    for interface in store::interfaces::with_ports(tx, host, after)? {
        let (Some(vpc), Some(place)) = (&interface.vpc, places.get(&interface.id)) else {
            continue;
        };
        let Some(state) = vpcs.get_mut(&vpc.vpc) else {
            continue;
        };
        match place.host == host {
            true => state.ports.push(port(&interface, vpc, place)),
            false => state.endpoints.extend(endpoint(&interface, vpc, place)),
        }
    }
    Ok(vpcs.into_values().collect())
}

fn subnet_state(subnet: &HostSubnet) -> Result<Subnet> {
    let vni = Some(subnet.tunnel).filter(|id| *id <= MAX_VNI);
    let exhausted = || StoreError::Unexpected("all VXLAN network identifiers are in use".to_owned());
    let ipv4 = SubnetRange {
        range: range4(subnet.ipv4),
        gateway: IpAddr::V4(Ipv4Addr::from_bits(subnet.ipv4.gateway())),
    };
    let ipv6 = subnet.ipv6.map(|range| SubnetRange {
        range: range6(range),
        gateway: IpAddr::V6(Ipv6Addr::from_bits(range.first() | 1)),
    });
    Ok(Subnet {
        id: subnet.id.0,
        vni: vni
            .and_then(|vni| u32::try_from(vni).ok())
            .ok_or_else(exhausted)?,
        gateway_mac: GATEWAY_MAC,
        ipv4: Some(ipv4),
        ipv6,
    })
}

fn port(interface: &Interface, vpc: &VpcAttachment, place: &PortPlace) -> Port {
    let ipv6 = vpc.ipv6.as_ref();
    Port {
        interface_id: interface.id.0,
        instance_id: interface.instance.0,
        index: u32::try_from(place.index).unwrap_or_default(),
        subnet_id: vpc.subnet.0,
        mac: mac(interface.instance),
        ipv4: Some(Ipv4Addr::from_bits(vpc.address)),
        slaac: slaac(interface, vpc),
        ranges: ranges(vpc),
        nat_1_1: vpc.nat_1_1.map(Ipv4Addr::from_bits),
        ipv6_public: ipv6.is_some_and(|ipv6| ipv6.is_public),
        // The first interface of a config without a primary interface has the default route.
        primary: interface.primary || place.index == 0,
    }
}

fn endpoint(interface: &Interface, vpc: &VpcAttachment, place: &PortPlace) -> Option<Endpoint> {
    Some(Endpoint {
        subnet_id: vpc.subnet.0,
        mac: mac(interface.instance),
        ipv4: Some(Ipv4Addr::from_bits(vpc.address)),
        ipv6: slaac(interface, vpc).map(|slaac| slaac.address),
        ranges: ranges(vpc),
        host: place.underlay_address.parse().ok()?,
    })
}

/// The hardware address of an instance, from which `slaac_address` derives its IPv6 addresses. A config has at most one
/// VPC interface, so an address is unique in its subnet.
fn mac(instance: InstanceId) -> MacAddress {
    let [.., a, b, c, d] = instance.0.to_be_bytes();
    MacAddress([0x22, 0x00, a, b, c, d])
}

fn slaac(interface: &Interface, vpc: &VpcAttachment) -> Option<Slaac> {
    let network = vpc.ipv6.as_ref()?.slaac?;
    let address = Ipv6Addr::from_bits(slaac_address(network, interface.instance));
    Some(Slaac {
        range: range6(network),
        address,
    })
}

fn ranges(vpc: &VpcAttachment) -> Vec<IpRange> {
    let ipv6 = vpc
        .ipv6
        .iter()
        .flat_map(|ipv6| ipv6.ranges.iter().copied().map(range6));
    vpc.ranges.iter().copied().map(range4).chain(ipv6).collect()
}

fn range4(range: Cidr) -> IpRange {
    let address = IpAddr::V4(Ipv4Addr::from_bits(range.first()));
    IpRange::containing(address, range.prefix()).unwrap_or(IpRange::single(address))
}

fn range6(range: Cidr6) -> IpRange {
    let address = IpAddr::V6(Ipv6Addr::from_bits(range.first()));
    IpRange::containing(address, range.prefix()).unwrap_or(IpRange::single(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_derives_its_ipv6_address_from_its_hardware_address() {
        let instance = InstanceId(0x0102_0304);
        let network = Cidr6::parse("fd00:1:2:3::/64").unwrap();
        let link_local = mac(instance).link_local().to_bits();
        let identifier = link_local & u128::from(u64::MAX);
        assert_eq!(slaac_address(network, instance), network.first() | identifier);
    }
}
