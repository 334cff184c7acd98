//! The kernel objects that a desired state needs. A pure function.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::encrypted_layout::{self as encrypted, Tunnels};
use super::filters;
use super::kernel_state::{
    Address, BridgePort, Forwarding, KernelState, Link, LinkKind, NamespaceState, Route, Rules, Table,
};
use super::names::{self, Namespace, Prefix, UPLINK};
use super::ranges;
use super::uplink_filter;
use crate::agent_protocol::{Endpoint, HostState, IpRange, MacAddress, Port, Subnet, Underlay, VpcState};

/// How instances are attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// A veth pair into the namespace of the instance.
    Netns,
    /// A tap device for a virtual machine.
    Tap,
}

/// The options of the agent that the layout depends on.
#[derive(Clone, Debug)]
pub struct HostOptions {
    pub driver: Driver,
    pub prefix: Prefix,
    /// The private networks outside of VPCs that instances with public addresses may reach.
    pub allowed_networks: Vec<IpRange>,
}

/// The two ends of an uplink, in every VPC.
const HOST_END: (Ipv4Addr, Ipv6Addr) = (
    Ipv4Addr::new(169, 254, 0, 1),
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1),
);
const VPC_END: (Ipv4Addr, Ipv6Addr) = (
    Ipv4Addr::new(169, 254, 0, 2),
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2),
);

/// The values below `/proc/sys/net` in the namespace of a VPC.
const VPC_SETTINGS: [(&str, &str); 9] = [
    ("ipv4/ip_forward", "1"),
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
    ("ipv4/conf/all/send_redirects", "0"),
    ("ipv4/conf/default/send_redirects", "0"),
    ("ipv6/conf/all/forwarding", "1"),
    ("ipv6/conf/default/accept_dad", "0"),
    ("ipv6/conf/default/accept_ra", "0"),
    // 1: the kernel adds no link-local addresses; bridges get theirs from the layout.
    ("ipv6/conf/default/addr_gen_mode", "1"),
];

/// All kernel objects for the desired state of a host.
pub fn layout(state: &HostState, options: &HostOptions, tunnels: &Tunnels) -> KernelState {
    let prefix = &options.prefix;
    let mut kernel = KernelState::default();
    let host = kernel.namespaces.entry(Namespace::Host).or_default();
    let uplinks = match state.vpcs.iter().any(has_uplink) {
        true => uplink_filter::chains(prefix, &state.underlay, &options.allowed_networks),
        false => String::new(),
    };
    let rules = filters::underlay_rules(prefix, state, &uplinks);
    host.tables.insert(Table::Inet, Rules::Text(rules));
    encrypted::add_tunnels(host, state, prefix, tunnels);
    let site = Site {
        local: encrypted::local_address(state),
        endpoints: encrypted::endpoint_addresses(state, tunnels),
        mtu: link_mtu(&state.underlay),
        driver: options.driver,
        prefix,
    };
    for vpc in &state.vpcs {
        site.add_vpc(&mut kernel, vpc);
    }
    kernel
}

/// The MTU of instances: that of the underlay without the headers of a tunnel.
pub fn link_mtu(underlay: &Underlay) -> u16 {
    let encapsulation = match &underlay.encryption {
        None => vxlan_bytes(underlay.address.is_ipv4()),
        // Inside of encrypted tunnels, VXLAN uses IPv6.
        Some(_) => encrypted::overhead_bytes(underlay.address.is_ipv4()) + vxlan_bytes(false),
    };
    underlay.mtu.saturating_sub(encapsulation).max(1280)
}

/// The headers of VXLAN: IP, UDP, VXLAN and Ethernet.
fn vxlan_bytes(is_ipv4: bool) -> u16 {
    if is_ipv4 { 50 } else { 70 }
}

/// The properties that all VPCs of a host share.
struct Site<'a> {
    local: IpAddr,
    /// The addresses of other hosts inside of encrypted tunnels, by underlay address; `None` without encryption.
    endpoints: Option<BTreeMap<IpAddr, IpAddr>>,
    mtu: u16,
    driver: Driver,
    prefix: &'a Prefix,
}

