//! The `vpc` table.

use crate::model::account::QuotaOverride;
use crate::model::change::ChangeKind;
use crate::model::cidr::{Cidr6, Network};
use crate::model::id::{AccountId, VpcId};
use crate::model::label::Label;
use crate::model::page::Paged;
use crate::model::region::RegionId;
use crate::model::vpc::{NewVpc, Vpc};
use crate::store::error::StoreError;
use crate::store::filter::{Field, FilterShape, Kind};
use crate::store::list::{Collection, ListQuery, Tallied, Visibility, covering_condition};
use crate::store::model_rows::ModelRows;
use crate::store::stored_family::{Space, StoredFamily};
use crate::store::tallies::{self, Tally};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, Value, args};
use crate::store::{free_ranges, subnets};

const COLUMNS: &str = "v.id, v.label, v.description, v.region, v.ipv6, v.created, v.updated";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("vpc v", COLUMNS, |row| read(row).map(drop));
const FIND: &str = "SELECT v.id, v.label, v.description, v.region, v.ipv6, v.created, v.updated
    FROM vpc v WHERE v.id = $1 AND v.account = $2";
const SUBNETS_OF_VPC: &str = "SELECT 1 FROM subnet s WHERE s.vpc = v.id";

pub static FIELDS: [Field; 10] = [
    Field::new("id", Kind::Integer, "v.id"),
    Field::new("label", Kind::Text, "v.label"),
    Field::new("region", Kind::Text, "v.region"),
    Field::new("created", Kind::Time, "v.created"),
    Field::new("updated", Kind::Time, "v.updated"),
    Field::new("vpc_type", Kind::Text, "CAST('regular' AS TEXT)"),
    Field::new("subnets.id", Kind::Integer, "s.id").subquery(SUBNETS_OF_VPC),
    Field::new("subnets.label", Kind::Text, "s.label").subquery(SUBNETS_OF_VPC),
    Field::new("subnets.created", Kind::Time, "s.created").subquery(SUBNETS_OF_VPC),
    Field::new("subnets.updated", Kind::Time, "s.updated").subquery(SUBNETS_OF_VPC),
];

pub fn list(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    query: &ListQuery,
) -> Result<Paged<Vpc>, StoreError> {
    page(tx, visible_to(account, visibility, query), query)
}

/// A page of the VPCs that have addresses of a range.
pub fn list_in_range<F: StoredFamily>(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    range: Network<F>,
    query: &ListQuery,
) -> Result<Paged<Vpc>, StoreError> {
    let mut collection = visible_to(account, visibility, query);
    let mut parameter = |address| {
        collection.args.push(F::to_value(address));
        format!("${}", collection.args.len())
    };
    let (first, last) = (parameter(range.first()), parameter(range.last()));
    let condition = F::VPC_HAS.replace("{first}", &first).replace("{last}", &last);
    collection.condition += &format!(" AND {condition}");
    collection.tallied = None;
    page(tx, collection, query)
}

fn page(tx: &mut ReadTx, collection: Collection, query: &ListQuery) -> Result<Paged<Vpc>, StoreError> {
    let mut vpcs = collection.page(tx, query, read)?;
    add_subnets(tx, &mut vpcs.items)?;
    Ok(vpcs)
}

fn visible_to(account: AccountId, visibility: Visibility, query: &ListQuery) -> Collection<'static> {
    let mut collection = Collection {
        columns: COLUMNS,
        from: "vpc v",
        condition: "v.account = $1".to_owned(),
        args: args![account].to_vec(),
        key: &["v.id"],
        order: None,
        tallied: tally_of(account, query).map(Tallied::whole),
    };
    if let Visibility::GrantedTo(user) = visibility {
        collection.condition += " AND v.id IN (SELECT g.entity FROM entity_grant g
            WHERE g.app_user = $2 AND g.kind = 'vpc')";
        collection.args.push(user.into());
        collection.tallied = None;
    }
    collection
}

pub fn find(tx: &mut ReadTx, account: AccountId, id: VpcId) -> Result<Option<Vpc>, StoreError> {
    let pending = tx.send(FIND, args![id, account], read);
    let subnets = match pending.known_rows() {
        Some(0) => Vec::new(),
        Some(_) => subnets::of_vpc(tx, id)?,
        None => subnets::of_vpc_in_account(tx, account, id)?,
    };
    let vpc = tx.receive(pending)?.pop();
    Ok(vpc.map(|vpc| Vpc { subnets, ..vpc }))
}

/// A VPC without its subnets. Use this if the subnets are not needed: a VPC can have many.
pub fn find_without_subnets(
    tx: &mut ReadTx,
    account: AccountId,
    id: VpcId,
) -> Result<Option<Vpc>, StoreError> {
    tx.find(FIND, args![id, account])?.as_mut().map(read).transpose()
}

/// Whether a VPC of the account has this label. Ignores the VPC `except`.
pub fn has_label(
    tx: &mut ReadTx,
    account: AccountId,
    label: &Label,
    except: Option<VpcId>,
) -> Result<bool, StoreError> {
    let row = tx.find(
        "SELECT 1 FROM vpc WHERE account = $1 AND lower(label) = lower($2) AND id IS DISTINCT FROM $3",
        args![account, label, except],
    )?;
    Ok(row.is_some())
}

/// The facts that decide whether an account can create a VPC. One query reads all of them.
pub struct CreationLimits {
    pub quota: QuotaOverride,
    /// Whether the account has a VPC with the label.
    pub label_is_taken: bool,
    /// The number of VPCs of the account in the region.
    pub in_region: i64,
}

