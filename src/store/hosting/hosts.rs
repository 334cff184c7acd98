//! The `host` table, with the last report of each host.

use crate::model::change::ChangeKind;
use crate::model::host::{Capacity, Host, HostReport, NewHost, UnderlayAddress, online_since};
use crate::model::id::{HostId, VpcId};
use crate::model::interface::write_address;
use crate::model::label::Label;
use crate::model::page::Paged;
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::host_reports::read_warnings;
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "h.id, h.label, h.region, h.underlay_address, h.capacity, h.is_draining,
    CAST(CASE WHEN EXISTS (SELECT 1 FROM host_credential c WHERE c.host = h.id) THEN 1 ELSE 0 END AS BIGINT),
    (SELECT count(*) FROM placement p WHERE p.host = h.id), r.last_seen, r.agent_version, r.warnings, r.warning_codes,
    h.created, h.updated";
const TABLES: &str = "host h LEFT JOIN host_report r ON r.host = h.id";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new(TABLES, COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 6] = [
    Field::new("id", Kind::Integer, "h.id"),
    Field::new("label", Kind::Text, "h.label"),
    Field::new("region", Kind::Text, "h.region"),
    Field::new("underlay_address", Kind::Text, "h.underlay_address"),
    Field::new("created", Kind::Time, "h.created"),
    Field::new("updated", Kind::Time, "h.updated"),
];

pub fn list(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<Host>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: TABLES,
        condition: "1 = 1".to_owned(),
        args: Vec::new(),
        key: &["h.id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(tx: &mut ReadTx, id: HostId) -> Result<Option<Host>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE h.id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

/// A host with the state of its agent.
pub struct HostFacts {
    pub host: Host,
    pub has_key: bool,
    pub applied_revision: Option<i64>,
    /// The revision of its desired state.
    pub revision: i64,
}

/// The hosts with ports in a VPC.
pub fn of_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Vec<HostFacts>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS},
             CAST(CASE WHEN EXISTS (SELECT 1 FROM host_key k WHERE k.host = h.id) THEN 1 ELSE 0 END AS BIGINT),
             r.applied_revision, v.revision
         FROM {TABLES} JOIN host_revision v ON v.host = h.id
         WHERE h.id IN (SELECT p.host FROM port p WHERE p.vpc = $1) ORDER BY h.id"
    );
    tx.read(&sql, args![vpc], |row| {
        Ok(HostFacts {
            host: read(row)?,
            has_key: row.take()?,
            applied_revision: row.take()?,
            revision: row.take()?,
        })
    })
}

/// The hosts of a region.
pub fn of_region(tx: &mut ReadTx, region: &str) -> Result<Vec<Host>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE h.region = $1 ORDER BY h.id");
    tx.read(&sql, args![region], read)
}

/// A host by its label.
pub fn find_by_label(tx: &mut ReadTx, label: &str) -> Result<Option<Host>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE lower(h.label) = lower($1)");
    tx.find(&sql, args![label])?.as_mut().map(read).transpose()
}

/// Whether a host has this label. Ignores the host `except`.
pub fn has_label(tx: &mut ReadTx, label: &Label, except: Option<HostId>) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM host WHERE lower(label) = lower($1) AND id IS DISTINCT FROM $2";
    Ok(tx.find(sql, args![label, except])?.is_some())
}

/// The host of a region with this address. Ignores the host `except`.
pub fn with_address(
    tx: &mut ReadTx,
    region: &str,
    address: &UnderlayAddress,
    except: Option<HostId>,
) -> Result<Option<Label>, StoreError> {
    let sql = "SELECT label FROM host WHERE region = $1 AND underlay_address = $2 AND id IS DISTINCT FROM $3";
    let row = tx.find(sql, args![region, address.as_str(), except])?;
    row.map(|mut row| row.take()).transpose()
}

/// Whether a host has this IPv4 address.
pub fn has_address(tx: &mut ReadTx, address: u32) -> Result<bool, StoreError> {
    let address = write_address(address);
    let sql = "SELECT 1 FROM host WHERE underlay_address = $1 LIMIT 1";
    Ok(tx.find(sql, args![address.as_str()])?.is_some())
}

/// A host of the region whose address is of another family. Ignores the host `except`.
pub fn of_other_family(
    tx: &mut ReadTx,
    region: &str,
    address: &UnderlayAddress,
    except: Option<HostId>,
) -> Result<Option<Label>, StoreError> {
    let sql = "SELECT label FROM host WHERE region = $1 AND id IS DISTINCT FROM $3
            AND CASE WHEN underlay_address LIKE '%:%' THEN 1 ELSE 0 END <> $2
        ORDER BY id LIMIT 1";
    let row = tx.find(sql, args![region, i64::from(address.is_ipv6()), except])?;
    row.map(|mut row| row.take()).transpose()
}