impl Site<'_> {
    fn add_vpc(&self, kernel: &mut KernelState, vpc: &VpcState) {
        let mut namespace = NamespaceState::default();
        let settings = VPC_SETTINGS.iter();
        namespace.settings = settings
            .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
            .collect();
        let rules = filters::port_rules(self.prefix, vpc);
        namespace.tables.insert(Table::Bridge, Rules::Text(rules));
        for subnet in &vpc.subnets {
            self.add_subnet(&mut namespace, subnet);
        }
        let subnets: BTreeMap<i64, &Subnet> = vpc.subnets.iter().map(|subnet| (subnet.id, subnet)).collect();
        for port in &vpc.ports {
            // A port without its subnet is an error of the server; it is reported as missing.
            if subnets.contains_key(&port.subnet_id) {
                self.add_port(&mut namespace, port);
            }
        }
        for endpoint in vpc
            .endpoints
            .iter()
            .filter(|end| subnets.contains_key(&end.subnet_id))
        {
            if let Some(host) = self.endpoint_address(endpoint.host) {
                add_endpoint(&mut namespace, endpoint, host);
            }
        }
        ranges::add_routes(&mut namespace, vpc, self.mtu);
        if has_uplink(vpc) {
            self.add_uplink(kernel, &mut namespace, vpc);
        }
        kernel.namespaces.insert(Namespace::Vpc(vpc.id), namespace);
        if self.driver == Driver::Netns {
            for port in &vpc.ports {
                if let Some(subnet) = subnets.get(&port.subnet_id) {
                    self.add_instance_end(kernel, vpc, subnet, port);
                }
            }
        }
    }

    /// The address to which packets for a host are sent; `None` if they cannot be encrypted.
    fn endpoint_address(&self, host: IpAddr) -> Option<IpAddr> {
        match &self.endpoints {
            None => Some(host),
            Some(endpoints) => endpoints.get(&host).copied(),
        }
    }

    fn add_subnet(&self, namespace: &mut NamespaceState, subnet: &Subnet) {
        let bridge = names::bridge(subnet.id);
        let kind = LinkKind::Tunnel {
            vni: subnet.vni,
            local: self.local,
        };
        let tunnel_port = bridge_port(subnet.id, false);
        namespace
            .links
            .insert(names::tunnel(subnet.id), self.link(kind, None, Some(tunnel_port)));
        let gateway = self.link(LinkKind::Bridge, Some(subnet.gateway_mac), None);
        namespace.links.insert(bridge.clone(), gateway);
        let mut add = |address: IpAddr, prefix| {
            namespace.addresses.insert(Address {
                link: bridge.clone(),
                address,
                prefix,
            });
        };
        for range in [subnet.ipv4, subnet.ipv6].into_iter().flatten() {
            add(range.gateway, range.range.prefix());
        }
        add(subnet.gateway_mac.link_local().into(), 64);
    }

    fn add_port(&self, namespace: &mut NamespaceState, port: &Port) {
        let link = names::port(port.interface_id);
        let kind = match self.driver {
            Driver::Netns => LinkKind::Pair {
                peer: (Namespace::Instance(port.instance_id), instance_link(port)),
            },
            Driver::Tap => LinkKind::Tap,
        };
        namespace.links.insert(
            link.clone(),
            self.link(kind, None, Some(bridge_port(port.subnet_id, true))),
        );
        namespace
            .forwarding
            .insert(Forwarding::Port { link, mac: port.mac });
        let ipv6 = port.slaac.map(|slaac| slaac.address);
        add_neighbors(namespace, port.subnet_id, port.mac, port.ipv4, ipv6);
    }

    fn add_instance_end(&self, kernel: &mut KernelState, vpc: &VpcState, subnet: &Subnet, port: &Port) {
        let instance = Namespace::Instance(port.instance_id);
        let namespace = kernel.namespaces.entry(instance).or_default();
        let link = instance_link(port);
        let peer = (Namespace::Vpc(vpc.id), names::port(port.interface_id));
        namespace.links.insert(
            link.clone(),
            self.link(LinkKind::Pair { peer }, Some(port.mac), None),
        );
        let mut addresses = Vec::new();
        if let (Some(address), Some(range)) = (port.ipv4, subnet.ipv4) {
            addresses.push((IpAddr::V4(address), range.range.prefix()));
        }
        if let Some(slaac) = port.slaac {
            addresses.push((IpAddr::V6(slaac.address), 128));
            // The agent sets the address and the routes that an advertisement has.
            let accept = format!("ipv6/conf/{link}/accept_ra");
            namespace.settings.insert(accept, "0".to_owned());
        }
        for (address, prefix) in addresses {
            namespace.addresses.insert(Address {
                link: link.clone(),
                address,
                prefix,
            });
        }
        for (range, gateway) in instance_routes(vpc, subnet, port) {
            // The first interface wins if two are primary.
            let route = Route {
                link: link.clone(),
                gateway: Some(gateway),
            };
            namespace.routes.entry(range).or_insert(route);
        }
    }

    fn add_uplink(&self, kernel: &mut KernelState, namespace: &mut NamespaceState, vpc: &VpcState) {
        let host_link = self.prefix.host_uplink(vpc.id);
        let (host_mac, vpc_mac) = (uplink_mac(vpc.id, 1), uplink_mac(vpc.id, 2));
        let rules = filters::uplink_rules(self.prefix, vpc);
        namespace.tables.insert(Table::Inet, Rules::Text(rules));
        let peer = (Namespace::Host, host_link.clone());
        namespace.links.insert(
            UPLINK.to_owned(),
            self.link(LinkKind::Pair { peer }, Some(vpc_mac), None),
        );
        let host = kernel.namespaces.entry(Namespace::Host).or_default();
        let peer = (Namespace::Vpc(vpc.id), UPLINK.to_owned());
        host.links.insert(
            host_link.clone(),
            self.link(LinkKind::Pair { peer }, Some(host_mac), None),
        );
        host.settings
            .insert(format!("ipv4/conf/{host_link}/forwarding"), "1".to_owned());
        let public_ipv4 = vpc.ports.iter().filter_map(|port| port.nat_1_1);
        for public in public_ipv4 {
            let route = Route {
                link: host_link.clone(),
                gateway: Some(VPC_END.0.into()),
            };
            host.routes.insert(IpRange::single(public.into()), route);
        }
        for range in filters::public_ipv6(vpc) {
            let route = Route {
                link: host_link.clone(),
                gateway: Some(VPC_END.1.into()),
            };
            host.routes.insert(range, route);
        }
        for (host_end, vpc_end) in [
            (IpAddr::from(HOST_END.0), IpAddr::from(VPC_END.0)),
            (HOST_END.1.into(), VPC_END.1.into()),
        ] {
            host.neighbors.insert((host_link.clone(), vpc_end), vpc_mac);
            namespace
                .neighbors
                .insert((UPLINK.to_owned(), host_end), host_mac);
            let everything = if host_end.is_ipv4() {
                Ipv4Addr::UNSPECIFIED.into()
            } else {
                Ipv6Addr::UNSPECIFIED.into()
            };
            if let Some(everything) = IpRange::containing(everything, 0) {
                let route = Route {
                    link: UPLINK.to_owned(),
                    gateway: Some(host_end),
                };
                namespace.routes.insert(everything, route);
            }
        }
    }

    fn link(&self, kind: LinkKind, mac: Option<MacAddress>, bridge: Option<BridgePort>) -> Link {
        Link {
            kind,
            mac,
            mtu: self.mtu,
            up: true,
            bridge,
        }
    }
}

