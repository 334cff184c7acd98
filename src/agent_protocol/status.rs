//! The observed state of a host: the body of `POST /agent/status`.

use serde::{Deserialize, Serialize};

use super::encryption::EncryptionReport;
use super::warning::HostWarning;

/// What an agent reports after each pass, and at least once per minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusReport {
    pub protocol: u32,
    /// The revision that the kernel has, as far as `ports` says.
    pub applied_revision: u64,
    pub agent_version: String,
    /// Identifies the process of the agent. It is random, so that the server notices two agents with one credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_run: Option<String>,
    /// The MTU of the interface that has the underlay address.
    #[serde(default)]
    pub underlay_mtu: Option<u16>,
    /// `None` if the desired state does not encrypt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<EncryptionReport>,
    #[serde(default)]
    pub ports: Vec<PortReport>,
    /// Problems of the host that belong to no port.
    #[serde(default)]
    pub warnings: Vec<HostWarning>,
    /// Tunnel packets from unknown endpoints.
    #[serde(default)]
    pub unknown_endpoint_packets: u64,
    /// Packets of instances to hosts and to private networks outside of VPCs.
    #[serde(default)]
    pub not_public_packets: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortReport {
    pub interface_id: i64,
    pub status: PortStatus,
    /// Why the port is in the status `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default)]
    pub traffic: TrafficCounters,
    #[serde(default)]
    pub drops: DropCounters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortStatus {
    Up,
    Error,
    /// A status of a newer agent.
    #[serde(other)]
    Unknown,
}

/// Counters since the port was created, as seen from the instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrafficCounters {
    pub received_bytes: u64,
    pub received_packets: u64,
    pub sent_bytes: u64,
    pub sent_packets: u64,
}

/// Frames of the instance that a filter dropped, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropCounters {
    /// The source is not the hardware address of the interface.
    #[serde(default)]
    pub mac: u64,
    /// The source is not an address or a range of the interface.
    #[serde(default)]
    pub ip: u64,
    /// An ARP message with another sender.
    #[serde(default)]
    pub arp: u64,
    /// A neighbor advertisement for another address.
    #[serde(default)]
    pub neighbor_discovery: u64,
    /// A message of a DHCP server.
    #[serde(default)]
    pub dhcp: u64,
    /// A router advertisement or a redirect.
    #[serde(default)]
    pub router_advertisement: u64,
    /// A protocol other than IPv4, IPv6 and ARP.
    #[serde(default)]
    pub protocol: u64,
}
