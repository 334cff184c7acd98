//! The path of a packet from an instance to an address, hop by hop, from the desired and the reported state.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::cidr::{Cidr, Cidr6};
use crate::model::host::HostStatus;
use crate::model::id::{HostId, InterfaceId, SubnetId};
use crate::model::interface::{Interface, VpcAttachment, slaac_address};
use crate::model::port::PortState;

/// The network of the sender, and the state of its hosts.
#[derive(Clone, Debug, Default)]
pub struct TraceNetwork {
    /// The name of the sender.
    pub sender: String,
    pub is_running: bool,
    /// The port of the sender in the VPC. `None` if the sender is not on a host, or has no VPC interface.
    pub source: Option<InterfaceId>,
    pub subnets: Vec<TraceSubnet>,
    /// The VPC interfaces of all instances, also of those that do not run.
    pub interfaces: Vec<Interface>,
    pub ports: HashMap<InterfaceId, TracePort>,
    pub hosts: HashMap<HostId, TraceHost>,
    /// Whether the address is in the IPv6 range of another VPC.
    pub is_in_other_vpc: bool,
    /// Whether packets between the hosts are encrypted.
    pub is_encrypted: bool,
}

#[derive(Clone, Debug)]
pub struct TraceSubnet {
    pub id: SubnetId,
    pub label: String,
    pub ipv4: Cidr,
    pub ipv6: Option<Cidr6>,
    /// The VXLAN network identifier.
    pub tunnel: i64,
}

#[derive(Clone, Debug)]
pub struct TracePort {
    pub host: HostId,
    pub state: PortState,
    pub reason: Option<String>,
    /// The name of the instance.
    pub instance: String,
}

#[derive(Clone, Debug)]
pub struct TraceHost {
    pub label: String,
    pub underlay_address: String,
    pub status: HostStatus,
    pub has_credential: bool,
    /// Whether the agent has reported a key.
    pub has_key: bool,
    /// Whether the agent has applied the current desired state.
    pub is_current: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    pub hops: Vec<Hop>,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The instance or the host.
    pub place: String,
    pub action: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Delivered,
    Dropped(DropCause, String),
    /// A host does not report its current state.
    Uncertain(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropCause {
    NotRunning,
    NoPort,
    NoAddress,
    PortNotUp,
    NoCredential,
    NoKey,
    UnknownAddress,
    TargetNotRunning,
    TargetPortNotUp,
    OtherVpc,
    NoNat,
    NoPublicIpv6,
}

impl DropCause {
    pub const fn word(self) -> &'static str {
        match self {
            DropCause::NotRunning => "not_running",
            DropCause::NoPort => "no_port",
            DropCause::NoAddress => "no_address",
            DropCause::PortNotUp => "port_not_up",
            DropCause::NoCredential => "no_credential",
            DropCause::NoKey => "no_key",
            DropCause::UnknownAddress => "unknown_address",
            DropCause::TargetNotRunning => "target_not_running",
            DropCause::TargetPortNotUp => "target_port_not_up",
            DropCause::OtherVpc => "other_vpc",
            DropCause::NoNat => "no_nat",
            DropCause::NoPublicIpv6 => "no_public_ipv6",
        }
    }
}

/// The path of a packet from the sender to an address.
pub fn trace(network: &TraceNetwork, to: IpAddr) -> Trace {
    let mut path = Path {
        network,
        hops: Vec::new(),
        doubt: None,
    };
    let outcome = path.follow(to).unwrap_or_else(|outcome| outcome);
    let outcome = match (outcome, path.doubt) {
        (Outcome::Delivered, Some(doubt)) => Outcome::Uncertain(doubt),
        (outcome, _) => outcome,
    };
    Trace {
        hops: path.hops,
        outcome,
    }
}

struct Path<'a> {
    network: &'a TraceNetwork,
    hops: Vec<Hop>,
    /// Why a host may not have the desired state.
    doubt: Option<String>,
}

type Step<T> = Result<T, Outcome>;

