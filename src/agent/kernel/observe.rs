//! Reads the agent's objects from the kernel. Objects without the agent's mark are left out (decision 0030).

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::Path;

use serde_json::Value;

use super::process::{KernelError, inside, namespace_names, reason, run};
use super::rules_record::{RulesRecord, record_key};
use crate::agent::host_facts::UnderlayLink;
use crate::agent::kernel_state::{
    Address, BridgePort, Forwarding, KernelState, Link, LinkKind, NamespaceState, Route, Rules, Table,
};
use crate::agent::names::{self, Namespace, Prefix, ROUTE_PROTOCOL};
use crate::agent_protocol::{IpRange, MacAddress, TrafficCounters};

pub fn observe(
    prefix: &Prefix,
    desired: &KernelState,
    record: &RulesRecord,
) -> Result<KernelState, KernelError> {
    let named = namespace_names();
    let named = named.iter().filter_map(|name| Namespace::of_name(name, prefix));
    let mut kernel = KernelState::default();
    let mut pairs = Vec::new();
    for namespace in std::iter::once(Namespace::Host).chain(named) {
        let dumps = match Dumps::read(prefix, namespace) {
            Ok(dumps) => dumps,
            Err(error) if namespace == Namespace::Host => return Err(error),
            // Only the ports in this namespace get an error: the plan creates it, and the kernel refuses its name.
            Err(error) => {
                tracing::warn!(namespace = ?namespace, error, "namespace not read");
                continue;
            }
        };
        if dumps.is_ours(prefix, namespace) {
            let state = dumps.state(prefix, namespace, desired, record, &mut pairs)?;
            kernel.namespaces.insert(namespace, state);
        }
    }
    match_pairs(&mut kernel, desired, &pairs);
    Ok(kernel)
}

/// The end of a pair: its place, its index, and the index of the other end.
type PairEnd = (Namespace, String, u64, u64);

/// The output of `ip` and `bridge` in one namespace.
struct Dumps {
    links: Vec<Value>,
    addresses: Vec<Value>,
    neighbors: Vec<Value>,
    routes: Vec<Value>,
    forwarding: Vec<Value>,
}

impl Dumps {
    fn read(prefix: &Prefix, namespace: Namespace) -> Result<Self, KernelError> {
        let route = format!("route show table main proto {ROUTE_PROTOCOL}\n");
        let input = format!("link show\naddr show\nneigh show nud permanent\n{route}");
        let mut dumps = arrays(prefix, namespace, &["ip", "-j", "-d", "-batch", "-"], &input)?;
        let mut routes = arrays(prefix, namespace, &["ip", "-6", "-j", "-batch", "-"], &route)?;
        let mut forwarding = arrays(prefix, namespace, &["bridge", "-j", "fdb", "show"], "")?;
        let [links, addresses, neighbors, routes_v4] = &mut dumps[..] else {
            return Err(format!("ip printed {} lists instead of 4", dumps.len()));
        };
        let mut all_routes = std::mem::take(routes_v4);
        all_routes.append(&mut routes.pop().unwrap_or_default());
        Ok(Self {
            links: std::mem::take(links),
            addresses: std::mem::take(addresses),
            neighbors: std::mem::take(neighbors),
            routes: all_routes,
            forwarding: forwarding.pop().unwrap_or_default(),
        })
    }

    fn is_ours(&self, prefix: &Prefix, namespace: Namespace) -> bool {
        let loopback = self.links.iter().find(|link| link["ifname"] == "lo");
        !matches!(namespace, Namespace::Instance(_))
            || loopback.is_some_and(|link| link["ifalias"] == prefix.as_str())
    }

