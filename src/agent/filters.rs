//! The nftables rules of a host, as text for `nft -f`.
//!
//! Anti-spoofing rules are in the bridge family of each VPC's namespace. Each port has its own chain, found by the name
//! of its link. Frames of a port without a chain are dropped.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv6Addr};

use super::encrypted_layout::{FIRST_PORT, LAST_PORT};
use super::names::{self, Prefix, UPLINK};
use crate::agent_protocol::{
    Encryption, HostState, INNER_RANGE, IpRange, Port, Underlay, VpcState, inner_address,
};

/// The UDP port of the tunnels.
pub const VXLAN_PORT: u16 = 4789;

/// The reasons of the drop counters of a port, as in the names of its counters.
pub const DROP_REASONS: [&str; 7] = ["mac", "ip", "arp", "nd", "dhcp", "ra", "protocol"];

/// The counter of tunnel packets from unknown endpoints.
pub const UNKNOWN_ENDPOINT: &str = "unknown_endpoint";

/// The counter of tunnel packets in clear text, in a region that encrypts.
pub const CLEAR_TEXT: &str = "clear_text";

/// The name of a drop counter.
pub fn counter(interface: i64, reason: &str) -> String {
    format!("p{interface}_{reason}")
}

/// The anti-spoofing rules of a VPC's namespace.
pub fn port_rules(prefix: &Prefix, vpc: &VpcState) -> String {
    let mut text = format!("table bridge {prefix} {{\n");
    text += "  counter unknown_port { }\n  counter flooded { }\n";
    for port in &vpc.ports {
        for reason in DROP_REASONS {
            let _ = writeln!(text, "  counter {} {{ }}", counter(port.interface_id, reason));
        }
    }
    for port in &vpc.ports {
        text += &port_chain(port);
    }
    text += "  chain prerouting {\n    type filter hook prerouting priority -300; policy accept;\n";
    if !vpc.ports.is_empty() {
        let jump = |port: &Port| {
            let id = port.interface_id;
            format!("\"{}\" : jump port_{id}", names::port(id))
        };
        let jumps: Vec<_> = vpc.ports.iter().map(jump).collect();
        let _ = writeln!(text, "    iifname vmap {{ {} }}", jumps.join(", "));
    }
    text += "    iifname \"gi*\" counter name unknown_port drop\n  }\n";
    // Instances on the same host resolve each other. The tunnels flood nothing, so other broadcasts would reach only
    // a part of the subnet.
    text += "  chain forward {\n    type filter hook forward priority -300; policy accept;\n";
    text += "    meta pkttype != { broadcast, multicast } accept\n";
    text += "    arp operation request accept\n    icmpv6 type nd-neighbor-solicit accept\n";
    text += "    counter name flooded drop\n  }\n}\n";
    text
}

fn port_chain(port: &Port) -> String {
    let drop = |reason: &str| format!("counter name {} drop", counter(port.interface_id, reason));
    let mac = port.mac;
    let ipv4 = sources(port, true);
    let ipv6 = sources(port, false);
    let mut lines = vec![format!("ether saddr != {mac} {}", drop("mac"))];
    // Most packets are IPv4, so that they pass the fewest rules.
    lines.push(format!("ether type ip udp sport 67 {}", drop("dhcp")));
    if !ipv4.is_empty() {
        lines.push(format!("ether type ip ip saddr {{ {} }} accept", ipv4.join(", ")));
    }
    lines.push("ether type ip ip saddr 0.0.0.0 udp sport 68 udp dport 67 accept".to_owned());
    lines.push(format!("ether type ip {}", drop("ip")));
    lines.push(format!("ether type arp arp saddr ether != {mac} {}", drop("arp")));
    // An ARP probe has no sender address.
    lines.push(format!(
        "ether type arp arp operation request arp saddr ip {{ {} }} accept",
        list("0.0.0.0/32", &ipv4)
    ));
    if !ipv4.is_empty() {
        lines.push(format!(
            "ether type arp arp operation reply arp saddr ip {{ {} }} accept",
            ipv4.join(", ")
        ));
    }
    lines.push(format!("ether type arp {}", drop("arp")));
    lines.push(format!(
        "ether type ip6 icmpv6 type {{ nd-router-advert, nd-redirect }} {}",
        drop("ra")
    ));
    lines.push(format!("ether type ip6 udp sport 547 {}", drop("dhcp")));
    for address in advertised(port) {
        // The target address of a neighbor advertisement.
        let target = format!("{:#034x}", address.to_bits());
        lines.push(format!(
            "ether type ip6 icmpv6 type nd-neighbor-advert @th,64,128 {target} accept"
        ));
    }
    lines.push(format!(
        "ether type ip6 icmpv6 type nd-neighbor-advert {}",
        drop("nd")
    ));
    lines.push(
        "ether type ip6 ip6 saddr :: icmpv6 type { nd-neighbor-solicit, nd-router-solicit, mld2-listener-report } accept"
            .to_owned(),
    );
    lines.push(format!(
        "ether type ip6 ip6 saddr {{ {} }} accept",
        ipv6.join(", ")
    ));
    lines.push(format!("ether type ip6 {}", drop("ip")));
    lines.push(drop("protocol"));
    format!(
        "  chain port_{} {{\n    {}\n  }}\n",
        port.interface_id,
        lines.join("\n    ")
    )
}

