//! The `subnet` table.

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::cidr::{Cidr, Cidr6, Network};
use crate::model::family::{Family, V4, V6};
use crate::model::id::{AccountId, SubnetId, VpcId};
use crate::model::label::Label;
use crate::model::page::Paged;
use crate::model::subnet::{NewSubnet, Subnet, SubnetUse};
use crate::store::error::StoreError;
use crate::store::filter::{Field, FilterShape, Kind};
use crate::store::list::{Collection, ListQuery, Tallied, id_lists};
use crate::store::model_rows::ModelRows;
use crate::store::stored_family::{Space, StoredFamily};
use crate::store::tallies::{self, Tally};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, Value, args};
use crate::store::{free_ranges, host_revisions, interfaces};

/// A macro, so that frequent queries are constants.
macro_rules! columns {
    () => {
        "s.id, s.vpc, s.label, s.first_address, s.last_address, s.ipv6, s.created, s.updated"
    };
}
const COLUMNS: &str = columns!();
const OF_VPC: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM subnet s WHERE s.vpc = $1 ORDER BY s.id"
);

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("subnet s", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "s.id"),
    Field::new("label", Kind::Text, "s.label"),
    Field::new("ipv4", Kind::Text, "s.ipv4"),
    Field::new("created", Kind::Time, "s.created"),
    Field::new("updated", Kind::Time, "s.updated"),
];

/// The fields of the list in the console, which is also sorted by range and by utilization.
pub static CONSOLE_FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "s.id"),
    Field::new("label", Kind::Text, "s.label"),
    Field::new("updated", Kind::Time, "s.updated"),
    Field::new("range", Kind::Integer, "s.first_address"),
    // The share of the assignable addresses that is in use. A subnet has four other addresses.
    Field::new(
        "usage",
        Kind::Integer,
        "(1.0 - 1.0 * (SELECT COALESCE(sum(f.last_address - f.first_address + 1), 0) FROM free_range f WHERE f.subnet = s.id)
            / (s.last_address - s.first_address - 3))",
    ),
];

pub fn list(tx: &mut ReadTx, vpc: VpcId, query: &ListQuery) -> Result<Paged<Subnet>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "subnet s",
        condition: "s.vpc = $1".to_owned(),
        args: args![vpc].to_vec(),
        key: &["s.id"],
        order: None,
        tallied: match query.filter.shape() {
            FilterShape::All => Some(Tallied::whole(tally_of(vpc))),
            _ => None,
        },
    };
    let mut subnets = collection.page(tx, query, read)?;
    add_uses(tx, &mut subnets.items)?;
    Ok(subnets)
}

/// All subnets of a VPC, ordered by ID. The VPC must be known to belong to the account of the caller.
pub fn of_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Vec<Subnet>, StoreError> {
    let mut subnets = tx.read(OF_VPC, args![vpc], read)?;
    add_to_subnets(&mut subnets, interfaces::in_vpc(tx, vpc)?);
    Ok(subnets)
}

/// All subnets of a VPC of the account, ordered by ID. Reads nothing of a VPC of another account, so that the duration
/// does not reveal whether that VPC exists.
pub fn of_vpc_in_account(tx: &mut ReadTx, account: AccountId, vpc: VpcId) -> Result<Vec<Subnet>, StoreError> {
    const CONDITION: &str = "= (SELECT v.id FROM vpc v WHERE v.id = $1 AND v.account = $2)";
    of_vpcs(tx, CONDITION, args![vpc, account])
}

/// The ranges of all subnets of a VPC, in the order of their addresses. Use this if the subnets are not needed: reading
/// them takes several times as long.
pub fn ranges_of_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Vec<Cidr>, StoreError> {
    let sql = "SELECT first_address, last_address FROM subnet WHERE vpc = $1 ORDER BY first_address";
    tx.read(sql, args![vpc], read_range)
}

/// These subnets, without their interfaces.
pub fn with_ids(tx: &mut ReadTx, ids: &[SubnetId]) -> Result<Vec<Subnet>, StoreError> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut subnets = Vec::new();
    for (list, args) in id_lists(&ids) {
        let sql = format!("SELECT {COLUMNS} FROM subnet s WHERE s.id IN {list}");
        subnets.extend(tx.read(&sql, &args, read)?);
    }
    Ok(subnets)
}

/// The subnets of several VPCs, ordered by VPC and ID. `condition` selects the IDs of the VPCs, for example
/// `IN ($1, $2)`.
pub(in crate::store) fn of_vpcs(
    tx: &mut ReadTx,
    condition: &str,
    args: &[Value],
) -> Result<Vec<Subnet>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM subnet s WHERE s.vpc {condition} ORDER BY s.vpc, s.id");
    let pending = tx.send(&sql, args, read);
    let uses = interfaces::in_vpcs(tx, condition, args)?;
    let mut subnets = tx.receive(pending)?;
    add_to_subnets(&mut subnets, uses);
    Ok(subnets)
}

