//! The `instance` table.

use crate::model::change::ChangeKind;
use crate::model::id::{AccountId, ConfigId, InstanceId};
use crate::model::instance::{Instance, InstanceLabel, NewInstance, Status};
use crate::model::ip::IpKind;
use crate::model::page::Paged;
use crate::store::changes::Owner;
use crate::store::compute::upkeep::{encode_alerts, read_upkeep};
use crate::store::error::StoreError;
use crate::store::filter::{Field, FilterShape, Kind};
use crate::store::list::{Collection, ListQuery, Tallied, Visibility, id_list};
use crate::store::model_rows::ModelRows;
use crate::store::tags;
use crate::store::tallies::Tally;
use crate::store::traffic;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "i.id, i.account, i.label, i.group_name, i.region, i.plan, i.image, i.status,
    i.running_config, i.last_config, i.tags, i.watchdog, i.alerts, i.backup_day, i.backup_window,
    i.maintenance_policy, i.disk_encryption, i.has_user_data, i.host, i.created, i.updated";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("instance i", COLUMNS, |row| read(row).map(drop));
const TAGS_OF_INSTANCE: &str = "SELECT 1 FROM instance_tag t WHERE t.instance = i.id";
const ADDRESSES_OF_INSTANCE: &str = "SELECT 1 FROM public_address a WHERE a.instance = i.id";

pub static FIELDS: [Field; 12] = [
    Field::new("id", Kind::Integer, "i.id"),
    Field::new("label", Kind::Text, "i.label"),
    Field::new("region", Kind::Text, "i.region"),
    Field::new("image", Kind::Text, "i.image"),
    Field::new("group", Kind::Text, "i.group_name"),
    Field::new("type", Kind::Text, "i.plan"),
    Field::new("status", Kind::Text, "i.status"),
    Field::new("created", Kind::Time, "i.created"),
    Field::new("updated", Kind::Time, "i.updated"),
    // The value is the same for all instances. It is an expression, because PostgreSQL cannot sort by a constant.
    Field::new("site_type", Kind::Text, "coalesce('core', i.region)"),
    Field::new("ipv4", Kind::Address, "a.address").subquery(ADDRESSES_OF_INSTANCE),
    Field::new("tags", Kind::Text, "t.label").subquery(TAGS_OF_INSTANCE),
];

/// The fields of the list of tagged objects.
pub static TAGGED_FIELDS: [Field; 1] = [Field::new("type", Kind::Text, "CAST('linode' AS TEXT)")];

pub fn list(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
    query: &ListQuery,
) -> Result<Paged<Instance>, StoreError> {
    let mut collection = Collection {
        columns: COLUMNS,
        from: "instance i",
        condition: "i.account = $1".to_owned(),
        args: args![account].to_vec(),
        key: &["i.id"],
        order: None,
        tallied: match query.filter.shape() {
            FilterShape::All => Some(Tallied::whole(tally_of(account))),
            _ => None,
        },
    };
    if let Visibility::GrantedTo(user) = visibility {
        collection.condition += " AND i.id IN (SELECT g.entity FROM entity_grant g
            WHERE g.app_user = $2 AND g.kind = 'linode')";
        collection.args.push(user.into());
        collection.tallied = None;
    }
    let mut instances = collection.page(tx, query, read)?;
    add_addresses(tx, &mut instances.items)?;
    Ok(instances)
}

/// The instances with a tag.
pub fn list_tagged(
    tx: &mut ReadTx,
    account: AccountId,
    tag: &str,
    query: &ListQuery,
) -> Result<Paged<Instance>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "instance_tag g JOIN instance i ON i.id = g.instance",
        condition: "g.account = $1 AND g.label = $2".to_owned(),
        args: args![account, tag].to_vec(),
        key: &["g.instance"],
        order: None,
        tallied: None,
    };
    let mut instances = collection.page(tx, query, read)?;
    add_addresses(tx, &mut instances.items)?;
    Ok(instances)
}

pub fn find(tx: &mut ReadTx, account: AccountId, id: InstanceId) -> Result<Option<Instance>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM instance i WHERE i.id = $1 AND i.account = $2");
    find_with_addresses(tx, &sql, args![id, account])
}

