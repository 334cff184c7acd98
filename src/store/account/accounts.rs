//! The `account` table.

use crate::model::account::{Account, DeskAccount, QuotaOverride};
use crate::model::change::ChangeKind;
use crate::model::id::AccountId;
use crate::model::page::Paged;
use crate::model::user::Email;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

const COLUMNS: &str = "id, company, email, created, vpcs_per_region, subnets_per_vpc, attachment_bytes";

const DESK_COLUMNS: &str = "a.id, a.company, a.email, a.created,
    (SELECT count(*) FROM ticket t WHERE t.account = a.id AND t.is_closed = 0),
    (SELECT count(*) FROM ticket t WHERE t.account = a.id),
    (SELECT count(*) FROM app_user u WHERE u.account = a.id)";

pub static FIELDS: [Field; 4] = [
    Field::new("id", Kind::Integer, "a.id"),
    Field::new("company", Kind::Text, "a.company"),
    Field::new("email", Kind::Text, "a.email"),
    Field::new("created", Kind::Time, "a.created"),
];

/// A page of all accounts, with the columns for the desk.
pub fn desk_list(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<DeskAccount>, StoreError> {
    let collection = Collection {
        columns: DESK_COLUMNS,
        from: "account a",
        condition: "1 = 1".to_owned(),
        args: Vec::new(),
        key: &["a.id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read_desk)
}

pub fn desk_find(tx: &mut ReadTx, id: AccountId) -> Result<Option<DeskAccount>, StoreError> {
    let sql = format!("SELECT {DESK_COLUMNS} FROM account a WHERE a.id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read_desk).transpose()
}

pub fn list(tx: &mut ReadTx) -> Result<Vec<Account>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM account ORDER BY id");
    tx.read(&sql, args![], read)
}

pub fn find(tx: &mut ReadTx, id: AccountId) -> Result<Option<Account>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM account WHERE id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

pub fn insert(tx: &mut WriteTx, company: &str, email: &Email) -> Result<AccountId, StoreError> {
    let now = tx.now();
    let sql = "INSERT INTO account (company, email, created) VALUES ($1, $2, $3) RETURNING id";
    let id: AccountId = tx.one(sql, args![company, email, now])?.take()?;
    tx.changed(id, ChangeKind::Account, id.0)?;
    Ok(id)
}

pub fn set_quota(tx: &mut WriteTx, id: AccountId, quota: QuotaOverride) -> Result<(), StoreError> {
    let changed = tx.execute(
        "UPDATE account SET vpcs_per_region = $2, subnets_per_vpc = $3, attachment_bytes = $4
         WHERE id = $1 AND (vpcs_per_region IS DISTINCT FROM $2 OR subnets_per_vpc IS DISTINCT FROM $3
             OR attachment_bytes IS DISTINCT FROM $4)",
        args![
            id,
            quota.vpcs_per_region,
            quota.subnets_per_vpc,
            quota.attachment_bytes
        ],
    )?;
    match changed {
        0 => Ok(()),
        _ => tx.changed(id, ChangeKind::Account, id.0),
    }
}

fn read(row: &mut Row) -> Result<Account, StoreError> {
    Ok(Account {
        id: row.take()?,
        company: row.take()?,
        email: row.take()?,
        created: row.take()?,
        quota: QuotaOverride {
            vpcs_per_region: row.take()?,
            subnets_per_vpc: row.take()?,
            attachment_bytes: row.take()?,
        },
    })
}

fn read_desk(row: &mut Row) -> Result<DeskAccount, StoreError> {
    Ok(DeskAccount {
        id: row.take()?,
        company: row.take()?,
        email: row.take()?,
        created: row.take()?,
        tickets_open: row.take()?,
        tickets: row.take()?,
        users: row.take()?,
    })
}
