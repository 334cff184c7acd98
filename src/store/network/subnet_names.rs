//! The names of VPCs and subnets, without their interfaces: a VPC can have many.

use crate::model::cidr::{Cidr, Network};
use crate::model::id::{AccountId, SubnetId, VpcId};
use crate::model::subnet_name::{SubnetName, VpcName};
use crate::store::error::StoreError;
use crate::store::filter::contains_pattern;
use crate::store::list::{Visibility, id_lists};
use crate::store::stored_family::StoredFamily;
use crate::store::tx::ReadTx;
use crate::store::value::{Row, Value, args};

const COLUMNS: &str = "s.id, s.vpc, v.label, s.label, s.first_address, s.last_address, s.ipv6, v.region
    FROM subnet s JOIN vpc v ON v.id = s.vpc";

/// The first VPCs of the account by label, in one region or in all regions.
pub fn vpcs(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    region: Option<&str>,
    limit: i64,
) -> Result<Vec<VpcName>, StoreError> {
    let mut args = args![account].to_vec();
    let mut condition = visible(visibility, &mut args);
    if let Some(region) = region {
        args.push(region.to_owned().into());
        condition += &format!(" AND v.region = ${}", args.len());
    }
    args.push(limit.into());
    let sql = format!(
        "SELECT v.id, v.label, v.region FROM vpc v WHERE v.account = $1{condition}
         ORDER BY lower(v.label), v.id LIMIT ${}",
        args.len()
    );
    tx.read(&sql, &args, read_vpc)
}

fn read_vpc(row: &mut Row) -> Result<VpcName, StoreError> {
    Ok(VpcName {
        id: row.take()?,
        label: row.take()?,
        region: row.take()?,
    })
}

/// The first VPCs of the account whose label contains a text, or whose ID is the text.
pub fn vpcs_containing(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    text: &str,
    limit: i64,
) -> Result<Vec<VpcName>, StoreError> {
    let mut args = search_args(account, text, limit);
    let condition = visible(visibility, &mut args);
    let sql = format!(
        "SELECT v.id, v.label, v.region FROM vpc v
         WHERE v.account = $1 AND (lower(v.label) LIKE $2 ESCAPE '\\' OR CAST(v.id AS TEXT) = $3){condition}
         ORDER BY lower(v.label), v.id LIMIT $4"
    );
    tx.read(&sql, &args, read_vpc)
}

/// The first subnets of the account whose label contains a text, or whose ID is the text.
pub fn containing(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    text: &str,
    limit: i64,
) -> Result<Vec<SubnetName>, StoreError> {
    let mut args = search_args(account, text, limit);
    let condition = visible(visibility, &mut args);
    let sql = format!(
        "SELECT {COLUMNS}
         WHERE v.account = $1 AND (lower(s.label) LIKE $2 ESCAPE '\\' OR CAST(s.id AS TEXT) = $3){condition}
         ORDER BY lower(s.label), s.id LIMIT $4"
    );
    tx.read(&sql, &args, read)
}

/// The account, the pattern, the text and the limit.
fn search_args(account: AccountId, text: &str, limit: i64) -> Vec<Value<'static>> {
    let text = Value::from(text.to_owned());
    let pattern = Value::from(contains_pattern(&text));
    vec![account.into(), pattern, text, limit.into()]
}

/// The first VPCs of the account that have addresses of a range.
pub fn vpcs_in_range<F: StoredFamily>(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    range: Network<F>,
    limit: i64,
) -> Result<Vec<VpcName>, StoreError> {
    let (first, last) = (F::to_value(range.first()), F::to_value(range.last()));
    let mut args = vec![account.into(), first, last, limit.into()];
    let condition = visible(visibility, &mut args);
    let has_range = F::VPC_HAS.replace("{first}", "$2").replace("{last}", "$3");
    let sql = format!(
        "SELECT v.id, v.label, v.region FROM vpc v WHERE v.account = $1 AND {has_range}{condition}
         ORDER BY v.id LIMIT $4"
    );
    tx.read(&sql, &args, read_vpc)
}

/// The subnets of a VPC of the account, by label.
pub fn of_vpc(tx: &mut ReadTx, account: AccountId, vpc: VpcId) -> Result<Vec<SubnetName>, StoreError> {
    let sql = format!("SELECT {COLUMNS} WHERE s.vpc = $1 AND v.account = $2 ORDER BY lower(s.label), s.id");
    tx.read(&sql, args![vpc, account], read)
}

/// The subnets with these IDs, if they belong to visible VPCs of the account.
pub fn with_ids(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    ids: &[SubnetId],
) -> Result<Vec<SubnetName>, StoreError> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut found = Vec::new();
    for (list, mut args) in id_lists(&ids) {
        args.push(account.into());
        let own = format!("v.account = ${}", args.len());
        let condition = visible(visibility, &mut args);
        let sql = format!("SELECT {COLUMNS} WHERE s.id IN {list} AND {own}{condition}");
        found.extend(tx.read(&sql, &args, read)?);
    }
    Ok(found)
}

fn visible(visibility: Visibility, args: &mut Vec<Value>) -> String {
    let Visibility::GrantedTo(user) = visibility else {
        return String::new();
    };
    args.push(user.into());
    format!(
        " AND v.id IN (SELECT g.entity FROM entity_grant g WHERE g.app_user = ${} AND g.kind = 'vpc')",
        args.len()
    )
}

fn read(row: &mut Row) -> Result<SubnetName, StoreError> {
    let (id, vpc, vpc_label, label) = (row.take()?, row.take()?, row.take()?, row.take()?);
    let (first, last) = (row.take()?, row.take()?);
    let unexpected = || StoreError::Unexpected(format!("{first} to {last} is not the range of a subnet"));
    Ok(SubnetName {
        id,
        vpc,
        vpc_label,
        label,
        ipv4: Cidr::spanning(first, last).ok_or_else(unexpected)?,
        ipv6: row.take()?,
        region: row.take()?,
    })
}
