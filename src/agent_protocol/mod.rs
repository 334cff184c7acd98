//! The messages between the server and host agents (decision 0030).
//!
//! Only types with their JSON form. Readers ignore unknown fields and unknown messages, so that agents work with newer
//! servers. New fields must have a default.

mod encryption;
mod join;
mod state;
mod status;
mod values;
mod warning;

pub use encryption::{
    Encryption, EncryptionReport, GenerationKey, HostKeys, INNER_RANGE, inner_address, is_inner_address,
};
pub use join::{JoinRequest, JoinResponse};
pub use state::{Endpoint, HostState, Port, Slaac, StateMessage, Subnet, SubnetRange, Underlay, VpcState};
pub use status::{DropCounters, PortReport, PortStatus, StatusReport, TrafficCounters};
pub use values::{IpRange, MacAddress};
pub use warning::{HostWarning, WarningCode};

/// The version of the protocol. It rises only if agents of an earlier version must not continue.
pub const PROTOCOL_VERSION: u32 = 1;
