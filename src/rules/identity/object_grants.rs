//! The grants of a restricted user on the objects of the account, as a filtered list. The console shows and changes
//! the list page by page, because an account can have thousands of objects.

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::grant::{EntityGrant, GrantKind, ObjectGrant, Permission};
use crate::model::page::Paged;
use crate::model::reason::Code;
use crate::model::user::User;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{event_changes, events, users};
use crate::store::{self, ReadTx, WriteTx};

/// The maximum number of objects that one change of grants can affect.
const MAX_OBJECTS: i64 = 100_000;

/// A page of the account's objects, with the permission of another user on each of them.
pub fn list(
    tx: &mut ReadTx,
    caller: &Caller,
    username: &str,
    list: &ListRequest,
) -> Result<Paged<ObjectGrant>> {
    let user = restricted(tx, caller, username)?;
    let query = list.read(tx.policy(), &store::object_grants::FIELDS)?;
    Ok(store::object_grants::list(tx, caller.account, user.id, &query)?)
}

/// The access of a user to the objects of one kind: the number of objects of each level, and the first objects with
/// access.
pub struct KindSummary {
    pub counts: Vec<(Option<Permission>, i64)>,
    pub first: Vec<EntityGrant>,
}

impl KindSummary {
    /// The number of objects on which the user has a grant.
    pub fn granted(&self) -> i64 {
        let granted = self.counts.iter().filter(|(level, _)| level.is_some());
        granted.map(|(_, count)| count).sum()
    }
}

/// The access of another user to VPCs, and to instances. `None` for an unrestricted user.
pub fn summary(
    tx: &mut ReadTx,
    caller: &Caller,
    username: &str,
    max_first: i64,
) -> Result<Option<[KindSummary; 2]>> {
    let user = users::view(tx, caller, username)?;
    if !user.restricted {
        return Ok(None);
    }
    let mut of_kind = |kind| {
        Ok::<_, Error>(KindSummary {
            counts: store::object_grants::counts(tx, caller.account, user.id, kind)?,
            first: store::object_grants::first(tx, user.id, kind, max_first)?,
        })
    };
    Ok(Some([of_kind(GrantKind::Vpc)?, of_kind(GrantKind::Linode)?]))
}

/// All objects that match the conditions.
pub fn matching(
    tx: &mut ReadTx,
    caller: &Caller,
    username: &str,
    conditions: &ListRequest,
) -> Result<Vec<ObjectGrant>> {
    let found = list(tx, caller, username, &unpaged(conditions))?;
    match found.results > MAX_OBJECTS {
        true => Err(Error::refused(
            Code::OutOfRange,
            format!("At most {MAX_OBJECTS} objects can be changed together; use a filter"),
        )),
        false => Ok(found.items),
    }
}

/// Fails if one of the objects that match the conditions, or the permission on it, has changed since the caller read
/// them.
pub fn check_unchanged(
    tx: &mut ReadTx,
    caller: &Caller,
    username: &str,
    conditions: &ListRequest,
    request: &Request,
) -> Result<()> {
    request.check_if_match(&matching(tx, caller, username, conditions)?)
}

/// Sets one permission on all objects that match the conditions. `None` removes the grants. The version in the
/// request is that of the matching objects. Returns the number of changed grants.
pub fn set_all(
    tx: &mut WriteTx,
    caller: &Caller,
    username: &str,
    conditions: &ListRequest,
    permission: Option<Permission>,
    request: &Request,
) -> Result<u64> {
    let user = restricted(tx, caller, username)?;
    check_unchanged(tx, caller, username, conditions, request)?;
    let query = unpaged(conditions).read(tx.policy(), &store::object_grants::FIELDS)?;
    let changed = store::object_grants::set_all(tx, caller.account, user.id, &query.filter, permission)?;
    if changed > 0 {
        let access = permission.map_or("none", Permission::word);
        let changes = event_changes::of_field("grants", "", format!("{access} on {changed} objects"));
        let entity = Entity::user(&user);
        events::record_account_update(tx, caller, Action::UserUpdate, Some(&entity), &changes)?;
    }
    Ok(changed)
}

fn unpaged(conditions: &ListRequest) -> ListRequest {
    ListRequest {
        only: conditions.only.clone(),
        ..ListRequest::first(MAX_OBJECTS)
    }
}

/// The user. An unrestricted user has no grants.
fn restricted(tx: &mut ReadTx, caller: &Caller, username: &str) -> Result<User> {
    let user = users::view(tx, caller, username)?;
    Some(user).filter(|user| user.restricted).ok_or(Error::NotFound)
}
