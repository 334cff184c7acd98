//! The kernel objects of encrypted tunnels, as part of the layout (decision 0033). Pure functions.
//!
//! Each generation of keys has a link in the namespace of the host. All of them have the inner address of this host. The
//! route to the inner address of another host leads through the generation with which packets are sent to it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::kernel_state::{Address, Link, LinkKind, NamespaceState, Route};
use super::names::Prefix;
use crate::agent_protocol::{HostState, IpRange, inner_address};

/// The first UDP port of the tunnels. Generations use eight ports in turn.
pub const FIRST_PORT: u16 = 51820;
pub const LAST_PORT: u16 = FIRST_PORT + 7;

/// The UDP port of a generation. Generations that are used at the same time have different ports.
pub fn port_of(generation: u32) -> u16 {
    FIRST_PORT + u16::try_from(generation % 8).unwrap_or_default()
}

/// The program that encrypts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Implementation {
    Kernel,
    #[default]
    UserSpace,
}

impl Implementation {
    pub fn word(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::UserSpace => "user space",
        }
    }
}

/// The facts about tunnels that a layout needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tunnels {
    pub implementation: Implementation,
    /// The generation with which packets are sent, by the ID of the other host.
    pub generations: BTreeMap<i64, u32>,
}

/// The headers of WireGuard: IP, UDP, and 32 bytes of the protocol.
pub fn overhead_bytes(is_ipv4: bool) -> u16 {
    if is_ipv4 { 60 } else { 80 }
}

/// The local address of VXLAN.
pub fn local_address(state: &HostState) -> IpAddr {
    match &state.underlay.encryption {
        None => state.underlay.address,
        Some(_) => inner_address(state.host_id).into(),
    }
}

/// The inner addresses of the hosts to which packets can be sent, by underlay address; `None` without encryption.
pub fn endpoint_addresses(state: &HostState, tunnels: &Tunnels) -> Option<BTreeMap<IpAddr, IpAddr>> {
    let encryption = state.underlay.encryption.as_ref()?;
    let peers = encryption.peers.iter();
    let reachable = peers.filter(|peer| tunnels.generations.contains_key(&peer.host_id));
    Some(
        reachable
            .map(|peer| (peer.address, peer.inner_address().into()))
            .collect(),
    )
}

/// Adds the links of all generations, and the routes through them.
pub fn add_tunnels(host: &mut NamespaceState, state: &HostState, prefix: &Prefix, tunnels: &Tunnels) {
    let Some(encryption) = &state.underlay.encryption else {
        return;
    };
    let overhead = overhead_bytes(state.underlay.address.is_ipv4());
    for generation in &encryption.generations {
        let name = prefix.tunnel(*generation);
        let link = Link {
            kind: match tunnels.implementation {
                Implementation::Kernel => LinkKind::WireGuard,
                Implementation::UserSpace => LinkKind::Tun,
            },
            mac: None,
            mtu: state.underlay.mtu.saturating_sub(overhead).max(1350),
            up: true,
            bridge: None,
        };
        host.addresses.insert(Address {
            link: name.clone(),
            address: inner_address(state.host_id).into(),
            prefix: 128,
        });
        host.links.insert(name, link);
    }
    for (host_id, generation) in &tunnels.generations {
        let route = Route {
            link: prefix.tunnel(*generation),
            gateway: None,
        };
        let range = IpRange::single(inner_address(*host_id).into());
        host.routes.insert(range, route);
    }
}