pub fn creation_limits(
    tx: &mut ReadTx,
    account: AccountId,
    label: Option<&Label>,
    region: Option<&RegionId>,
) -> Result<CreationLimits, StoreError> {
    let tally = region.map(|region| region_tally(account, &region.0));
    let sql = concat!(
        "SELECT a.vpcs_per_region, a.subnets_per_vpc, a.attachment_bytes,
            CASE WHEN EXISTS (SELECT 1 FROM vpc v WHERE v.account = a.id AND lower(v.label) = lower($2))
                THEN 1 ELSE 0 END,
            (",
        tallies::count_sql!("$3", "a.id", "$4"),
        ") FROM account a WHERE a.id = $1"
    );
    let collection = tally.as_ref().map(Tally::collection);
    let mut row = tx.one(sql, args![account, label, collection, tallies::LARGE_SPAN])?;
    Ok(CreationLimits {
        quota: QuotaOverride {
            vpcs_per_region: row.take()?,
            subnets_per_vpc: row.take()?,
            attachment_bytes: row.take()?,
        },
        label_is_taken: row.take()?,
        in_region: row.take::<i64>()? + tally.map_or(0, |tally| tx.pending_delta(&tally)),
    })
}

/// The number of an account's VPCs in each region. The result omits regions without VPCs.
pub fn counts(tx: &mut ReadTx, account: AccountId) -> Result<Vec<(String, i64)>, StoreError> {
    tallies::counts(tx, "vpc", account.0)
}

/// Inserts a VPC without subnets. `ipv6` is its IPv6 range.
pub fn insert(
    tx: &mut WriteTx,
    account: AccountId,
    new: &NewVpc,
    ipv6: Option<Cidr6>,
) -> Result<Vpc, StoreError> {
    let now = tx.now();
    let id: VpcId = tx
        .one(
            "INSERT INTO vpc (account, label, description, region, ipv6, created, updated)
             VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING id",
            args![account, &new.label, &new.description, &new.region, ipv6, now],
        )?
        .take()?;
    tally(tx, account, &new.region, id, 1);
    tx.changed(account, ChangeKind::Vpc, id.0)?;
    if let Some(range) = ipv6 {
        free_ranges::insert_all(tx, &Space::vpc(id), (range.first(), range.last()))?;
    }
    Ok(Vpc {
        id,
        label: new.label.clone(),
        description: new.description.clone(),
        region: new.region.clone(),
        ipv6,
        subnets: Vec::new(),
        created: now,
        updated: now,
    })
}

pub fn update(tx: &mut WriteTx, account: AccountId, vpc: &Vpc) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE vpc SET label = $2, description = $3, updated = $4 WHERE id = $1",
        args![vpc.id, &vpc.label, &vpc.description, vpc.updated],
    )?;
    tx.changed(account, ChangeKind::Vpc, vpc.id.0)
}

/// Deletes a VPC, which must have no subnets.
pub fn delete(tx: &mut WriteTx, account: AccountId, vpc: &Vpc) -> Result<(), StoreError> {
    if vpc.ipv6.is_some() {
        free_ranges::delete_all(tx, &Space::vpc(vpc.id))?;
    }
    tx.execute("DELETE FROM vpc WHERE id = $1", args![vpc.id])?;
    tally(tx, account, &vpc.region, vpc.id, -1);
    tx.changed(account, ChangeKind::Vpc, vpc.id.0)
}

/// Adds `by` to the tally of the account's VPCs and to the tally of the region.
fn tally(tx: &mut WriteTx, account: AccountId, region: &RegionId, id: VpcId, by: i64) {
    tx.tally(Tally::of("vpc", account.0), id.0, by);
    tx.tally(region_tally(account, &region.0), id.0, by);
}

fn region_tally(account: AccountId, region: &str) -> Tally {
    Tally::within("vpc", region, account.0)
}

/// The tally that counts the results of a list query: the tally of all VPCs, or the tally of the VPCs in one
/// region. `None` if no tally exists for the filter.
fn tally_of(account: AccountId, query: &ListQuery) -> Option<Tally> {
    match query.filter.shape() {
        FilterShape::All => Some(Tally::of("vpc", account.0)),
        FilterShape::Equal(field, Value::Text(region)) if field.name == "region" => {
            Some(region_tally(account, region))
        }
        _ => None,
    }
}

fn add_subnets(tx: &mut ReadTx, vpcs: &mut [Vpc]) -> Result<(), StoreError> {
    if vpcs.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = vpcs.iter().map(|vpc| vpc.id.0).collect();
    let (condition, args) = covering_condition(&ids);
    let mut by_id: Vec<&mut Vpc> = vpcs.iter_mut().collect();
    by_id.sort_by_key(|vpc| vpc.id.0);
    let mut vpcs = by_id.into_iter().peekable();
    for subnet in subnets::of_vpcs(tx, &condition, &args)? {
        while vpcs.next_if(|vpc| vpc.id.0 < subnet.vpc.0).is_some() {}
        if let Some(vpc) = vpcs.peek_mut().filter(|vpc| vpc.id == subnet.vpc) {
            vpc.subnets.push(subnet);
        }
    }
    Ok(())
}

fn read(row: &mut Row) -> Result<Vpc, StoreError> {
    Ok(Vpc {
        id: row.take()?,
        label: row.take()?,
        description: row.take()?,
        region: row.take()?,
        ipv6: row.take()?,
        subnets: Vec::new(),
        created: row.take()?,
        updated: row.take()?,
    })
}
