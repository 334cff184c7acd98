//! The tables `interface_range` and `interface_range6`: the ranges that are routed to VPC interfaces, and their IPv6
//! networks for SLAAC.

use std::collections::HashMap;

use crate::model::cidr::Cidr6;
use crate::model::family::V6;
use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId};
use crate::model::interface::{Interface, VpcAttachment};
use crate::model::network_map::NetworkHolder;
use crate::store::error::StoreError;
use crate::store::list::id_list;
use crate::store::stored_family::{StoredFamily, read_network};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

/// The place of the network for SLAAC. The routed networks follow.
const SLAAC: i64 = 0;

pub(super) fn insert(
    tx: &mut WriteTx,
    instance: InstanceId,
    id: InterfaceId,
    vpc: Option<&VpcAttachment>,
) -> Result<(), StoreError> {
    let Some(vpc) = vpc else { return Ok(()) };
    for (place, range) in vpc.ranges.iter().enumerate() {
        tx.execute(
            "INSERT INTO interface_range (interface, place, subnet, instance, ipv4, first_address, last_address)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            args![id, place as i64, vpc.subnet, instance, range.to_string(), range.first(), range.last()],
        )?;
    }
    let Some(ipv6) = &vpc.ipv6 else { return Ok(()) };
    let ranges = (SLAAC + 1..).zip(&ipv6.ranges);
    for (place, range) in ipv6.slaac.iter().map(|range| (SLAAC, range)).chain(ranges) {
        let (first, last) = (V6::to_value(range.first()), V6::to_value(range.last()));
        tx.execute(
            "INSERT INTO interface_range6 (interface, place, subnet, instance, first_address, last_address)
             VALUES ($1, $2, $3, $4, $5, $6)",
            args![id, place, vpc.subnet, instance, first, last],
        )?;
    }
    Ok(())
}

/// Deletes the ranges of an interface.
pub(super) fn delete(tx: &mut WriteTx, id: InterfaceId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM interface_range WHERE interface = $1", args![id])?;
    tx.execute("DELETE FROM interface_range6 WHERE interface = $1", args![id])?;
    Ok(())
}

/// Adds the ranges of these interfaces.
pub(super) fn add(tx: &mut ReadTx, found: &mut [(ConfigId, Interface)]) -> Result<(), StoreError> {
    if found.is_empty() {
        return Ok(());
    }
    let attachments = found.iter_mut().filter_map(|(_, interface)| {
        let id = interface.id;
        interface.vpc.as_mut().map(|vpc| (id, vpc))
    });
    let mut attachments: HashMap<InterfaceId, &mut VpcAttachment> = attachments.collect();
    let ids: Vec<i64> = attachments.keys().map(|id| id.0).collect();
    if ids.is_empty() {
        return Ok(());
    }
    let has_ipv6 = attachments.values().any(|vpc| vpc.ipv6.is_some());
    let (list, args) = id_list(&ids);
    let sql = format!(
        "SELECT interface, ipv4 FROM interface_range WHERE interface IN {list} ORDER BY interface, place"
    );
    for mut row in tx.all(&sql, &args)? {
        let interface: InterfaceId = row.take()?;
        if let Some(vpc) = attachments.get_mut(&interface) {
            vpc.ranges.push(row.take()?);
        }
    }
    if !has_ipv6 {
        return Ok(());
    }
    let sql = format!(
        "SELECT interface, place, first_address, last_address FROM interface_range6 WHERE interface IN {list}
         ORDER BY interface, place"
    );
    for mut row in tx.all(&sql, &args)? {
        let (interface, place): (InterfaceId, i64) = (row.take()?, row.take()?);
        let range: Cidr6 = read_network(&mut row)?;
        let ipv6 = attachments.get_mut(&interface).and_then(|vpc| vpc.ipv6.as_mut());
        match ipv6 {
            Some(ipv6) if place == SLAAC => ipv6.slaac = Some(range),
            Some(ipv6) => ipv6.ranges.push(range),
            None => {}
        }
    }
    Ok(())
}

/// The IPv6 networks of a subnet in use, ordered by address.
pub fn used_networks(tx: &mut ReadTx, subnet: SubnetId) -> Result<Vec<Cidr6>, StoreError> {
    tx.read(
        "SELECT DISTINCT first_address, last_address FROM interface_range6 WHERE subnet = $1 ORDER BY first_address",
        args![subnet],
        read_network,
    )
}

const HOLDERS: &str =
    "SELECT r.first_address, r.last_address, CASE WHEN r.place = 0 THEN 1 ELSE 0 END, f.ipv6_is_public, f.instance,
         i.label, f.config, f.id, f.active
     FROM interface_range6 r JOIN interface f ON f.id = r.interface JOIN instance i ON i.id = f.instance";

/// The interfaces with IPv6 networks in a part of a subnet, ordered by network and interface. If several configs of an
/// instance use the same network, the result has a holder for each config.
pub fn network_holders(
    tx: &mut ReadTx,
    subnet: SubnetId,
    part: Cidr6,
) -> Result<Vec<NetworkHolder>, StoreError> {
    let sql = format!(
        "{HOLDERS} WHERE r.subnet = $1 AND r.first_address BETWEEN $2 AND $3 ORDER BY r.first_address, f.id"
    );
    let (first, last) = (V6::to_value(part.first()), V6::to_value(part.last()));
    tx.read(&sql, args![subnet, first, last], read_holder)
}

/// The IPv6 networks of these interfaces, ordered by interface and place.
pub fn networks_of(tx: &mut ReadTx, interfaces: &[InterfaceId]) -> Result<Vec<NetworkHolder>, StoreError> {
    if interfaces.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = interfaces.iter().map(|id| id.0).collect();
    let (list, args) = id_list(&ids);
    let sql = format!("{HOLDERS} WHERE r.interface IN {list} ORDER BY r.interface, r.place");
    tx.read(&sql, &args, read_holder)
}

fn read_holder(row: &mut Row) -> Result<NetworkHolder, StoreError> {
    Ok(NetworkHolder {
        network: read_network(row)?,
        is_slaac: row.take()?,
        is_public: row.take()?,
        instance: row.take()?,
        instance_label: Some(row.take()?),
        config: row.take()?,
        interface: row.take()?,
        active: row.take()?,
    })
}
