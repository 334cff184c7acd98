//! The `port` table: the VPC interfaces of instances on hosts.

use std::collections::BTreeSet;

use super::{host_revisions, removed_ports, traffic};
use crate::model::id::{HostId, InstanceId, InterfaceId, VpcId};
use crate::model::port::{PortRecord, PortState, StoredPort};
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "p.interface, p.instance, p.host, p.revision, p.status, p.reason, p.received_bytes,
    p.received_packets, p.sent_bytes, p.sent_packets, p.dropped_packets";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("port p", COLUMNS, |row| read(row).map(drop));

pub fn of_host(tx: &mut ReadTx, host: HostId) -> Result<Vec<StoredPort>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM port p WHERE p.host = $1 ORDER BY p.interface");
    tx.read(&sql, args![host], read)
}

pub fn of_instance(tx: &mut ReadTx, instance: InstanceId) -> Result<Vec<StoredPort>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM port p WHERE p.instance = $1 ORDER BY p.interface");
    tx.read(&sql, args![instance], read)
}

/// The ports of a VPC, with the labels of their instances.
pub fn in_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Vec<(StoredPort, String)>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS}, i.label FROM port p JOIN instance i ON i.id = p.instance
         WHERE p.vpc = $1 ORDER BY p.interface"
    );
    tx.read(&sql, args![vpc], |row| Ok((read(row)?, row.take()?)))
}

/// The port through which an instance sends, and its VPC.
pub fn source_of(tx: &mut ReadTx, instance: InstanceId) -> Result<Option<(InterfaceId, VpcId)>, StoreError> {
    let sql = "SELECT p.interface, p.vpc FROM port p JOIN interface f ON f.id = p.interface
        WHERE p.instance = $1 ORDER BY f.is_primary DESC, f.place LIMIT 1";
    let row = tx.find(sql, args![instance])?;
    row.map(|mut row| Ok((row.take()?, row.take()?))).transpose()
}

/// Adds a port, and raises the revisions of the hosts of its VPC.
pub fn insert(
    tx: &mut WriteTx,
    host: HostId,
    instance: InstanceId,
    (interface, vpc): (InterfaceId, VpcId),
) -> Result<(), StoreError> {
    let counters = removed_ports::take(tx, interface, host)?;
    tx.execute(
        "INSERT INTO port (interface, instance, host, vpc, revision, status, received_bytes, received_packets,
             sent_bytes, sent_packets, dropped_packets)
         VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10)",
        args![
            interface,
            instance,
            host,
            vpc,
            PortState::Pending.word(),
            counters.received_bytes,
            counters.received_packets,
            counters.sent_bytes,
            counters.sent_packets,
            counters.dropped_packets
        ],
    )?;
    host_revisions::vpc_changed(tx, vpc)?;
    tx.execute(
        "UPDATE port SET revision = (SELECT r.revision FROM host_revision r WHERE r.host = port.host)
         WHERE interface = $1",
        args![interface],
    )?;
    Ok(())
}

/// Removes the port of an interface, if it has one.
pub fn delete(tx: &mut WriteTx, interface: InterfaceId, vpc: VpcId) -> Result<(), StoreError> {
    let sql = "SELECT 1 FROM port WHERE interface = $1";
    if tx.find(sql, args![interface])?.is_none() {
        return Ok(());
    }
    host_revisions::vpc_changed(tx, vpc)?;
    removed_ports::add(tx, "interface", interface.0)?;
    tx.execute("DELETE FROM port WHERE interface = $1", args![interface])?;
    host_revisions::ports_removed(tx, vpc)
}

/// Removes the ports of an instance.
pub fn delete_of_instance(tx: &mut WriteTx, instance: InstanceId) -> Result<(), StoreError> {
    let sql = "SELECT vpc FROM port WHERE instance = $1";
    let vpcs: Vec<VpcId> = tx.read(sql, args![instance], |row| row.take())?;
    let vpcs: BTreeSet<VpcId> = vpcs.into_iter().collect();
    for vpc in &vpcs {
        host_revisions::vpc_changed(tx, *vpc)?;
    }
    if vpcs.is_empty() {
        return Ok(());
    }
    removed_ports::add(tx, "instance", instance.0)?;
    tx.execute("DELETE FROM port WHERE instance = $1", args![instance])?;
    for vpc in vpcs {
        host_revisions::ports_removed(tx, vpc)?;
    }
    Ok(())
}

/// Stores the report about a port.
pub fn set_report(tx: &mut WriteTx, interface: InterfaceId, report: &PortRecord) -> Result<(), StoreError> {
    let traffic = &report.traffic;
    tx.execute(
        "UPDATE port SET status = $2, reason = $3, received_bytes = $4, received_packets = $5, sent_bytes = $6,
             sent_packets = $7, dropped_packets = $8 WHERE interface = $1",
        args![
            interface,
            report.state.word(),
            report.reason.as_deref(),
            traffic.received_bytes,
            traffic.received_packets,
            traffic.sent_bytes,
            traffic.sent_packets,
            traffic.dropped_packets
        ],
    )?;
    Ok(())
}

/// The instances on a host that are booting, and whose ports are all up.
pub fn booted_instances(tx: &mut ReadTx, host: HostId) -> Result<Vec<InstanceId>, StoreError> {
    let sql = "SELECT l.instance FROM placement l JOIN instance i ON i.id = l.instance
        WHERE l.host = $1 AND i.status IN ('booting', 'rebooting')
          AND NOT EXISTS (SELECT 1 FROM port p WHERE p.instance = l.instance AND p.status <> 'up')
        ORDER BY l.instance";
    tx.read(sql, args![host], |row| row.take())
}

/// Where a port is.
pub struct PortPlace {
    pub interface: InterfaceId,
    pub host: HostId,
    /// The position of the interface in its config.
    pub index: i64,
    pub underlay_address: String,
}

/// The ports of the VPCs of a host that changed after a revision, as far as their hosts have joined.
pub fn places(tx: &mut ReadTx, host: HostId, after: i64) -> Result<Vec<PortPlace>, StoreError> {
    let sql = "SELECT p.interface, p.host, f.place, h.underlay_address
        FROM host_vpc v JOIN port p ON p.vpc = v.vpc JOIN interface f ON f.id = p.interface
            JOIN host h ON h.id = p.host JOIN host_credential c ON c.host = p.host
        WHERE v.host = $1 AND v.revision > $2";
    tx.read(sql, args![host, after], |row: &mut Row| {
        Ok(PortPlace {
            interface: row.take()?,
            host: row.take()?,
            index: row.take()?,
            underlay_address: row.take()?,
        })
    })
}

fn read(row: &mut Row) -> Result<StoredPort, StoreError> {
    Ok(StoredPort {
        interface: row.take()?,
        instance: row.take()?,
        host: row.take()?,
        revision: row.take()?,
        report: PortRecord {
            state: row.take()?,
            reason: row.take()?,
            traffic: traffic::read(row)?,
        },
    })
}

impl FromValue for PortState {
    fn from_value(value: Value) -> Option<Self> {
        let word = value.as_text()?;
        PortState::ALL.into_iter().find(|state| state.word() == word)
    }
}
