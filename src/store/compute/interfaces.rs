//! The `interface` table, with the ranges that are routed to interfaces.

use std::collections::HashMap;

use super::interface_ranges;
use crate::model::address_map::Holder;
use crate::model::change::ChangeKind;
use crate::model::cidr::{Cidr, Network};
use crate::model::id::{ConfigId, HostId, InstanceId, InterfaceId, SubnetId, VpcId};
use crate::model::interface::{Interface, Ipv6Attachment, Purpose, VpcAttachment};
use crate::model::subnet::SubnetUse;
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::list::{id_list, id_lists};
use crate::store::model_rows::ModelRows;
use crate::store::removed_ports;
use crate::store::stored_family::{Span, Stored, StoredFamily, enclosing_starts};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str =
    "f.id, f.config, f.instance, f.purpose, f.is_primary, f.active, f.label, f.ipam_address,
    f.vpc, f.subnet, f.address, f.nat_1_1, f.ipv6_is_public";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("interface f", COLUMNS, |row| read(row).map(drop));

/// The query for the interfaces `f` that meet a condition, with the labels of their instance and config. This
/// is a macro, so that frequent queries are constants.
macro_rules! uses_sql {
    ($condition:literal) => {
        concat!(
            "SELECT f.subnet, f.instance, i.label, f.config, c.label, f.id, f.active
             FROM interface f JOIN config c ON c.id = f.config JOIN instance i ON i.id = f.instance
             WHERE ",
            $condition,
            " ORDER BY f.subnet, f.instance, f.config, f.place"
        )
    };
}

/// The interfaces of a config, ordered by position.
pub fn of_config(tx: &mut ReadTx, config: ConfigId) -> Result<Vec<Interface>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM interface f WHERE f.config = $1 ORDER BY f.place");
    Ok(read_all(tx, &sql, args![config])?
        .into_iter()
        .map(|(_, interface)| interface)
        .collect())
}

/// The interfaces with ports in the VPCs of a host that changed after a revision, by ID.
pub fn with_ports(tx: &mut ReadTx, host: HostId, after: i64) -> Result<Vec<Interface>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM host_vpc v JOIN port p ON p.vpc = v.vpc JOIN interface f ON f.id = p.interface
         WHERE v.host = $1 AND v.revision > $2 ORDER BY f.id"
    );
    let found = read_all(tx, &sql, args![host, after])?;
    Ok(found.into_iter().map(|(_, interface)| interface).collect())
}

/// The interfaces in a VPC, by ID.
pub fn of_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Vec<Interface>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM interface f WHERE f.vpc = $1 ORDER BY f.id");
    let found = read_all(tx, &sql, args![vpc])?;
    Ok(found.into_iter().map(|(_, interface)| interface).collect())
}

/// The interfaces of all configs of an instance.
pub fn of_instance(
    tx: &mut ReadTx,
    instance: InstanceId,
) -> Result<HashMap<ConfigId, Vec<Interface>>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM interface f JOIN config c ON c.id = f.config
         WHERE c.instance = $1 ORDER BY f.config, f.place"
    );
    let mut found: HashMap<ConfigId, Vec<Interface>> = HashMap::new();
    for (config, interface) in read_all(tx, &sql, args![instance])? {
        found.entry(config).or_default().push(interface);
    }
    Ok(found)
}

/// The interfaces of several configs, at most a page of them, ordered by config and position.
pub fn of_configs(
    tx: &mut ReadTx,
    configs: &[ConfigId],
) -> Result<HashMap<ConfigId, Vec<Interface>>, StoreError> {
    let mut found: HashMap<ConfigId, Vec<Interface>> = HashMap::new();
    if configs.is_empty() {
        return Ok(found);
    }
    let ids: Vec<i64> = configs.iter().map(|config| config.0).collect();
    let (list, args) = id_list(&ids);
    let sql =
        format!("SELECT {COLUMNS} FROM interface f WHERE f.config IN {list} ORDER BY f.config, f.place");
    for (config, interface) in read_all(tx, &sql, &args)? {
        found.entry(config).or_default().push(interface);
    }
    Ok(found)
}

