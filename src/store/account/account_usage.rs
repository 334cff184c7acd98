//! The number of objects of an account.

use crate::model::id::AccountId;
use crate::store::error::StoreError;
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
