//! The `catalog_region` table, and the number of objects in each region.

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::region::{PlacementGroupLimits, Region};
use crate::model::text::Line;
use crate::model::time::Time;
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::notifier::Topic;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "id, name, label, country, capabilities, status, retired, updated";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("catalog_region", COLUMNS, |row| read(row).map(drop));

/// All stored regions, in the order of their creation, with the times of their last changes.
pub fn list(tx: &mut ReadTx) -> Result<Vec<(Region, Time)>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM catalog_region ORDER BY id");
    tx.read(&sql, args![], read)
}

/// Stores a region. It replaces the stored region with the same ID.
pub fn save(tx: &mut WriteTx, region: &Region) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "INSERT INTO catalog_region
             (name, label, country, capabilities, status, retired, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (name) DO UPDATE SET label = excluded.label, country = excluded.country,
             capabilities = excluded.capabilities, status = excluded.status,
             retired = excluded.retired, updated = excluded.updated
         RETURNING id";
    let capabilities = region.capabilities.join("\n");
    let args = args![
        region.id.as_str(),
        region.label.as_str(),
        region.country.as_str(),
        capabilities.as_str(),
        region.status.as_str(),
        region.retired,
        now
    ];
    let id: i64 = tx.one(sql, args)?.take()?;
    tx.notify_on_commit(Topic::Catalog);
    tx.changed(PROVIDER, ChangeKind::Region, id)
}

/// The number of objects in a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegionUsage {
    pub instances: i64,
    pub vpcs: i64,
    pub hosts: i64,
}

/// The number of objects in each region that has any.
pub fn usage(tx: &mut ReadTx) -> Result<HashMap<String, RegionUsage>, StoreError> {
    let mut usage: HashMap<String, RegionUsage> = HashMap::new();
    for table in ["instance", "vpc", "host"] {
        let sql = format!("SELECT region, count(*) FROM {table} GROUP BY region");
        tx.for_each(&sql, args![], |row| {
            let (region, number): (String, i64) = (row.take()?, row.take()?);
            let counts = usage.entry(region).or_default();
            match table {
                "instance" => counts.instances = number,
                "vpc" => counts.vpcs = number,
                _ => counts.hosts = number,
            }
            Ok(())
        })?;
    }
    Ok(usage)
}

fn read(row: &mut Row) -> Result<(Region, Time), StoreError> {
    let _: i64 = row.take()?;
    let region = Region {
        id: row.take::<Line<255>>()?.as_str().to_owned(),
        label: row.take()?,
        country: row.take()?,
        capabilities: row.take::<Lines>()?.0,
        status: row.take()?,
        resolvers_ipv4: Region::RESOLVERS_IPV4.to_owned(),
        resolvers_ipv6: Region::RESOLVERS_IPV6.to_owned(),
        placement_group_limits: PlacementGroupLimits::NONE,
        retired: row.take()?,
    };
    Ok((region, row.take()?))
}

/// Texts without line breaks, one on each line.
struct Lines(Vec<String>);

impl FromValue for Lines {
    fn from_value(value: Value) -> Option<Self> {
        let lines = value.as_text()?.lines();
        Some(Self(lines.map(str::to_owned).collect()))
    }
}