/// An instance of any account.
pub fn find_any(tx: &mut ReadTx, id: InstanceId) -> Result<Option<Instance>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM instance i WHERE i.id = $1");
    find_with_addresses(tx, &sql, args![id])
}

/// Finds one instance and reads its addresses.
fn find_with_addresses(tx: &mut ReadTx, sql: &str, args: &[Value]) -> Result<Option<Instance>, StoreError> {
    let Some(mut row) = tx.find(sql, args)? else {
        return Ok(None);
    };
    let mut instance = [read(&mut row)?];
    add_addresses(tx, &mut instance)?;
    Ok(instance.into_iter().next())
}

/// The number of an account's instances for each plan.
pub fn count_by_plan(tx: &mut ReadTx, account: AccountId) -> Result<Vec<(String, i64)>, StoreError> {
    let sql = "SELECT plan, count(*) FROM instance WHERE account = $1 GROUP BY plan ORDER BY plan";
    tx.read(sql, args![account], |row| Ok((row.take()?, row.take()?)))
}

/// The number of visible instances for each status.
pub fn count_by_status(
    tx: &mut ReadTx,
    account: AccountId,
    visibility: Visibility,
) -> Result<Vec<(Status, i64)>, StoreError> {
    let mut sql = "SELECT i.status, count(*) FROM instance i WHERE i.account = $1".to_owned();
    let mut args = args![account].to_vec();
    if let Visibility::GrantedTo(user) = visibility {
        sql +=
            " AND i.id IN (SELECT g.entity FROM entity_grant g WHERE g.app_user = $2 AND g.kind = 'linode')";
        args.push(user.into());
    }
    sql += " GROUP BY i.status ORDER BY i.status";
    tx.read(&sql, &args, |row| Ok((row.take()?, row.take()?)))
}

/// Whether an instance of the account has this label. Ignores the instance `except`.
pub fn has_label(
    tx: &mut ReadTx,
    account: AccountId,
    label: &InstanceLabel,
    except: Option<InstanceId>,
) -> Result<bool, StoreError> {
    let row = tx.find(
        "SELECT 1 FROM instance WHERE account = $1 AND lower(label) = lower($2) AND id IS DISTINCT FROM $3",
        args![account, label, except],
    )?;
    Ok(row.is_some())
}

/// Inserts an instance. If `new` has no label, the instance gets a placeholder, and cannot be read until
/// `set_label` replaces the placeholder. The placeholder contains a colon, so that it cannot be equal to the
/// label of another instance.
pub fn insert(
    tx: &mut WriteTx,
    account: AccountId,
    new: &NewInstance,
    host: &str,
) -> Result<InstanceId, StoreError> {
    let now = tx.now();
    let placeholder = format!(":{host}");
    let id: InstanceId = tx
        .one(
            "INSERT INTO instance (account, label, group_name, region, plan, image, status, tags, watchdog, alerts,
                 backup_day, backup_window, maintenance_policy, disk_encryption, has_user_data, host, created, updated)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $17) RETURNING id",
            args![
                account,
                new.label.as_ref().map_or(&*placeholder, InstanceLabel::as_str),
                new.group.as_str(),
                new.region.as_str(),
                new.plan.as_str(),
                new.image.as_deref(),
                Status::Provisioning.word(),
                new.tags.join("\n"),
                new.watchdog,
                encode_alerts(&new.upkeep.alerts),
                new.upkeep.schedule.day,
                new.upkeep.schedule.window,
                new.upkeep.maintenance.word(),
                new.disk_encryption.word(),
                new.has_user_data,
                host,
                now,
            ],
        )?
        .take()?;
    tx.tally(tally_of(account), id.0, 1);
    tags::replace(tx, account, id, (&[], &new.tags))?;
    tx.changed(account, ChangeKind::Instance, id.0)?;
    Ok(id)
}

/// Replaces the placeholder of an instance with a label.
pub fn set_label(tx: &mut WriteTx, id: InstanceId, label: &InstanceLabel) -> Result<(), StoreError> {
    tx.execute("UPDATE instance SET label = $2 WHERE id = $1", args![id, label])?;
    Ok(())
}

