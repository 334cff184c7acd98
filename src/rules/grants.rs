//! Grants: allowing a user what its account may do.

use super::error::{Error, FieldError, Result};
use super::users;
use crate::model::grant::{Global, Granted, Permission};
use crate::model::id::{InstanceId, VpcId};
use crate::model::reason::{Code, Reason};
use crate::model::user::User;
use crate::store::{self, WriteTx};

/// One thing to allow.
#[derive(Clone, Copy, Debug)]
pub enum Grant {
    Global(Global),
    AccountAccess(Permission),
    Vpc(VpcId, Permission),
    Linode(InstanceId, Permission),
}

/// Gives a user all of these grants, or none of them.
pub fn give(tx: &mut WriteTx, username: &str, grants: &[Grant]) -> Result<User> {
    let user = users::load(tx, username)?;
    let Some(account) = user.account else {
        return Err(refused("user", "The provider's staff take no grants"));
    };
    for grant in grants {
        match *grant {
            Grant::Global(global) => store::grants::add_global(tx, user.id, global)?,
            Grant::AccountAccess(access) => store::grants::set_account_access(tx, user.id, access)?,
            Grant::Vpc(vpc, permission) => {
                let found = store::vpcs::find(tx, account, vpc)?.is_some();
                must_be(found, "vpc", format!("The user's account has no VPC {vpc}"))?;
                store::grants::set(tx, user.id, Granted::Vpc, vpc.0, permission)?;
            }
            Grant::Linode(instance, permission) => {
                let found = store::instances::find(tx, account, instance)?.is_some();
                must_be(
                    found,
                    "linode",
                    format!("The user's account has no instance {instance}"),
                )?;
                store::grants::set(tx, user.id, Granted::Linode, instance.0, permission)?;
            }
        }
    }
    users::load(tx, username)
}

fn must_be(found: bool, field: &str, otherwise: String) -> Result<()> {
    match found {
        true => Ok(()),
        false => Err(refused(field, otherwise)),
    }
}

fn refused(field: &str, text: impl Into<String>) -> Error {
    Error::Refused(vec![FieldError::on(field, Reason::new(Code::GrantInvalid, text))])
}