pub fn find(tx: &mut ReadTx, vpc: VpcId, id: SubnetId) -> Result<Option<Subnet>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM subnet s WHERE s.id = $1 AND s.vpc = $2");
    Ok(read_with_uses(tx, &sql, args![id, vpc])?.into_iter().next())
}

/// A subnet of any VPC, without its interfaces. Use this if the interfaces are not needed: a subnet can have
/// many.
pub fn find_without_uses(tx: &mut ReadTx, id: SubnetId) -> Result<Option<Subnet>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM subnet s WHERE s.id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

/// Whether a subnet of the VPC has this label. Ignores the subnet `except`.
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

/// The subnets of a VPC that overlap a range, ordered by address, without their interfaces. Of the subnets that begin
/// before the range, only the last one can overlap the range, because subnets of a VPC do not overlap each other.
pub fn overlapping(tx: &mut ReadTx, vpc: VpcId, range: Cidr) -> Result<Vec<Subnet>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM subnet s
         WHERE s.vpc = $1 AND s.first_address <= $3 AND s.last_address >= $2 AND s.first_address >= coalesce(
             (SELECT max(first_address) FROM subnet WHERE vpc = $1 AND first_address <= $2), 0)
         ORDER BY s.first_address"
    );
    tx.read(&sql, args![vpc, range.first(), range.last()], read)
}

/// The subnets of a VPC whose IPv6 ranges overlap a range, ordered by address, without their interfaces.
pub fn all_overlapping6(tx: &mut ReadTx, vpc: VpcId, range: Cidr6) -> Result<Vec<Subnet>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM subnet s WHERE s.vpc = $1 AND s.ipv6 < $2 ORDER BY s.ipv6");
    let mut subnets = tx.read(&sql, args![vpc, end_of(range)], read)?;
    subnets.retain(|subnet| subnet.ipv6.is_some_and(|taken| taken.overlaps(range)));
    Ok(subnets)
}

/// A range begins before the end of `range` exactly if its stored form sorts before this one.
fn end_of(range: Cidr6) -> Cidr6 {
    Cidr6::around(range.last(), V6::BITS)
}

/// Whether an address is in a subnet of another VPC of the account.
pub fn is_in_other_vpc(
    tx: &mut ReadTx,
    account: AccountId,
    vpc: VpcId,
    address: u32,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM vpc v JOIN subnet s ON s.vpc = v.id
        WHERE v.account = $1 AND v.id <> $2 AND s.first_address <= $3 AND s.last_address >= $3 LIMIT 1";
    Ok(tx.find(sql, args![account, vpc, i64::from(address)])?.is_some())
}

/// The subnet of a VPC whose IPv6 range overlaps a range, if there is one. Subnets do not overlap each
/// other, so the query checks only the last of the subnets that begin before the end of the range.
pub fn overlapping6(tx: &mut ReadTx, vpc: VpcId, range: Cidr6) -> Result<Option<(Cidr6, Label)>, StoreError> {
    let sql = "SELECT ipv6, label FROM subnet WHERE vpc = $1 AND ipv6 < $2 ORDER BY ipv6 DESC LIMIT 1";
    let found: Vec<(Cidr6, Label)> = tx.read(sql, args![vpc, end_of(range)], |row| {
        Ok((row.take()?, row.take()?))
    })?;
    Ok(found.into_iter().find(|(taken, _)| taken.overlaps(range)))
}

pub fn count(tx: &mut ReadTx, vpc: VpcId) -> Result<i64, StoreError> {
    tallies::count(tx, &tally_of(vpc))
}

/// Inserts a subnet. `ipv6` is its IPv6 range.
pub fn insert(
    tx: &mut WriteTx,
    account: AccountId,
    vpc: VpcId,
    new: &NewSubnet,
    ipv6: Option<Cidr6>,
) -> Result<Subnet, StoreError> {
    let now = tx.now();
    let (first, last) = (new.ipv4.first(), new.ipv4.last());
    let id: SubnetId = tx
        .one(
            "INSERT INTO subnet (vpc, label, ipv4, first_address, last_address, ipv6, created, updated)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7) RETURNING id",
            args![vpc, &new.label, new.ipv4.to_string(), first, last, ipv6, now],
        )?
        .take()?;
    insert_free(tx, id, new.ipv4)?;
    if let Some(range) = ipv6 {
        free_ranges::take(tx, &Space::vpc(vpc), (range.first(), range.last()))?;
        insert_free(tx, id, range)?;
    }
    tx.tally(tally_of(vpc), id.0, 1);
    tx.changed(account, ChangeKind::Subnet, id.0)?;
    Ok(Subnet {
        id,
        vpc,
        label: new.label.clone(),
        ipv4: new.ipv4,
        ipv6,
        uses: Vec::new(),
        created: now,
        updated: now,
    })
}

