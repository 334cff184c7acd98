//! The `public_address` table: the public and private addresses of instances, except addresses in VPCs.

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::id::{AccountId, InstanceId};
use crate::model::ip::{Hostname, Ip, IpKind, NatTarget};
use crate::model::page::Paged;
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery, Visibility, id_list};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "a.address, a.is_private, a.rdns, i.id, i.label, i.region";
const FROM: &str = "instance i JOIN public_address a ON a.instance = i.id";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new(
    "public_address a JOIN instance i ON i.id = a.instance",
    COLUMNS,
    |row| read(row).map(drop),
);

pub static FIELDS: [Field; 8] = [
    Field::new("address", Kind::Address, "a.address"),
    Field::new("linode_id", Kind::Integer, "i.id"),
    Field::new("compute_id", Kind::Integer, "i.id"),
    Field::new("region", Kind::Text, "i.region"),
    Field::new("public", Kind::Boolean, "1 - a.is_private"),
    Field::new("rdns", Kind::Text, "a.rdns"),
    // These values are the same for all rows. Without the cast, `ORDER BY 0` would refer to a column number.
    Field::new("reserved", Kind::Boolean, "CAST(0 AS BIGINT)"),
    Field::new("type", Kind::Text, "CAST('ipv4' AS TEXT)"),
];

/// The addresses of an account, ordered by instance.
pub fn list(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    query: &ListQuery,
) -> Result<Paged<Ip>, StoreError> {
    let mut ips = visible_to(account, visibility).page(tx, query, read)?;
    add_translations(tx, &mut ips.items)?;
    Ok(ips)
}

/// The addresses of an instance.
pub fn of_instance(tx: &mut ReadTx, instance: InstanceId) -> Result<Vec<Ip>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE i.id = $1 ORDER BY a.address");
    let mut ips = tx.read(&sql, args![instance], read)?;
    add_translations(tx, &mut ips)?;
    Ok(ips)
}

pub fn find(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    address: u32,
) -> Result<Option<Ip>, StoreError> {
    let Collection {
        condition, mut args, ..
    } = visible_to(account, visibility);
    args.push(address.into());
    let sql = format!(
        "SELECT {COLUMNS} FROM {FROM} WHERE {condition} AND a.address = ${}",
        args.len()
    );
    let mut ips = tx.read(&sql, &args, read)?;
    add_translations(tx, &mut ips)?;
    Ok(ips.pop())
}

fn visible_to(account: AccountId, visibility: Visibility) -> Collection<'static> {
    let mut collection = Collection {
        columns: COLUMNS,
        from: FROM,
        condition: "i.account = $1".to_owned(),
        args: args![account].to_vec(),
        key: &["i.id", "a.address"],
        order: None,
        tallied: None,
    };
    if let Visibility::GrantedTo(user) = visibility {
        collection.condition += " AND i.id IN (SELECT g.entity FROM entity_grant g
            WHERE g.app_user = $2 AND g.kind = 'linode')";
        collection.args.push(user.into());
    }
    collection
}

/// A free address in a range. If the last address of the range is free, this is the address after the highest
/// address in use. Otherwise it is the lowest free address.
pub fn find_free(tx: &mut ReadTx, first: u32, last: u32) -> Result<Option<u32>, StoreError> {
    let highest = "SELECT max(address) FROM public_address WHERE address BETWEEN $1 AND $2";
    let highest: Option<u32> = tx.one(highest, args![first, last])?.take()?;
    match highest {
        None => return Ok(Some(first)),
        Some(highest) if highest < last => return Ok(Some(highest + 1)),
        Some(_) => {}
    }
    if !is_in_use(tx, first)? {
        return Ok(Some(first));
    }
    let row = tx.find(
        "SELECT a.address + 1 FROM public_address a
         WHERE a.address >= $1 AND a.address < $2
           AND NOT EXISTS (SELECT 1 FROM public_address b WHERE b.address = a.address + 1)
         ORDER BY a.address LIMIT 1",
        args![first, last],
    )?;
    row.map(|mut row| row.take()).transpose()
}

/// Whether an instance has this address.
pub fn is_in_use(tx: &mut ReadTx, address: u32) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM public_address WHERE address = $1";
    Ok(tx.find(sql, args![address])?.is_some())
}

