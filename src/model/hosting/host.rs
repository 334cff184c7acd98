//! A host: a Linux machine that runs instances (decision 0031).

use std::hash::{Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr};

use crate::model::host_warning::HostWarning;
use crate::model::id::HostId;
use crate::model::label::Label;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::time::Time;

/// A host without a report for this time is offline. Agents report at least every 20 seconds.
pub const OFFLINE_AFTER_SECONDS: i64 = 60;
/// The default of `capacity`, in instances.
pub const DEFAULT_CAPACITY: i64 = 100;
const MAX_CAPACITY: i64 = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub id: HostId,
    pub label: Label,
    pub region: String,
    pub underlay_address: UnderlayAddress,
    pub capacity: Capacity,
    pub is_draining: bool,
    /// Whether an agent has joined, and its credential is not revoked.
    pub has_credential: bool,
    /// The number of instances on the host.
    pub instances: i64,
    /// The last report of its agent.
    pub report: Option<HostReport>,
    pub created: Time,
    pub updated: Time,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostReport {
    pub last_seen: Time,
    pub agent_version: String,
    /// Problems of the host that belong to no port.
    pub warnings: Vec<HostWarning>,
}

/// The entity tag of a host does not depend on the time of the last report, which changes every few seconds.
impl Hash for Host {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.id, &self.label, &self.region, &self.underlay_address).hash(state);
        (
            self.capacity,
            self.is_draining,
            self.has_credential,
            self.instances,
        )
            .hash(state);
        let report = self.report.as_ref();
        let report = report.map(|report| (&report.agent_version, &report.warnings));
        (report, self.created, self.updated).hash(state);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostStatus {
    /// No agent has reported yet.
    New,
    Online,
    Offline,
    Draining,
}

impl HostStatus {
    pub const fn word(self) -> &'static str {
        match self {
            HostStatus::New => "new",
            HostStatus::Online => "online",
            HostStatus::Offline => "offline",
            HostStatus::Draining => "draining",
        }
    }
}

/// The state of a host's agent, also while the host is draining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentStatus {
    /// It has not reported yet.
    New,
    Online,
    Offline,
    /// Its credential was revoked.
    Revoked,
}

impl AgentStatus {
    pub const fn word(self) -> &'static str {
        match self {
            AgentStatus::New => "new",
            AgentStatus::Online => "online",
            AgentStatus::Offline => "offline",
            AgentStatus::Revoked => "revoked",
        }
    }
}

impl Host {
    pub fn agent_status(&self, now: Time) -> AgentStatus {
        match &self.report {
            None => AgentStatus::New,
            Some(_) if !self.has_credential => AgentStatus::Revoked,
            Some(report) if report.last_seen >= online_since(now) => AgentStatus::Online,
            Some(_) => AgentStatus::Offline,
        }
    }

    /// The status as text. A host can be draining and offline.
    pub fn status_text(&self, now: Time) -> String {
        let agent = match self.agent_status(now) {
            AgentStatus::Revoked => "offline, credential revoked",
            status => status.word(),
        };
        match (self.is_draining, agent) {
            (false, agent) => agent.to_owned(),
            (true, "online") => "draining".to_owned(),
            (true, agent) => format!("draining, {agent}"),
        }
    }

    pub fn status(&self, now: Time) -> HostStatus {
        match self.is_draining {
            true => HostStatus::Draining,
            false => self.reporting_status(now),
        }
    }

    /// Whether the agent reports, also while the host is draining.
    pub fn reporting_status(&self, now: Time) -> HostStatus {
        match self.agent_status(now) {
            AgentStatus::New => HostStatus::New,
            AgentStatus::Online => HostStatus::Online,
            AgentStatus::Offline | AgentStatus::Revoked => HostStatus::Offline,
        }
    }
}

/// The earliest last report of a host that is online.
pub fn online_since(now: Time) -> Time {
    now.plus_seconds(-OFFLINE_AFTER_SECONDS)
}

#[derive(Clone, Debug)]
pub struct NewHost {
    pub label: Label,
    pub region: String,
    pub underlay_address: UnderlayAddress,
    pub capacity: Capacity,
}

/// The maximum number of instances on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Capacity(i64);

impl Capacity {
    pub fn new(instances: i64) -> Result<Self, Reason> {
        match (1..=MAX_CAPACITY).contains(&instances) {
            true => Ok(Self(instances)),
            false => {
                let text = format!("Must be between 1 and {MAX_CAPACITY}");
                Err(Reason::new(Code::OutOfRange, text))
            }
        }
    }

    pub fn get(self) -> i64 {
        self.0
    }
}

impl Default for Capacity {
    fn default() -> Self {
        Self(DEFAULT_CAPACITY)
    }
}

/// The address of a tunnel endpoint: not unspecified, loopback or multicast.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnderlayAddress(String);

impl UnderlayAddress {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        match raw.parse::<IpAddr>() {
            Ok(address) if is_of_interface(address) && is_routed(address) => Ok(Self(address.to_string())),
            _ => {
                let text = "Must be the IPv4 or IPv6 address of a network interface that other hosts reach";
                Err(vec![Reason::new(Code::AddressInvalid, text)])
            }
        }
    }

    /// The address as a number, if it is an IPv4 address.
    pub fn ipv4(&self) -> Option<u32> {
        self.0.parse().ok().map(Ipv4Addr::to_bits)
    }

    pub fn is_ipv6(&self) -> bool {
        self.0.contains(':')
    }

    /// The address from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        let address: IpAddr = raw.parse().ok()?;
        is_of_interface(address).then(|| Self(address.to_string()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn ip(&self) -> IpAddr {
        self.0.parse().expect("an underlay address was parsed")
    }
}

/// Whether the address is not local to a link. Earlier versions accepted these addresses.
fn is_routed(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !address.is_link_local(),
        IpAddr::V6(address) => !address.is_unicast_link_local() && address.to_ipv4_mapped().is_none(),
    }
}

fn is_of_interface(address: IpAddr) -> bool {
    let is_broadcast = address == IpAddr::V4(Ipv4Addr::BROADCAST);
    !is_broadcast && !address.is_unspecified() && !address.is_loopback() && !address.is_multicast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_interfaces_are_underlay_addresses() {
        for (raw, canonical) in [("192.0.2.1", "192.0.2.1"), ("2001:DB8:0::1", "2001:db8::1")] {
            assert_eq!(UnderlayAddress::parse(raw).unwrap().as_str(), canonical);
        }
        for raw in [
            "",
            "host",
            "0.0.0.0",
            "::",
            "127.0.0.1",
            "169.254.0.1",
            "::1",
            "fe80::1",
            "::ffff:192.0.2.1",
            "224.0.0.1",
            "192.0.2.1/24",
        ] {
            assert!(UnderlayAddress::parse(raw).is_err(), "{raw}");
        }
    }
}
