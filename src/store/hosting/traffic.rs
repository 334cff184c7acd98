//! The `instance_traffic` table: the traffic of each instance in each month.

use crate::model::id::{AccountId, InstanceId};
use crate::model::traffic::{Month, Traffic};
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

/// The counters of a row, in the order of `read`.
pub(super) const COLUMNS: &str =
    "received_bytes, received_packets, sent_bytes, sent_packets, dropped_packets";

/// Sums above this limit do not grow, so that no report can cause an overflow.
const MAX_SUM: i64 = 1 << 55;

/// Adds traffic to the sums of a month.
pub fn add(
    tx: &mut WriteTx,
    instance: InstanceId,
    month: Month,
    traffic: &Traffic,
) -> Result<(), StoreError> {
    let sums = COLUMNS.split(", ").map(|column| {
        format!(
            "{column} = CASE WHEN instance_traffic.{column} > {MAX_SUM} THEN instance_traffic.{column}
                 ELSE instance_traffic.{column} + excluded.{column} END"
        )
    });
    let sums: Vec<_> = sums.collect();
    let sql = format!(
        "INSERT INTO instance_traffic (instance, month, {COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (instance, month) DO UPDATE SET {}",
        sums.join(", ")
    );
    tx.execute(
        &sql,
        args![
            instance,
            month.number(),
            traffic.received_bytes.min(MAX_SUM),
            traffic.received_packets.min(MAX_SUM),
            traffic.sent_bytes.min(MAX_SUM),
            traffic.sent_packets.min(MAX_SUM),
            traffic.dropped_packets.min(MAX_SUM)
        ],
    )?;
    Ok(())
}

/// The traffic of an instance in a month.
pub fn of_instance(tx: &mut ReadTx, instance: InstanceId, month: Month) -> Result<Traffic, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM instance_traffic WHERE instance = $1 AND month = $2");
    let row = tx.find(&sql, args![instance, month.number()])?;
    row.map_or(Ok(Traffic::default()), |mut row| read(&mut row))
}

/// The bytes that all instances of an account have received and sent in a month.
pub fn bytes_of_account(tx: &mut ReadTx, account: AccountId, month: Month) -> Result<i64, StoreError> {
    let sql = "SELECT CAST(COALESCE(sum(t.received_bytes + t.sent_bytes), 0) AS BIGINT)
        FROM instance i JOIN instance_traffic t ON t.instance = i.id
        WHERE i.account = $1 AND t.month = $2";
    tx.one(sql, args![account, month.number()])?.take()
}

/// Deletes the traffic of an instance that is being deleted.
pub fn delete_of_instance(tx: &mut WriteTx, instance: InstanceId) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM instance_traffic WHERE instance = $1",
        args![instance],
    )?;
    Ok(())
}

pub(super) fn read(row: &mut Row) -> Result<Traffic, StoreError> {
    Ok(Traffic {
        received_bytes: row.take()?,
        received_packets: row.take()?,
        sent_bytes: row.take()?,
        sent_packets: row.take()?,
        dropped_packets: row.take()?,
    })
}
