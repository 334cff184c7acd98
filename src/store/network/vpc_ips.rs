//! The list of addresses and ranges that VPC interfaces use.

use crate::model::id::{AccountId, InstanceId, VpcId};
use crate::model::page::Paged;
use crate::model::vpc_ip::{VpcIp, VpcIpv6};
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery, Visibility};
use crate::store::stored_family::read_network;
use crate::store::tx::ReadTx;
use crate::store::value::{Row, args};

const FROM: &str = "(
        SELECT f.address AS address, NULL AS address_range, f.subnet AS subnet, f.instance AS instance,
            f.config AS config, f.id AS interface, f.active AS active, f.nat_1_1 AS nat_1_1, 0 AS place
        FROM interface f WHERE f.subnet IS NOT NULL
        UNION ALL
        SELECT NULL, r.ipv4, f.subnet, f.instance, f.config, f.id, f.active, f.nat_1_1, r.place + 1
        FROM interface_range r JOIN interface f ON f.id = r.interface
    ) p JOIN subnet s ON s.id = p.subnet JOIN vpc v ON v.id = s.vpc";
const COLUMNS: &str = "p.address, p.address_range, v.id, s.id, v.region, p.instance, p.config, p.interface,
    p.active, p.nat_1_1, s.ipv4";

const FROM6: &str = "(
        SELECT r.first_address AS first_address, r.last_address AS last_address, r.place AS place,
            r.subnet AS subnet, r.instance AS instance, f.config AS config, f.id AS interface,
            f.active AS active, f.ipv6_is_public AS is_public
        FROM interface_range6 r JOIN interface f ON f.id = r.interface
    ) p JOIN subnet s ON s.id = p.subnet JOIN vpc v ON v.id = s.vpc";
const COLUMNS6: &str =
    "p.first_address, p.last_address, CASE WHEN p.place = 0 THEN 1 ELSE 0 END, p.is_public,
    v.id, s.id, v.region, p.instance, p.config, p.interface, p.active";

pub static FIELDS: [Field; 9] = [
    Field::new("active", Kind::Boolean, "p.active"),
    Field::new("address", Kind::Address, "p.address"),
    Field::new("config_id", Kind::Integer, "p.config"),
    Field::new("interface_id", Kind::Integer, "p.interface"),
    Field::new("linode_id", Kind::Integer, "p.instance"),
    Field::new("compute_id", Kind::Integer, "p.instance"),
    Field::new("region", Kind::Text, "v.region"),
    Field::new("vpc_id", Kind::Integer, "v.id"),
    Field::new("subnet_id", Kind::Integer, "s.id"),
];

/// The fields of the IPv6 list: those of the IPv4 list, and two more. Its records have no `address`.
pub static FIELDS6: [Field; 11] = [
    Field::new("active", Kind::Boolean, "p.active"),
    Field::new("address", Kind::Address, "CAST(NULL AS BIGINT)"),
    Field::new("config_id", Kind::Integer, "p.config"),
    Field::new("interface_id", Kind::Integer, "p.interface"),
    Field::new("linode_id", Kind::Integer, "p.instance"),
    Field::new("compute_id", Kind::Integer, "p.instance"),
    Field::new("region", Kind::Text, "v.region"),
    Field::new("vpc_id", Kind::Integer, "v.id"),
    Field::new("subnet_id", Kind::Integer, "s.id"),
    Field::new("ipv6_range", Kind::SlaacNetwork, "p.first_address"),
    Field::new("ipv6_is_public", Kind::Boolean, "p.is_public"),
];

/// The IPv4 addresses and ranges of an account, of one of its VPCs or of one of its instances.
pub fn list(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    scope: Scope,
    query: &ListQuery,
) -> Result<Paged<VpcIp>, StoreError> {
    collection((COLUMNS, FROM), account, visibility, scope).page(tx, query, read)
}

/// The IPv6 networks of an account, of one of its VPCs or of one of its instances.
pub fn list6(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    scope: Scope,
    query: &ListQuery,
) -> Result<Paged<VpcIpv6>, StoreError> {
    collection((COLUMNS6, FROM6), account, visibility, scope).page(tx, query, read6)
}

fn collection(
    (columns, from): (&'static str, &'static str),
    account: AccountId,
    visibility: Visibility,
    scope: Scope,
) -> Collection<'static> {
    let mut collection = Collection {
        columns,
        from,
        condition: "v.account = $1".to_owned(),
        args: args![account].to_vec(),
        key: &["v.id", "s.id", "p.instance", "p.config", "p.interface", "p.place"],
        order: None,
        tallied: None,
    };
    match scope {
        Scope::All => {}
        Scope::Vpc(vpc) => {
            collection.args.push(vpc.into());
            collection.condition += &format!(" AND v.id = ${}", collection.args.len());
        }
        Scope::Instance(instance) => {
            collection.args.push(instance.into());
            collection.condition += &format!(" AND p.instance = ${}", collection.args.len());
        }
    }
    if let Visibility::GrantedTo(user) = visibility {
        collection.args.push(user.into());
        collection.condition += &format!(
            " AND EXISTS (SELECT 1 FROM entity_grant g
                WHERE g.app_user = ${} AND g.kind = 'vpc' AND g.entity = v.id)",
            collection.args.len()
        );
    }
    collection
}

/// The part of the account whose addresses and ranges are listed.
#[derive(Clone, Copy, Debug)]
pub enum Scope {
    All,
    Vpc(VpcId),
    Instance(InstanceId),
}

fn read(row: &mut Row) -> Result<VpcIp, StoreError> {
    Ok(VpcIp {
        address: row.take()?,
        range: row.take()?,
        vpc: row.take()?,
        subnet: row.take()?,
        region: row.take()?,
        instance: row.take()?,
        config: row.take()?,
        interface: row.take()?,
        active: row.take()?,
        nat_1_1: row.take()?,
        subnet_range: row.take()?,
    })
}

fn read6(row: &mut Row) -> Result<VpcIpv6, StoreError> {
    Ok(VpcIpv6 {
        range: read_network(row)?,
        is_slaac: row.take()?,
        is_public: row.take()?,
        vpc: row.take()?,
        subnet: row.take()?,
        region: row.take()?,
        instance: row.take()?,
        config: row.take()?,
        interface: row.take()?,
        active: row.take()?,
    })
}