fn list(first: &str, others: &[String]) -> String {
    let mut all = vec![first.to_owned()];
    all.extend_from_slice(others);
    all.join(", ")
}

/// The source addresses that a port may use.
fn sources(port: &Port, ipv4: bool) -> Vec<String> {
    let mut allowed: Vec<IpRange> = port.ranges.clone();
    allowed.extend(port.ipv4.map(|address| IpRange::single(address.into())));
    allowed.extend(port.slaac.map(|slaac| IpRange::single(slaac.address.into())));
    allowed.push(IpRange::single(port.mac.link_local().into()));
    allowed.retain(|range| range.is_ipv4() == ipv4);
    merged(allowed)
}

/// The ranges of one address family as text, without those that another one contains: a list of nftables has none.
pub fn merged(mut ranges: Vec<IpRange>) -> Vec<String> {
    ranges.sort_by_key(|range| (range.prefix(), range.address()));
    let mut merged: Vec<IpRange> = Vec::new();
    for range in ranges {
        if !merged.iter().any(|wider| wider.contains(range.address())) {
            merged.push(range);
        }
    }
    merged.iter().map(IpRange::to_string).collect()
}

/// The addresses that a port may announce by neighbor advertisements.
fn advertised(port: &Port) -> impl Iterator<Item = Ipv6Addr> {
    let slaac = port.slaac.map(|slaac| slaac.address);
    std::iter::once(port.mac.link_local()).chain(slaac)
}

/// NAT and the filter of the link to the host.
pub fn uplink_rules(prefix: &Prefix, vpc: &VpcState) -> String {
    let mut text = format!("table inet {prefix} {{\n  counter no_egress {{ }}\n  counter no_ingress {{ }}\n");
    let nat = vpc
        .ports
        .iter()
        .filter_map(|port| Some((port.ipv4?, port.nat_1_1?)));
    let nat: Vec<_> = nat.collect();
    text += "  chain prerouting {\n    type nat hook prerouting priority dstnat; policy accept;\n";
    for (private, public) in &nat {
        let _ = writeln!(
            text,
            "    iifname \"{UPLINK}\" ip daddr {public} dnat ip to {private}"
        );
    }
    text += "  }\n  chain postrouting {\n    type nat hook postrouting priority srcnat; policy accept;\n";
    for (private, public) in &nat {
        let _ = writeln!(
            text,
            "    oifname \"{UPLINK}\" ip saddr {private} snat ip to {public}"
        );
    }
    text += "  }\n  chain forward {\n    type filter hook forward priority filter; policy accept;\n";
    if !nat.is_empty() {
        let private: Vec<_> = nat.iter().map(|(private, _)| private.to_string()).collect();
        let _ = writeln!(
            text,
            "    oifname \"{UPLINK}\" ip saddr {{ {} }} accept",
            private.join(", ")
        );
    }
    let public = public_ipv6(vpc);
    if !public.is_empty() {
        let ranges: Vec<_> = public.iter().map(IpRange::to_string).collect();
        let _ = writeln!(
            text,
            "    oifname \"{UPLINK}\" ip6 saddr {{ {} }} accept",
            ranges.join(", ")
        );
        let _ = writeln!(
            text,
            "    iifname \"{UPLINK}\" ip6 daddr {{ {} }} accept",
            ranges.join(", ")
        );
    }
    let _ = writeln!(text, "    oifname \"{UPLINK}\" counter name no_egress drop");
    let _ = writeln!(text, "    iifname \"{UPLINK}\" ct status dnat accept");
    let _ = writeln!(
        text,
        "    iifname \"{UPLINK}\" meta nfproto ipv4 ct state established,related accept"
    );
    let _ = writeln!(
        text,
        "    iifname \"{UPLINK}\" counter name no_ingress drop\n  }}\n}}"
    );
    text
}

