//! Records and reads events.
//!
//! A change and its event are written in the same transaction, so an event exists if and only if its change
//! does (interface §6, decision 0008).

use std::collections::HashSet;

use crate::model::entity::{Entity, EntityKind};
use crate::model::event::{Action, Event};
use crate::model::event_change::Changes;
use crate::model::grant::GrantKind;
use crate::model::id::{AccountId, EventId, InstanceId, UserId};
use crate::model::instance::{Instance, InstanceLabel};
use crate::model::page::Paged;
use crate::model::subject::SubjectKind;
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

/// The progress of a plain change, which takes no time.
const NOTIFICATION: Progress = Progress {
    status: "notification",
    percent: None,
    duration: None,
};
const DAY_SECONDS: i64 = 24 * 60 * 60;

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Event>> {
    let (query, after) = list.read_after(tx.policy(), &store::events::FIELDS)?;
    Ok(store::events::list(tx, reader(tx, caller), after, &query)?)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: EventId) -> Result<Event> {
    let event = store::events::find(tx, reader(tx, caller), id)?;
    event.ok_or(Error::NotFound)
}

/// The objects of events that still exist.
#[derive(Debug, Default)]
pub struct Existing(HashSet<(&'static str, i64)>);

impl Existing {
    /// Whether an object exists. Tickets are never deleted.
    pub fn has(&self, entity: &Entity) -> bool {
        entity.kind == EntityKind::Ticket || self.0.contains(&(entity.kind.word(), entity.id))
    }
}

/// The VPCs, subnets and instances of these events of the caller's account that still exist.
pub fn existing(tx: &mut ReadTx, caller: &Caller, events: &[Event]) -> Result<Existing> {
    existing_in(tx, caller.account, events)
}

/// The VPCs, subnets and instances of these events of an account that still exist.
pub fn existing_in(tx: &mut ReadTx, account: AccountId, events: &[Event]) -> Result<Existing> {
    let mut existing = HashSet::new();
    for kind in store::events::DELETABLE {
        let entities = events.iter().filter_map(|event| event.entity.as_ref());
        let ids = entities
            .filter(|entity| entity.kind.word() == kind)
            .map(|entity| entity.id);
        let found = store::events::existing(tx, account, kind, &ids.collect::<Vec<_>>())?;
        existing.extend(found.into_iter().map(|id| (kind, id)));
    }
    Ok(Existing(existing))
}

/// Marks this event and all earlier ones as seen by the caller.
pub fn mark_seen(tx: &mut WriteTx, caller: &Caller, id: EventId, request: &Request) -> Result<()> {
    request.check_if_match(&view(tx, caller, id)?)?;
    request.require_valid_body()?;
    Ok(store::events::mark_seen(tx, caller.user(), id)?)
}

/// Marks this event as read by the caller.
pub fn mark_read(tx: &mut WriteTx, caller: &Caller, id: EventId, request: &Request) -> Result<()> {
    request.check_if_match(&view(tx, caller, id)?)?;
    request.require_valid_body()?;
    Ok(store::events::mark_read(tx, caller.user(), id)?)
}

/// The position of a stream.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    last: EventId,
    /// The account's revision when the stream last returned all events.
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

/// The next events of a stream, oldest first, and its new position. Reads events only if the account's
/// revision has risen since the stream last returned all events (decision 0026).
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
    let is_complete = (found.len() as i64) < limit;
    let last_found = found.last().map_or(position.last, |event| event.id);
    let position = Position {
        // Skips the events that the caller cannot see, so that the next call does not scan them again.
        last: match is_complete {
            true => store::events::last_id(tx, caller.account)?.max(last_found),
            false => last_found,
        },
        complete_at: Some(revision).filter(|_| is_complete),
    };
    Ok((found, position))
}

/// The number of events that the caller has neither seen nor caused, up to `limit`.
pub fn unseen(tx: &mut ReadTx, caller: &Caller, limit: i64) -> Result<i64> {
    // Scan more events than the limit, because the caller's own events are not counted.
    let unseen = store::events::unseen(tx, reader(tx, caller), 2 * limit)?;
    Ok(unseen.min(limit))
}

/// The ID of the newest event, where a stream without a start position begins.
pub fn newest_id(tx: &mut ReadTx, caller: &Caller) -> Result<EventId> {
    Ok(store::events::last_id(tx, caller.account)?)
}

/// Deletes a batch of expired events and trims some change logs. Returns true if there can be more to delete.
pub fn sweep(tx: &mut WriteTx) -> Result<bool> {
    const MAX_EVENTS_PER_SWEEP: u64 = 1000;
    const MAX_LOGS_PER_SWEEP: i64 = 100;
    const MAX_LOG_ROWS_PER_SWEEP: i64 = 10_000;
    let before = retained_since(tx);
    let deleted = store::events::delete_before(tx, before, MAX_EVENTS_PER_SWEEP as i64)?;
    let logs_remain = store::revisions::trim(tx, MAX_LOGS_PER_SWEEP, MAX_LOG_ROWS_PER_SWEEP)?;
    Ok(deleted == MAX_EVENTS_PER_SWEEP || logs_remain)
}

pub fn record_vpc(tx: &mut WriteTx, caller: &Caller, action: Action, vpc: &Vpc) -> Result<()> {
    let guard = (GrantKind::Vpc.word(), vpc.id.0);
    record(tx, caller.author(), action, &Entity::vpc(vpc), None, guard)
}

/// Records the update of a VPC.
pub fn record_vpc_update(tx: &mut WriteTx, caller: &Caller, vpc: &Vpc, changes: &Changes) -> Result<()> {
    let objects = (&Entity::vpc(vpc), None);
    let guard = (GrantKind::Vpc.word(), vpc.id.0);
    record_update(tx, caller.author(), Action::VpcUpdate, objects, guard, changes)
}

/// Records the update of a subnet.
pub fn record_subnet_update(
    tx: &mut WriteTx,
    caller: &Caller,
    subnet: &Subnet,
    vpc: &Vpc,
    changes: &Changes,
) -> Result<()> {
    let (entity, secondary) = (Entity::subnet(subnet), Entity::vpc(vpc));
    let objects = (&entity, Some(&secondary));
    let guard = (GrantKind::Vpc.word(), vpc.id.0);
    record_update(tx, caller.author(), Action::SubnetUpdate, objects, guard, changes)
}

/// Records the update of an instance, or of one of its configs.
pub fn record_instance_update(
    tx: &mut WriteTx,
    caller: &Caller,
    instance: &Instance,
    config: Option<&Entity>,
    changes: &Changes,
) -> Result<()> {
    let action = match config {
        Some(_) => Action::ConfigUpdate,
        None => Action::InstanceUpdate,
    };
    let objects = (&Entity::instance(instance), config);
    let guard = (GrantKind::Linode.word(), instance.id.0);
    record_update(tx, caller.author(), action, objects, guard, changes)
}

pub fn record_subnet(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    subnet: &Subnet,
    vpc: &Vpc,
) -> Result<()> {
    let guard = (GrantKind::Vpc.word(), vpc.id.0);
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
    let guard = (GrantKind::Linode.word(), instance.id.0);
    record(
        tx,
        caller.author(),
        action,
        &Entity::instance(instance),
        secondary,
        guard,
    )
}

/// Records the update of each instance that got or lost a tag through an operation on the tag.
pub fn record_tagged(
    tx: &mut WriteTx,
    caller: &Caller,
    instances: &[(InstanceId, InstanceLabel)],
) -> Result<()> {
    for (id, label) in instances {
        let entity = SubjectKind::Linode.entity(id.0, label.as_str().to_owned());
        let guard = (GrantKind::Linode.word(), id.0);
        record(tx, caller.author(), Action::InstanceUpdate, &entity, None, guard)?;
    }
    Ok(())
}

pub fn record_ticket(
    tx: &mut WriteTx,
    author: Author,
    action: Action,
    ticket: &Ticket,
    changes: &Changes,
) -> Result<()> {
    let guard = ("ticket", ticket.id.0);
    record_update(
        tx,
        author,
        action,
        (&Entity::ticket(ticket), None),
        guard,
        changes,
    )
}

/// Records an event about the account itself, its users, tokens or clients. Unrestricted users
/// see the event, and so does the user who caused it.
pub fn record_account(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    entity: Option<&Entity>,
) -> Result<()> {
    record_account_update(tx, caller, action, entity, &Changes::default())
}

/// Like `record_account`, for an update.
pub fn record_account_update(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    entity: Option<&Entity>,
    changes: &Changes,
) -> Result<()> {
    let new = NewEvent {
        action,
        username: caller.username(),
        author: caller.author().user,
        entity,
        secondary: None,
        guard: ("account", 0),
        progress: NOTIFICATION,
        changes,
    };
    Ok(store::events::append_pipelined(tx, caller.account, &new)?)
}

/// Records an event about the account itself or its users that the provider caused. Unrestricted users see it. The
/// author is a member of staff, or `None` for a command on the server.
pub fn record_by_provider(
    tx: &mut WriteTx,
    author: Option<UserId>,
    account: AccountId,
    action: Action,
    entity: Option<&Entity>,
    changes: &Changes,
) -> Result<()> {
    let provider = tx.policy().support.provider.clone();
    let new = NewEvent {
        action,
        username: &provider,
        author,
        entity,
        secondary: None,
        guard: ("account", 0),
        progress: NOTIFICATION,
        changes,
    };
    Ok(store::events::append_pipelined(tx, account, &new)?)
}

/// Records the event of work that finished immediately. Its status is `finished`, because clients wait for
/// this status after they start work.
pub fn record_work(
    tx: &mut WriteTx,
    caller: &Caller,
    action: Action,
    instance: &Instance,
    secondary: Option<&Entity>,
) -> Result<()> {
    record_progress(tx, caller.author(), action, instance, secondary, finished(0))?;
    Ok(())
}

/// The progress of work that took this many microseconds.
pub const fn finished(duration: i64) -> Progress {
    Progress {
        status: "finished",
        percent: Some(100),
        duration: Some(duration),
    }
}

/// Records the event of an action that can take time.
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
        guard: (GrantKind::Linode.word(), instance.id.0),
        progress,
        changes: &Changes::default(),
    };
    Ok(store::events::append(tx, author.account, &new)?)
}

