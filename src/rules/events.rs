//! Events: recording what happened, and reading it back.
//!
//! Recording is part of the change itself: an event is there exactly if its change is.

use super::caller::Caller;
use super::error::{Error, Result};
use super::lists::ListRequest;
use super::request::Request;
use crate::model::event::{Action, Entity, Event};
use crate::model::grant::Granted;
use crate::model::id::EventId;
use crate::model::page::Paged;
use crate::model::subnet::Subnet;
use crate::model::time::Time;
use crate::model::vpc::Vpc;
use crate::store::events::{NewEvent, Reader};
use crate::store::{self, ReadTx, WriteTx};

/// The status of an event that tells of something done at once.
const NOTIFICATION: &str = "notification";
const DAY: i64 = 24 * 60 * 60;

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Event>> {
    let (wanted, after) = list.read_after(tx.policy(), &store::events::FIELDS)?;
    Ok(store::events::list(tx, reader(tx, caller), after, &wanted)?)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: EventId) -> Result<Event> {
    let event = store::events::find(tx, reader(tx, caller), id)?;
    event.ok_or(Error::NotFound)
}

/// Marks this event and all before it as seen by the caller.
pub fn mark_seen(tx: &mut WriteTx, caller: &Caller, id: EventId, request: &Request) -> Result<()> {
    request.unchanged(&view(tx, caller, id)?)?;
    request.asks_nothing()?;
    Ok(store::events::mark_seen(tx, caller.user(), id)?)
}

/// Marks this one event as read by the caller.
pub fn mark_read(tx: &mut WriteTx, caller: &Caller, id: EventId, request: &Request) -> Result<()> {
    request.unchanged(&view(tx, caller, id)?)?;
    request.asks_nothing()?;
    Ok(store::events::mark_read(tx, caller.user(), id)?)
}

/// The next events after one, oldest first, for a stream.
pub fn next(tx: &mut ReadTx, caller: &Caller, after: EventId, most: i64) -> Result<Vec<Event>> {
    Ok(store::events::next(tx, reader(tx, caller), after, most)?)
}

/// Where a stream begins that asks for nothing older: behind the newest event.
pub fn end(tx: &mut ReadTx, caller: &Caller) -> Result<EventId> {
    Ok(store::events::last_id(tx, caller.account)?)
}

/// Deletes events that are kept no longer, a few at a time; whether there may be more.
pub fn sweep(tx: &mut WriteTx) -> Result<bool> {
    const FEW: u64 = 1000;
    let before = kept_since(tx);
    Ok(store::events::delete_before(tx, before, FEW as i64)? == FEW)
}

pub fn record_vpc(tx: &mut WriteTx, caller: &Caller, action: Action, vpc: &Vpc) -> Result<()> {
    record(tx, caller, action, &Entity::vpc(vpc), None, vpc)
}

pub fn record_subnet(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    subnet: &Subnet,
    vpc: &Vpc,
) -> Result<()> {
    record(
        tx,
        caller,
        action,
        &Entity::subnet(subnet),
        Some(&Entity::vpc(vpc)),
        vpc,
    )
}

fn record(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    entity: &Entity,
    secondary: Option<&Entity>,
    guard: &Vpc,
) -> Result<()> {
    let new = NewEvent {
        action,
        username: caller.username(),
        entity,
        secondary,
        guard: (Granted::Vpc, guard.id.0),
        status: NOTIFICATION,
    };
    Ok(store::events::append(tx, caller.account, &new)?)
}

fn reader(tx: &ReadTx, caller: &Caller) -> Reader {
    Reader {
        account: caller.account,
        user: caller.user(),
        sight: caller.sight(),
        since: kept_since(tx),
    }
}

fn kept_since(tx: &ReadTx) -> Time {
    tx.now().plus_seconds(-tx.policy().event_days * DAY)
}