/// All interfaces on these subnets, ordered by subnet, instance, config and position.
pub fn on_subnets(tx: &mut ReadTx, subnets: &[SubnetId]) -> Result<Vec<SubnetUse>, StoreError> {
    if subnets.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<i64> = subnets.iter().map(|subnet| subnet.0).collect();
    let (list, args) = id_list(&ids);
    uses(tx, &format!("f.subnet IN {list}"), &args)
}

/// These interfaces, in the order of `on_subnets`. Interfaces without a subnet are omitted.
pub fn with_ids(tx: &mut ReadTx, ids: &[InterfaceId]) -> Result<Vec<SubnetUse>, StoreError> {
    let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
    let mut found = Vec::new();
    for (list, args) in id_lists(&ids) {
        found.extend(uses(
            tx,
            &format!("f.id IN {list} AND f.subnet IS NOT NULL"),
            &args,
        )?);
    }
    Ok(found)
}

/// The number of instances with interfaces on the subnets of a VPC.
pub fn count_instances(tx: &mut ReadTx, vpc: VpcId) -> Result<i64, StoreError> {
    let sql = "SELECT count(DISTINCT f.instance) FROM interface f WHERE f.vpc = $1";
    tx.one(sql, args![vpc])?.take()
}

/// All interfaces on the subnets of a VPC, in the order of `on_subnets`.
pub(in crate::store) fn in_vpc(tx: &mut ReadTx, vpc: VpcId) -> Result<Vec<SubnetUse>, StoreError> {
    tx.read(uses_sql!("f.vpc = $1"), args![vpc], read_use)
}

/// All interfaces on the subnets of several VPCs, in the order of `on_subnets`. `condition` selects the IDs of the
/// VPCs, for example `IN ($1, $2)`.
pub(in crate::store) fn in_vpcs(
    tx: &mut ReadTx,
    condition: &str,
    args: &[Value],
) -> Result<Vec<SubnetUse>, StoreError> {
    uses(tx, &format!("f.vpc {condition}"), args)
}

fn uses(tx: &mut ReadTx, condition: &str, args: &[Value]) -> Result<Vec<SubnetUse>, StoreError> {
    let sql = format!(uses_sql!("{condition}"), condition = condition);
    tx.read(&sql, args, read_use)
}

fn read_use(row: &mut Row) -> Result<SubnetUse, StoreError> {
    Ok(SubnetUse {
        subnet: row.take()?,
        instance: row.take()?,
        instance_label: row.take()?,
        config: row.take()?,
        config_label: row.take()?,
        interface: row.take()?,
        active: row.take()?,
    })
}

pub fn insert(
    tx: &mut WriteTx,
    instance: InstanceId,
    config: ConfigId,
    place: usize,
    new: &Interface,
) -> Result<InterfaceId, StoreError> {
    let vpc = new.vpc.as_ref();
    let id: InterfaceId = tx
        .one(
            "INSERT INTO interface (config, instance, place, purpose, is_primary, active, label, ipam_address,
                 vpc, subnet, address, nat_1_1, ipv6_is_public)
             VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, $9, $10, $11, $12) RETURNING id",
            args![
                config,
                instance,
                place as i64,
                new.purpose.word(),
                new.primary,
                new.label.as_deref(),
                new.ipam_address.as_deref(),
                vpc.map(|vpc| vpc.vpc),
                vpc.map(|vpc| vpc.subnet),
                vpc.map(|vpc| vpc.address),
                vpc.and_then(|vpc| vpc.nat_1_1),
                is_public(vpc),
            ],
        )?
        .take()?;
    interface_ranges::insert(tx, instance, id, vpc)?;
    tx.changed(Owner::Instance(instance), ChangeKind::Interface, id.0)?;
    Ok(id)
}

pub fn update(
    tx: &mut WriteTx,
    instance: InstanceId,
    place: usize,
    interface: &Interface,
) -> Result<(), StoreError> {
    let vpc = interface.vpc.as_ref();
    tx.execute(
        "UPDATE interface SET place = $2, is_primary = $3, label = $4, ipam_address = $5, address = $6,
             nat_1_1 = $7, ipv6_is_public = $8 WHERE id = $1",
        args![
            interface.id,
            place as i64,
            interface.primary,
            interface.label.as_deref(),
            interface.ipam_address.as_deref(),
            vpc.map(|vpc| vpc.address),
            vpc.and_then(|vpc| vpc.nat_1_1),
            is_public(vpc),
        ],
    )?;
    interface_ranges::delete(tx, interface.id)?;
    interface_ranges::insert(tx, instance, interface.id, vpc)?;
    tx.changed(Owner::Instance(instance), ChangeKind::Interface, interface.id.0)
}

