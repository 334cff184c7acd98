//! The last admin: without an admin, no member of staff could manage staff (decision 0034).

use crate::model::reason::{Code, Reason};
use crate::model::staff_role::StaffRole;
use crate::model::user::User;
use crate::rules::error::{Error, Result};
use crate::store::{self, ReadTx};

/// Fails if the user is the only admin who is not disabled.
pub fn require_other_admin(tx: &mut ReadTx, user: &User) -> Result<()> {
    match is_last(tx, user)? {
        true => Err(Error::whole(reason(user))),
        false => Ok(()),
    }
}

/// Whether the user is the only admin who is not disabled.
pub fn is_last(tx: &mut ReadTx, user: &User) -> Result<bool> {
    let is_admin = user.role == Some(StaffRole::Admin) && !user.disabled;
    Ok(is_admin && !store::staff::has_other_admin(tx, user.id)?)
}

/// Why a change of the last admin is refused.
pub fn reason(user: &User) -> Reason {
    let text = format!(
        "{} is the last admin; make another member of staff admin first",
        user.username.as_str()
    );
    Reason::new(Code::LastAdmin, text)
}
