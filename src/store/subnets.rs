//! Subnets as rows.

use super::error::StoreError;
use super::filter::{Field, Kind};
use super::list::{Collection, Wanted};
use super::tx::{ReadTx, WriteTx};
use super::value::{Row, Value, args};
use crate::model::cidr::Cidr;
use crate::model::id::{SubnetId, VpcId};
use crate::model::label::Label;
use crate::model::page::Paged;
use crate::model::subnet::{NewSubnet, Subnet};

const COLUMNS: &str = "s.id, s.vpc, s.label, s.ipv4, s.created, s.updated";

pub static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "s.id"),
    Field::new("label", Kind::Text, "s.label"),
    Field::new("ipv4", Kind::Text, "s.ipv4"),
    Field::new("created", Kind::Time, "s.created"),
    Field::new("updated", Kind::Time, "s.updated"),
];

pub fn list(tx: &mut ReadTx, vpc: VpcId, wanted: &Wanted) -> Result<Paged<Subnet>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "subnet s",
        condition: "s.vpc = $1".to_owned(),
        args: args![vpc].to_vec(),
        id: "s.id",
        newest_first: false,
    };
    collection.page(tx, wanted, read)
}

/// All subnets of a VPC, by id.
pub fn of_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Vec<Subnet>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM subnet s WHERE s.vpc = $1 ORDER BY s.id");
    tx.all(&sql, args![vpc])?.iter_mut().map(read).collect()
}

/// The subnets of several VPCs, by id; `among` is the list of their ids in SQL.
pub(super) fn of_vpcs(tx: &mut ReadTx, among: &str, args: &[Value]) -> Result<Vec<Subnet>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM subnet s WHERE s.vpc IN {among} ORDER BY s.vpc, s.id");
    tx.all(&sql, args)?.iter_mut().map(read).collect()
}

pub fn find(tx: &mut ReadTx, vpc: VpcId, id: SubnetId) -> Result<Option<Subnet>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM subnet s WHERE s.id = $1 AND s.vpc = $2");
    let row = tx.find(&sql, args![id, vpc])?;
    row.map(|mut row| read(&mut row)).transpose()
}

pub fn has_label(
    tx: &mut ReadTx,
    vpc: VpcId,
    label: &Label,
    except: Option<SubnetId>,
) -> Result<bool, StoreError> {
    let row = tx.find(
        "SELECT 1 FROM subnet WHERE vpc = $1 AND lower(label) = lower($2) AND id IS DISTINCT FROM $3",
        args![vpc, label, except],
    )?;
    Ok(row.is_some())
}

/// The subnets of a VPC that share addresses with a range, in the order of their addresses.
pub fn overlapping(tx: &mut ReadTx, vpc: VpcId, range: Cidr) -> Result<Vec<Subnet>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM subnet s
         WHERE s.vpc = $1 AND s.first_address <= $3 AND s.last_address >= $2 ORDER BY s.first_address"
    );
    let rows = tx.all(&sql, args![vpc, range.first(), range.last()])?;
    rows.into_iter().map(|mut row| read(&mut row)).collect()
}

pub fn count(tx: &mut ReadTx, vpc: VpcId) -> Result<i64, StoreError> {
    tx.one("SELECT count(*) FROM subnet WHERE vpc = $1", args![vpc])?
        .take()
}

pub fn insert(tx: &mut WriteTx, vpc: VpcId, new: &NewSubnet) -> Result<SubnetId, StoreError> {
    let now = tx.now();
    tx.one(
        "INSERT INTO subnet (vpc, label, ipv4, first_address, last_address, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING id",
        args![
            vpc,
            &new.label,
            new.ipv4.to_string(),
            new.ipv4.first(),
            new.ipv4.last(),
            now
        ],
    )?
    .take()
}

pub fn update(tx: &mut WriteTx, subnet: &Subnet) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE subnet SET label = $2, updated = $3 WHERE id = $1",
        args![subnet.id, &subnet.label, subnet.updated],
    )?;
    Ok(())
}

pub fn delete(tx: &mut WriteTx, id: SubnetId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM subnet WHERE id = $1", args![id])?;
    Ok(())
}

fn read(row: &mut Row) -> Result<Subnet, StoreError> {
    Ok(Subnet {
        id: row.take()?,
        vpc: row.take()?,
        label: row.take()?,
        ipv4: read_range(row)?,
        created: row.take()?,
        updated: row.take()?,
    })
}

fn read_range(row: &mut Row) -> Result<Cidr, StoreError> {
    let text: String = row.take()?;
    Cidr::parse(&text).map_err(|_| StoreError::Unexpected(format!("a subnet's range is {text:?}")))
}
