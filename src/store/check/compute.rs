//! Invariants of instances, configs, interfaces and tags.

use std::collections::HashSet;

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::query(
        "interfaces belong to the instance of their config",
        "SELECT 'interface ' || f.id,
                 'belongs to instance ' || f.instance || ', but its config belongs to instance ' || c.instance
         FROM interface f JOIN config c ON c.id = f.config WHERE f.instance <> c.instance ORDER BY f.id",
    ),
    Invariant::query(
        "routed ranges belong to the subnet and the instance of their interface",
        "SELECT 'interface ' || f.id, 'has the range ' || r.ipv4 || ' of another subnet or instance'
         FROM interface_range r JOIN interface f ON f.id = r.interface
         WHERE r.subnet <> f.subnet OR f.subnet IS NULL OR r.instance <> f.instance ORDER BY f.id, r.place",
    ),
    Invariant::query(
        "instances are in the region of their VPCs",
        "SELECT 'interface ' || f.id, 'is in region ' || i.region || ', but its VPC is in region ' || v.region
         FROM interface f JOIN instance i ON i.id = f.instance JOIN vpc v ON v.id = f.vpc
         WHERE i.region <> v.region OR i.account <> v.account ORDER BY f.id",
    ),
    // An interface that is added to the config of a running instance is inactive until the next boot.
    Invariant::query(
        "an active interface belongs to the running config",
        "SELECT 'interface ' || f.id, 'is active, but its config is not running'
         FROM interface f JOIN instance i ON i.id = f.instance
         WHERE f.active = 1 AND f.config IS DISTINCT FROM i.running_config ORDER BY f.id",
    ),
    Invariant::query(
        "the running and the last booted config belong to the instance",
        "SELECT 'instance ' || i.id,
                 'has a running or last booted config that belongs to another instance or does not exist'
         FROM instance i WHERE (i.running_config IS NOT NULL AND NOT EXISTS
                 (SELECT 1 FROM config c WHERE c.id = i.running_config AND c.instance = i.id))
             OR (i.last_config IS NOT NULL AND NOT EXISTS
                 (SELECT 1 FROM config c WHERE c.id = i.last_config AND c.instance = i.id))
         ORDER BY i.id",
    ),
    Invariant::function("devices of configs are disks of the same instance", devices),
    Invariant::query(
        "1:1 NAT uses a public address of the same instance",
        "SELECT 'interface ' || f.id, 'has 1:1 NAT from an address that its instance does not have'
         FROM interface f WHERE f.nat_1_1 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM public_address a
             WHERE a.address = f.nat_1_1 AND a.instance = f.instance AND a.is_private = 0)
         ORDER BY f.id",
    ),
    Invariant::query(
        "additional addresses count against the limit of the instance's account",
        "SELECT 'instance ' || i.id, 'has an address that counts against the limit of account ' || a.additional_of
         FROM public_address a JOIN instance i ON i.id = a.instance
         WHERE a.additional_of <> i.account ORDER BY i.id",
    ),
    Invariant::function("instance.tags matches the rows in instance_tag", check_tags),
    Invariant::query(
        "tags of instances exist in their account",
        "SELECT 'instance ' || t.instance, 'has the tag ' || t.label || ', which account ' || t.account || ' does not have'
         FROM instance_tag t JOIN instance i ON i.id = t.instance
         WHERE t.account <> i.account
             OR NOT EXISTS (SELECT 1 FROM tag WHERE tag.account = t.account AND tag.label = t.label)
         ORDER BY t.instance, t.label",
    ),
    Invariant::query(
        "tags that no user has created are in use",
        "SELECT 'tag ' || t.id, 'is not in use' FROM tag t WHERE t.is_permanent = 0 AND NOT EXISTS
             (SELECT 1 FROM instance_tag i WHERE i.account = t.account AND i.label = t.label)
         ORDER BY t.id",
    ),
];

/// The column `devices` of a config has the IDs of disks, separated by commas.
fn devices(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let disks = tx.read("SELECT instance, id FROM disk", args![], |row| {
        Ok((row.take::<i64>()?, row.take::<i64>()?))
    })?;
    let disks: HashSet<_> = disks.into_iter().collect();
    tx.for_each(
        "SELECT id, instance, devices FROM config ORDER BY id",
        args![],
        |row| {
            let (config, instance, devices): (i64, i64, String) = (row.take()?, row.take()?, row.take()?);
            for disk in devices.split(',').filter(|disk| !disk.is_empty()) {
                let is_known = disk.parse().is_ok_and(|disk| disks.contains(&(instance, disk)));
                if !is_known {
                    let problem = format!("has the disk {disk}, which instance {instance} does not have");
                    findings.add(format!("config {config}"), problem);
                }
            }
            Ok(())
        },
    )
}

/// Compares the column `tags` of each instance with the instance's rows in `instance_tag`.
fn check_tags(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let mut rows = tx
        .read(
            "SELECT instance, label FROM instance_tag ORDER BY instance",
            args![],
            |row| Ok((row.take::<i64>()?, row.take::<String>()?)),
        )?
        .into_iter()
        .peekable();
    tx.for_each("SELECT id, tags FROM instance ORDER BY id", args![], |row| {
        let (id, text): (i64, String) = (row.take()?, row.take()?);
        let mut stored = Vec::new();
        while let Some((instance, label)) = rows.next_if(|(instance, _)| *instance <= id) {
            if instance == id {
                stored.push(label);
            }
        }
        let mut expected: Vec<_> = text.lines().map(str::to_owned).collect();
        expected.sort();
        expected.dedup();
        stored.sort();
        if expected != stored {
            findings.add(
                format!("instance {id}"),
                "instance.tags differs from its rows in instance_tag",
            );
        }
        Ok(())
    })
}