pub fn update(tx: &mut WriteTx, account: AccountId, subnet: &Subnet) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE subnet SET label = $2, updated = $3 WHERE id = $1",
        args![subnet.id, &subnet.label, subnet.updated],
    )?;
    tx.changed(account, ChangeKind::Subnet, subnet.id.0)
}

/// Deletes a subnet, which must not be in use.
pub fn delete(tx: &mut WriteTx, account: AccountId, subnet: &Subnet) -> Result<(), StoreError> {
    let (id, vpc) = (subnet.id, subnet.vpc);
    free_ranges::delete_all(tx, &V4::subnet_space(id))?;
    if let Some(range) = subnet.ipv6 {
        free_ranges::delete_all(tx, &V6::subnet_space(id))?;
        free_ranges::release(tx, &Space::vpc(vpc), (range.first(), range.last()))?;
    }
    host_revisions::delete_tunnel(tx, id)?;
    tx.execute("DELETE FROM subnet WHERE id = $1", args![id])?;
    host_revisions::vpc_changed(tx, vpc)?;
    tx.tally(tally_of(vpc), id.0, -1);
    tx.changed(account, ChangeKind::Subnet, id.0)
}

/// Makes the assignable addresses of a new subnet free.
fn insert_free<F: StoredFamily>(
    tx: &mut WriteTx,
    subnet: SubnetId,
    range: Network<F>,
) -> Result<(), StoreError> {
    let all = range.assignable();
    free_ranges::insert_all(tx, &F::subnet_space(subnet), (*all.start(), *all.end()))
}

/// The highest number of subnets in a VPC of the account.
pub fn max_per_vpc(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    let sql = "SELECT COALESCE(MAX(subnets), 0) FROM (
                   SELECT COUNT(*) AS subnets FROM subnet s JOIN vpc v ON v.id = s.vpc
                   WHERE v.account = $1 GROUP BY s.vpc
               ) AS counted";
    tx.one(sql, args![account])?.take()
}

/// The tally of a VPC's subnets.
///
/// Nearly every new VPC inserts a row into this tally. In PostgreSQL, an insert can conflict with
/// SERIALIZABLE transactions that have read a neighboring row. Therefore the name of the collection sorts
/// after all other names: the rows of this tally are not next to the rows of other tallies.
fn tally_of(vpc: VpcId) -> Tally {
    Tally::of("vpc_subnet", vpc.0)
}

/// Reads subnets and their interfaces.
fn read_with_uses(tx: &mut ReadTx, sql: &str, args: &[Value]) -> Result<Vec<Subnet>, StoreError> {
    let mut subnets = tx.read(sql, args, read)?;
    add_uses(tx, &mut subnets)?;
    Ok(subnets)
}

pub fn add_uses(tx: &mut ReadTx, subnets: &mut [Subnet]) -> Result<(), StoreError> {
    let ids: Vec<SubnetId> = subnets.iter().map(|subnet| subnet.id).collect();
    let uses = interfaces::on_subnets(tx, &ids)?;
    add_to_subnets(subnets, uses);
    Ok(())
}

/// Adds the interfaces to their subnets.
fn add_to_subnets(subnets: &mut [Subnet], uses: Vec<SubnetUse>) {
    if uses.is_empty() {
        return;
    }
    let mut by_id: HashMap<SubnetId, &mut Subnet> =
        subnets.iter_mut().map(|subnet| (subnet.id, subnet)).collect();
    for subnet_use in uses {
        if let Some(subnet) = by_id.get_mut(&subnet_use.subnet) {
            subnet.uses.push(subnet_use);
        }
    }
}

fn read(row: &mut Row) -> Result<Subnet, StoreError> {
    Ok(Subnet {
        id: row.take()?,
        vpc: row.take()?,
        label: row.take()?,
        ipv4: read_range(row)?,
        ipv6: row.take()?,
        uses: Vec::new(),
        created: row.take()?,
        updated: row.take()?,
    })
}

/// Reads the range of a subnet from its first and last address, which is faster than parsing the column `ipv4`.
fn read_range(row: &mut Row) -> Result<Cidr, StoreError> {
    let (first, last) = (row.take()?, row.take()?);
    let unexpected = || StoreError::Unexpected(format!("{first} to {last} is not the range of a subnet"));
    Cidr::spanning(first, last).ok_or_else(unexpected)
}
