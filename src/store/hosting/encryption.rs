//! The tables `region_encryption` and `host_key`: the setting of each region, and the public keys of hosts.

use crate::model::encryption::{HostKey, KeyDays, KeyHolder, PublicKey, RegionEncryption};
use crate::model::host::online_since;
use crate::model::id::{HostId, VpcId};
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str =
    "e.region, e.is_enabled, e.key_days, e.generation, e.oldest_generation, e.rotated, e.updated";
const TABLE: &str = "region_encryption e";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new(TABLE, COLUMNS, |row| read(row).map(drop));

pub fn find(tx: &mut ReadTx, region: &str) -> Result<Option<RegionEncryption>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLE} WHERE e.region = $1");
    tx.find(&sql, args![region])?.as_mut().map(read).transpose()
}

/// The setting of the region of a VPC.
pub fn of_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Option<RegionEncryption>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLE} JOIN vpc v ON v.region = e.region WHERE v.id = $1");
    tx.find(&sql, args![vpc])?.as_mut().map(read).transpose()
}

/// The regions that encrypt.
pub fn enabled(tx: &mut ReadTx) -> Result<Vec<RegionEncryption>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {TABLE} WHERE e.is_enabled = 1 ORDER BY e.region");
    tx.read(&sql, args![], read)
}

pub fn set(tx: &mut WriteTx, new: &RegionEncryption) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO region_encryption
             (region, is_enabled, key_days, generation, oldest_generation, rotated, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (region) DO UPDATE SET is_enabled = excluded.is_enabled, key_days = excluded.key_days,
             generation = excluded.generation, oldest_generation = excluded.oldest_generation,
             rotated = excluded.rotated, updated = excluded.updated",
        args![
            new.region.as_str(),
            new.is_enabled,
            new.key_days.get(),
            new.generation,
            new.oldest_generation,
            new.rotated,
            new.updated
        ],
    )?;
    Ok(())
}

/// The hosts of a region with a credential, and their newest keys.
pub fn holders(tx: &mut ReadTx, region: &str) -> Result<Vec<KeyHolder>, StoreError> {
    let since = online_since(tx.now());
    let sql = "SELECT h.id, h.label, r.key_generation,
            CAST(CASE WHEN r.last_seen >= $2 THEN 1 ELSE 0 END AS BIGINT), k.generation, k.created
        FROM host h JOIN host_credential c ON c.host = h.id LEFT JOIN host_report r ON r.host = h.id
            LEFT JOIN host_key k ON k.host = h.id
                AND k.generation = (SELECT max(n.generation) FROM host_key n WHERE n.host = h.id)
        WHERE h.region = $1 ORDER BY h.id";
    tx.read(sql, args![region, since], |row| {
        let (host, label, settled_generation) = (row.take()?, row.take()?, row.take()?);
        let is_reporting = row.take()?;
        let (generation, created): (Option<i64>, Option<_>) = (row.take()?, row.take()?);
        let key = generation
            .zip(created)
            .map(|(generation, created)| HostKey { generation, created });
        Ok(KeyHolder {
            host,
            label,
            key,
            settled_generation,
            is_reporting,
        })
    })
}

/// The newest key of a host.
pub fn newest_key(tx: &mut ReadTx, host: HostId) -> Result<Option<HostKey>, StoreError> {
    let sql = "SELECT generation, created FROM host_key WHERE host = $1 ORDER BY generation DESC LIMIT 1";
    let row = tx.find(sql, args![host])?;
    row.map(|mut row| {
        Ok(HostKey {
            generation: row.take()?,
            created: row.take()?,
        })
    })
    .transpose()
}

/// A key of a host with its underlay address.
pub struct PeerKey {
    pub host: HostId,
    pub underlay_address: String,
    pub generation: i64,
    pub public_key: String,
}

/// The keys of the other hosts of a region that have a credential.
pub fn peer_keys(tx: &mut ReadTx, region: &str, except: HostId) -> Result<Vec<PeerKey>, StoreError> {
    let sql = "SELECT h.id, h.underlay_address, k.generation, k.public_key
        FROM host h JOIN host_credential c ON c.host = h.id JOIN host_key k ON k.host = h.id
        WHERE h.region = $1 AND h.id <> $2 ORDER BY h.id, k.generation";
    tx.read(sql, args![region, except], |row| {
        Ok(PeerKey {
            host: row.take()?,
            underlay_address: row.take()?,
            generation: row.take()?,
            public_key: row.take()?,
        })
    })
}

pub fn is_key_of_another_host(tx: &mut ReadTx, host: HostId, key: &PublicKey) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM host_key WHERE public_key = $1 AND host <> $2";
    Ok(tx.find(sql, args![key.as_str(), host])?.is_some())
}

/// Stores a key of a host. Returns whether it is new.
pub fn set_key(tx: &mut WriteTx, host: HostId, generation: i64, key: &PublicKey) -> Result<bool, StoreError> {
    let now = tx.now();
    let changed = tx.execute(
        "INSERT INTO host_key (host, generation, public_key, created) VALUES ($1, $2, $3, $4)
         ON CONFLICT (host, generation) DO UPDATE SET public_key = excluded.public_key, created = excluded.created
             WHERE host_key.public_key <> excluded.public_key",
        args![host, generation, key.as_str(), now],
    )?;
    Ok(changed > 0)
}

/// Deletes the keys of a region's hosts that are older than a generation.
pub fn delete_keys_before(tx: &mut WriteTx, region: &str, generation: i64) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM host_key WHERE generation < $2 AND host IN (SELECT id FROM host WHERE region = $1)",
        args![region, generation],
    )?;
    Ok(())
}

fn read(row: &mut Row) -> Result<RegionEncryption, StoreError> {
    Ok(RegionEncryption {
        region: row.take()?,
        is_enabled: row.take()?,
        key_days: row.take()?,
        generation: row.take()?,
        oldest_generation: row.take()?,
        rotated: row.take()?,
        updated: row.take()?,
    })
}

impl FromValue for KeyDays {
    fn from_value(value: Value) -> Option<Self> {
        KeyDays::new(i64::from_value(value)?).ok()
    }
}
