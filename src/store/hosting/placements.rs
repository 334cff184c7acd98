//! The `placement` table: the host of each instance that runs or boots on a host.

use crate::model::host::online_since;
use crate::model::id::{HostId, InstanceId};
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

pub fn host_of(tx: &mut ReadTx, instance: InstanceId) -> Result<Option<HostId>, StoreError> {
    let row = tx.find("SELECT host FROM placement WHERE instance = $1", args![instance])?;
    row.map(|mut row| row.take()).transpose()
}

/// The host of an instance, if the instance can boot there again: the host is online and not draining.
pub fn usable_host_of(tx: &mut ReadTx, instance: InstanceId) -> Result<Option<HostId>, StoreError> {
    let since = online_since(tx.now());
    let row = tx.find(
        "SELECT p.host FROM placement p JOIN host h ON h.id = p.host JOIN host_report r ON r.host = p.host
             JOIN host_credential c ON c.host = p.host
         WHERE p.instance = $1 AND h.is_draining = 0 AND r.last_seen >= $2",
        args![instance, since],
    )?;
    row.map(|mut row| row.take()).transpose()
}

/// The instances of a host, by ID.
pub fn instances(tx: &mut ReadTx, host: HostId) -> Result<Vec<InstanceId>, StoreError> {
    let sql = "SELECT instance FROM placement WHERE host = $1 ORDER BY instance";
    tx.read(sql, args![host], |row| row.take())
}

/// Some instances of a host that are not busy, by ID.
pub fn idle_instances(tx: &mut ReadTx, host: HostId, limit: i64) -> Result<Vec<InstanceId>, StoreError> {
    let sql = "SELECT p.instance FROM placement p JOIN instance i ON i.id = p.instance
        WHERE p.host = $1 AND i.status = 'running' ORDER BY p.instance LIMIT $2";
    tx.read(sql, args![host, limit], |row| row.take())
}

pub fn count(tx: &mut ReadTx, host: HostId) -> Result<i64, StoreError> {
    tx.one("SELECT count(*) FROM placement WHERE host = $1", args![host])?
        .take()
}

pub fn set(tx: &mut WriteTx, instance: InstanceId, host: HostId) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO placement (instance, host) VALUES ($1, $2)
         ON CONFLICT (instance) DO UPDATE SET host = excluded.host",
        args![instance, host],
    )?;
    Ok(())
}

/// Returns false if the instance was not placed.
pub fn delete(tx: &mut WriteTx, instance: InstanceId) -> Result<bool, StoreError> {
    let deleted = tx.execute("DELETE FROM placement WHERE instance = $1", args![instance])?;
    Ok(deleted > 0)
}
