//! The search of staff for VPCs and instances of all accounts.

use crate::model::cidr::{Cidr, Cidr6, Network};
use crate::model::found_network::{AccountName, FoundInstance, FoundVpc};
use crate::model::subnet_name::VpcName;
use crate::store::error::StoreError;
use crate::store::filter::contains_pattern;
use crate::store::stored_family::{StoredFamily, read_network};
use crate::store::tx::ReadTx;
use crate::store::value::{Row, Value, args};

const ACCOUNT: &str = "a.id, CASE WHEN a.company = '' THEN a.email ELSE a.company END";
const VPCS: &str = "v.id, v.label, v.region FROM vpc v JOIN account a ON a.id = v.account";

/// The first VPCs whose label, or the label of one of their subnets, contains a text, or whose ID is the text.
pub fn vpcs_containing(tx: &mut ReadTx, text: &str, limit: i64) -> Result<Vec<FoundVpc>, StoreError> {
    let pattern = contains_pattern(&Value::from(text.to_owned()));
    let sql = format!(
        "SELECT {ACCOUNT}, {VPCS}
         WHERE lower(v.label) LIKE $1 ESCAPE '\\' OR CAST(v.id AS TEXT) = $2
            OR EXISTS (SELECT 1 FROM subnet s WHERE s.vpc = v.id AND lower(s.label) LIKE $1 ESCAPE '\\')
         ORDER BY lower(v.label), v.id LIMIT $3"
    );
    tx.read(&sql, args![pattern, text, limit], read_vpc)
}

/// The first VPCs that have addresses of a range.
pub fn vpcs_in_range<F: StoredFamily>(
    tx: &mut ReadTx,
    range: Network<F>,
    limit: i64,
) -> Result<Vec<FoundVpc>, StoreError> {
    let has_range = F::VPC_HAS.replace("{first}", "$1").replace("{last}", "$2");
    let sql = format!("SELECT {ACCOUNT}, {VPCS} WHERE {has_range} ORDER BY v.account, v.id LIMIT $3");
    let (first, last) = (F::to_value(range.first()), F::to_value(range.last()));
    tx.read(&sql, args![first, last, limit], read_vpc)
}

/// The first instances whose label contains a text, or whose ID is the text.
pub fn instances_containing(
    tx: &mut ReadTx,
    text: &str,
    limit: i64,
) -> Result<Vec<FoundInstance>, StoreError> {
    let pattern = contains_pattern(&Value::from(text.to_owned()));
    let sql = format!(
        "SELECT {ACCOUNT}, i.id, i.label FROM instance i JOIN account a ON a.id = i.account
         WHERE lower(i.label) LIKE $1 ESCAPE '\\' OR CAST(i.id AS TEXT) = $2
         ORDER BY lower(i.label), i.id LIMIT $3"
    );
    tx.read(&sql, args![pattern, text, limit], read_instance)
}

/// The first instances that have addresses of a range: their own addresses, addresses in VPCs and routed ranges.
pub fn ipv4_holders(
    tx: &mut ReadTx,
    range: Cidr,
    limit: i64,
) -> Result<Vec<(FoundInstance, Cidr)>, StoreError> {
    const HELD: &str =
        "SELECT d.instance AS instance, d.address AS first_address, d.address AS last_address
         FROM public_address d WHERE d.address BETWEEN $1 AND $2
         UNION
         SELECT f.instance, f.address, f.address FROM subnet s JOIN interface f ON f.subnet = s.id
         WHERE s.first_address <= $2 AND s.last_address >= $1 AND f.address BETWEEN $1 AND $2
         UNION
         SELECT r.instance, r.first_address, r.last_address FROM subnet s JOIN interface_range r ON r.subnet = s.id
         WHERE s.first_address <= $2 AND s.last_address >= $1 AND r.first_address <= $2 AND r.last_address >= $1";
    holders(tx, HELD, range, limit)
}

/// The first instances that have IPv6 networks of a range.
pub fn ipv6_holders(
    tx: &mut ReadTx,
    range: Cidr6,
    limit: i64,
) -> Result<Vec<(FoundInstance, Cidr6)>, StoreError> {
    const HELD: &str = "SELECT DISTINCT r.instance AS instance, r.first_address AS first_address,
            r.last_address AS last_address
         FROM ipv6_prefix p JOIN subnet s ON s.vpc = p.vpc JOIN interface_range6 r ON r.subnet = s.id
         WHERE p.first_address <= $2 AND p.last_address >= $1 AND r.first_address <= $2 AND r.last_address >= $1";
    holders(tx, HELD, range, limit)
}

fn holders<F: StoredFamily>(
    tx: &mut ReadTx,
    held: &str,
    range: Network<F>,
    limit: i64,
) -> Result<Vec<(FoundInstance, Network<F>)>, StoreError> {
    let sql = format!(
        "SELECT {ACCOUNT}, i.id, i.label, h.first_address, h.last_address
         FROM ({held}) h JOIN instance i ON i.id = h.instance JOIN account a ON a.id = i.account
         ORDER BY h.first_address, a.id, i.id LIMIT $3"
    );
    let (first, last) = (F::to_value(range.first()), F::to_value(range.last()));
    tx.read(&sql, args![first, last, limit], |row| {
        Ok((read_instance(row)?, read_network(row)?))
    })
}

fn read_account(row: &mut Row) -> Result<AccountName, StoreError> {
    Ok(AccountName {
        id: row.take()?,
        name: row.take()?,
    })
}

fn read_vpc(row: &mut Row) -> Result<FoundVpc, StoreError> {
    Ok(FoundVpc {
        account: read_account(row)?,
        vpc: VpcName {
            id: row.take()?,
            label: row.take()?,
            region: row.take()?,
        },
    })
}

fn read_instance(row: &mut Row) -> Result<FoundInstance, StoreError> {
    Ok(FoundInstance {
        account: read_account(row)?,
        id: row.take()?,
        label: row.take()?,
        address: None,
    })
}