/// Assigns the first public address of an instance.
pub fn take_first(tx: &mut WriteTx, instance: InstanceId, address: u32) -> Result<(), StoreError> {
    insert(tx, instance, address, (IpKind::Public, None))
}

/// Assigns another public address, which counts against the account's limit.
pub fn take_additional(
    tx: &mut WriteTx,
    account: AccountId,
    instance: InstanceId,
    address: u32,
) -> Result<(), StoreError> {
    insert(tx, instance, address, (IpKind::Public, Some(account)))
}

/// Assigns an address in the private network.
pub fn take_private(tx: &mut WriteTx, instance: InstanceId, address: u32) -> Result<(), StoreError> {
    insert(tx, instance, address, (IpKind::Private, None))
}

fn insert(
    tx: &mut WriteTx,
    instance: InstanceId,
    address: u32,
    (kind, additional_of): (IpKind, Option<AccountId>),
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO public_address (address, instance, is_private, additional_of) VALUES ($1, $2, $3, $4)",
        args![address, instance, kind == IpKind::Private, additional_of],
    )?;
    report_change(tx, instance)
}

/// The number of an account's additional public addresses. The first public address of each instance does not count.
pub fn count_additional(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM public_address WHERE additional_of = $1";
    tx.one(sql, args![account])?.take()
}

/// Releases an address. If it was the first public address of its instance, another public
/// address becomes the first.
pub fn release(tx: &mut WriteTx, ip: &Ip) -> Result<(), StoreError> {
    tx.execute("DELETE FROM public_address WHERE address = $1", args![ip.address])?;
    tx.execute(
        "UPDATE public_address SET additional_of = NULL
         WHERE address = (SELECT min(address) FROM public_address WHERE instance = $1 AND is_private = 0)
           AND NOT EXISTS (SELECT 1 FROM public_address
               WHERE instance = $1 AND is_private = 0 AND additional_of IS NULL)",
        args![ip.instance],
    )?;
    report_change(tx, ip.instance)
}

pub fn set_rdns(tx: &mut WriteTx, ip: &Ip) -> Result<(), StoreError> {
    let sql = "UPDATE public_address SET rdns = $2 WHERE address = $1";
    tx.execute(sql, args![ip.address, ip.rdns.as_ref().map(Hostname::as_str)])?;
    report_change(tx, ip.instance)
}

fn report_change(tx: &mut WriteTx, instance: InstanceId) -> Result<(), StoreError> {
    tx.changed(Owner::Instance(instance), ChangeKind::Instance, instance.0)
}

/// Whether a config of the instance translates the address to an address in a VPC.
pub fn is_translated(tx: &mut ReadTx, ip: &Ip) -> Result<bool, StoreError> {
    let row = tx.find(
        "SELECT 1 FROM config c JOIN interface f ON f.config = c.id WHERE c.instance = $1 AND f.nat_1_1 = $2",
        args![ip.instance, ip.address],
    )?;
    Ok(row.is_some())
}

/// Sets the VPC address to which each public address is translated.
fn add_translations(tx: &mut ReadTx, ips: &mut [Ip]) -> Result<(), StoreError> {
    if ips.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = ips.iter().map(|ip| ip.instance.0).collect();
    let (list, args) = id_list(&ids);
    let sql = format!(
        "SELECT f.nat_1_1, f.vpc, f.subnet, f.address FROM config c JOIN interface f ON f.config = c.id
         WHERE c.instance IN {list} AND f.nat_1_1 IS NOT NULL ORDER BY f.id"
    );
    let mut translated: HashMap<u32, NatTarget> = HashMap::new();
    for mut row in tx.all(&sql, &args)? {
        let public = row.take()?;
        let target = NatTarget {
            vpc: row.take()?,
            subnet: row.take()?,
            address: row.take()?,
        };
        translated.entry(public).or_insert(target);
    }
    for ip in ips {
        ip.translated = translated.get(&ip.address).cloned();
    }
    Ok(())
}

fn read(row: &mut Row) -> Result<Ip, StoreError> {
    Ok(Ip {
        address: row.take()?,
        kind: row.take()?,
        rdns: row.take()?,
        instance: row.take()?,
        instance_label: row.take()?,
        region: row.take()?,
        translated: None,
    })
}

impl FromValue for IpKind {
    fn from_value(value: Value) -> Option<Self> {
        bool::from_value(value).map(|private| match private {
            true => IpKind::Private,
            false => IpKind::Public,
        })
    }
}
