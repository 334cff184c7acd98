//! Ports with the labels of their instances and networks, for people.

use std::collections::HashMap;

use super::traffic;
use crate::model::id::{HostId, InstanceId, SubnetId};
use crate::model::port::{PortDetails, PortRecord};
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::{Row, Value, args};

/// The ports of a host, those with problems first.
pub fn of_host(tx: &mut ReadTx, host: HostId, limit: i64) -> Result<Vec<PortDetails>, StoreError> {
    find(tx, "p.host", args![host, limit])
}

/// The ports in a subnet, those with problems first.
pub fn of_subnet(tx: &mut ReadTx, subnet: SubnetId, limit: i64) -> Result<Vec<PortDetails>, StoreError> {
    find(tx, "f.subnet", args![subnet, limit])
}

/// The ports of an instance, those with problems first.
pub fn of_instance(
    tx: &mut ReadTx,
    instance: InstanceId,
    limit: i64,
) -> Result<Vec<PortDetails>, StoreError> {
    find(tx, "p.instance", args![instance, limit])
}

/// The number of ports in the state `error` of each host that has any.
pub fn error_counts(tx: &mut ReadTx) -> Result<HashMap<HostId, i64>, StoreError> {
    let sql = "SELECT p.host, count(*) FROM port p WHERE p.status = 'error' GROUP BY p.host";
    let counts = tx.read(sql, args![], |row: &mut Row| Ok((row.take()?, row.take()?)))?;
    Ok(counts.into_iter().collect())
}

fn find(tx: &mut ReadTx, column: &str, args: &[Value]) -> Result<Vec<PortDetails>, StoreError> {
    let sql = format!(
        "SELECT p.interface, p.instance, i.label, i.account, p.vpc, v.label, f.subnet, s.label, f.address, p.status,
             p.reason, {}
         FROM port p JOIN interface f ON f.id = p.interface JOIN instance i ON i.id = p.instance
             JOIN vpc v ON v.id = p.vpc JOIN subnet s ON s.id = f.subnet
         WHERE {column} = $1
         ORDER BY CASE p.status WHEN 'error' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END, p.interface LIMIT $2",
        traffic::COLUMNS
    );
    tx.read(&sql, args, |row: &mut Row| {
        Ok(PortDetails {
            interface: row.take()?,
            instance: row.take()?,
            instance_label: row.take()?,
            account: row.take()?,
            vpc: row.take()?,
            vpc_label: row.take()?,
            subnet: row.take()?,
            subnet_label: row.take()?,
            address: row.take()?,
            report: PortRecord {
                state: row.take()?,
                reason: row.take()?,
                traffic: traffic::read(row)?,
            },
        })
    })
}