pub fn update(tx: &mut WriteTx, instance: &Instance) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE instance SET label = $2, group_name = $3, status = $4, running_config = $5, last_config = $6,
             tags = $7, watchdog = $8, alerts = $9, backup_day = $10, backup_window = $11, maintenance_policy = $12,
             updated = $13 WHERE id = $1",
        args![
            instance.id,
            &instance.label,
            instance.group.as_str(),
            instance.status.word(),
            instance.running,
            instance.last_booted,
            instance.tags.join("\n"),
            instance.watchdog,
            encode_alerts(&instance.upkeep.alerts),
            instance.upkeep.schedule.day,
            instance.upkeep.schedule.window,
            instance.upkeep.maintenance.word(),
            instance.updated,
        ],
    )?;
    tx.changed(instance.account, ChangeKind::Instance, instance.id.0)
}

/// Deletes an instance with its addresses. Its configs and disks must already be deleted.
pub fn delete(tx: &mut WriteTx, instance: &Instance) -> Result<(), StoreError> {
    let id = instance.id;
    tags::replace(tx, instance.account, id, (&instance.tags, &[]))?;
    tx.execute("DELETE FROM public_address WHERE instance = $1", args![id])?;
    traffic::delete_of_instance(tx, id)?;
    tx.execute("DELETE FROM instance WHERE id = $1", args![id])?;
    tx.tally(tally_of(instance.account), id.0, -1);
    tx.changed(instance.account, ChangeKind::Instance, id.0)
}

/// The tally of an account's instances.
fn tally_of(account: AccountId) -> Tally {
    Tally::of("instance", account.0)
}

/// Clears the last booted config of an instance, if it is this config.
pub fn clear_last_config(tx: &mut WriteTx, config: ConfigId, id: InstanceId) -> Result<(), StoreError> {
    let sql = "UPDATE instance SET last_config = NULL WHERE id = $1 AND last_config = $2";
    match tx.execute(sql, args![id, config])? {
        0 => Ok(()),
        _ => tx.changed(Owner::Instance(id), ChangeKind::Instance, id.0),
    }
}

fn add_addresses(tx: &mut ReadTx, instances: &mut [Instance]) -> Result<(), StoreError> {
    if instances.is_empty() {
        return Ok(());
    }
    let ids: Vec<i64> = instances.iter().map(|instance| instance.id.0).collect();
    let (list, args) = id_list(&ids);
    let indexes: std::collections::HashMap<i64, usize> =
        ids.iter().enumerate().map(|(index, id)| (*id, index)).collect();
    let sql = format!(
        "SELECT instance, is_private, address FROM public_address WHERE instance IN {list} ORDER BY address"
    );
    for mut row in tx.all(&sql, &args)? {
        let id: i64 = row.take()?;
        let instance = &mut instances[indexes[&id]];
        let addresses = match row.take()? {
            IpKind::Public => &mut instance.ipv4,
            IpKind::Private => &mut instance.private_ipv4,
        };
        addresses.push(row.take()?);
    }
    Ok(())
}

fn read(row: &mut Row) -> Result<Instance, StoreError> {
    Ok(Instance {
        id: row.take()?,
        account: row.take()?,
        label: row.take()?,
        group: row.take()?,
        region: row.take()?,
        plan: row.take()?,
        image: row.take()?,
        status: row.take()?,
        running: row.take()?,
        last_booted: row.take()?,
        tags: row.take::<String>()?.lines().map(str::to_owned).collect(),
        watchdog: row.take()?,
        upkeep: read_upkeep(row)?,
        disk_encryption: row.take()?,
        has_user_data: row.take()?,
        host: row.take()?,
        ipv4: Vec::new(),
        private_ipv4: Vec::new(),
        created: row.take()?,
        updated: row.take()?,
    })
}

impl FromValue for Status {
    fn from_value(value: Value) -> Option<Self> {
        let word = value.as_text()?;
        Status::ALL.into_iter().find(|status| status.word() == word)
    }
}
