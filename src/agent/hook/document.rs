//! A port as the hook gets it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::agent::layout::{Driver, HostOptions, link_mtu};
use crate::agent::names::{self, Namespace};
use crate::agent_protocol::{HostState, IpRange, Port, VpcState};

/// Everything that a hypervisor needs to attach an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortDocument {
    pub interface_id: i64,
    pub instance_id: i64,
    pub vpc_id: i64,
    pub subnet_id: i64,
    /// The position of the interface in the instance: 0 for `eth0`.
    pub index: u32,
    pub driver: String,
    /// The network namespace with the device, below `/run/netns`.
    pub namespace: String,
    /// The tap device or, with the driver `netns`, the end of the pair.
    pub device: String,
    pub mac: String,
    pub mtu: u16,
    /// Addresses with the length of their prefix.
    pub addresses: Vec<String>,
    pub ranges: Vec<IpRange>,
    pub gateways: Vec<IpAddr>,
    pub resolvers: Vec<IpAddr>,
    pub primary: bool,
}

/// The ports of a host.
pub fn documents(state: &HostState, options: &HostOptions) -> Vec<PortDocument> {
    let ports = state
        .vpcs
        .iter()
        .flat_map(|vpc| vpc.ports.iter().map(move |port| (vpc, port)));
    ports
        .map(|(vpc, port)| document(state, vpc, port, options))
        .collect()
}

fn document(state: &HostState, vpc: &VpcState, port: &Port, options: &HostOptions) -> PortDocument {
    let subnet = vpc.subnets.iter().find(|subnet| subnet.id == port.subnet_id);
    let ipv4_range = subnet.and_then(|subnet| subnet.ipv4);
    let ipv4 = port.ipv4.map(|address| {
        let prefix = ipv4_range.map_or(32, |range| range.range.prefix());
        format!("{address}/{prefix}")
    });
    let ipv6 = port
        .slaac
        .map(|slaac| format!("{}/{}", slaac.address, slaac.range.prefix()));
    let gateway_v4 = ipv4_range.filter(|_| port.ipv4.is_some());
    let gateway_v4 = gateway_v4.map(|range| range.gateway);
    let gateway_v6 = subnet.filter(|_| port.slaac.is_some());
    let gateway_v6 = gateway_v6.map(|subnet| subnet.gateway_mac.link_local().into());
    PortDocument {
        interface_id: port.interface_id,
        instance_id: port.instance_id,
        vpc_id: vpc.id,
        subnet_id: port.subnet_id,
        index: port.index,
        driver: match options.driver {
            Driver::Netns => "netns".to_owned(),
            Driver::Tap => "tap".to_owned(),
        },
        namespace: Namespace::Vpc(vpc.id).name(&options.prefix).unwrap_or_default(),
        device: names::port(port.interface_id),
        mac: port.mac.to_string(),
        mtu: link_mtu(&state.underlay),
        addresses: ipv4.into_iter().chain(ipv6).collect(),
        ranges: port.ranges.clone(),
        gateways: gateway_v4.into_iter().chain(gateway_v6).collect(),
        resolvers: state.underlay.resolvers.clone(),
        primary: port.primary,
    }
}