    fn state(
        &self,
        prefix: &Prefix,
        namespace: Namespace,
        desired: &KernelState,
        record: &RulesRecord,
        pairs: &mut Vec<PairEnd>,
    ) -> Result<NamespaceState, KernelError> {
        let mut state = NamespaceState::default();
        for value in &self.links {
            let Some((name, link)) = own_link(prefix, namespace, value) else {
                continue;
            };
            if text(value, &["linkinfo", "info_kind"]) == "veth" {
                let own = value["ifindex"].as_u64().unwrap_or_default();
                pairs.push((namespace, name.clone(), own, self.peer_index(value)));
            }
            state.links.insert(name, link);
        }
        self.add_addresses(namespace, &mut state);
        for value in &self.neighbors {
            let link = text(value, &["dev"]);
            let entry = (text(value, &["dst"]).parse(), text(value, &["lladdr"]).parse());
            if let (Ok(address), Ok(mac)) = entry
                && state.links.contains_key(link)
                && !is_multicast(&address)
            {
                state.neighbors.insert((link.to_owned(), address), mac);
            }
        }
        for value in &self.routes {
            let link = text(value, &["dev"]).to_owned();
            let gateway = text(value, &["gateway"]).parse().ok();
            let family = if gateway.is_some_and(|gateway: IpAddr| gateway.is_ipv6()) {
                "::/0"
            } else {
                "0.0.0.0/0"
            };
            if let Some(range) = range_of(text(value, &["dst"]), family)
                && state.links.contains_key(&link)
            {
                state.routes.insert(range, Route { link, gateway });
            }
        }
        let entries = self.forwarding.iter().filter_map(forwarding_of);
        let entries: Vec<_> = entries
            .filter(|entry| state.links.contains_key(entry.link()))
            .collect();
        state.forwarding.extend(entries);
        if let Some(wanted) = desired.namespaces.get(&namespace) {
            state.settings = settings(prefix, namespace, wanted)?;
        }
        if !matches!(namespace, Namespace::Instance(_)) {
            for table in [Table::Bridge, Table::Inet] {
                if let Some(listing) = listing(prefix, namespace, table) {
                    let known = record.text(&record_key(prefix, namespace, table), &listing);
                    let rules = known.map_or(Rules::Unknown, |text| Rules::Text(text.to_owned()));
                    state.tables.insert(table, rules);
                }
            }
        }
        Ok(state)
    }

    /// The index of the other end of a pair. `ip` prints the name of a link in the same namespace instead.
    fn peer_index(&self, value: &Value) -> u64 {
        let peer = self
            .links
            .iter()
            .find(|link| value["link"].is_string() && link["ifname"] == value["link"]);
        let index = value["link_index"].as_u64();
        index
            .or(peer.and_then(|peer| peer["ifindex"].as_u64()))
            .unwrap_or_default()
    }

    fn add_addresses(&self, namespace: Namespace, state: &mut NamespaceState) {
        for value in &self.addresses {
            let link = text(value, &["ifname"]);
            if !state.links.contains_key(link) {
                continue;
            }
            for info in value["addr_info"].as_array().into_iter().flatten() {
                // The kernel adds link-local addresses, except in the namespace of a VPC.
                let is_automatic = info["scope"] == "link" && info["family"] == "inet6";
                if is_automatic && !matches!(namespace, Namespace::Vpc(_)) {
                    continue;
                }
                let prefix = info["prefixlen"]
                    .as_u64()
                    .and_then(|prefix| u8::try_from(prefix).ok());
                if let (Ok(address), Some(prefix)) = (text(info, &["local"]).parse(), prefix) {
                    state.addresses.insert(Address {
                        link: link.to_owned(),
                        address,
                        prefix,
                    });
                }
            }
        }
    }
}

fn is_multicast(address: &IpAddr) -> bool {
    address.is_multicast()
}

