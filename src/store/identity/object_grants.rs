//! The objects of an account together with the grants of one user on them, filtered and paged.

use crate::model::grant::{EntityGrant, GrantKind, ObjectGrant, Permission};
use crate::model::id::{AccountId, UserId};
use crate::model::page::{Page, Paged};
use crate::store::error::StoreError;
use crate::store::filter::{Field, Filter, FilterShape, Kind};
use crate::store::grants::report_change;
use crate::store::list::{Collection, ListQuery};
use crate::store::tallies::{self, Tally};
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
    let tallies = KINDS.map(|kind| Tally::of(table(kind), account.0));
    let is_counted = tallies.iter().all(|tally| tx.pending_delta(tally) == 0);
    if query.order.is_none() && is_counted && matches!(query.filter.shape(), FilterShape::All) {
        return list_all(tx, account, user, query.page);
    }
    let collection = Collection {
        columns: "o.kind, o.id, o.label, o.permission",
        from: OBJECTS,
        condition: "1 = 1".to_owned(),
        args: args![account, user].to_vec(),
        key: &["o.kind", "o.id"],
        order: Some("o.kind DESC, lower(o.label), o.id"),
        tallied: None,
    };
    collection.page(tx, query, read)
}

/// The kinds in the order of the list.
const KINDS: [GrantKind; 2] = [GrantKind::Vpc, GrantKind::Linode];

/// The table of the objects of a kind, which is also the name of their tally.
const fn table(kind: GrantKind) -> &'static str {
    match kind {
        GrantKind::Linode => "instance",
        GrantKind::Vpc => "vpc",
    }
}

/// A page of all objects. The tallies count them, and the index on the labels finds them, so the cost hardly depends on
/// the number of objects.
fn list_all(
    tx: &mut ReadTx,
    account: AccountId,
    user: UserId,
    page: Page,
) -> Result<Paged<ObjectGrant>, StoreError> {
    let (mut skip, mut results, mut items) = (page.offset(), 0, Vec::new());
    for kind in KINDS {
        let (word, table) = (kind.word(), table(kind));
        let count = tallies::count(tx, &Tally::of(table, account.0))?;
        let limit = page.size - items.len() as i64;
        if skip < count && limit > 0 {
            let sql = format!(
                "SELECT '{word}', o.id, o.label, g.permission FROM
                     (SELECT id, label FROM {table} WHERE account = $1 ORDER BY lower(label) LIMIT $3 OFFSET $4) o
                 LEFT JOIN entity_grant g ON g.app_user = $2 AND g.kind = '{word}' AND g.entity = o.id"
            );
            let mut of_kind = tx.read(&sql, args![account, user, limit, skip], read)?;
            // The join need not preserve the order. Here, restoring it costs less than in the query.
            of_kind.sort_by_cached_key(|object| object.grant.label.to_ascii_lowercase());
            items.extend(of_kind);
        }
        skip = (skip - count).max(0);
        results += count;
    }
    Ok(Paged { items, page, results })
}

/// The number of objects of one kind on which a user has each level of access.
pub fn counts(
    tx: &mut ReadTx,
    account: AccountId,
    user: UserId,
    kind: GrantKind,
) -> Result<Vec<(Option<Permission>, i64)>, StoreError> {
    let mut without = tallies::count(tx, &Tally::of(table(kind), account.0))?;
    let mut counts = Vec::new();
    for permission in [Permission::ReadOnly, Permission::ReadWrite] {
        let sql = "SELECT count(*) FROM entity_grant WHERE app_user = $1 AND kind = $2 AND permission = $3";
        let count: i64 = tx.one(sql, args![user, kind.word(), permission.word()])?.take()?;
        without -= count;
        counts.push((Some(permission), count));
    }
    counts.insert(0, (None, without));
    Ok(counts)
}

/// The first objects of a kind on which a user has a grant, ordered by ID.
pub fn first(
    tx: &mut ReadTx,
    user: UserId,
    kind: GrantKind,
    limit: i64,
) -> Result<Vec<EntityGrant>, StoreError> {
    let sql = format!(
        "SELECT o.id, o.label, g.permission FROM entity_grant g JOIN {} o ON o.id = g.entity
         WHERE g.app_user = $1 AND g.kind = $2 ORDER BY g.entity LIMIT $3",
        table(kind)
    );
    tx.read(&sql, args![user, kind.word(), limit], read_grant)
}

fn read(row: &mut Row) -> Result<ObjectGrant, StoreError> {
    let kind: String = row.take()?;
    let kind = GrantKind::with_word(&kind)
        .ok_or_else(|| StoreError::Unexpected(format!("unknown kind of grant {kind:?}")))?;
    let grant = read_grant(row)?;
    Ok(ObjectGrant { kind, grant })
}

fn read_grant(row: &mut Row) -> Result<EntityGrant, StoreError> {
    Ok(EntityGrant {
        id: row.take()?,
        label: row.take()?,
        permission: row.take()?,
    })
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
