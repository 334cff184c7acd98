//! Collections of the public service that are empty, because Garth does not have the product.

use super::caller::Caller;
use super::error::{Error, Result};
use super::lists::ListRequest;
use super::not_offered;
use super::request::Request;
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::store::filter::{Field, Kind};

/// The fields of all these collections. Clients filter and sort by them, although the lists are always empty.
static FIELDS: [Field; 25] = [
    Field::new("id", Kind::Integer, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("type", Kind::Text, ""),
    Field::new("status", Kind::Text, ""),
    Field::new("region", Kind::Text, ""),
    Field::new("tags", Kind::Text, ""),
    Field::new("group", Kind::Text, ""),
    Field::new("description", Kind::Text, ""),
    Field::new("created", Kind::Time, ""),
    Field::new("updated", Kind::Time, ""),
    Field::new("expiry", Kind::Time, ""),
    Field::new("date", Kind::Time, ""),
    Field::new("when", Kind::Time, ""),
    Field::new("severity", Kind::Text, ""),
    Field::new("entity.id", Kind::Integer, ""),
    Field::new("entity.type", Kind::Text, ""),
    Field::new("token", Kind::Text, ""),
    Field::new("is_sender", Kind::Boolean, ""),
    Field::new("is_public", Kind::Boolean, ""),
    Field::new("mine", Kind::Boolean, ""),
    Field::new("username", Kind::Text, ""),
    Field::new("domain", Kind::Text, ""),
    Field::new("linode_id", Kind::Integer, ""),
    Field::new("address", Kind::Text, ""),
    Field::new("platform", Kind::Text, ""),
];

pub fn list(policy: &Policy, list: &ListRequest) -> Result<Paged<()>> {
    list.read_empty(policy, &FIELDS)
}

/// A list for which a restricted user needs account access.
pub fn list_with_account_access(policy: &Policy, caller: &Caller, list: &ListRequest) -> Result<Paged<()>> {
    caller.account_access().ok_or(Error::Forbidden)?;
    self::list(policy, list)
}

/// A list for unrestricted users.
pub fn list_unrestricted(policy: &Policy, caller: &Caller, list: &ListRequest) -> Result<Paged<()>> {
    caller.require_unrestricted()?;
    self::list(policy, list)
}

/// Refuses an operation on one of these collections.
pub fn refuse(request: &Request, text: &str) -> Result<()> {
    request.require_valid_body()?;
    Err(not_offered::refusal(text))
}