fn own_link(prefix: &Prefix, namespace: Namespace, value: &Value) -> Option<(String, Link)> {
    let name = text(value, &["ifname"]).to_owned();
    let kind = text(value, &["linkinfo", "info_kind"]);
    let group = prefix.link_group();
    let has_group =
        value["group"].as_str() == Some(&group.to_string()) || value["group"].as_u64() == Some(group.into());
    // A tap or tun device gets its group after it was created.
    let is_of_agent = match namespace {
        Namespace::Vpc(_) => names::interface_of(&name).is_some(),
        Namespace::Host => prefix.is_tunnel(&name),
        Namespace::Instance(_) => false,
    };
    let is_new = kind == "tun" && is_of_agent;
    if !has_group && !is_new {
        return None;
    }
    let data = &value["linkinfo"]["info_data"];
    let kind = match kind {
        "bridge" => LinkKind::Bridge,
        "vxlan" => tunnel_kind(data),
        "tun" if data["type"] == "tun" => LinkKind::Tun,
        "tun" => LinkKind::Tap,
        "wireguard" => LinkKind::WireGuard,
        _ => LinkKind::Other,
    };
    let slave = &value["linkinfo"]["info_slave_data"];
    let flag = |key: &str| slave[key].as_bool().unwrap_or_default();
    let bridge = value["master"].as_str().map(|name| BridgePort {
        name: name.to_owned(),
        learning: flag("learning"),
        suppress_neighbors: flag("neigh_suppress"),
        flood_unknown: flag("flood"),
        flood_broadcasts: flag("bcast_flood") && flag("mcast_flood"),
    });
    let flags = value["flags"].as_array();
    let link = Link {
        kind,
        mac: text(value, &["address"]).parse::<MacAddress>().ok(),
        mtu: value["mtu"]
            .as_u64()
            .and_then(|mtu| u16::try_from(mtu).ok())
            .unwrap_or_default(),
        up: flags.is_some_and(|flags| flags.iter().any(|flag| flag == "UP")),
        bridge,
    };
    Some((name, link))
}

fn tunnel_kind(data: &Value) -> LinkKind {
    let vni = data["id"].as_u64().and_then(|vni| u32::try_from(vni).ok());
    let local = data["local"]
        .as_str()
        .or(data["local6"].as_str())
        .and_then(|local| local.parse().ok());
    match (vni, local, data["learning"].as_bool()) {
        (Some(vni), Some(local), Some(false)) => LinkKind::Tunnel { vni, local },
        _ => LinkKind::Other,
    }
}

/// Sets the peers of pairs that are as desired. Other pairs remain `Other`, so that the plan replaces them.
fn match_pairs(kernel: &mut KernelState, desired: &KernelState, pairs: &[PairEnd]) {
    let ends: BTreeMap<(Namespace, &str), (u64, u64)> = pairs
        .iter()
        .map(|(namespace, name, own, other)| ((*namespace, name.as_str()), (*own, *other)))
        .collect();
    for (namespace, name, own, other) in pairs {
        let Some(Link {
            kind: kind @ LinkKind::Pair { .. },
            ..
        }) = desired.link(*namespace, name)
        else {
            continue;
        };
        let LinkKind::Pair { peer } = kind else { continue };
        let is_peer = ends.get(&(peer.0, peer.1.as_str())) == Some(&(*other, *own));
        let state = kernel.namespaces.get_mut(namespace);
        if let Some(link) = state
            .and_then(|state| state.links.get_mut(name))
            .filter(|_| is_peer)
        {
            link.kind = kind.clone();
        }
    }
}

fn forwarding_of(value: &Value) -> Option<Forwarding> {
    let link = text(value, &["ifname"]).to_owned();
    let mac = text(value, &["mac"]).parse().ok()?;
    if let Some(host) = value["dst"].as_str() {
        return Some(Forwarding::Remote {
            link,
            mac,
            host: host.parse().ok()?,
        });
    }
    let is_port = value["master"].is_string() && value["state"] == "static";
    is_port.then_some(Forwarding::Port { link, mac })
}

fn settings(
    prefix: &Prefix,
    namespace: Namespace,
    wanted: &NamespaceState,
) -> Result<BTreeMap<String, String>, KernelError> {
    inside(prefix, namespace, || {
        let read = |path: &String| {
            let value = fs::read_to_string(Path::new("/proc/sys/net").join(path)).ok()?;
            Some((path.clone(), value.trim().to_owned()))
        };
        wanted.settings.keys().filter_map(read).collect()
    })
}

/// The rules of a table as nft prints them, without counter values; `None` if the table does not exist.
pub fn listing(prefix: &Prefix, namespace: Namespace, table: Table) -> Option<Vec<u8>> {
    let command = ["nft", "-s", "list", "table", table.family(), prefix.as_str()];
    let output = run(prefix, namespace, &command, "").ok()?;
    output.status.success().then_some(output.stdout)
}

