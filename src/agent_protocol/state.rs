//! The desired state of a host: the messages of `GET /agent/state`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

use super::encryption::Encryption;
use super::values::{IpRange, MacAddress};

/// One line of the stream. `revision` is the revision of the host after the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StateMessage {
    /// The whole state. Everything that it does not contain is removed.
    Snapshot(HostState),
    /// The whole new state of one VPC.
    Vpc { revision: u64, vpc: VpcState },
    /// The host has no running instance in this VPC any more.
    VpcRemoved { revision: u64, vpc_id: i64 },
    /// The whole new state of the underlay.
    Underlay { revision: u64, underlay: Underlay },
    /// Sent while nothing changes. If the agent has another revision, it missed a message.
    Heartbeat { revision: u64 },
    /// A message of a newer server.
    #[serde(other)]
    Unknown,
}

/// The complete desired state of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostState {
    pub protocol: u32,
    pub revision: u64,
    pub host_id: i64,
    pub underlay: Underlay,
    /// The VPCs with an interface of a running instance on this host.
    pub vpcs: Vec<VpcState>,
}

/// The network between the hosts of a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Underlay {
    /// The tunnel endpoint of this host.
    pub address: IpAddr,
    /// The MTU between hosts, without encapsulation.
    pub mtu: u16,
    /// The tunnel endpoints of the other hosts. Tunnel packets from other addresses are dropped.
    #[serde(default)]
    pub hosts: Vec<IpAddr>,
    /// DNS servers for instances.
    #[serde(default)]
    pub resolvers: Vec<IpAddr>,
    /// `None` if the region does not encrypt. Otherwise, packets are never sent in clear text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
}

/// A VPC, as far as this host needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VpcState {
    pub id: i64,
    /// All subnets, because every host routes between them.
    pub subnets: Vec<Subnet>,
    /// The interfaces of running instances on this host.
    pub ports: Vec<Port>,
    /// The interfaces of running instances on other hosts.
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    pub id: i64,
    /// The VXLAN network identifier, unique for the provider.
    pub vni: u32,
    /// The hardware address of the gateway, the same on every host.
    pub gateway_mac: MacAddress,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<SubnetRange>,
    /// The gateway of IPv6 is also reachable at the link-local address of `gateway_mac`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<SubnetRange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubnetRange {
    pub range: IpRange,
    /// An address in the range.
    pub gateway: IpAddr,
}

/// An interface of an instance on this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Port {
    pub interface_id: i64,
    pub instance_id: i64,
    /// The position in the config: 0 for `eth0`.
    pub index: u32,
    pub subnet_id: i64,
    pub mac: MacAddress,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<Ipv4Addr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slaac: Option<Slaac>,
    /// Routed to the first address of the same family.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<IpRange>,
    /// The public address of the 1:1 NAT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nat_1_1: Option<Ipv4Addr>,
    /// Whether the IPv6 addresses and ranges are reachable from outside of the VPC.
    #[serde(default)]
    pub ipv6_public: bool,
    /// Whether the instance has its default route through this interface.
    #[serde(default)]
    pub primary: bool,
}

/// The prefix that is advertised to an interface, and the address that results from its hardware address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slaac {
    pub range: IpRange,
    pub address: Ipv6Addr,
}

/// An interface of an instance on another host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    pub subnet_id: i64,
    pub mac: MacAddress,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<Ipv4Addr>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<Ipv6Addr>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<IpRange>,
    /// The underlay address of its host.
    pub host: IpAddr,
}

impl HostState {
    /// Applies a message to the state. Returns whether the state is current afterward: if not, the agent needs a
    /// snapshot.
    pub fn apply(&mut self, message: StateMessage) -> bool {
        match message {
            StateMessage::Snapshot(state) => *self = state,
            StateMessage::Vpc { revision, vpc } => {
                self.revision = revision;
                self.vpcs.retain(|other| other.id != vpc.id);
                self.vpcs.push(vpc);
                self.vpcs.sort_by_key(|vpc| vpc.id);
            }
            StateMessage::VpcRemoved { revision, vpc_id } => {
                self.revision = revision;
                self.vpcs.retain(|vpc| vpc.id != vpc_id);
            }
            StateMessage::Underlay { revision, underlay } => {
                self.revision = revision;
                self.underlay = underlay;
            }
            StateMessage::Heartbeat { revision } => return revision == self.revision,
            StateMessage::Unknown => {}
        }
        true
    }
}

impl StateMessage {
    /// Sets the revision of the host after the message.
    pub fn set_revision(&mut self, new: u64) {
        match self {
            Self::Snapshot(HostState { revision, .. })
            | Self::Vpc { revision, .. }
            | Self::VpcRemoved { revision, .. }
            | Self::Underlay { revision, .. }
            | Self::Heartbeat { revision } => *revision = new,
            Self::Unknown => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> HostState {
        let text = r#"{"protocol": 1, "revision": 4, "host_id": 2, "color": "blue",
            "underlay": {"address": "192.0.2.1", "mtu": 1500, "hosts": ["192.0.2.2"]},
            "vpcs": [{"id": 7, "subnets": [], "ports": []}, {"id": 9, "subnets": [], "ports": []}]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn message(text: &str) -> StateMessage {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn messages_replace_and_remove_vpcs() {
        let mut state = state();
        let text = r#"{"type": "vpc", "revision": 5, "vpc": {"id": 7, "subnets": [{"id": 1, "vni": 70,
            "gateway_mac": "02:00:00:00:00:01", "ipv4": {"range": "10.0.0.0/24", "gateway": "10.0.0.1"}}],
            "ports": []}}"#;
        assert!(state.apply(message(text)));
        assert_eq!(
            (state.revision, state.vpcs[0].subnets.len(), state.vpcs.len()),
            (5, 1, 2)
        );
        assert!(state.apply(message(r#"{"type": "vpc_removed", "revision": 6, "vpc_id": 9}"#)));
        assert_eq!((state.revision, state.vpcs.len()), (6, 1));
        assert!(state.apply(message(r#"{"type": "heartbeat", "revision": 6}"#)));
    }

    #[test]
    fn a_message_of_a_newer_server_is_noticed_by_the_next_heartbeat() {
        let mut state = state();
        assert!(state.apply(message(r#"{"type": "firewall", "revision": 5, "rules": []}"#)));
        assert_eq!(state.revision, 4);
        assert!(!state.apply(message(r#"{"type": "heartbeat", "revision": 5}"#)));
    }
}
