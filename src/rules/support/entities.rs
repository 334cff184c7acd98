//! The directory of objects in other services that tickets can be about.

use crate::model::entity::Entry;
use crate::model::id::AccountId;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::subject::SubjectKind;
use crate::model::text::Line;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

pub type EntityLabel = Line<255>;

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<Entry>> {
    let query = list.read(tx.policy(), &store::entities::FIELDS)?;
    Ok(store::entities::list(tx, &query)?)
}

/// Creates or relabels an entry from a request.
pub fn set_from(tx: &mut WriteTx, request: &Request) -> Result<Entry> {
    let mut form = request.form()?;
    let account = form.required_integer("account_id").map(AccountId);
    let kind = form.required("type", SubjectKind::parse_foreign);
    let id = form.required_integer("id");
    let label = form.required("label", EntityLabel::parse);
    if let Some(account) = account
        && store::accounts::find(tx, account)?.is_none()
    {
        let reason = Reason::new(Code::AccountInvalid, "Account not found");
        form.refuse("account_id", reason);
    }
    if id.is_some_and(|id| id < 1) {
        form.refuse("id", Reason::new(Code::OutOfRange, "Must be 1 or more"));
    }
    let (account, kind, id, label) = form.finish(|| Some((account?, kind?, id?, label?)))?;
    set(tx, account, kind, id, &label)
}

/// Creates or relabels an entry. Tickets about the object show the new label immediately.
pub fn set(
    tx: &mut WriteTx,
    account: AccountId,
    kind: SubjectKind,
    id: i64,
    label: &EntityLabel,
) -> Result<Entry> {
    store::accounts::find(tx, account)?.ok_or(Error::NotFound)?;
    let entry = Entry {
        account,
        kind,
        id,
        label: label.as_str().to_owned(),
    };
    store::entities::set(tx, &entry)?;
    store::tickets::rename_entity(tx, account, &kind.entity(id, entry.label.clone()))?;
    Ok(entry)
}

/// Deletes an entry. Tickets about the object still show its last label.
pub fn delete(tx: &mut WriteTx, account: AccountId, kind: &str, id: i64, request: &Request) -> Result<()> {
    let kind = SubjectKind::parse_foreign(kind).map_err(|_| Error::NotFound)?;
    let entry = store::entities::find(tx, account, kind, id)?.ok_or(Error::NotFound)?;
    request.check_if_match(&entry)?;
    request.require_valid_body()?;
    Ok(store::entities::delete(tx, &entry)?)
}

/// Like `delete`, for a command.
pub fn remove(tx: &mut WriteTx, account: AccountId, kind: SubjectKind, id: i64) -> Result<Entry> {
    let entry = store::entities::find(tx, account, kind, id)?.ok_or(Error::NotFound)?;
    store::entities::delete(tx, &entry)?;
    Ok(entry)
}
