//! The tables `host_revision`, `host_vpc`, `underlay_revision` and `tunnel`: which part of a host's desired state
//! changed with which revision.
//!
//! A transaction that changes the desired state of a host also raises the host's revision, so an agent that has the
//! current revision has the current state. The commit notifies the streams of the host.

use crate::model::id::{HostId, SubnetId, VpcId};
use crate::store::error::StoreError;
use crate::store::notifier::Topic;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

/// The hosts with ports in the VPC `$1`.
const HOSTS_OF_VPC: &str = "SELECT p.host FROM port p WHERE p.vpc = CAST($1 AS BIGINT)";

/// The revision of a host's desired state.
pub fn current(tx: &mut ReadTx, host: HostId) -> Result<i64, StoreError> {
    let sql = "SELECT revision FROM host_revision WHERE host = $1";
    let row = tx.find(sql, args![host])?;
    row.map_or(Ok(0), |mut row| row.take())
}

/// The VPCs with ports on a host.
pub fn vpcs(tx: &mut ReadTx, host: HostId) -> Result<Vec<VpcId>, StoreError> {
    let sql = "SELECT vpc FROM host_vpc WHERE host = $1 ORDER BY vpc";
    tx.read(sql, args![host], |row| row.take())
}

/// Raises the revision of every host with ports in a VPC. Call this after ports were added, before ports are
/// removed, and after any other change of the VPC that hosts need.
pub fn vpc_changed(tx: &mut WriteTx, vpc: VpcId) -> Result<(), StoreError> {
    let sql = format!(
        "UPDATE host_revision SET revision = revision + 1 WHERE host IN ({HOSTS_OF_VPC}) RETURNING host"
    );
    let hosts = tx.read(&sql, args![vpc], |row| row.take())?;
    if hosts.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "INSERT INTO host_vpc (host, vpc, revision)
         SELECT r.host, CAST($1 AS BIGINT), r.revision FROM host_revision r WHERE r.host IN ({HOSTS_OF_VPC})
         ON CONFLICT (host, vpc) DO UPDATE SET revision = excluded.revision"
    );
    tx.execute(&sql, args![vpc])?;
    tx.execute(
        "INSERT INTO tunnel (subnet) SELECT s.id FROM subnet s
         WHERE s.vpc = $1 AND NOT EXISTS (SELECT 1 FROM tunnel t WHERE t.subnet = s.id) ORDER BY s.id",
        args![vpc],
    )?;
    notify(tx, hosts);
    Ok(())
}

/// Forgets the VPC on the hosts that no longer have ports in it.
pub(super) fn ports_removed(tx: &mut WriteTx, vpc: VpcId) -> Result<(), StoreError> {
    let sql = format!("DELETE FROM host_vpc WHERE vpc = CAST($1 AS BIGINT) AND host NOT IN ({HOSTS_OF_VPC})");
    tx.execute(&sql, args![vpc])?;
    Ok(())
}

/// Deletes the tunnel of a subnet that is being deleted.
pub fn delete_tunnel(tx: &mut WriteTx, subnet: SubnetId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM tunnel WHERE subnet = $1", args![subnet])?;
    Ok(())
}

/// The revision of the underlay of a host's region.
pub fn underlay(tx: &mut ReadTx, host: HostId) -> Result<i64, StoreError> {
    let sql = "SELECT u.revision FROM host h JOIN underlay_revision u ON u.region = h.region WHERE h.id = $1";
    let row = tx.find(sql, args![host])?;
    row.map_or(Ok(0), |mut row| row.take())
}

/// Raises the revision of a region's underlay and of all its hosts.
pub fn underlay_changed(tx: &mut WriteTx, region: &str) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO underlay_revision (region, revision) VALUES ($1, 1)
         ON CONFLICT (region) DO UPDATE SET revision = underlay_revision.revision + 1",
        args![region],
    )?;
    let sql = "UPDATE host_revision SET revision = revision + 1
        WHERE host IN (SELECT id FROM host WHERE region = $1) RETURNING host";
    let hosts = tx.read(sql, args![region], |row| row.take())?;
    notify(tx, hosts);
    Ok(())
}

/// Raises the revisions of every host that has endpoints on this host.
pub fn endpoints_changed(tx: &mut WriteTx, host: HostId) -> Result<(), StoreError> {
    let vpcs: Vec<VpcId> = vpcs(tx, host)?;
    vpcs.into_iter().try_for_each(|vpc| vpc_changed(tx, vpc))
}

/// Ends the streams of a host whose credential was revoked.
pub fn credential_changed(tx: &mut WriteTx, host: HostId) {
    tx.notify_on_commit(Topic::Host(host));
}

fn notify(tx: &mut WriteTx, hosts: Vec<HostId>) {
    for host in hosts {
        tx.notify_on_commit(Topic::Host(host));
    }
}

/// A subnet of a VPC on a host, with its VXLAN network identifier.
pub struct HostSubnet {
    pub vpc: VpcId,
    pub id: SubnetId,
    pub tunnel: i64,
    pub ipv4: crate::model::cidr::Cidr,
    pub ipv6: Option<crate::model::cidr::Cidr6>,
}

/// The subnets of the VPCs of a host that changed after a revision.
pub fn subnets(tx: &mut ReadTx, host: HostId, after: i64) -> Result<Vec<HostSubnet>, StoreError> {
    let sql = "SELECT s.vpc, s.id, t.id, s.ipv4, s.ipv6
        FROM host_vpc v JOIN subnet s ON s.vpc = v.vpc JOIN tunnel t ON t.subnet = s.id
        WHERE v.host = $1 AND v.revision > $2 ORDER BY s.vpc, s.id";
    tx.read(sql, args![host, after], read_subnet)
}

fn read_subnet(row: &mut Row) -> Result<HostSubnet, StoreError> {
    Ok(HostSubnet {
        vpc: row.take()?,
        id: row.take()?,
        tunnel: row.take()?,
        ipv4: row.take()?,
        ipv6: row.take()?,
    })
}

/// The subnets of a VPC with ports, and their labels.
pub fn subnets_of_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Vec<(HostSubnet, String)>, StoreError> {
    let sql =
        "SELECT s.vpc, s.id, t.id, s.ipv4, s.ipv6, s.label FROM subnet s JOIN tunnel t ON t.subnet = s.id
        WHERE s.vpc = $1 ORDER BY s.id";
    tx.read(sql, args![vpc], |row| Ok((read_subnet(row)?, row.take()?)))
}

/// The underlay addresses of the other hosts of a region, as far as an agent has joined.
pub fn peers(tx: &mut ReadTx, region: &str, except: HostId) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT h.underlay_address FROM host h JOIN host_credential c ON c.host = h.id
        WHERE h.region = $1 AND h.id <> $2 ORDER BY h.id";
    tx.read(sql, args![region, except], |row| row.take())
}
