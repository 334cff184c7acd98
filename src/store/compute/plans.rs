//! The `catalog_plan` table, and the number of instances of each plan.

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::plan::{Plan, Price, PriceList, RegionPrice};
use crate::model::text::Line;
use crate::model::time::Time;
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::notifier::Topic;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "id, name, label, class, memory, disk, transfer, vcpus, gpus, network_out, hourly, monthly, \
                       region_prices, retired, updated";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("catalog_plan", COLUMNS, |row| read(row).map(drop));

/// All stored plans, in the order of their creation, with the times of their last changes.
pub fn list(tx: &mut ReadTx) -> Result<Vec<(Plan, Time)>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM catalog_plan ORDER BY id");
    tx.read(&sql, args![], read)
}

/// Stores a plan. It replaces the stored plan with the same ID.
pub fn save(tx: &mut WriteTx, plan: &Plan) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "INSERT INTO catalog_plan (name, label, class, memory, disk, transfer, vcpus, gpus, network_out, hourly,
             monthly, region_prices, retired, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (name) DO UPDATE SET label = excluded.label, class = excluded.class, memory = excluded.memory,
             disk = excluded.disk, transfer = excluded.transfer, vcpus = excluded.vcpus, gpus = excluded.gpus,
             network_out = excluded.network_out, hourly = excluded.hourly, monthly = excluded.monthly,
             region_prices = excluded.region_prices, retired = excluded.retired, updated = excluded.updated
         RETURNING id";
    let region_prices = write_region_prices(&plan.prices.regions);
    let args = args![
        plan.id.as_str(),
        plan.label.as_str(),
        plan.class.as_str(),
        plan.memory,
        plan.disk,
        plan.transfer,
        plan.vcpus,
        plan.gpus,
        plan.network_out,
        plan.prices.hourly.0,
        plan.prices.monthly.0,
        region_prices.as_str(),
        plan.retired,
        now
    ];
    let id: i64 = tx.one(sql, args)?.take()?;
    tx.notify_on_commit(Topic::Catalog);
    tx.changed(PROVIDER, ChangeKind::Plan, id)
}

/// The number of instances of each plan that has any.
pub fn usage(tx: &mut ReadTx) -> Result<HashMap<String, i64>, StoreError> {
    let sql = "SELECT plan, count(*) FROM instance GROUP BY plan";
    let counts = tx.read(sql, args![], |row| Ok((row.take()?, row.take()?)))?;
    Ok(counts.into_iter().collect())
}

fn read(row: &mut Row) -> Result<(Plan, Time), StoreError> {
    let _: i64 = row.take()?;
    let id: Line<255> = row.take()?;
    let (label, class) = (row.take()?, row.take()?);
    let (memory, disk, transfer) = (row.take()?, row.take()?, row.take()?);
    let (vcpus, gpus, network_out) = (row.take()?, row.take()?, row.take()?);
    let prices = PriceList {
        hourly: Price(row.take()?),
        monthly: Price(row.take()?),
        regions: row.take::<RegionPrices>()?.0,
    };
    let plan = Plan {
        id: id.as_str().to_owned(),
        label,
        class,
        memory,
        disk,
        transfer,
        vcpus,
        gpus,
        network_out,
        backup_prices: PriceList::free_like(&prices),
        prices,
        successor: None,
        retired: row.take()?,
    };
    Ok((plan, row.take()?))
}

/// A line for each region with other prices: the hourly price, the monthly price and the ID of the region.
fn write_region_prices(prices: &[RegionPrice]) -> String {
    let line = |price: &RegionPrice| format!("{} {} {}\n", price.hourly.0, price.monthly.0, price.region);
    prices.iter().map(line).collect()
}

struct RegionPrices(Vec<RegionPrice>);

impl FromValue for RegionPrices {
    fn from_value(value: Value) -> Option<Self> {
        let read = |line: &str| {
            let mut parts = line.splitn(3, ' ');
            let mut price = || parts.next()?.parse().ok().map(Price);
            let (hourly, monthly) = (price()?, price()?);
            Some(RegionPrice {
                region: parts.next()?.to_owned(),
                hourly,
                monthly,
            })
        };
        value
            .as_text()?
            .lines()
            .map(read)
            .collect::<Option<_>>()
            .map(Self)
    }
}