/// The packets of the named counters in the agent's tables.
pub fn counters(prefix: &Prefix, namespace: Namespace) -> BTreeMap<String, u64> {
    let output = run(prefix, namespace, &["nft", "-j", "list", "counters"], "");
    let output = output.map(|output| output.stdout).unwrap_or_default();
    let value: Value = serde_json::from_slice(&output).unwrap_or_default();
    let counters = value["nftables"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| &entry["counter"]);
    let own = counters.filter(|counter| counter["table"] == prefix.as_str());
    own.filter_map(|counter| Some((counter["name"].as_str()?.to_owned(), counter["packets"].as_u64()?)))
        .collect()
}

/// The interface with this address in the host's namespace.
pub fn link_with(prefix: &Prefix, address: IpAddr) -> UnderlayLink {
    let address = address.to_string();
    let command = ["ip", "-j", "address", "show", "to", &address];
    let Ok(links) = arrays(prefix, Namespace::Host, &command, "") else {
        return UnderlayLink::Unknown;
    };
    // `ip` prints empty objects for the other interfaces.
    let mut found = links.iter().flatten().filter_map(|link| link["mtu"].as_u64());
    match found.next() {
        Some(mtu) => UnderlayLink::Found(u16::try_from(mtu).ok()),
        None => UnderlayLink::Missing,
    }
}

/// Whether the host forwards IPv4 and IPv6 packets that arrive at its own interfaces. The agent switches forwarding on
/// only for its own interfaces. A setting that cannot be read counts as on.
pub fn forwarding(prefix: &Prefix) -> (bool, bool) {
    let folder = Path::new("/proc/sys/net");
    let is_on = |path: &Path| fs::read_to_string(path).map_or(true, |value| value.trim() != "0");
    let interfaces = fs::read_dir(folder.join("ipv4/conf"))
        .into_iter()
        .flatten()
        .flatten();
    let mut others = interfaces.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        !["all", "default", "lo"].contains(&&*name) && !prefix.is_uplink(&name)
    });
    let ipv4 =
        is_on(&folder.join("ipv4/ip_forward")) || others.any(|entry| is_on(&entry.path().join("forwarding")));
    (ipv4, is_on(&folder.join("ipv6/conf/all/forwarding")))
}

/// The traffic of the agent's links, as seen from the other end of each link.
pub fn traffic(prefix: &Prefix, namespace: Namespace) -> BTreeMap<String, TrafficCounters> {
    let links = arrays(prefix, namespace, &["ip", "-j", "-s", "link", "show"], "").unwrap_or_default();
    let read = |value: &Value| {
        let count = |way: &str, unit: &str| value["stats64"][way][unit].as_u64().unwrap_or_default();
        let counters = TrafficCounters {
            received_bytes: count("tx", "bytes"),
            received_packets: count("tx", "packets"),
            sent_bytes: count("rx", "bytes"),
            sent_packets: count("rx", "packets"),
        };
        (text(value, &["ifname"]).to_owned(), counters)
    };
    links.iter().flatten().map(read).collect()
}

/// The lists that a command prints as JSON.
fn arrays(
    prefix: &Prefix,
    namespace: Namespace,
    command: &[&str],
    input: &str,
) -> Result<Vec<Vec<Value>>, KernelError> {
    let output = run(prefix, namespace, command, input)?;
    if !output.status.success() {
        return Err(format!("{}: {}", command.join(" "), reason(&output.stderr)));
    }
    let documents = serde_json::Deserializer::from_slice(&output.stdout).into_iter();
    let documents: Result<Vec<Vec<Value>>, _> = documents.collect();
    documents.map_err(|error| format!("{}: {error}", command.join(" ")))
}

fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    let found = path.iter().fold(value, |value, key| &value[*key]);
    found.as_str().unwrap_or_default()
}

/// A range as `ip` prints it: without the prefix for a single address.
fn range_of(text: &str, default: &str) -> Option<IpRange> {
    match text {
        "default" => default.parse().ok(),
        _ if text.contains('/') => text.parse().ok(),
        _ => text.parse().ok().map(IpRange::single),
    }
}
