//! Accounts as rows.

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};
use super::value::{Row, args};
use crate::model::account::{Account, QuotaOverride};
use crate::model::id::AccountId;
use crate::model::user::Email;

const COLUMNS: &str = "id, company, email, created, vpcs_per_region, subnets_per_vpc";

pub fn list(tx: &mut ReadTx) -> Result<Vec<Account>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM account ORDER BY id");
    tx.all(&sql, args![])?.iter_mut().map(read).collect()
}

pub fn find(tx: &mut ReadTx, id: AccountId) -> Result<Option<Account>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM account WHERE id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

pub fn insert(tx: &mut WriteTx, company: &str, email: &Email) -> Result<AccountId, StoreError> {
    let now = tx.now();
    let sql = "INSERT INTO account (company, email, created) VALUES ($1, $2, $3) RETURNING id";
    tx.one(sql, args![company, email, now])?.take()
}

pub fn set_quota(tx: &mut WriteTx, id: AccountId, quota: QuotaOverride) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE account SET vpcs_per_region = $2, subnets_per_vpc = $3 WHERE id = $1",
        args![id, quota.vpcs_per_region, quota.subnets_per_vpc],
    )?;
    Ok(())
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
        },
    })
}