pub fn delete(tx: &mut WriteTx, id: InterfaceId) -> Result<(), StoreError> {
    tx.changed(Owner::Interface(id), ChangeKind::Interface, id.0)?;
    interface_ranges::delete(tx, id)?;
    removed_ports::delete_of_interface(tx, id)?;
    tx.execute("DELETE FROM interface WHERE id = $1", args![id])?;
    Ok(())
}

/// Marks the interfaces of this config as active, and all other interfaces of the instance as inactive.
pub fn set_active(
    tx: &mut WriteTx,
    instance: InstanceId,
    config: Option<ConfigId>,
) -> Result<(), StoreError> {
    let active = "CASE WHEN config = $2 THEN 1 ELSE 0 END";
    let sql = format!(
        "UPDATE interface SET active = {active}
         WHERE config IN (SELECT id FROM config WHERE instance = $1) AND active <> {active} RETURNING id"
    );
    for mut row in tx.all(&sql, args![instance, config])? {
        let id: InterfaceId = row.take()?;
        tx.changed(Owner::Instance(instance), ChangeKind::Interface, id.0)?;
    }
    Ok(())
}

/// Whether another instance uses one of the addresses of a range.
pub fn is_taken_by_another<F: StoredFamily>(
    tx: &mut ReadTx,
    subnet: SubnetId,
    instance: Option<InstanceId>,
    range: Network<F>,
) -> Result<bool, StoreError> {
    let (first, last) = (F::to_value(range.first()), F::to_value(range.last()));
    let row = tx.find(F::TAKEN_BY_ANOTHER, args![subnet, instance, first, last])?;
    Ok(row.is_some())
}

/// The addresses and ranges in use within a range, ordered by first address. Each element is a pair of a first and a
/// last address.
pub fn used_spans<F: StoredFamily>(
    tx: &mut ReadTx,
    subnet: SubnetId,
    range: Network<F>,
) -> Result<Vec<Span<F>>, StoreError> {
    let (first, last) = (F::to_value(range.first()), F::to_value(range.last()));
    let rows = tx.all(F::USED_SPANS, args![subnet, first, last])?;
    let read = |mut row: Row| {
        let (Stored(first), Stored(last)): (Stored<F>, Stored<F>) = (row.take()?, row.take()?);
        Ok((first, last))
    };
    rows.into_iter().map(read).collect()
}

/// The address of an interface, if the interface is on this subnet.
pub fn address_on(
    tx: &mut ReadTx,
    subnet: SubnetId,
    interface: InterfaceId,
) -> Result<Option<u32>, StoreError> {
    let sql = "SELECT address FROM interface WHERE subnet = $1 AND id = $2";
    let row = tx.find(sql, args![subnet, interface])?;
    row.map(|mut row| row.take()).transpose()
}

/// The interfaces that hold addresses and ranges from `first` to `last`, ordered by address and interface. If several
/// configs of an instance use the same address, the result has a holder for each config.
pub fn holders(tx: &mut ReadTx, subnet: SubnetId, first: u32, last: u32) -> Result<Vec<Holder>, StoreError> {
    const RANGES: &str =
        "SELECT r.first_address, r.last_address, 1, f.instance, i.label, f.config, f.id, f.active
         FROM interface_range r JOIN interface f ON f.id = r.interface JOIN instance i ON i.id = f.instance
         WHERE r.subnet = $1 AND r.last_address >= $2";
    const ENCLOSING: &str = enclosing_starts!("CAST($2 AS BIGINT)");
    let sql = format!(
        "SELECT f.address AS a, f.address, 0 AS is_range, f.instance, i.label, f.config, f.id AS b, f.active
         FROM interface f JOIN instance i ON i.id = f.instance
         WHERE f.subnet = $1 AND f.address BETWEEN $2 AND $3
         UNION ALL {RANGES} AND r.first_address BETWEEN $2 AND $3
         UNION ALL {RANGES} AND r.first_address < $2 AND r.first_address IN {ENCLOSING}
         ORDER BY a, is_range, b"
    );
    let rows = tx.all(&sql, args![subnet, first, last])?;
    let read = |mut row: Row| {
        Ok(Holder {
            first: row.take()?,
            last: row.take()?,
            is_range: row.take()?,
            instance: row.take()?,
            instance_label: Some(row.take()?),
            config: row.take()?,
            interface: row.take()?,
            active: row.take()?,
        })
    };
    rows.into_iter().map(read).collect()
}

