//! OAuth clients that a user has authorized.

use crate::model::id::UserId;
use crate::model::oauth_grant::OauthGrant;
use crate::model::page::Paged;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::users;
use crate::store::filter::{Field, Kind};
use crate::store::value::Value;
use crate::store::{self, ReadTx, WriteTx};

static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("scopes", Kind::Text, ""),
    Field::new("created", Kind::Time, ""),
    Field::new("expiry", Kind::Time, ""),
];

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<OauthGrant>> {
    let wanted = list.read(tx.policy(), &FIELDS)?;
    let all = store::oauth_grants::live_of_user(tx, caller.user())?;
    Ok(wanted.select(&all, |grant, name| match name {
        "id" => Value::from(grant.id),
        "label" => Value::from(grant.client_label.as_str()),
        "scopes" => Value::from(grant.scopes.to_string()),
        "created" => Value::from(grant.created),
        _ => Value::from(grant.expiry),
    }))
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: i64) -> Result<OauthGrant> {
    load(tx, caller.user(), id)
}

/// Revokes an authorization. Its tokens become invalid immediately, and so do personal tokens created with
/// them.
pub fn delete(tx: &mut WriteTx, caller: &Caller, id: i64, request: &Request) -> Result<()> {
    let grant = view(tx, caller, id)?;
    request.unchanged(&grant)?;
    request.require_valid_body()?;
    Ok(store::oauth_grants::revoke_with_personal_tokens(tx, id)?)
}

/// The authorizations of a user.
pub fn of(tx: &mut ReadTx, username: &str) -> Result<Vec<OauthGrant>> {
    let user = users::load(tx, username)?;
    Ok(store::oauth_grants::live_of_user(tx, user.id)?)
}

/// Revokes an authorization of a user.
pub fn revoke(tx: &mut WriteTx, username: &str, id: i64) -> Result<()> {
    let user = users::load(tx, username)?;
    load(tx, user.id, id)?;
    Ok(store::oauth_grants::revoke_with_personal_tokens(tx, id)?)
}

fn load(tx: &mut ReadTx, user: UserId, id: i64) -> Result<OauthGrant> {
    let (now, found) = (tx.now(), store::oauth_grants::find(tx, id)?);
    let own = |grant: &OauthGrant| grant.user == user && grant.is_live(now);
    found.filter(own).ok_or(Error::NotFound)
}
