//! Grants as rows.

use crate::model::grant::{Global, Granted, Granting, Permission};
use crate::model::id::{AccountId, UserId};
use crate::store::error::StoreError;
use crate::store::tokens::forget_identities;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

pub fn globals(tx: &mut ReadTx, user: UserId) -> Result<Vec<Global>, StoreError> {
    let rows = tx.all(
        "SELECT name FROM global_grant WHERE app_user = $1 ORDER BY name",
        args![user],
    )?;
    let read = |name: String| {
        Global::parse(&name).map_err(|_| StoreError::Unexpected(format!("a global grant is {name:?}")))
    };
    rows.into_iter().map(|mut row| read(row.take()?)).collect()
}

/// What a user was granted on one thing.
pub fn permission(
    tx: &mut ReadTx,
    user: UserId,
    kind: Granted,
    entity: i64,
) -> Result<Option<Permission>, StoreError> {
    let row = tx.find(
        "SELECT permission FROM entity_grant WHERE app_user = $1 AND kind = $2 AND entity = $3",
        args![user, kind.word(), entity],
    )?;
    row.map(|mut row| row.take()).transpose()
}

pub fn add_global(tx: &mut WriteTx, user: UserId, global: Global) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO global_grant (app_user, name) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        args![user, global.word()],
    )?;
    forget_identities(tx)
}

pub fn set_account_access(
    tx: &mut WriteTx,
    user: UserId,
    access: Option<Permission>,
) -> Result<(), StoreError> {
    let sql = "UPDATE app_user SET account_access = $2 WHERE id = $1";
    tx.execute(sql, args![user, access.map(Permission::word)])?;
    forget_identities(tx)
}

pub fn set(
    tx: &mut WriteTx,
    user: UserId,
    kind: Granted,
    entity: i64,
    permission: Permission,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO entity_grant (app_user, kind, entity, permission) VALUES ($1, $2, $3, $4)
         ON CONFLICT (app_user, kind, entity) DO UPDATE SET permission = excluded.permission",
        args![user, kind.word(), entity, permission.word()],
    )?;
    Ok(())
}

/// Everything of a kind that an account has, with what a user may do with each.
pub fn of_kind(
    tx: &mut ReadTx,
    account: AccountId,
    user: UserId,
    kind: Granted,
) -> Result<Vec<Granting>, StoreError> {
    let table = match kind {
        Granted::Linode => "instance",
        Granted::Vpc => "vpc",
    };
    let sql = format!(
        "SELECT e.id, e.label, g.permission FROM {table} e
         LEFT JOIN entity_grant g ON g.app_user = $2 AND g.kind = $3 AND g.entity = e.id
         WHERE e.account = $1 ORDER BY e.id"
    );
    let read = |mut row: Row| {
        Ok(Granting {
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

pub fn remove(tx: &mut WriteTx, user: UserId, kind: Granted, entity: i64) -> Result<(), StoreError> {
    let sql = "DELETE FROM entity_grant WHERE app_user = $1 AND kind = $2 AND entity = $3";
    tx.execute(sql, args![user, kind.word(), entity])?;
    Ok(())
}

pub fn remove_global(tx: &mut WriteTx, user: UserId, global: Global) -> Result<(), StoreError> {
    let sql = "DELETE FROM global_grant WHERE app_user = $1 AND name = $2";
    tx.execute(sql, args![user, global.word()])?;
    forget_identities(tx)
}

/// Takes everything back that a user was granted.
pub fn clear(tx: &mut WriteTx, user: UserId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM entity_grant WHERE app_user = $1", args![user])?;
    tx.execute("DELETE FROM global_grant WHERE app_user = $1", args![user])?;
    set_account_access(tx, user, None)
}
