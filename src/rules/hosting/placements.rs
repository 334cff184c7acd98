//! Placement: the host of an instance, and its ports there (decision 0031).

use crate::model::id::{ConfigId, HostId, InstanceId};
use crate::model::instance::Instance;
use crate::model::reason::Code;
use crate::rules::error::{Error, Result};
use crate::store::{self, ReadTx, WriteTx};

/// Where an instance can boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The region has no hosts, so there is no real machine.
    Simulated,
    Host(HostId),
    /// All hosts of the region are offline, draining or full.
    NoCapacity,
}

/// The host where an instance can boot. An instance remains on its host, unless that is draining or offline.
pub fn target(tx: &mut ReadTx, instance: &Instance) -> Result<Target> {
    if !store::hosts::serve_region(tx, &instance.region)? {
        return Ok(Target::Simulated);
    }
    if let Some(host) = store::placements::usable_host_of(tx, instance.id)? {
        return Ok(Target::Host(host));
    }
    Ok(match store::hosts::with_most_capacity(tx, &instance.region)? {
        Some(host) => Target::Host(host),
        None => Target::NoCapacity,
    })
}

pub fn no_capacity(instance: &Instance) -> Error {
    let text = format!(
        "No host in {} has capacity for another instance; try again later",
        instance.region
    );
    Error::refused(Code::NoCapacity, text)
}

/// Places an instance on a host, with new ports for the interfaces of a config. Removes its other ports.
pub fn place(tx: &mut WriteTx, instance: InstanceId, host: HostId, config: ConfigId) -> Result<()> {
    store::ports::delete_of_instance(tx, instance)?;
    store::placements::set(tx, instance, host)?;
    add_ports(tx, instance, host, config)
}

/// Adds the ports that the interfaces of a config do not have yet.
pub fn add_ports(tx: &mut WriteTx, instance: InstanceId, host: HostId, config: ConfigId) -> Result<()> {
    let present = store::ports::of_instance(tx, instance)?;
    for interface in store::interfaces::of_config(tx, config)? {
        let is_present = present.iter().any(|port| port.interface == interface.id);
        if let Some(vpc) = interface.vpc.filter(|_| !is_present) {
            store::ports::insert(tx, host, instance, (interface.id, vpc.vpc))?;
        }
    }
    Ok(())
}

/// Removes an instance from its host, if it has one.
pub fn release(tx: &mut WriteTx, instance: InstanceId) -> Result<()> {
    if store::placements::delete(tx, instance)? {
        store::ports::delete_of_instance(tx, instance)?;
    }
    Ok(())
}

/// Whether the instance has a port that is not up.
pub fn has_pending_ports(tx: &mut ReadTx, instance: InstanceId) -> Result<bool> {
    let ports = store::ports::of_instance(tx, instance)?;
    Ok(ports
        .iter()
        .any(|port| port.report.state != crate::model::port::PortState::Up))
}