impl<'a> Path<'a> {
    /// Follows the packet. An error ends the path.
    fn follow(&mut self, to: IpAddr) -> Step<Outcome> {
        let network = self.network;
        if !network.is_running {
            let text = format!("{} is not running", network.sender);
            return Err(Outcome::Dropped(DropCause::NotRunning, text));
        }
        let (source, port) = self.source()?;
        let from = address_of(source, to).ok_or_else(|| {
            let text = format!("The interface of {} has no IPv6 address", network.sender);
            Outcome::Dropped(DropCause::NoAddress, text)
        })?;
        self.add(
            &network.sender,
            format!("sends from {from} through interface {}", source.id),
        );
        let host = self.require_up(port, DropCause::PortNotUp)?;
        self.add(&host.label, "accepts the source addresses of the port".to_owned());
        if from == to {
            return Ok(Outcome::Delivered);
        }
        let subnet = subnet_of(network, source);
        let target_subnet = network.subnets.iter().find(|subnet| subnet.has(to));
        if let Some(gateway) = network.subnets.iter().find(|subnet| subnet.is_gateway(to)) {
            self.add(
                &host.label,
                format!("answers as the gateway of subnet {}", gateway.label),
            );
            return Ok(Outcome::Delivered);
        }
        // Several configs of an instance can have the same address.
        let holders = network.interfaces.iter().filter(|interface| holds(interface, to));
        let target = holders
            .clone()
            .find(|interface| network.ports.contains_key(&interface.id));
        let Some(target) = target.or(holders.clone().next()) else {
            return self.leave(host, source, to, target_subnet);
        };
        if attachment(target).map(|vpc| vpc.subnet) != subnet.map(|subnet| subnet.id) {
            let to = subnet_of(network, target).map_or("", |subnet| subnet.label.as_str());
            let from = subnet.map_or("", |subnet| subnet.label.as_str());
            self.add(&host.label, format!("routes from subnet {from} to subnet {to}"));
        }
        self.deliver(host, port, target, to)
    }

    fn source(&self) -> Step<(&'a Interface, &'a TracePort)> {
        let network = self.network;
        let id = network.source;
        let found = id.and_then(|id| {
            let interface = network.interfaces.iter().find(|interface| interface.id == id)?;
            Some((interface, network.ports.get(&id)?))
        });
        found.ok_or_else(|| {
            let text = format!("{} has no VPC interface on a host", network.sender);
            Outcome::Dropped(DropCause::NoPort, text)
        })
    }

    /// The host of a port that is up.
    fn require_up(&mut self, port: &TracePort, cause: DropCause) -> Step<&'a TraceHost> {
        let missing = || Outcome::Dropped(DropCause::NoPort, "The host does not exist".to_owned());
        let host = self.network.hosts.get(&port.host).ok_or_else(missing)?;
        if port.state != PortState::Up {
            let reason = port
                .reason
                .as_deref()
                .unwrap_or("the agent has not reported it yet");
            let text = format!(
                "The port of {} on {} is not up: {reason}",
                port.instance, host.label
            );
            return Err(Outcome::Dropped(cause, text));
        }
        if host.status == HostStatus::Offline {
            self.doubt = Some(format!(
                "{} does not report. If only its agent is down, packets still flow",
                host.label
            ));
        } else if !host.is_current {
            self.doubt = Some(format!("{} has not applied the latest changes yet", host.label));
        }
        Ok(host)
    }

    /// The way to an instance of the VPC.
    fn deliver(
        &mut self,
        host: &TraceHost,
        port: &TracePort,
        target: &Interface,
        to: IpAddr,
    ) -> Step<Outcome> {
        let Some(target_port) = self.network.ports.get(&target.id) else {
            let text = format!("Instance {} has {to}, but is not running", target.instance);
            return Err(Outcome::Dropped(DropCause::TargetNotRunning, text));
        };
        if target_port.host != port.host {
            let other = self.network.hosts.get(&target_port.host);
            for (host, place) in [(Some(host), "from"), (other, "to")] {
                if let Some(host) = host.filter(|host| !host.has_credential) {
                    let text = format!(
                        "{} has no credential, so other hosts accept no packets {place} it",
                        host.label
                    );
                    return Err(Outcome::Dropped(DropCause::NoCredential, text));
                }
            }
            let is_encrypted = self.network.is_encrypted;
            let ends = [Some(host), other];
            let keyless = ends.into_iter().flatten().find(|host| !host.has_key);
            if let Some(host) = keyless.filter(|_| is_encrypted) {
                let text = format!(
                    "The region encrypts, but the agent of {} has reported no key",
                    host.label
                );
                return Err(Outcome::Dropped(DropCause::NoKey, text));
            }
            let tunnel = subnet_of(self.network, target).map_or(0, |subnet| subnet.tunnel);
            let other = other.map_or("", |other| other.underlay_address.as_str());
            let (label, address) = (&host.label, &host.underlay_address);
            self.add(
                label,
                format!(
                    "sends through the tunnel {tunnel} from {address} to {other}, {}",
                    if is_encrypted {
                        "encrypted"
                    } else {
                        "not encrypted"
                    }
                ),
            );
        }
        let other = self.require_up(target_port, DropCause::TargetPortNotUp)?;
        self.add(
            &other.label,
            format!(
                "delivers to {} through interface {}",
                target_port.instance, target.id
            ),
        );
        Ok(Outcome::Delivered)
    }

    /// The way out of the VPC.
    fn leave(
        &mut self,
        host: &TraceHost,
        source: &Interface,
        to: IpAddr,
        subnet: Option<&TraceSubnet>,
    ) -> Step<Outcome> {
        if let Some(subnet) = subnet {
            let text = format!("No instance has {to}, which is in subnet {}", subnet.label);
            return Err(Outcome::Dropped(DropCause::UnknownAddress, text));
        }
        let vpc = attachment(source);
        let is_public = vpc
            .and_then(|vpc| vpc.ipv6.as_ref())
            .is_some_and(|ipv6| ipv6.is_public);
        match (to, vpc.and_then(|vpc| vpc.nat_1_1)) {
            (IpAddr::V4(_), Some(address)) => {
                let public = IpAddr::V4(address.into());
                self.add(
                    &host.label,
                    format!("replaces the source by {public} (1:1 NAT), and sends to its own network"),
                );
                Ok(Outcome::Delivered)
            }
            (IpAddr::V4(_), None) => {
                let text = format!("{to} is outside of the VPC, and the interface has no 1:1 NAT");
                Err(Outcome::Dropped(DropCause::NoNat, text))
            }
            (IpAddr::V6(_), _) if is_public => {
                self.add(&host.label, "routes to its own network".to_owned());
                Ok(Outcome::Delivered)
            }
            (IpAddr::V6(_), _) if self.network.is_in_other_vpc => {
                let text = format!("{to} belongs to another VPC");
                Err(Outcome::Dropped(DropCause::OtherVpc, text))
            }
            (IpAddr::V6(_), _) => {
                let text =
                    format!("{to} is outside of the VPC, and the interface has no public IPv6 networks");
                Err(Outcome::Dropped(DropCause::NoPublicIpv6, text))
            }
        }
    }

    fn add(&mut self, place: &str, action: String) {
        self.hops.push(Hop {
            place: place.to_owned(),
            action,
        });
    }
}

