//! The tables `global_grant` and `entity_grant`.

use crate::model::change::ChangeKind;
use crate::model::grant::{EntityGrant, Global, GrantKind, Permission};
use crate::model::id::{AccountId, UserId};
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::tokens::invalidate_identities;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

pub fn globals(tx: &mut ReadTx, user: UserId) -> Result<Vec<Global>, StoreError> {
    let rows = tx.all(
        "SELECT name FROM global_grant WHERE app_user = $1 ORDER BY name",
        args![user],
    )?;
    let read = |name: String| {
        Global::parse(&name).map_err(|_| StoreError::Unexpected(format!("unknown global grant {name:?}")))
    };
    rows.into_iter().map(|mut row| read(row.take()?)).collect()
}

/// The global grants of all users of an account, ordered by user and name.
pub fn globals_in(tx: &mut ReadTx, account: AccountId) -> Result<Vec<(UserId, String)>, StoreError> {
    let rows = tx.all(
        "SELECT g.app_user, g.name FROM global_grant g JOIN app_user u ON u.id = g.app_user
         WHERE u.account = $1 ORDER BY g.app_user, g.name",
        args![account],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?)))
        .collect()
}

/// A user, and the ID and the permission of an object.
pub type UserGrant = (UserId, i64, Permission);

/// The grants of all users of an account on the objects of a kind.
pub fn entities_in(
    tx: &mut ReadTx,
    account: AccountId,
    kind: GrantKind,
) -> Result<Vec<UserGrant>, StoreError> {
    let rows = tx.all(
        "SELECT g.app_user, g.entity, g.permission FROM entity_grant g JOIN app_user u ON u.id = g.app_user
         WHERE u.account = $1 AND g.kind = $2 ORDER BY g.app_user, g.entity",
        args![account, kind.word()],
    )?;
    rows.into_iter()
        .map(|mut row| Ok((row.take()?, row.take()?, row.take()?)))
        .collect()
}

/// The permission of a user on one object.
pub fn permission(
    tx: &mut ReadTx,
    user: UserId,
    kind: GrantKind,
    entity: i64,
) -> Result<Option<Permission>, StoreError> {
    let row = tx.find(
        "SELECT permission FROM entity_grant WHERE app_user = $1 AND kind = $2 AND entity = $3",
        args![user, kind.word(), entity],
    )?;
    row.map(|mut row| row.take()).transpose()
}

/// Whether a user has a grant to change at least one object of a kind.
pub fn may_change_any(tx: &mut ReadTx, user: UserId, kind: GrantKind) -> Result<bool, StoreError> {
    let row = tx.find(
        "SELECT 1 FROM entity_grant WHERE app_user = $1 AND kind = $2 AND permission = $3 LIMIT 1",
        args![user, kind.word(), Permission::ReadWrite.word()],
    )?;
    Ok(row.is_some())
}

pub fn add_global(tx: &mut WriteTx, user: UserId, global: Global) -> Result<(), StoreError> {
    let sql = "INSERT INTO global_grant (app_user, name) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let rows = tx.execute(sql, args![user, global.word()])?;
    report_identity_change(tx, user, rows)
}

pub fn set_account_access(
    tx: &mut WriteTx,
    user: UserId,
    access: Option<Permission>,
) -> Result<(), StoreError> {
    let sql = "UPDATE app_user SET account_access = $2 WHERE id = $1 AND account_access IS DISTINCT FROM $2";
    let rows = tx.execute(sql, args![user, access.map(Permission::word)])?;
    report_identity_change(tx, user, rows)
}

pub fn set(
    tx: &mut WriteTx,
    user: UserId,
    kind: GrantKind,
    entity: i64,
    permission: Permission,
) -> Result<(), StoreError> {
    let rows = tx.execute(
        "INSERT INTO entity_grant (app_user, kind, entity, permission) VALUES ($1, $2, $3, $4)
         ON CONFLICT (app_user, kind, entity) DO UPDATE SET permission = excluded.permission
             WHERE entity_grant.permission <> excluded.permission",
        args![user, kind.word(), entity, permission.word()],
    )?;
    report_change(tx, user, rows)
}

/// All objects of a kind in an account, with the permission of a user on each object.
pub fn list_by_kind(
    tx: &mut ReadTx,
    account: AccountId,
    user: UserId,
    kind: GrantKind,
) -> Result<Vec<EntityGrant>, StoreError> {
    let table = match kind {
        GrantKind::Linode => "instance",
        GrantKind::Vpc => "vpc",
    };
    let sql = format!(
        "SELECT e.id, e.label, g.permission FROM {table} e
         LEFT JOIN entity_grant g ON g.app_user = $2 AND g.kind = $3 AND g.entity = e.id
         WHERE e.account = $1 ORDER BY e.id"
    );
    let read = |mut row: Row| {
        Ok(EntityGrant {
            id: row.take()?,
            label: row.take()?,
            permission: row.take()?,
        })
    };
    tx.all(&sql, args![account, user, kind.word()])?
        .into_iter()
        .map(read)
        .collect()
}

pub fn remove(tx: &mut WriteTx, user: UserId, kind: GrantKind, entity: i64) -> Result<(), StoreError> {
    let sql = "DELETE FROM entity_grant WHERE app_user = $1 AND kind = $2 AND entity = $3";
    let rows = tx.execute(sql, args![user, kind.word(), entity])?;
    report_change(tx, user, rows)
}

pub fn remove_global(tx: &mut WriteTx, user: UserId, global: Global) -> Result<(), StoreError> {
    let sql = "DELETE FROM global_grant WHERE app_user = $1 AND name = $2";
    let rows = tx.execute(sql, args![user, global.word()])?;
    report_identity_change(tx, user, rows)
}

/// Deletes all grants of a user.
pub fn clear(tx: &mut WriteTx, user: UserId) -> Result<(), StoreError> {
    let rows = tx.execute("DELETE FROM entity_grant WHERE app_user = $1", args![user])?;
    report_change(tx, user, rows)?;
    let rows = tx.execute("DELETE FROM global_grant WHERE app_user = $1", args![user])?;
    report_identity_change(tx, user, rows)?;
    set_account_access(tx, user, None)
}

/// Reports a change of a user's grants. Does nothing if the statement has changed no rows.
pub(super) fn report_change(tx: &mut WriteTx, user: UserId, rows: u64) -> Result<(), StoreError> {
    match rows {
        0 => Ok(()),
        _ => tx.changed(Owner::User(user), ChangeKind::Grant, user.0),
    }
}

/// Reports a change of grants that are part of the user's identity, and invalidates cached identities. Does
/// nothing if the statement has changed no rows.
fn report_identity_change(tx: &mut WriteTx, user: UserId, rows: u64) -> Result<(), StoreError> {
    report_change(tx, user, rows)?;
    match rows {
        0 => Ok(()),
        _ => invalidate_identities(tx, Owner::User(user)),
    }
}
