//! The tables `interface_range` and `interface_range6`: the ranges that are routed to VPC interfaces, and their IPv6
//! networks for SLAAC.

use std::collections::HashMap;

use crate::model::cidr::Cidr6;
use crate::model::family::V6;
use crate::model::id::{ConfigId, InstanceId, InterfaceId};
use crate::model::interface::{Interface, VpcAttachment};
use crate::store::error::StoreError;
use crate::store::list::id_list;
use crate::store::stored_family::{StoredFamily, read_network};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

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