impl TraceSubnet {
    fn has(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(v4) => self.ipv4.contains(Cidr::around(v4.to_bits(), 32)),
            IpAddr::V6(v6) => {
                let single = Cidr6::around(v6.to_bits(), 128);
                self.ipv6.is_some_and(|range| range.contains(single))
            }
        }
    }

    fn is_gateway(&self, address: IpAddr) -> bool {
        match address {
            IpAddr::V4(v4) => v4.to_bits() == self.ipv4.gateway(),
            IpAddr::V6(v6) => self.ipv6.is_some_and(|range| v6.to_bits() == range.first() | 1),
        }
    }
}

fn attachment(interface: &Interface) -> Option<&VpcAttachment> {
    interface.vpc.as_ref()
}

fn subnet_of<'a>(network: &'a TraceNetwork, interface: &Interface) -> Option<&'a TraceSubnet> {
    let id = attachment(interface)?.subnet;
    network.subnets.iter().find(|subnet| subnet.id == id)
}

/// The address of an interface in the same family.
fn address_of(interface: &Interface, to: IpAddr) -> Option<IpAddr> {
    let vpc = attachment(interface)?;
    match to {
        IpAddr::V4(_) => Some(IpAddr::V4(vpc.address.into())),
        IpAddr::V6(_) => {
            let slaac = vpc.ipv6.as_ref()?.slaac?;
            Some(IpAddr::V6(slaac_address(slaac, interface.instance).into()))
        }
    }
}

/// Whether an address, or a range that contains it, is assigned to an interface.
fn holds(interface: &Interface, address: IpAddr) -> bool {
    let Some(vpc) = attachment(interface) else {
        return false;
    };
    match address {
        IpAddr::V4(v4) => {
            let single = Cidr::around(v4.to_bits(), 32);
            vpc.networks().any(|range| range.contains(single))
        }
        IpAddr::V6(v6) => {
            let single = Cidr6::around(v6.to_bits(), 128);
            let is_own = address_of(interface, address) == Some(address);
            let ranges = vpc.ipv6.iter().flat_map(|ipv6| &ipv6.ranges);
            is_own || ranges.copied().any(|range| range.contains(single))
        }
    }
}
