//! The `config` table.

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::config::{Config, ConfigLabel, Settings};
use crate::model::id::{ConfigId, DiskId, InstanceId};
use crate::model::page::Paged;
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::interfaces;
use crate::store::list::{Collection, ListQuery, id_list};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

const COLUMNS: &str = "c.id, c.instance, c.label, c.comments, c.kernel, c.memory_limit, c.root_device,
    c.run_level, c.virt_mode, c.helpers, c.devices, c.created, c.updated";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("config c", COLUMNS, |row| read(row).map(drop));

const INTERFACES_OF_CONFIG: &str = "SELECT 1 FROM interface f WHERE f.config = c.id";

pub static FIELDS: [Field; 3] = [
    Field::new("id", Kind::Integer, "c.id"),
    Field::new("label", Kind::Text, "c.label"),
    // linodego filters `interfaces` by the label of a VLAN.
    Field::new("interfaces", Kind::Text, "f.label").subquery(INTERFACES_OF_CONFIG),
];

pub fn list(tx: &mut ReadTx, instance: InstanceId, query: &ListQuery) -> Result<Paged<Config>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "config c",
        condition: "c.instance = $1".to_owned(),
        args: args![instance].to_vec(),
        key: &["c.id"],
        order: None,
        tallied: None,
    };
    let mut configs = collection.page(tx, query, read)?;
    let mut interfaces = interfaces::of_instance(tx, instance)?;
    for config in &mut configs.items {
        config.interfaces = interfaces.remove(&config.id).unwrap_or_default();
    }
    Ok(configs)
}

pub fn count(tx: &mut ReadTx, instance: InstanceId) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM config WHERE instance = $1";
    tx.one(sql, args![instance])?.take()
}

/// The configs of an instance that refer to a disk, ordered by ID, without their interfaces.
pub fn with_disk(tx: &mut ReadTx, instance: InstanceId, disk: DiskId) -> Result<Vec<Config>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM config c WHERE c.instance = $1 AND ',' || c.devices || ',' LIKE $2 ORDER BY c.id"
    );
    tx.read(&sql, args![instance, format!("%,{disk},%")], read)
}

/// The IDs and labels of an instance's configs, ordered by ID.
pub fn names(tx: &mut ReadTx, instance: InstanceId) -> Result<Vec<(ConfigId, String)>, StoreError> {
    let rows = tx.all(
        "SELECT id, label FROM config WHERE instance = $1 ORDER BY id",
        args![instance],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?)))
        .collect()
}

/// The first config of each of these instances, at most a page of them. An instance without configs is missing.
pub fn first_of(
    tx: &mut ReadTx,
    instances: &[InstanceId],
) -> Result<HashMap<InstanceId, ConfigId>, StoreError> {
    if instances.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<i64> = instances.iter().map(|instance| instance.0).collect();
    let (list, args) = id_list(&ids);
    let sql = format!("SELECT instance, min(id) FROM config WHERE instance IN {list} GROUP BY instance");
    let rows = tx.all(&sql, &args)?;
    rows.into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?)))
        .collect()
}

pub fn find(tx: &mut ReadTx, instance: InstanceId, id: ConfigId) -> Result<Option<Config>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM config c WHERE c.id = $1 AND c.instance = $2");
    let Some(mut row) = tx.find(&sql, args![id, instance])? else {
        return Ok(None);
    };
    let mut config = read(&mut row)?;
    config.interfaces = interfaces::of_config(tx, id)?;
    Ok(Some(config))
}

pub fn insert(
    tx: &mut WriteTx,
    instance: InstanceId,
    label: &ConfigLabel,
    settings: &Settings,
) -> Result<ConfigId, StoreError> {
    let now = tx.now();
    let inserted = tx.one(
        "INSERT INTO config (instance, label, comments, kernel, memory_limit, root_device, run_level, virt_mode,
             helpers, devices, created, updated)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) RETURNING id",
        args![
            instance,
            label,
            settings.comments.as_str(),
            settings.kernel.as_str(),
            settings.memory_limit,
            settings.root_device.as_str(),
            settings.run_level.as_str(),
            settings.virt_mode.as_str(),
            encode_helpers(settings),
            encode_devices(settings),
            now,
        ],
    );
    let id: ConfigId = inserted?.take()?;
    tx.changed(Owner::Instance(instance), ChangeKind::Config, id.0)?;
    Ok(id)
}

pub fn update(tx: &mut WriteTx, config: &Config) -> Result<(), StoreError> {
    let settings = &config.settings;
    tx.execute(
        "UPDATE config SET label = $2, comments = $3, kernel = $4, memory_limit = $5, root_device = $6,
             run_level = $7, virt_mode = $8, helpers = $9, devices = $10, updated = $11 WHERE id = $1",
        args![
            config.id,
            &config.label,
            settings.comments.as_str(),
            settings.kernel.as_str(),
            settings.memory_limit,
            settings.root_device.as_str(),
            settings.run_level.as_str(),
            settings.virt_mode.as_str(),
            encode_helpers(settings),
            encode_devices(settings),
            config.updated,
        ],
    )?;
    tx.changed(Owner::Instance(config.instance), ChangeKind::Config, config.id.0)
}

/// Deletes a config. Its interfaces must already be deleted.
pub fn delete(tx: &mut WriteTx, id: ConfigId) -> Result<(), StoreError> {
    tx.changed(Owner::Config(id), ChangeKind::Config, id.0)?;
    tx.execute("DELETE FROM config WHERE id = $1", args![id])?;
    Ok(())
}

fn read(row: &mut Row) -> Result<Config, StoreError> {
    Ok(Config {
        id: row.take()?,
        instance: row.take()?,
        label: row.take()?,
        settings: Settings {
            comments: row.take()?,
            kernel: row.take()?,
            memory_limit: row.take()?,
            root_device: row.take()?,
            run_level: row.take()?,
            virt_mode: row.take()?,
            helpers: decode_helpers(&row.take::<String>()?),
            devices: decode_devices(&row.take::<String>()?),
        },
        interfaces: Vec::new(),
        created: row.take()?,
        updated: row.take()?,
    })
}

/// The stored form of the helpers: a flag for each helper, such as `11011`.
fn encode_helpers(settings: &Settings) -> String {
    settings
        .helpers
        .iter()
        .map(|on| if *on { '1' } else { '0' })
        .collect()
}

fn decode_helpers(text: &str) -> [bool; 5] {
    let mut helpers = [true; 5];
    for (helper, flag) in helpers.iter_mut().zip(text.chars()) {
        *helper = flag == '1';
    }
    helpers
}

/// The stored form of the devices: the IDs of their disks, such as `12,,,,,,,`.
fn encode_devices(settings: &Settings) -> String {
    let disk = |device: &Option<DiskId>| device.map_or(String::new(), |disk| disk.to_string());
    settings.devices.iter().map(disk).collect::<Vec<_>>().join(",")
}

fn decode_devices(text: &str) -> [Option<DiskId>; 8] {
    let mut devices = [None; 8];
    for (device, id) in devices.iter_mut().zip(text.split(',')) {
        *device = id.parse().ok().map(DiskId);
    }
    devices
}
