//! A port: a VPC interface of an instance on a host.

use crate::model::id::{AccountId, HostId, InstanceId, InterfaceId, SubnetId, VpcId};
use crate::model::traffic::Traffic;

/// The state of a port in the kernel of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortState {
    /// The agent has not reported about the port since it was added.
    Pending,
    Up,
    Error,
}

impl PortState {
    pub const ALL: [PortState; 3] = [PortState::Pending, PortState::Up, PortState::Error];

    pub const fn word(self) -> &'static str {
        match self {
            PortState::Pending => "pending",
            PortState::Up => "up",
            PortState::Error => "error",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPort {
    pub interface: InterfaceId,
    pub instance: InstanceId,
    pub host: HostId,
    /// The revision of the host that added the port. Reports about earlier revisions do not concern it.
    pub revision: i64,
    pub report: PortRecord,
}

/// The part of a port that the agent reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRecord {
    pub state: PortState,
    /// Why the port is in the state `error`.
    pub reason: Option<String>,
    /// Since the host created the port.
    pub traffic: Traffic,
}

/// A port with the labels of the objects that it connects.
#[derive(Clone, Debug)]
pub struct PortDetails {
    pub interface: InterfaceId,
    pub instance: InstanceId,
    pub instance_label: String,
    pub account: AccountId,
    pub vpc: VpcId,
    pub vpc_label: String,
    pub subnet: SubnetId,
    pub subnet_label: String,
    pub address: u32,
    pub report: PortRecord,
}
