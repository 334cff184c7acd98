//! Events: recording what happened, and reading it back.
//!
//! Recording is part of the change itself: an event is there exactly if its change is (interface §6,
//! decision 0008).

use crate::model::entity::Entity;
use crate::model::event::{Action, Event};
use crate::model::grant::Granted;
use crate::model::id::{AccountId, EventId, UserId};
use crate::model::instance::Instance;
use crate::model::page::Paged;
use crate::model::subnet::Subnet;
use crate::model::ticket::Ticket;
use crate::model::time::Time;
use crate::model::vpc::Vpc;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::events::{NewEvent, Progress, Reader};
use crate::store::{self, ReadTx, WriteTx};

/// Of an event that tells of something done at once.
const DONE: Progress = Progress {
    status: "notification",
    percent: None,
    duration: None,
};
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

/// How far a stream has got.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    last: EventId,
    /// The account's revision at which the stream had every event.
    complete_at: Option<i64>,
}

impl Position {
    pub fn after(last: EventId) -> Self {
        Self {
            last,
            complete_at: None,
        }
    }
}

/// The next events of a stream, oldest first, and how far it has got with them. Events are read only if the account's
/// revision has risen since the stream had all of them (decision 0026).
pub fn next(
    tx: &mut ReadTx,
    caller: &Caller,
    position: Position,
    limit: i64,
) -> Result<(Vec<Event>, Position)> {
    let revision = store::revisions::current(tx, caller.account)?;
    if position.complete_at == Some(revision) {
        return Ok((Vec::new(), position));
    }
    let found = store::events::next(tx, reader(tx, caller), position.last, limit)?;
    let position = Position {
        last: found.last().map_or(position.last, |event| event.id),
        complete_at: Some(revision).filter(|_| (found.len() as i64) < limit),
    };
    Ok((found, position))
}

/// How many events the caller has not seen, and not caused; no more than `most` are counted.
pub fn unseen(tx: &mut ReadTx, caller: &Caller, most: i64) -> Result<i64> {
    let unseen = store::events::unseen(tx, reader(tx, caller), 5 * most)?;
    Ok(unseen.min(most))
}

/// Where a stream begins that asks for nothing older: behind the newest event.
pub fn end(tx: &mut ReadTx, caller: &Caller) -> Result<EventId> {
    Ok(store::events::last_id(tx, caller.account)?)
}

/// Deletes events that are kept no longer, and trims change logs, a few at a time; whether there may be more.
pub fn sweep(tx: &mut WriteTx) -> Result<bool> {
    const FEW: u64 = 1000;
    const FEW_LOGS: i64 = 100;
    let before = kept_since(tx);
    let logs_remain = store::revisions::trim(tx, FEW_LOGS)?;
    Ok(store::events::delete_before(tx, before, FEW as i64)? == FEW || logs_remain)
}

pub fn record_vpc(tx: &mut WriteTx, caller: &Caller, action: Action, vpc: &Vpc) -> Result<()> {
    let guard = (Granted::Vpc.word(), vpc.id.0);
    record(tx, caller.author(), action, &Entity::vpc(vpc), None, guard)
}

pub fn record_subnet(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    subnet: &Subnet,
    vpc: &Vpc,
) -> Result<()> {
    let guard = (Granted::Vpc.word(), vpc.id.0);
    record(
        tx,
        caller.author(),
        action,
        &Entity::subnet(subnet),
        Some(&Entity::vpc(vpc)),
        guard,
    )
}

pub fn record_instance(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    instance: &Instance,
    secondary: Option<&Entity>,
) -> Result<()> {
    let guard = (Granted::Linode.word(), instance.id.0);
    record(
        tx,
        caller.author(),
        action,
        &Entity::instance(instance),
        secondary,
        guard,
    )
}

pub fn record_ticket(tx: &mut WriteTx, author: Author, action: Action, ticket: &Ticket) -> Result<()> {
    let guard = ("ticket", ticket.id.0);
    record(tx, author, action, &Entity::ticket(ticket), None, guard)
}

/// Records what was done to the account itself, its users, tokens or clients: told to unrestricted
/// users, and to whoever did it.
pub fn record_account(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    entity: Option<&Entity>,
) -> Result<()> {
    let new = NewEvent {
        action,
        username: caller.username(),
        author: Some(caller.user()),
        entity,
        secondary: None,
        guard: ("account", 0),
        progress: DONE,
    };
    Ok(store::events::append_without_id(tx, caller.account, &new)?)
}

/// Records something that takes time, or took none though it might have.
pub fn record_progress(
    tx: &mut WriteTx,
    author: Author,
    action: Action,
    instance: &Instance,
    secondary: Option<&Entity>,
    progress: Progress,
) -> Result<EventId> {
    let new = NewEvent {
        action,
        username: author.username,
        author: author.user,
        entity: Some(&Entity::instance(instance)),
        secondary,
        guard: (Granted::Linode.word(), instance.id.0),
        progress,
    };
    Ok(store::events::append(tx, author.account, &new)?)
}

/// Whose doing an event is, and in which account.
#[derive(Clone, Copy)]
pub struct Author<'a> {
    pub account: AccountId,
    pub username: &'a str,
    /// `None` for the provider, whoever of its staff it was.
    pub user: Option<UserId>,
}

fn record(
    tx: &mut WriteTx,
    author: Author,
    action: Action,
    entity: &Entity,
    secondary: Option<&Entity>,
    guard: (&'static str, i64),
) -> Result<()> {
    let new = NewEvent {
        action,
        username: author.username,
        author: author.user,
        entity: Some(entity),
        secondary,
        guard,
        progress: DONE,
    };
    Ok(store::events::append_without_id(tx, author.account, &new)?)
}

fn reader(tx: &ReadTx, caller: &Caller) -> Reader {
    Reader {
        account: caller.account,
        user: caller.user(),
        visibility: caller.visibility(),
        since: kept_since(tx),
    }
}

fn kept_since(tx: &ReadTx) -> Time {
    tx.now().plus_seconds(-tx.policy().event_days * DAY)
}
