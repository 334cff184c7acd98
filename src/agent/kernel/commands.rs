//! Steps as command lines: those of a batch of `ip` or `bridge`.

use std::fmt;

use crate::agent::filters::VXLAN_PORT;
use crate::agent::kernel_state::{Address, BridgePort, Forwarding, Link, LinkKind};
use crate::agent::names::{Namespace, Prefix, ROUTE_PROTOCOL};
use crate::agent::plan::{Action, Step};

/// How a step is run.
#[derive(Debug, PartialEq, Eq)]
pub enum StepCommand {
    /// Lines of `ip -batch` in the namespace of the host.
    HostIp(Vec<String>),
    /// Lines of `ip -batch` in the namespace of the step.
    Ip(Vec<String>),
    /// A line of `bridge -batch`.
    Bridge(String),
    /// A value below `/proc/sys/net`.
    Setting { path: String, value: String },
    /// The input of `nft -f -`.
    Rules(String),
}

/// As an operator would type it.
impl fmt::Display for StepCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostIp(lines) | Self::Ip(lines) => write!(f, "ip {}", lines.join("\nip ")),
            Self::Bridge(line) => write!(f, "bridge {line}"),
            Self::Setting { path, value } => write!(f, "sysctl net/{path}={value}"),
            Self::Rules(text) => write!(f, "nft -f -\n{}", text.trim_end()),
        }
    }
}

/// The command of a step.
pub fn command_of(prefix: &Prefix, step: &Step) -> StepCommand {
    let name = step.namespace.name(prefix).unwrap_or_default();
    let ip = |line: String| StepCommand::Ip(vec![line]);
    match &step.action {
        Action::AddNamespace => StepCommand::HostIp(vec![format!("netns add {name}")]),
        Action::DeleteNamespace => StepCommand::HostIp(vec![format!("netns delete {name}")]),
        Action::AddLink { name, link, peer } => add_link(prefix, step.namespace, name, link, peer.as_ref()),
        Action::DeleteLink { name } => ip(format!("link delete {name}")),
        Action::SetMac { link, mac } => ip(format!("link set {link} address {mac}")),
        Action::SetMtu { link, mtu } => ip(format!("link set {link} mtu {mtu}")),
        Action::SetBridge { link, port: None } => ip(format!("link set {link} nomaster")),
        Action::SetBridge {
            link,
            port: Some(port),
        } => StepCommand::Ip(bridge_lines(link, port)),
        Action::SetUp { link, up } => ip(format!("link set {link} {}", if *up { "up" } else { "down" })),
        Action::AddAddress(address) => ip(format!("addr add {}", address_arguments(address))),
        Action::DeleteAddress(address) => ip(format!("addr del {}", address_arguments(address))),
        Action::SetRoute { range, route } => {
            let gateway = route.gateway.map(|gateway| format!("via {gateway} "));
            let gateway = gateway.unwrap_or_default();
            ip(format!(
                "route replace {range} {gateway}dev {} onlink proto {ROUTE_PROTOCOL}",
                route.link
            ))
        }
        Action::DeleteRoute { range, route } => ip(format!(
            "route del {range} dev {} proto {ROUTE_PROTOCOL}",
            route.link
        )),
        Action::SetNeighbor { link, address, mac } => ip(format!(
            "neigh replace {address} lladdr {mac} dev {link} nud permanent"
        )),
        Action::DeleteNeighbor { link, address } => ip(format!("neigh del {address} dev {link}")),
        Action::AddForwarding(entry) => StepCommand::Bridge(forwarding_line("replace", entry)),
        Action::DeleteForwarding(entry) => StepCommand::Bridge(forwarding_line("del", entry)),
        Action::SetSetting { path, value } => StepCommand::Setting {
            path: path.clone(),
            value: value.clone(),
        },
        Action::SetTable { table, text } => {
            let family = table.family();
            StepCommand::Rules(format!(
                "table {family} {prefix} {{ }}\ndelete table {family} {prefix}\n{text}"
            ))
        }
        Action::DeleteTable { table } => {
            StepCommand::Rules(format!("delete table {} {prefix}\n", table.family()))
        }
    }
}

/// Links are created from the namespace of the host, because a tunnel sends its packets where it was created.
fn add_link(
    prefix: &Prefix,
    namespace: Namespace,
    name: &str,
    link: &Link,
    peer: Option<&Link>,
) -> StepCommand {
    let group = prefix.link_group();
    let attributes = |namespace: Namespace, link: &Link| {
        let netns = namespace
            .name(prefix)
            .map(|name| format!("netns {name} "))
            .unwrap_or_default();
        let mac = link.mac.map(|mac| format!("address {mac} ")).unwrap_or_default();
        format!("{netns}group {group} {mac}mtu {}", link.mtu)
    };
    let own = attributes(namespace, link);
    let kind = match &link.kind {
        LinkKind::Bridge => "type bridge".to_owned(),
        LinkKind::Tunnel { vni, local } => {
            format!("type vxlan id {vni} local {local} dstport {VXLAN_PORT} nolearning")
        }
        LinkKind::Pair {
            peer: (at, peer_name),
        } => {
            let peer = peer.map(|peer| attributes(*at, peer)).unwrap_or_default();
            format!("type veth peer name {peer_name} {peer}")
        }
        LinkKind::WireGuard => "type wireguard".to_owned(),
        LinkKind::Tap | LinkKind::Tun | LinkKind::Other => {
            let mode = if link.kind == LinkKind::Tun { "tun" } else { "tap" };
            return StepCommand::Ip(vec![
                format!("tuntap add dev {name} mode {mode}"),
                format!("link set {name} group {group} mtu {}", link.mtu),
            ]);
        }
    };
    StepCommand::HostIp(vec![format!("link add {name} {own} {kind}")])
}

fn bridge_lines(link: &str, port: &BridgePort) -> Vec<String> {
    let switch = |on: bool| if on { "on" } else { "off" };
    let broadcasts = switch(port.flood_broadcasts);
    vec![
        format!("link set {link} master {}", port.name),
        format!(
            "link set {link} type bridge_slave learning {} neigh_suppress {} flood {} mcast_flood {broadcasts} bcast_flood {broadcasts}",
            switch(port.learning),
            switch(port.suppress_neighbors),
            switch(port.flood_unknown),
        ),
    ]
}

fn address_arguments(address: &Address) -> String {
    let nodad = if address.address.is_ipv6() { " nodad" } else { "" };
    format!(
        "{}/{} dev {}{nodad}",
        address.address, address.prefix, address.link
    )
}

fn forwarding_line(verb: &str, entry: &Forwarding) -> String {
    match entry {
        Forwarding::Port { link, mac } if verb == "del" => format!("fdb del {mac} dev {link} master"),
        Forwarding::Port { link, mac } => format!("fdb {verb} {mac} dev {link} master static"),
        Forwarding::Remote { link, mac, host } if verb == "del" => {
            format!("fdb del {mac} dev {link} dst {host} self")
        }
        Forwarding::Remote { link, mac, host } => {
            format!("fdb {verb} {mac} dev {link} dst {host} self permanent")
        }
    }
}