/// The IPv6 addresses and ranges of a VPC that are reachable from outside.
pub fn public_ipv6(vpc: &VpcState) -> Vec<IpRange> {
    let ports = vpc.ports.iter().filter(|port| port.ipv6_public);
    let of_port = |port: &Port| {
        let address = port.slaac.map(|slaac| IpRange::single(slaac.address.into()));
        let ranges = port.ranges.iter().copied().filter(|range| !range.is_ipv4());
        address.into_iter().chain(ranges).collect::<Vec<_>>()
    };
    let mut ranges: Vec<_> = ports.flat_map(of_port).collect();
    ranges.sort();
    ranges.dedup();
    ranges
}

/// The filter of the host: tunnel packets only from known hosts, and `uplinks`, the chains for packets of instances.
pub fn underlay_rules(prefix: &Prefix, state: &HostState, uplinks: &str) -> String {
    let underlay = &state.underlay;
    let rules = match &underlay.encryption {
        None => clear_text_rules(underlay, &networks(state)),
        Some(encryption) => encrypted_rules(prefix, state, encryption),
    };
    let tunnels_use_ipv6 = !underlay.address.is_ipv4() || underlay.encryption.is_some();
    let mut text = format!(
        "table inet {prefix} {{\n  counter {UNKNOWN_ENDPOINT} {{ }}\n  counter {CLEAR_TEXT} {{ }}\n{rules}"
    );
    if tunnels_use_ipv6 {
        text += REASSEMBLED;
    }
    if tunnels_use_ipv6 || !uplinks.is_empty() {
        text += &untracked(underlay);
    }
    text + uplinks + "}\n"
}

/// The kernel reassembles IPv6 packets after the filter, which does not see a UDP header in a later fragment. As soon as a
/// rule uses the state of connections, it reassembles all packets before.
const REASSEMBLED: &str = "  chain reassembled {\n    type filter hook prerouting priority -150; policy accept;\n    \
    ct state untracked accept\n  }\n";

/// The kernel tracks all connections of a namespace as soon as a rule uses their state. For tunnels, that would only cost
/// time.
fn untracked(underlay: &Underlay) -> String {
    let family = if underlay.address.is_ipv4() { "ip" } else { "ip6" };
    let (address, ports) = (
        underlay.address,
        format!("{{ {VXLAN_PORT}, {FIRST_PORT}-{LAST_PORT} }}"),
    );
    let chain = |hook: &str, direction: &str| {
        format!(
            "  chain untracked_{hook} {{\n    type filter hook {hook} priority -300; policy accept;\n    \
             {family} {direction} {address} udp dport {ports} notrack\n    \
             ip6 daddr {INNER_RANGE} udp dport {VXLAN_PORT} notrack\n  }}\n"
        )
    };
    chain("prerouting", "daddr") + &chain("output", "saddr")
}

/// The address family of the underlay, and the addresses of the other hosts as text.
fn known_hosts(underlay: &Underlay) -> (&'static str, String) {
    let family = if underlay.address.is_ipv4() { "ip" } else { "ip6" };
    let same_family = |host: &&IpAddr| host.is_ipv4() == underlay.address.is_ipv4();
    let mut hosts: Vec<_> = underlay.hosts.iter().filter(same_family).collect();
    hosts.sort();
    hosts.dedup();
    let hosts: Vec<_> = hosts.into_iter().map(IpAddr::to_string).collect();
    (family, hosts.join(", "))
}

