//! The number of objects of an account.

use std::collections::HashMap;

use crate::model::id::AccountId;
use crate::store::error::StoreError;
use crate::store::list::id_lists;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub fn subnets(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM subnet s JOIN vpc v ON v.id = s.vpc WHERE v.account = $1";
    tx.one(sql, args![account])?.take()
}

pub fn instances(tx: &mut ReadTx, account: AccountId) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM instance WHERE account = $1";
    tx.one(sql, args![account])?.take()
}

/// The number of VPCs of each account. Accounts without VPCs are missing.
pub fn vpcs_of_each(tx: &mut ReadTx, accounts: &[AccountId]) -> Result<HashMap<AccountId, i64>, StoreError> {
    counts(tx, "vpc", accounts)
}

/// The number of instances of each account. Accounts without instances are missing.
pub fn instances_of_each(
    tx: &mut ReadTx,
    accounts: &[AccountId],
) -> Result<HashMap<AccountId, i64>, StoreError> {
    counts(tx, "instance", accounts)
}

fn counts(
    tx: &mut ReadTx,
    table: &str,
    accounts: &[AccountId],
) -> Result<HashMap<AccountId, i64>, StoreError> {
    let ids: Vec<i64> = accounts.iter().map(|account| account.0).collect();
    let mut found = HashMap::new();
    for (list, args) in id_lists(&ids) {
        let sql = format!("SELECT account, count(*) FROM {table} WHERE account IN {list} GROUP BY account");
        let rows: Vec<(AccountId, i64)> = tx.read(&sql, &args, |row| Ok((row.take()?, row.take()?)))?;
        found.extend(rows);
    }
    Ok(found)
}