/// The bridge answers ARP and neighbor discovery for addresses behind the tunnel, which floods nothing. The kernel does
/// not answer requests that arrive at a port with suppression, so local ports have none. The bridge knows the hardware
/// addresses of all ports, so it floods no frame to an unknown one.
fn bridge_port(subnet: i64, is_local: bool) -> BridgePort {
    BridgePort {
        name: names::bridge(subnet),
        learning: false,
        suppress_neighbors: !is_local,
        flood_unknown: false,
        flood_broadcasts: is_local,
    }
}

fn instance_link(port: &Port) -> String {
    format!("eth{}", port.index)
}

fn has_uplink(vpc: &VpcState) -> bool {
    vpc.ports.iter().any(|port| port.nat_1_1.is_some()) || !filters::public_ipv6(vpc).is_empty()
}

/// A locally administered hardware address for one end of an uplink.
fn uplink_mac(vpc: i64, end: u8) -> MacAddress {
    let [.., a, b, c, d] = vpc.to_be_bytes();
    MacAddress([0x02, end, a, b, c, d])
}

fn add_endpoint(namespace: &mut NamespaceState, endpoint: &Endpoint, host: IpAddr) {
    let link = names::tunnel(endpoint.subnet_id);
    let mac = endpoint.mac;
    namespace.forwarding.insert(Forwarding::Port {
        link: link.clone(),
        mac,
    });
    namespace
        .forwarding
        .insert(Forwarding::Remote { link, mac, host });
    add_neighbors(namespace, endpoint.subnet_id, mac, endpoint.ipv4, endpoint.ipv6);
}

fn add_neighbors(
    namespace: &mut NamespaceState,
    subnet: i64,
    mac: MacAddress,
    ipv4: Option<Ipv4Addr>,
    ipv6: Option<Ipv6Addr>,
) {
    let addresses = [
        ipv4.map(IpAddr::V4),
        ipv6.map(IpAddr::V6),
        Some(mac.link_local().into()),
    ];
    for address in addresses.into_iter().flatten() {
        namespace.neighbors.insert((names::bridge(subnet), address), mac);
    }
}

/// The routes of an instance through one interface: everything if it is primary, else the other subnets of the VPC.
/// DHCP sends the same.
pub fn instance_routes(vpc: &VpcState, subnet: &Subnet, port: &Port) -> Vec<(IpRange, IpAddr)> {
    let mut routes = Vec::new();
    let families = [
        (
            port.ipv4.is_some(),
            IpAddr::from(Ipv4Addr::UNSPECIFIED),
            subnet.ipv4.map(|range| range.gateway),
        ),
        (
            port.slaac.is_some(),
            Ipv6Addr::UNSPECIFIED.into(),
            Some(subnet.gateway_mac.link_local().into()),
        ),
    ];
    for (has_address, everything, gateway) in families {
        let Some(gateway) = gateway.filter(|_| has_address) else {
            continue;
        };
        if port.primary {
            routes.extend(IpRange::containing(everything, 0).map(|range| (range, gateway)));
            continue;
        }
        for other in &vpc.subnets {
            let range = if everything.is_ipv4() {
                other.ipv4
            } else {
                other.ipv6
            };
            let is_on_link = everything.is_ipv4() && other.id == subnet.id;
            routes.extend(range.filter(|_| !is_on_link).map(|range| (range.range, gateway)));
        }
    }
    routes
}