/// Counts the addresses in use in each block of a span. Ignores addresses inside routed ranges. `prefix` is
/// the prefix length of a block. Returns the index and the count of each block that is not empty.
pub fn counts(
    tx: &mut ReadTx,
    subnet: SubnetId,
    span: Cidr,
    prefix: u8,
) -> Result<Vec<(u64, u64)>, StoreError> {
    let size = 1i64 << (32 - prefix);
    let rows = tx.all(
        concat!(
            "SELECT (f.address - $2) / $4, count(DISTINCT f.address) FROM interface f
             WHERE f.subnet = $1 AND f.address BETWEEN $2 AND $3 AND NOT EXISTS (
                 SELECT 1 FROM interface_range r
                 WHERE r.subnet = $1 AND r.last_address >= f.address AND r.first_address IN ",
            enclosing_starts!("f.address"),
            ") GROUP BY 1 ORDER BY 1"
        ),
        args![subnet, span.first(), span.last(), size],
    )?;
    let read = |mut row: Row| {
        let (block, count): (i64, i64) = (row.take()?, row.take()?);
        Ok((block.unsigned_abs(), count.unsigned_abs()))
    };
    rows.into_iter().map(read).collect()
}

/// The routed ranges that overlap the addresses from `first` to `last`, ordered by address.
pub fn ranges(
    tx: &mut ReadTx,
    subnet: SubnetId,
    first: u32,
    last: u32,
) -> Result<Vec<(u32, u32)>, StoreError> {
    let rows = tx.all(
        "SELECT DISTINCT first_address, last_address FROM interface_range
         WHERE subnet = $1 AND first_address <= $3 AND last_address >= $2 ORDER BY first_address, last_address",
        args![subnet, first, last],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?)))
        .collect()
}

fn is_public(vpc: Option<&VpcAttachment>) -> Option<bool> {
    let ipv6 = vpc.and_then(|vpc| vpc.ipv6.as_ref());
    ipv6.map(|ipv6| ipv6.is_public)
}

/// Reads interfaces with their routed ranges, each with the ID of its config.
fn read_all(tx: &mut ReadTx, sql: &str, args: &[Value]) -> Result<Vec<(ConfigId, Interface)>, StoreError> {
    let mut found = tx.read(sql, args, read)?;
    interface_ranges::add(tx, &mut found)?;
    Ok(found)
}

fn read(row: &mut Row) -> Result<(ConfigId, Interface), StoreError> {
    let (id, config) = (row.take()?, row.take()?);
    let interface = Interface {
        id,
        instance: row.take()?,
        purpose: row.take()?,
        primary: row.take()?,
        active: row.take()?,
        label: row.take()?,
        ipam_address: row.take()?,
        vpc: read_attachment(row)?,
    };
    Ok((config, interface))
}

fn read_attachment(row: &mut Row) -> Result<Option<VpcAttachment>, StoreError> {
    let (vpc, subnet, address, nat_1_1) = (row.take()?, row.take()?, row.take()?, row.take()?);
    let is_public: Option<bool> = row.take()?;
    let vpc: Option<VpcId> = vpc;
    let attachment = |vpc| -> Option<VpcAttachment> {
        let (subnet, address): (Option<SubnetId>, Option<u32>) = (subnet, address);
        Some(VpcAttachment {
            vpc,
            subnet: subnet?,
            address: address?,
            nat_1_1,
            ranges: Vec::new(),
            ipv6: is_public.map(|is_public| Ipv6Attachment {
                slaac: None,
                ranges: Vec::new(),
                is_public,
            }),
        })
    };
    Ok(vpc.and_then(attachment))
}

impl FromValue for Purpose {
    fn from_value(value: Value) -> Option<Self> {
        Purpose::parse(value.as_text()?).ok()
    }
}

impl FromValue for Cidr {
    fn from_value(value: Value) -> Option<Self> {
        Cidr::parse(value.as_text()?).ok()
    }
}