/// The author of an event, and the account that the event belongs to.
#[derive(Clone, Copy)]
pub struct Author<'a> {
    pub account: AccountId,
    /// The name that tenants see. They do not see which member of staff caused an event.
    pub username: &'a str,
    /// `None` for jobs and commands of the provider.
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
    record_update(
        tx,
        author,
        action,
        (entity, secondary),
        guard,
        &Changes::default(),
    )
}

/// Records an event with the changes of an update.
fn record_update(
    tx: &mut WriteTx,
    author: Author,
    action: Action,
    (entity, secondary): (&Entity, Option<&Entity>),
    guard: (&'static str, i64),
    changes: &Changes,
) -> Result<()> {
    let new = NewEvent {
        action,
        username: author.username,
        author: author.user,
        entity: Some(entity),
        secondary,
        guard,
        progress: NOTIFICATION,
        changes,
    };
    Ok(store::events::append_pipelined(tx, author.account, &new)?)
}

fn reader(tx: &ReadTx, caller: &Caller) -> Reader {
    Reader {
        account: caller.account,
        user: caller.user(),
        visibility: caller.visibility(),
        since: retained_since(tx),
    }
}

/// The start of the retention period. Earlier events are hidden.
pub fn retained_since(tx: &ReadTx) -> Time {
    tx.now().plus_seconds(-tx.policy().event_days * DAY_SECONDS)
}