/// Whether an agent of the region has ever reported. Instances of other regions run without hosts.
pub fn serve_region(tx: &mut ReadTx, region: &str) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM host h JOIN host_report r ON r.host = h.id WHERE h.region = $1 LIMIT 1";
    Ok(tx.find(sql, args![region])?.is_some())
}

/// The host of the region with the most free capacity: online, not draining, and not full. Hosts that reach no other host
/// are last: they report it, or the region encrypts and they have no key.
pub fn with_most_capacity(tx: &mut ReadTx, region: &str) -> Result<Option<HostId>, StoreError> {
    let since = online_since(tx.now());
    let row = tx.find(
        "SELECT f.id FROM (
             SELECT h.id AS id, h.capacity - (SELECT count(*) FROM placement p WHERE p.host = h.id) AS free,
                 CASE WHEN r.is_isolated = 1 OR EXISTS (SELECT 1 FROM region_encryption e
                         WHERE e.region = h.region AND e.is_enabled = 1)
                     AND NOT EXISTS (SELECT 1 FROM host_key k WHERE k.host = h.id)
                     THEN 1 ELSE 0 END AS is_isolated
             FROM host h JOIN host_report r ON r.host = h.id JOIN host_credential c ON c.host = h.id
             WHERE h.region = $1 AND h.is_draining = 0 AND r.last_seen >= $2) f
         WHERE f.free > 0 ORDER BY f.is_isolated, f.free DESC, f.id LIMIT 1",
        args![region, since],
    )?;
    row.map(|mut row| row.take()).transpose()
}

pub fn insert(tx: &mut WriteTx, new: &NewHost) -> Result<HostId, StoreError> {
    let now = tx.now();
    let sql = "INSERT INTO host (label, region, underlay_address, capacity, is_draining, created, updated)
        VALUES ($1, $2, $3, $4, 0, $5, $5) RETURNING id";
    let address = new.underlay_address.as_str();
    let args = args![&new.label, new.region.as_str(), address, new.capacity.get(), now];
    let id: HostId = tx.one(sql, args)?.take()?;
    tx.execute(
        "INSERT INTO host_revision (host, revision) VALUES ($1, 1)",
        args![id],
    )?;
    tx.changed(PROVIDER, ChangeKind::Host, id.0)?;
    Ok(id)
}

pub fn update(tx: &mut WriteTx, host: &Host) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE host SET label = $2, underlay_address = $3, capacity = $4, is_draining = $5, updated = $6 WHERE id = $1",
        args![
            host.id,
            &host.label,
            host.underlay_address.as_str(),
            host.capacity.get(),
            host.is_draining,
            host.updated
        ],
    )?;
    tx.changed(PROVIDER, ChangeKind::Host, host.id.0)
}

/// Deletes a host, which must have no instances.
pub fn delete(tx: &mut WriteTx, id: HostId) -> Result<(), StoreError> {
    for table in [
        "host_join_token",
        "host_credential",
        "host_report",
        "host_revision",
        "host_vpc",
        "host_key",
        "removed_port",
    ] {
        tx.execute(&format!("DELETE FROM {table} WHERE host = $1"), args![id])?;
    }
    tx.execute("DELETE FROM host WHERE id = $1", args![id])?;
    tx.changed(PROVIDER, ChangeKind::Host, id.0)
}

fn read(row: &mut Row) -> Result<Host, StoreError> {
    let id = row.take()?;
    let (label, region, underlay_address) = (row.take()?, row.take()?, row.take()?);
    let (capacity, is_draining) = (row.take()?, row.take()?);
    let (has_credential, instances) = (row.take()?, row.take()?);
    let report = read_report(row)?;
    Ok(Host {
        id,
        label,
        region,
        underlay_address,
        capacity,
        is_draining,
        has_credential,
        instances,
        report,
        created: row.take()?,
        updated: row.take()?,
    })
}

fn read_report(row: &mut Row) -> Result<Option<HostReport>, StoreError> {
    let (last_seen, agent_version) = (row.take()?, row.take::<Option<String>>()?);
    let (warnings, codes): (Option<String>, Option<String>) = (row.take()?, row.take()?);
    let last_seen: Option<_> = last_seen;
    Ok(last_seen.map(|last_seen| HostReport {
        last_seen,
        agent_version: agent_version.unwrap_or_default(),
        warnings: read_warnings(&warnings.unwrap_or_default(), &codes.unwrap_or_default()),
    }))
}

impl FromValue for UnderlayAddress {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value).and_then(Self::checked)
    }
}

impl FromValue for Capacity {
    fn from_value(value: Value) -> Option<Self> {
        Capacity::new(i64::from_value(value)?).ok()
    }
}
