//! The log-in attempts of an account's users. `sessions.rs` records them.

use crate::model::id::LoginRecordId;
use crate::model::login_record::LoginRecord;
use crate::model::page::Paged;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::store::login_records::Scope;
use crate::store::{self, ReadTx, WriteTx};

const MAX_RECORDS_PER_SWEEP: u64 = 1000;
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The attempts of all users of the account, for unrestricted users.
pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<LoginRecord>> {
    caller.require_unrestricted()?;
    page(tx, Scope::Account(caller.account), list)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: LoginRecordId) -> Result<LoginRecord> {
    caller.require_unrestricted()?;
    let scope = Scope::Account(caller.account);
    store::login_records::find(tx, scope, id)?.ok_or(Error::NotFound)
}

/// The caller's own attempts.
pub fn list_own(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<LoginRecord>> {
    page(tx, Scope::User(caller.user()), list)
}

pub fn view_own(tx: &mut ReadTx, caller: &Caller, id: LoginRecordId) -> Result<LoginRecord> {
    let scope = Scope::User(caller.user());
    store::login_records::find(tx, scope, id)?.ok_or(Error::NotFound)
}

fn page(tx: &mut ReadTx, scope: Scope, list: &ListRequest) -> Result<Paged<LoginRecord>> {
    let query = list.read(tx.policy(), &store::login_records::FIELDS)?;
    Ok(store::login_records::list(tx, scope, &query)?)
}

/// Deletes a batch of attempts that are older than the retention of events. Returns true if there can be more
/// to delete.
pub fn sweep(tx: &mut WriteTx) -> Result<bool> {
    let before = tx.now().plus_seconds(-tx.policy().event_days * DAY_SECONDS);
    let deleted = store::login_records::delete_before(tx, before, MAX_RECORDS_PER_SWEEP as i64)?;
    Ok(deleted == MAX_RECORDS_PER_SWEEP)
}
