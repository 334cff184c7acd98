//! The path of a packet from an instance to an address, hop by hop, from the desired and the reported state.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::cidr::{Cidr, Cidr6};
use crate::model::host_warning::{HostWarning, PathUse};
pub use crate::model::hosting::trace_result::{DropCause, Hop, Outcome, ReportAge, Trace};
use crate::model::id::{HostId, InterfaceId, SubnetId};
use crate::model::interface::{Interface, VpcAttachment, slaac_address};
use crate::model::port::PortState;

/// The network of the sender, and the state of its hosts.
#[derive(Clone, Debug, Default)]
pub struct TraceNetwork {
    /// The name of the sender.
    pub sender: String,
    pub power: SenderPower,
    /// The port of the sender in the VPC. `None` if the sender is not on a host, or has no VPC interface.
    pub source: Option<InterfaceId>,
    pub subnets: Vec<TraceSubnet>,
    /// The VPC interfaces of all instances, also of those that do not run.
    pub interfaces: Vec<Interface>,
    pub ports: HashMap<InterfaceId, TracePort>,
    pub hosts: HashMap<HostId, TraceHost>,
    /// Whether the address is in another VPC: IPv4 in one of the same account, IPv6 in any.
    pub is_in_other_vpc: bool,
    /// The label of the host that has the address in the underlay.
    pub host_at_address: Option<String>,
    /// Whether packets between the hosts are encrypted.
    pub is_encrypted: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SenderPower {
    #[default]
    Off,
    /// The label of its host, if it has one.
    Booting(Option<String>),
    Running,
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
    pub report: ReportAge,
    pub has_credential: bool,
    /// Whether the agent has reported a key.
    pub has_key: bool,
    /// Whether the agent has applied the current desired state.
    pub is_current: bool,
    /// The problems of the host that its agent reports.
    pub warnings: Vec<HostWarning>,
}

/// The path of a packet from the sender to an address.
pub fn trace(network: &TraceNetwork, to: IpAddr) -> Trace {
    let mut path = Path {
        network,
        hops: Vec::new(),
        reports: Vec::new(),
        doubt: None,
        uses: Vec::new(),
    };
    let outcome = path.follow(to).unwrap_or_else(|outcome| outcome);
    let doubt = path.doubt.take().or_else(|| path.problem());
    let outcome = match (outcome, doubt) {
        (Outcome::Delivered | Outcome::Leaves(_), Some(doubt)) => Outcome::Uncertain(doubt),
        (outcome, _) => outcome,
    };
    Trace {
        hops: path.hops,
        outcome,
        reports: path.reports,
    }
}

struct Path<'a> {
    network: &'a TraceNetwork,
    hops: Vec<Hop>,
    reports: Vec<ReportAge>,
    /// Why a host may not have the desired state.
    doubt: Option<String>,
    /// The parts of the hosts on the path that the packet needs.
    uses: Vec<(&'a TraceHost, PathUse)>,
}

type Step<T> = Result<T, Outcome>;

impl<'a> Path<'a> {
    /// Follows the packet. An error ends the path.
    fn follow(&mut self, to: IpAddr) -> Step<Outcome> {
        let network = self.network;
        let sender = &network.sender;
        let not_running = match &network.power {
            SenderPower::Running => None,
            SenderPower::Booting(Some(host)) => Some(format!("{sender} is booting on host {host}")),
            SenderPower::Booting(None) => Some(format!("{sender} is booting")),
            SenderPower::Off => Some(format!("{sender} is not running")),
        };
        if let Some(text) = not_running {
            // An instance boots until its port is up, so an error of the port is the reason.
            if let Ok((_, port)) = self.source()
                && port.state == PortState::Error
            {
                self.require_up(port, DropCause::PortNotUp)?;
            }
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
        if from == to {
            self.add(&network.sender, "receives the packet without its port".to_owned());
            return Ok(Outcome::Delivered);
        }
        let host = self.require_up(port, DropCause::PortNotUp)?;
        self.add(&host.label, "accepts the source addresses of the port".to_owned());
        self.uses.push((
            host,
            PathUse {
                is_ipv4: to.is_ipv4(),
                subnets: subnet_id(source).into_iter().collect(),
                ..PathUse::default()
            },
        ));
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
            return self.leave(host, source, (from, to), target_subnet);
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
        if !self.reports.contains(&host.report) {
            self.reports.push(host.report.clone());
        }
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
        if !host.has_credential || host.report.is_stale() {
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
        self.use_host_of_target(other, port, target_port, subnet_id(target));
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
        (from, to): (IpAddr, IpAddr),
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
        if let Some(host) = &self.network.host_at_address {
            let text =
                format!("{to} is the underlay address of host {host}, and instances do not reach hosts");
            return Err(Outcome::Dropped(DropCause::HostAddress, text));
        }
        let nat = vpc.and_then(|vpc| vpc.nat_1_1);
        match (to, nat) {
            _ if is_private(to) => {
                let has_public_address = if to.is_ipv4() { nat.is_some() } else { is_public };
                Err(self.keep_private(host, to, has_public_address))
            }
            (IpAddr::V4(_), Some(address)) => {
                let public = IpAddr::V4(address.into());
                self.add(
                    &host.label,
                    format!("replaces the source by {public} (1:1 NAT), and sends to its own network"),
                );
                self.use_uplink();
                Ok(leaves(host, public))
            }
            (IpAddr::V6(_), _) if is_public => {
                self.add(&host.label, "routes to its own network".to_owned());
                self.use_uplink();
                Ok(leaves(host, from))
            }
            _ if self.network.is_in_other_vpc => Err(of_other_vpc(to)),
            (IpAddr::V4(_), None) => {
                let text = format!("{to} is outside of the VPC, and the interface has no 1:1 NAT");
                Err(Outcome::Dropped(DropCause::NoNat, text))
            }
            (IpAddr::V6(_), _) => {
                let text =
                    format!("{to} is outside of the VPC, and the interface has no public IPv6 networks");
                Err(Outcome::Dropped(DropCause::NoPublicIpv6, text))
            }
        }
    }

    /// Why a packet to a private address outside of the VPC is dropped.
    fn keep_private(&self, host: &TraceHost, to: IpAddr, has_public_address: bool) -> Outcome {
        if self.network.is_in_other_vpc {
            return of_other_vpc(to);
        }
        if has_public_address {
            let text = format!(
                "{to} is a private address, but not in this VPC. Host {} drops the packet, unless its agent has \
                 --allow-network for this address",
                host.label
            );
            return Outcome::Uncertain(text);
        }
        let text = format!("{to} is a private address, but not in this VPC. {NAT_IS_NO_HELP}");
        Outcome::Dropped(DropCause::UnknownAddress, text)
    }

    /// Notes what the packet needs of the host of the target, and of the network between the hosts.
    fn use_host_of_target(
        &mut self,
        host: &'a TraceHost,
        port: &TracePort,
        target_port: &TracePort,
        subnet: Option<i64>,
    ) {
        let Some((_, sender)) = self.uses.first_mut() else {
            return;
        };
        if port.host == target_port.host {
            return sender.subnets.extend(subnet);
        }
        sender.other_host = Some(target_port.host.0);
        let target = PathUse {
            other_host: Some(port.host.0),
            subnets: subnet.into_iter().collect(),
            ..*sender
        };
        self.uses.push((host, target));
    }

    /// Notes that the packet leaves the VPC through the host of the sender.
    fn use_uplink(&mut self) {
        for (_, sender) in &mut self.uses {
            sender.is_public = true;
        }
    }

    /// A problem of a host that affects the part of the host which the packet needs.
    fn problem(&self) -> Option<String> {
        self.uses.iter().find_map(|(host, used)| {
            let mut warnings = host.warnings.iter();
            let warning = warnings.find(|warning| warning.affects(used))?;
            Some(format!("{} reports a problem: {}", host.label, warning.text))
        })
    }

    fn add(&mut self, place: &str, action: String) {
        self.hops.push(Hop {
            place: place.to_owned(),
            action,
        });
    }
}

const NAT_IS_NO_HELP: &str = "1:1 NAT or public IPv6 networks would not help";

fn of_other_vpc(to: IpAddr) -> Outcome {
    let text = format!("{to} belongs to another VPC, and not to this one. {NAT_IS_NO_HELP}");
    Outcome::Dropped(DropCause::OtherVpc, text)
}

fn leaves(host: &TraceHost, source: IpAddr) -> Outcome {
    Outcome::Leaves(format!(
        "The packet leaves the VPC through host {} with source address {source}; Garth does not know whether the \
         destination receives it",
        host.label
    ))
}

/// Whether an address is only for private networks, which a public network does not route.
fn is_private(address: IpAddr) -> bool {
    match address {
        // Carriers use 100.64.0.0/10 for their own networks (RFC 6598).
        IpAddr::V4(v4) => v4.is_private() || matches!(v4.octets(), [100, 64..=127, ..]),
        IpAddr::V6(v6) => v6.is_unique_local(),
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

fn subnet_id(interface: &Interface) -> Option<i64> {
    attachment(interface).map(|vpc| vpc.subnet.0)
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
