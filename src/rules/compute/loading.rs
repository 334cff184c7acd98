//! Loads instances and configs after checking the caller's permission.

use crate::model::config::Config;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{ConfigId, InstanceId};
use crate::model::instance::Instance;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::store::{self, ReadTx};

/// The instance, if the caller has this permission on it.
pub fn instance_for(
    tx: &mut ReadTx,
    caller: &Caller,
    id: InstanceId,
    access: Permission,
) -> Result<Instance> {
    let instance = instance(tx, caller, id)?;
    caller.require_permission(tx, GrantKind::Linode, id.0, access)?;
    Ok(instance)
}

pub fn instance(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<Instance> {
    store::instances::find(tx, caller.account, id)?.ok_or(Error::NotFound)
}

/// The config and its instance, if the caller has this permission on them.
pub fn config_for(
    tx: &mut ReadTx,
    caller: &Caller,
    at: (InstanceId, ConfigId),
    access: Permission,
) -> Result<(Instance, Config)> {
    // Look up the config before the write permission is checked: a missing config is 404, not 403.
    let instance = instance_for(tx, caller, at.0, Permission::ReadOnly)?;
    let config = config(tx, at.0, at.1)?;
    if access > Permission::ReadOnly {
        caller.require_permission(tx, GrantKind::Linode, at.0.0, access)?;
    }
    Ok((instance, config))
}

pub fn config(tx: &mut ReadTx, instance: InstanceId, id: ConfigId) -> Result<Config> {
    store::configs::find(tx, instance, id)?.ok_or(Error::NotFound)
}
