//! The objects of an account together with the grants of one user on them, filtered and paged.

use crate::model::grant::{EntityGrant, GrantKind, ObjectGrant, Permission};
use crate::model::id::{AccountId, UserId};
use crate::model::page::Paged;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Filter, Kind};
use crate::store::grants::report_change;
use crate::store::list::{Collection, ListQuery};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

// The account is `$1`, and the user is `$2`.
const OBJECTS: &str = "(SELECT 'linode' AS kind, i.id, i.label, g.permission FROM instance i
        LEFT JOIN entity_grant g ON g.app_user = $2 AND g.kind = 'linode' AND g.entity = i.id
        WHERE i.account = $1
    UNION ALL SELECT 'vpc' AS kind, v.id, v.label, g.permission FROM vpc v
        LEFT JOIN entity_grant g ON g.app_user = $2 AND g.kind = 'vpc' AND g.entity = v.id
        WHERE v.account = $1) o";

pub static FIELDS: [Field; 4] = [
    Field::new("kind", Kind::Text, "o.kind"),
    Field::new("id", Kind::Integer, "o.id"),
    Field::new("label", Kind::Text, "o.label"),
    Field::new("permissions", Kind::Text, "o.permission"),
];

/// A page of the objects: VPCs first, by label.
pub fn list(
    tx: &mut ReadTx,
    account: AccountId,
    user: UserId,
    query: &ListQuery,
) -> Result<Paged<ObjectGrant>, StoreError> {
    let collection = Collection {
        columns: "o.kind, o.id, o.label, o.permission",
        from: OBJECTS,
        condition: "1 = 1".to_owned(),
        args: args![account, user].to_vec(),
        key: &["o.kind", "o.id"],
        order: Some("o.kind DESC, o.label, o.id"),
        tallied: None,
    };
    collection.page(tx, query, read)
}

fn read(row: &mut Row) -> Result<ObjectGrant, StoreError> {
    let kind: String = row.take()?;
    let kind = GrantKind::with_word(&kind)
        .ok_or_else(|| StoreError::Unexpected(format!("unknown kind of grant {kind:?}")))?;
    let grant = EntityGrant {
        id: row.take()?,
        label: row.take()?,
        permission: row.take()?,
    };
    Ok(ObjectGrant { kind, grant })
}

/// Sets the permission of a user on all objects that match a filter. `None` removes the grants. Returns the number
/// of changed grants.
pub fn set_all(
    tx: &mut WriteTx,
    account: AccountId,
    user: UserId,
    filter: &Filter,
    permission: Option<Permission>,
) -> Result<u64, StoreError> {
    let mut args = args![account, user].to_vec();
    let condition = filter.to_sql(None, &mut args);
    let rows = match permission {
        None => {
            let sql = format!(
                "DELETE FROM entity_grant WHERE app_user = $2 AND (kind, entity) IN
                     (SELECT o.kind, o.id FROM {OBJECTS} WHERE {condition} AND o.permission IS NOT NULL)"
            );
            tx.execute(&sql, &args)?
        }
        Some(permission) => {
            args.push(permission.word().into());
            let level = args.len();
            let sql = format!(
                "INSERT INTO entity_grant (app_user, kind, entity, permission)
                 SELECT CAST($2 AS BIGINT), o.kind, o.id, CAST(${level} AS TEXT) FROM {OBJECTS}
                 WHERE {condition} AND o.permission IS DISTINCT FROM ${level}
                 ON CONFLICT (app_user, kind, entity) DO UPDATE SET permission = excluded.permission"
            );
            tx.execute(&sql, &args)?
        }
    };
    report_change(tx, user, rows)?;
    Ok(rows)
}
