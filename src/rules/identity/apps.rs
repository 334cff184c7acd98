//! OAuth clients that a user has authorized.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::model::id::UserId;
use crate::model::oauth_grant::OauthGrant;
use crate::model::page::Paged;
use crate::model::scope::Scopes;
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
    let query = list.read(tx.policy(), &FIELDS)?;
    let all = applications(tx, caller.user())?;
    Ok(query.select(&all, |grant, name| match name {
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

/// Revokes an application. The tokens of all its authorizations become invalid immediately, and so do
/// the personal tokens that were created with these tokens.
pub fn delete(tx: &mut WriteTx, caller: &Caller, id: i64, request: &Request) -> Result<()> {
    let grant = view(tx, caller, id)?;
    request.check_if_match(&grant)?;
    request.require_valid_body()?;
    revoke_application(tx, &grant)
}

/// The applications of a user.
pub fn list_of_user(tx: &mut ReadTx, username: &str) -> Result<Vec<OauthGrant>> {
    let user = users::load(tx, username)?;
    applications(tx, user.id)
}

/// Revokes an application of a user.
pub fn revoke(tx: &mut WriteTx, username: &str, id: i64) -> Result<()> {
    let user = users::load(tx, username)?;
    let grant = load(tx, user.id, id)?;
    revoke_application(tx, &grant)
}

/// The live authorizations of a user. Each log-in has its own authorization, so that a log-out ends only that
/// authorization (decision 0018). Authorizations for the same client and scopes are merged into the oldest,
/// with the latest expiry.
fn applications(tx: &mut ReadTx, user: UserId) -> Result<Vec<OauthGrant>> {
    let mut found: Vec<OauthGrant> = Vec::new();
    let mut indexes: HashMap<(String, Scopes), usize> = HashMap::new();
    for grant in store::oauth_grants::live_of_user(tx, user)? {
        match indexes.entry((grant.client.clone(), grant.scopes.clone())) {
            Entry::Occupied(index) => {
                let oldest = &mut found[*index.get()];
                oldest.expiry = oldest.expiry.max(grant.expiry);
            }
            Entry::Vacant(index) => {
                index.insert(found.len());
                found.push(grant);
            }
        }
    }
    Ok(found)
}

fn revoke_application(tx: &mut WriteTx, grant: &OauthGrant) -> Result<()> {
    let all = store::oauth_grants::live_for_client(tx, grant.user, &grant.client)?;
    for authorization in all.iter().filter(|other| other.scopes == grant.scopes) {
        store::oauth_grants::revoke_with_personal_tokens(tx, authorization.id)?;
    }
    Ok(())
}

fn load(tx: &mut ReadTx, user: UserId, id: i64) -> Result<OauthGrant> {
    let mut all = applications(tx, user)?.into_iter();
    all.find(|grant| grant.id == id).ok_or(Error::NotFound)
}
