//! Members of staff in the `app_user` table, and whether a user is disabled.

use crate::model::change::ChangeKind;
use crate::model::id::UserId;
use crate::model::page::Paged;
use crate::model::staff_role::StaffRole;
use crate::model::user::User;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::tokens;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::users::{COLUMNS, read};
use crate::store::value::args;

pub static FIELDS: [Field; 5] = [
    Field::new("username", Kind::Text, "username"),
    Field::new("email", Kind::Text, "email"),
    Field::new("role", Kind::Text, "staff_role"),
    Field::new("disabled", Kind::Boolean, "disabled"),
    Field::new("created", Kind::Time, "created"),
];

pub fn list(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<User>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "app_user",
        condition: "account IS NULL".to_owned(),
        args: Vec::new(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

/// Whether another member of staff is an admin and not disabled.
pub fn has_other_admin(tx: &mut ReadTx, except: UserId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM app_user
        WHERE account IS NULL AND staff_role = $2 AND disabled = 0 AND id <> $1 LIMIT 1";
    Ok(tx.find(sql, args![except, StaffRole::Admin.word()])?.is_some())
}

/// Sets the role of a member of staff. Invalidates cached identities.
pub fn set_role(tx: &mut WriteTx, user: &User, role: StaffRole) -> Result<(), StoreError> {
    let sql = "UPDATE app_user SET staff_role = $2 WHERE id = $1 AND staff_role IS DISTINCT FROM $2";
    let changed = tx.execute(sql, args![user.id, role.word()])?;
    report(tx, user, changed)
}

/// Sets whether a user, of staff or of an account, is disabled. Invalidates cached identities.
pub fn set_disabled(tx: &mut WriteTx, user: &User, disabled: bool) -> Result<(), StoreError> {
    let sql = "UPDATE app_user SET disabled = $2 WHERE id = $1 AND disabled <> $2";
    let changed = tx.execute(sql, args![user.id, disabled])?;
    report(tx, user, changed)
}

fn report(tx: &mut WriteTx, user: &User, changed: u64) -> Result<(), StoreError> {
    if changed == 0 {
        return Ok(());
    }
    tx.changed(user.account, ChangeKind::User, user.id.0)?;
    tokens::invalidate_identities(tx, user.account)
}
