//! Routes to the ranges of interfaces. A pure function.
//!
//! Every host routes a range to the address of its interface. An instance of the same subnet resolves the addresses of
//! an IPv4 range inside of the subnet by ARP, and no instance answers. So the gateway does: the kernel answers ARP for an
//! address that it routes to another link. Therefore the route leads to a second link into the same bridge. IPv6 needs
//! none of this: prefixes are not on-link, so instances use the gateway for all addresses.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::kernel_state::{BridgePort, Link, LinkKind, NamespaceState, Route};
use super::names::{self, Namespace};
use crate::agent_protocol::{IpRange, MacAddress, Subnet, VpcState};

/// The interface that a range is routed to.
struct Owner<'a> {
    subnet: &'a Subnet,
    mac: MacAddress,
    ipv4: Option<Ipv4Addr>,
    ipv6: Option<Ipv6Addr>,
    ranges: &'a [IpRange],
}

pub fn add_routes(namespace: &mut NamespaceState, vpc: &VpcState, mtu: u16) {
    let subnets: BTreeMap<i64, &Subnet> = vpc.subnets.iter().map(|subnet| (subnet.id, subnet)).collect();
    let owners = owners(vpc, &subnets);
    for owner in &owners {
        for range in owner.ranges {
            add_route(namespace, owner, *range);
        }
    }
    for subnet in &vpc.subnets {
        let mut ranges = owners.iter().flat_map(|owner| owner.ranges);
        let answers_arp = ranges.any(|range| is_inside(subnet, *range));
        let bridge = names::bridge(subnet.id);
        let mut set = |path: String, value: &str| namespace.settings.insert(path, value.to_owned());
        set(
            format!("ipv4/conf/{bridge}/proxy_arp"),
            if answers_arp { "1" } else { "0" },
        );
        if answers_arp {
            set(format!("ipv4/neigh/{bridge}/proxy_delay"), "0");
        }
        let mut own = owners.iter().filter(|owner| owner.subnet.id == subnet.id);
        if own.any(|owner| owner.ranges.iter().any(|range| is_inside(subnet, *range))) {
            add_second_link(namespace, vpc.id, subnet.id, mtu);
        }
    }
}

fn owners<'a>(vpc: &'a VpcState, subnets: &BTreeMap<i64, &'a Subnet>) -> Vec<Owner<'a>> {
    let ports = vpc.ports.iter().filter_map(|port| {
        Some(Owner {
            subnet: subnets.get(&port.subnet_id)?,
            mac: port.mac,
            ipv4: port.ipv4,
            ipv6: port.slaac.map(|slaac| slaac.address),
            ranges: &port.ranges,
        })
    });
    let endpoints = vpc.endpoints.iter().filter_map(|endpoint| {
        Some(Owner {
            subnet: subnets.get(&endpoint.subnet_id)?,
            mac: endpoint.mac,
            ipv4: endpoint.ipv4,
            ipv6: endpoint.ipv6,
            ranges: &endpoint.ranges,
        })
    });
    ports.chain(endpoints).collect()
}

fn add_route(namespace: &mut NamespaceState, owner: &Owner, range: IpRange) {
    let gateway = if range.is_ipv4() {
        owner.ipv4.map(IpAddr::V4)
    } else {
        owner.ipv6.map(IpAddr::V6)
    };
    let Some(gateway) = gateway else { return };
    let link = if is_inside(owner.subnet, range) {
        let link = names::range_link(owner.subnet.id);
        namespace.neighbors.insert((link.clone(), gateway), owner.mac);
        link
    } else {
        names::bridge(owner.subnet.id)
    };
    let gateway = Some(gateway);
    namespace.routes.insert(range, Route { link, gateway });
}

/// Whether instances of the subnet resolve addresses of the range by ARP.
fn is_inside(subnet: &Subnet, range: IpRange) -> bool {
    let own = subnet.ipv4.map(|own| own.range);
    own.is_some_and(|own| own.contains(range.address()) && own.prefix() <= range.prefix())
}

/// A pair: one end has the routes, the other one is a port of the bridge. The bridge floods nothing to it, so that the
/// first end sees no ARP requests.
fn add_second_link(namespace: &mut NamespaceState, vpc: i64, subnet: i64, mtu: u16) {
    let (outer, inner) = (names::range_link(subnet), names::range_port(subnet));
    let port = BridgePort {
        name: names::bridge(subnet),
        learning: false,
        suppress_neighbors: false,
        flood_unknown: false,
        flood_broadcasts: false,
    };
    for (name, peer, bridge) in [(&outer, &inner, None), (&inner, &outer, Some(port))] {
        let link = Link {
            kind: LinkKind::Pair {
                peer: (Namespace::Vpc(vpc), peer.clone()),
            },
            mac: None,
            mtu,
            up: true,
            bridge,
        };
        namespace.links.insert(name.clone(), link);
    }
}
