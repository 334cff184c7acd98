//! The kernel objects of an agent: the desired ones, and those that exist. Both have the same type, so that they can be
//! compared.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::names::Namespace;
use crate::agent_protocol::{IpRange, MacAddress};

/// All objects of an agent, by namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelState {
    pub namespaces: BTreeMap<Namespace, NamespaceState>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamespaceState {
    /// By name.
    pub links: BTreeMap<String, Link>,
    pub addresses: BTreeSet<Address>,
    pub routes: BTreeMap<IpRange, Route>,
    /// The hardware addresses of neighbors, by link and address. All entries are permanent.
    pub neighbors: BTreeMap<(String, IpAddr), MacAddress>,
    pub forwarding: BTreeSet<Forwarding>,
    /// Values of `/proc/sys/net`, by path below it. Only those that the desired state has are read.
    pub settings: BTreeMap<String, String>,
    /// The nftables rules, by table.
    pub tables: BTreeMap<Table, Rules>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub kind: LinkKind,
    /// `None` if any hardware address will do.
    pub mac: Option<MacAddress>,
    pub mtu: u16,
    pub up: bool,
    /// The bridge, and the flags of the bridge port.
    pub bridge: Option<BridgePort>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkKind {
    Bridge,
    /// Its outer packets are in the namespace of the host.
    Tunnel {
        vni: u32,
        local: IpAddr,
    },
    /// One end of a pair. The other end is a link in another namespace.
    Pair {
        peer: (Namespace, String),
    },
    /// A device of a virtual machine.
    Tap,
    /// An encrypted tunnel in user space.
    Tun,
    /// An encrypted tunnel in the kernel.
    WireGuard,
    /// A link of the agent that has another type, and must be replaced.
    Other,
}

/// A link of the agent in a bridge. Ports never learn addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgePort {
    pub name: String,
    pub learning: bool,
    /// Whether the bridge answers ARP and neighbor discovery for addresses behind this port.
    pub suppress_neighbors: bool,
    /// Whether frames to unknown hardware addresses are sent to this port.
    pub flood_unknown: bool,
    /// Whether broadcasts and multicasts are sent to this port.
    pub flood_broadcasts: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub link: String,
    pub address: IpAddr,
    pub prefix: u8,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub link: String,
    pub gateway: Option<IpAddr>,
}

/// An entry of a forwarding database.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Forwarding {
    /// The bridge sends frames for the hardware address to the link.
    Port { link: String, mac: MacAddress },
    /// The tunnel sends frames for the hardware address to the host.
    Remote {
        link: String,
        mac: MacAddress,
        host: IpAddr,
    },
}

impl Forwarding {
    pub fn link(&self) -> &str {
        match self {
            Self::Port { link, .. } | Self::Remote { link, .. } => link,
        }
    }

    /// Whether this is an entry of a bridge for the port.
    pub fn is_port(&self, name: &str) -> bool {
        matches!(self, Self::Port { link, .. } if link == name)
    }
}

/// The family of a table. Its name is the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    Bridge,
    Inet,
}

impl Table {
    pub fn family(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Inet => "inet",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The rules have this text, as the agent wrote it.
    Text(String),
    /// The table exists, but its rules were changed, or written by an agent whose record is lost.
    Unknown,
}

impl KernelState {
    pub fn link(&self, namespace: Namespace, name: &str) -> Option<&Link> {
        self.namespaces.get(&namespace)?.links.get(name)
    }
}

impl NamespaceState {
    /// Removes a link, and the objects that exist only with it. Ports of a deleted bridge are in no bridge.
    pub fn forget(&mut self, name: &str) -> Option<Link> {
        self.addresses.retain(|address| address.link != name);
        self.routes.retain(|_, route| route.link != name);
        self.neighbors.retain(|(link, _), _| link != name);
        self.forwarding.retain(|entry| entry.link() != name);
        let is_setting_of = |path: &String| path.split('/').any(|part| part == name);
        self.settings.retain(|path, _| !is_setting_of(path));
        let mut released = Vec::new();
        for (port, link) in &mut self.links {
            if link.bridge.as_ref().is_some_and(|bridge| bridge.name == name) {
                link.bridge = None;
                released.push(port.clone());
            }
        }
        self.forwarding
            .retain(|entry| !released.iter().any(|port| entry.is_port(port)));
        self.links.remove(name)
    }
}
