//! Operations on an instance that are always refused with `not_offered`.

use crate::api::handlers::{change_at, done};
use crate::model::id::InstanceId;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::request::Request;
use crate::store::WriteTx;
use crate::web::operation::{Handling, Operation, post, put};

const REBUILD: &str = "/compute/instances/{computeId}/rebuild";
const RESIZE: &str = "/compute/instances/{computeId}/resize";
const CLONE: &str = "/compute/instances/{computeId}/clone";
const MIGRATE: &str = "/compute/instances/{computeId}/migrate";
const RESCUE: &str = "/compute/instances/{computeId}/rescue";
const MUTATE: &str = "/compute/instances/{computeId}/mutate";
const FIREWALLS: &str = "/compute/instances/{computeId}/firewalls";
const BACKUPS: &str = "/compute/instances/{computeId}/backups";
const ENABLE_BACKUPS: &str = "/compute/instances/{computeId}/backups/enable";
const CANCEL_BACKUPS: &str = "/compute/instances/{computeId}/backups/cancel";
const RESTORE_BACKUP: &str = "/compute/instances/{computeId}/backups/{backupId}/restore";

const NO_BACKUPS: &str = "Backups of instances are not offered";

pub fn operations() -> Vec<Operation> {
    vec![
        post(
            "rebuildInstance",
            REBUILD,
            refuse("Rebuilding is not offered; create a new instance"),
        )
        .on_instance(),
        post(
            "resizeInstance",
            RESIZE,
            refuse("Resizing is not offered; create an instance of another type"),
        )
        .on_instance(),
        post(
            "cloneInstance",
            CLONE,
            refuse("Cloning is not offered; create a new instance"),
        )
        .on_instance(),
        post(
            "migrateInstance",
            MIGRATE,
            refuse("Migration is not offered; create an instance in the other region"),
        )
        .on_instance(),
        post(
            "rescueInstance",
            RESCUE,
            refuse("Rescue mode is not offered; boot a config"),
        )
        .on_instance(),
        post("mutateInstance", MUTATE, refuse("Upgrades are not offered")).on_instance(),
        put(
            "updateInstanceFirewalls",
            FIREWALLS,
            refuse("Firewalls are not offered"),
        )
        .on_instance(),
        post("createBackup", BACKUPS, refuse(NO_BACKUPS)).on_instance(),
        post("enableBackups", ENABLE_BACKUPS, refuse(NO_BACKUPS)).on_instance(),
        post("cancelBackups", CANCEL_BACKUPS, refuse(NO_BACKUPS)).on_instance(),
        post("restoreBackup", RESTORE_BACKUP, refuse(NO_BACKUPS)).on_instance(),
    ]
}

fn refuse(text: &'static str) -> Handling {
    let rule = move |tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request| {
        rules::refusals::refuse(tx, caller, id, request, text)
    };
    change_at(rule, done)
}