const INPUT: &str = "  chain input {\n    type filter hook input priority -300; policy accept;\n";
const OUTPUT: &str = "  chain output {\n    type filter hook output priority -300; policy accept;\n";

/// The network identifiers of the tunnels on this host.
fn networks(state: &HostState) -> Vec<String> {
    let subnets = state.vpcs.iter().flat_map(|vpc| &vpc.subnets);
    let networks: BTreeSet<u32> = subnets.map(|subnet| subnet.vni).collect();
    networks.iter().map(u32::to_string).collect()
}

/// The kernel accepts tunnel packets at all addresses of the host, also at broadcast addresses. Other programs can use
/// the same port for other networks.
fn clear_text_rules(underlay: &Underlay, networks: &[String]) -> String {
    let (family, hosts) = known_hosts(underlay);
    let to_us = format!("{family} daddr {} udp dport {VXLAN_PORT}", underlay.address);
    let mut text = INPUT.to_owned();
    if !hosts.is_empty() {
        let _ = writeln!(text, "    {to_us} {family} saddr {{ {hosts} }} accept");
    }
    if !networks.is_empty() {
        let networks = networks.join(", ");
        let _ = writeln!(
            text,
            "    udp dport {VXLAN_PORT} @th,96,24 {{ {networks} }} counter name {UNKNOWN_ENDPOINT} drop"
        );
    }
    text += "  }\n";
    text
}

/// Packets of VXLAN only inside of encrypted tunnels, in both directions. Without a route to the inner address of a
/// host, they would take the default route.
fn encrypted_rules(prefix: &Prefix, state: &HostState, encryption: &Encryption) -> String {
    let (family, hosts) = known_hosts(&state.underlay);
    let (address, inner) = (state.underlay.address, inner_address(state.host_id));
    let tunnels = format!("\"{}\"", prefix.tunnel_pattern());
    let unknown = format!("counter name {UNKNOWN_ENDPOINT} drop");
    let clear_text = format!("counter name {CLEAR_TEXT} drop");
    let ports = format!("{family} daddr {address} udp dport {FIRST_PORT}-{LAST_PORT}");
    let peers: Vec<_> = encryption
        .peers
        .iter()
        .map(|peer| peer.inner_address().to_string())
        .collect();
    let mut text = INPUT.to_owned();
    if !peers.is_empty() {
        let peers = peers.join(", ");
        let _ = writeln!(
            text,
            "    iifname {tunnels} ip6 daddr {inner} udp dport {VXLAN_PORT} ip6 saddr {{ {peers} }} accept"
        );
    }
    let _ = writeln!(text, "    iifname {tunnels} {unknown}");
    let _ = writeln!(text, "    ip6 daddr {inner} {clear_text}");
    // The kernel accepts tunnel packets at all addresses of the host.
    let _ = writeln!(
        text,
        "    meta nfproto ipv6 ip6 daddr != {INNER_RANGE} udp dport {VXLAN_PORT} {clear_text}"
    );
    let _ = writeln!(
        text,
        "    {family} daddr {address} udp dport {VXLAN_PORT} {clear_text}"
    );
    // Encrypted tunnels have IPv6 addresses inside, so the kernel receives no IPv4 packets of these networks. Other
    // programs can use the same port for other networks.
    let networks = networks(state);
    if !networks.is_empty() {
        let networks = networks.join(", ");
        let _ = writeln!(
            text,
            "    meta nfproto ipv4 udp dport {VXLAN_PORT} @th,96,24 {{ {networks} }} {clear_text}"
        );
    }
    if !hosts.is_empty() {
        let _ = writeln!(text, "    {ports} {family} saddr {{ {hosts} }} accept");
    }
    let _ = writeln!(text, "    {ports} {unknown}\n  }}");
    let _ = writeln!(text, "{OUTPUT}    oifname {tunnels} accept");
    let _ = writeln!(text, "    ip6 daddr {INNER_RANGE} drop");
    let _ = writeln!(
        text,
        "    {family} saddr {address} udp dport {VXLAN_PORT} drop\n  }}"
    );
    text
}
