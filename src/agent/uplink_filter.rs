//! What instances with public addresses reach through the host: public networks, and not the hosts and the private
//! networks behind them (decision 0046).

use std::fmt::Write as _;

use super::filters::merged;
use super::names::Prefix;
use crate::agent_protocol::{IpRange, Underlay};

/// The counter of packets to the hosts and to private networks.
pub const NOT_PUBLIC: &str = "not_public";

/// Networks that are not public: private, shared by carriers, link-local, loopback and unique local addresses.
const PRIVATE_IPV4: &str =
    "10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16";
const PRIVATE_IPV6: &str = "fc00::/7";
/// The private networks that an operator can allow.
const ALLOWED: [&str; 5] = [
    "10.0.0.0/8",
    "100.64.0.0/10",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "fc00::/7",
];

/// A network for `allowed` of `chains`. Others are reachable without it, or never.
pub fn parse_allowed(text: &str) -> Result<IpRange, String> {
    let range: IpRange = text.parse()?;
    let is_inside = |wider: &&str| {
        let wider: Result<IpRange, _> = wider.parse();
        wider.is_ok_and(|wider| wider.contains(range.address()) && wider.prefix() <= range.prefix())
    };
    match ALLOWED.iter().any(is_inside) {
        true => Ok(range),
        false => Err(format!(
            "must be inside of a private network: {}",
            ALLOWED.join(", ")
        )),
    }
}

/// The chains of the host for packets that arrive on uplinks. Responses to connections from outside pass. Instances may
/// also reach the private networks in `allowed`.
pub fn chains(prefix: &Prefix, underlay: &Underlay, allowed: &[IpRange]) -> String {
    let uplinks = format!("\"{}\"", prefix.uplink_pattern());
    let responses = "ct state { established, related } accept";
    let drop = format!("counter name {NOT_PUBLIC} drop");
    let resolvers = underlay.resolvers.iter().copied().map(IpRange::single).collect();
    let dns = accept(resolvers, " meta l4proto { tcp, udp } th dport 53");
    let mut text = format!("  counter {NOT_PUBLIC} {{ }}\n");
    let _ = write!(
        text,
        "  chain uplink_input {{\n    type filter hook input priority -150; policy accept;\n    \
         iifname != {uplinks} accept\n    {responses}\n{dns}    {drop}\n  }}\n"
    );
    // The namespace of the other VPC filters packets from uplink to uplink.
    let _ = write!(
        text,
        "  chain uplink_forward {{\n    type filter hook forward priority -150; policy accept;\n    \
         iifname != {uplinks} accept\n    oifname {uplinks} accept\n    {responses}\n{dns}"
    );
    let hosts = underlay.hosts.iter().chain([&underlay.address]);
    for (family, hosts) in by_family(hosts.copied().map(IpRange::single).collect()) {
        let _ = writeln!(text, "    {family} daddr {{ {hosts} }} {drop}");
    }
    text += &accept(allowed.to_vec(), "");
    let _ = write!(
        text,
        "    ip daddr {{ {PRIVATE_IPV4} }} {drop}\n    ip6 daddr {{ {PRIVATE_IPV6} }} {drop}\n  }}\n"
    );
    text
}

/// Rules that accept packets to these networks.
fn accept(networks: Vec<IpRange>, condition: &str) -> String {
    let line = |(family, list)| format!("    {family} daddr {{ {list} }}{condition} accept\n");
    by_family(networks).map(line).collect()
}

/// The networks of each family that has any, as a list of nftables.
fn by_family(networks: Vec<IpRange>) -> impl Iterator<Item = (&'static str, String)> {
    let (ipv4, ipv6): (Vec<_>, Vec<_>) = networks.into_iter().partition(|network| network.is_ipv4());
    let families = [("ip", merged(ipv4)), ("ip6", merged(ipv6))];
    let families = families.into_iter().filter(|(_, networks)| !networks.is_empty());
    families.map(|(family, networks)| (family, networks.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_networks_can_be_allowed() {
        for network in [
            "10.0.0.0/8",
            "10.20.0.0/16",
            "100.64.7.0/24",
            "172.31.0.1/32",
            "fd00:1::/32",
        ] {
            assert!(parse_allowed(network).is_ok(), "{network}");
        }
        for network in [
            "0.0.0.0/0",
            "::/0",
            "8.0.0.0/7",
            "8.8.8.0/24",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.0.0.0/8",
            "2001:db8::/32",
            "10.0.0.1/8",
            "10.0.0.0",
        ] {
            assert!(parse_allowed(network).is_err(), "{network}");
        }
    }
}
