//! The permissions of a user by name, as newer clients request them. They are derived from the grants.

mod names;

use crate::model::grant::{Global, GrantKind, Permission};
use crate::model::id::{InstanceId, VpcId};
use crate::model::user::User;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::store::{self, ReadTx};

/// The names of permissions, sorted.
pub type Names = Vec<&'static str>;

/// The permissions of a user on the account.
pub fn on_account(tx: &mut ReadTx, caller: &Caller, username: &str) -> Result<Names> {
    let user = load(tx, caller, username)?;
    let mut found: Names = match user.restricted {
        false => names::ADMIN.to_vec(),
        true => names_from_grants(&user),
    };
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The permissions of a user on an object. Empty if the object does not exist, or if Garth does not have its
/// kind.
pub fn on_entity(
    tx: &mut ReadTx,
    caller: &Caller,
    (username, kind, id): (String, String, i64),
) -> Result<Names> {
    let user = load(tx, caller, &username)?;
    let (grant_kind, exists) = match kind.as_str() {
        "vpc" => {
            let found = store::vpcs::find_without_subnets(tx, caller.account, VpcId(id))?;
            (GrantKind::Vpc, found.is_some())
        }
        "linode" => {
            let found = store::instances::find(tx, caller.account, InstanceId(id))?;
            (GrantKind::Linode, found.is_some())
        }
        _ => return Ok(Names::new()),
    };
    let permission = match user.restricted {
        _ if !exists => None,
        false => Some(Permission::ReadWrite),
        true => store::grants::permission(tx, user.id, grant_kind, id)?,
    };
    let (reads, changes): (&[_], &[_]) = match grant_kind {
        GrantKind::Vpc => (&names::VPC_READS, &names::VPC_CHANGES),
        GrantKind::Linode => (&names::LINODE_READS, &names::LINODE_CHANGES),
    };
    let mut found = match permission {
        None => Names::new(),
        Some(Permission::ReadOnly) => reads.to_vec(),
        Some(Permission::ReadWrite) => [reads, changes].concat(),
    };
    found.sort_unstable();
    Ok(found)
}

/// Loads a user whose permissions the caller can view. Restricted callers can view only their own
/// permissions.
fn load(tx: &mut ReadTx, caller: &Caller, username: &str) -> Result<User> {
    match store::users::find_in(tx, caller.account, username)? {
        Some(user) if user.id == caller.user() => Ok(user),
        found => {
            caller.require_unrestricted()?;
            found.ok_or(Error::NotFound)
        }
    }
}

fn names_from_grants(user: &User) -> Names {
    let mut found = names::ANYONE.to_vec();
    if user.account_access.is_some() {
        found.extend(names::ACCOUNT_READS);
    }
    if user.account_access == Some(Permission::ReadWrite) {
        found.extend(names::ACCOUNT_CHANGES);
    }
    found.extend(user.globals.iter().flat_map(|global| names_of_global(*global)));
    found
}

fn names_of_global(global: Global) -> &'static [&'static str] {
    match global {
        Global::AddFirewalls => &["create_firewall"],
        Global::AddImages => &["create_image", "upload_image"],
        Global::AddLinodes => &["create_linode"],
        Global::AddNodebalancers => &["create_nodebalancer"],
        Global::AddVolumes => &["create_volume"],
        Global::AddVpcs => &["create_vpc"],
        Global::CancelAccount => &["cancel_account"],
        // The public service has no permissions for these grants.
        Global::AddDatabases
        | Global::AddDomains
        | Global::AddKubernetes
        | Global::AddLkes
        | Global::AddLongview
        | Global::AddStackscripts
        | Global::LongviewSubscription => &[],
    }
}
