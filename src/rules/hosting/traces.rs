//! Traces: the path of a packet from an instance, as the desired and the reported state predict it.

use std::collections::HashMap;
use std::net::IpAddr;

use crate::model::cidr::Cidr6;
use crate::model::id::{InstanceId, InterfaceId, VpcId};
use crate::model::instance::{Instance, Status};
use crate::model::reason::{Code, Reason};
use crate::model::trace::{
    ReportAge, SenderPower, Trace, TraceHost, TraceNetwork, TracePort, TraceSubnet, trace,
};
use crate::rules::error::{Error, Result};
use crate::store::{self, ReadTx};

/// An instance and the address to which it sends.
#[derive(Clone, Debug)]
pub struct TracePath {
    pub instance: InstanceId,
    pub address: String,
}

pub struct Traced {
    pub instance: Instance,
    pub address: IpAddr,
    pub trace: Trace,
}

/// The path of a packet from an instance of any account, for staff.
pub fn view(tx: &mut ReadTx, at: &TracePath) -> Result<Traced> {
    let instance = store::instances::find_any(tx, at.instance)?.ok_or(Error::NotFound)?;
    let address = parse_address(&at.address)?;
    let network = network(tx, &instance, address)?;
    Ok(Traced {
        trace: trace(&network, address),
        instance,
        address,
    })
}

/// Addresses that are never routed have no path.
fn parse_address(raw: &str) -> Result<IpAddr> {
    let refused = |text| Err(Error::on("address", Reason::new(Code::AddressInvalid, text)));
    let Ok(address) = raw.parse::<IpAddr>() else {
        return refused("Must be an IPv4 or IPv6 address");
    };
    // Programs write IPv4 addresses also as ::ffff:192.0.2.1.
    let address = address.to_canonical();
    let is_local = match address {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    if is_local || address.is_loopback() || address.is_multicast() || address.is_unspecified() {
        return refused("Must be an address of one machine that is not loopback or link-local");
    }
    Ok(address)
}

fn network(tx: &mut ReadTx, instance: &Instance, address: IpAddr) -> Result<TraceNetwork> {
    let mut network = TraceNetwork {
        sender: instance.label.as_str().to_owned(),
        power: power(tx, instance)?,
        ..TraceNetwork::default()
    };
    let Some((source, vpc)) = store::ports::source_of(tx, instance.id)? else {
        return Ok(network);
    };
    network.source = Some(source);
    network.interfaces = store::interfaces::of_vpc(tx, vpc)?;
    network.subnets = store::host_revisions::subnets_of_vpc(tx, vpc)?
        .into_iter()
        .map(|(subnet, label)| TraceSubnet {
            id: subnet.id,
            label,
            ipv4: subnet.ipv4,
            ipv6: subnet.ipv6,
            tunnel: subnet.tunnel,
        })
        .collect();
    add_ports(tx, &mut network, vpc)?;
    let hosts = store::hosts::of_region(tx, &instance.region)?;
    let found = hosts.iter().find(|host| host.underlay_address.ip() == address);
    network.host_at_address = found.map(|host| host.label.as_str().to_owned());
    network.is_in_other_vpc = match address {
        IpAddr::V4(v4) => store::subnets::is_in_other_vpc(tx, instance.account, vpc, v4.to_bits())?,
        IpAddr::V6(v6) => {
            let ranges = store::ipv6_prefixes::in_range(tx, Cidr6::around(v6.to_bits(), 128))?;
            let mut others = ranges.iter().filter_map(|range| range.vpc);
            others.any(|other| other != vpc)
        }
    };
    Ok(network)
}

fn power(tx: &mut ReadTx, instance: &Instance) -> Result<SenderPower> {
    Ok(match instance.status {
        Status::Running => SenderPower::Running,
        Status::Booting | Status::Rebooting => {
            let host = store::placements::host_of(tx, instance.id)?;
            let host = host.map(|host| store::hosts::find(tx, host)).transpose()?;
            SenderPower::Booting(host.flatten().map(|host| host.label.as_str().to_owned()))
        }
        Status::Provisioning | Status::ShuttingDown | Status::Offline => SenderPower::Off,
    })
}

/// Adds the ports of a VPC, and their hosts.
fn add_ports(tx: &mut ReadTx, network: &mut TraceNetwork, vpc: VpcId) -> Result<()> {
    let mut ports: HashMap<InterfaceId, TracePort> = HashMap::new();
    for (port, label) in store::ports::in_vpc(tx, vpc)? {
        let added = TracePort {
            host: port.host,
            state: port.report.state,
            reason: port.report.reason,
            instance: label,
        };
        ports.insert(port.interface, added);
    }
    let now = tx.now();
    let setting = store::encryption::of_vpc(tx, vpc)?;
    network.is_encrypted = setting.is_some_and(|setting| setting.is_enabled);
    for facts in store::hosts::of_vpc(tx, vpc)? {
        let label = facts.host.label.as_str();
        let last_seen = facts.host.report.as_ref().map(|report| report.last_seen);
        let host = TraceHost {
            label: label.to_owned(),
            underlay_address: facts.host.underlay_address.as_str().to_owned(),
            report: ReportAge::new(label, last_seen, now),
            has_credential: facts.host.has_credential,
            has_key: facts.has_key,
            warnings: facts.host.report.map_or_else(Vec::new, |report| report.warnings),
            is_current: facts
                .applied_revision
                .is_some_and(|applied| applied >= facts.revision),
        };
        network.hosts.insert(facts.host.id, host);
    }
    network.ports = ports;
    Ok(())
}
