//! The actions on selected objects, each with the rule that it runs for one object.

use super::selection::{Action, Target};
use crate::console::{desk, instances, layout, subnets, tickets, vpcs};
use crate::model::entity_tag::EntityTag;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{InstanceId, SubnetId, TicketId, VpcId};
use crate::model::instance::{Instance, Status};
use crate::model::ticket;
use crate::rules::agent::Staff;
use crate::rules::caller::{Caller, Principal};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Error, Result};
use crate::store::{ReadTx, WriteTx};

/// A selected object: its name, and the effect of the action on it.
#[derive(Clone, Debug)]
pub struct Item {
    pub id: i64,
    pub label: String,
    pub url: String,
    /// A part of the effect that the name of the action does not say.
    pub effect: String,
    /// The reason why the action is not possible.
    pub blocked: Option<String>,
    /// The version that the user confirms. `None` if the object changes without a user.
    pub version: Option<EntityTag>,
}

/// A user who acts on the objects of a list: a tenant, or a member of staff.
pub trait Actor: Principal {
    /// The effect of an action on one object. Fails with `NotFound` if the user cannot see the object.
    fn preview(&self, tx: &mut ReadTx, target: Target, action: Action, id: i64) -> Result<Item>;
    /// Runs an action on one object.
    fn run(&self, tx: &mut WriteTx, at: (Target, Action), id: i64, request: &Request) -> Result<()>;
}

impl Actor for Caller {
    fn preview(&self, tx: &mut ReadTx, target: Target, action: Action, id: i64) -> Result<Item> {
        match target {
            Target::Vpcs => preview_vpc(tx, self, VpcId(id)),
            Target::Subnets(vpc) => preview_subnet(tx, self, (vpc, SubnetId(id))),
            Target::Instances => preview_instance(tx, self, InstanceId(id), action),
            Target::Tickets => preview_ticket(tx, self, TicketId(id)),
            Target::Desk => Err(Error::NotFound),
        }
    }

    fn run(
        &self,
        tx: &mut WriteTx,
        (target, action): (Target, Action),
        id: i64,
        request: &Request,
    ) -> Result<()> {
        match (target, action) {
            (Target::Vpcs, Action::Delete) => rules::vpcs::delete(tx, self, VpcId(id), request),
            (Target::Subnets(vpc), Action::Delete) => {
                rules::subnets::delete(tx, self, (vpc, SubnetId(id)), request)
            }
            (Target::Instances, Action::Boot) => rules::power::boot(tx, self, InstanceId(id), request),
            (Target::Instances, Action::Reboot) => rules::power::reboot(tx, self, InstanceId(id), request),
            (Target::Instances, Action::Shutdown) => {
                rules::power::shutdown(tx, self, InstanceId(id), request)
            }
            (Target::Instances, Action::Delete) => {
                rules::instances::delete(tx, self, InstanceId(id), request)
            }
            (Target::Tickets, Action::Close) => rules::tickets::close(tx, self, TicketId(id), request),
            _ => Err(Error::NotFound),
        }
    }
}

impl Actor for Staff {
    fn preview(&self, tx: &mut ReadTx, _: Target, action: Action, id: i64) -> Result<Item> {
        let desk = rules::desk::load(tx, TicketId(id))?;
        let is_closed = action == Action::Close && desk.ticket.status == ticket::Status::Closed;
        Ok(Item {
            id,
            label: desk.ticket.summary.as_str().to_owned(),
            url: desk::url(desk.ticket.id),
            effect: desk::account_name(&desk).to_owned(),
            blocked: is_closed.then(|| "It is already closed.".to_owned()),
            version: Some(EntityTag::of(&desk)),
        })
    }

    fn run(&self, tx: &mut WriteTx, at: (Target, Action), id: i64, request: &Request) -> Result<()> {
        match at {
            (Target::Desk, Action::Close) => {
                rules::desk::close(tx, &self.agent, TicketId(id), request).map(drop)
            }
            (Target::Desk, Action::Tag) => rules::ticket_tags::add(tx, &self.agent, TicketId(id), request),
            _ => Err(Error::NotFound),
        }
    }
}

fn preview_vpc(tx: &mut ReadTx, caller: &Caller, id: VpcId) -> Result<Item> {
    let vpc = rules::vpcs::load_for(tx, caller, id, Permission::ReadOnly)?;
    let writable = rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite).map(drop);
    let checked = writable.and_then(|()| rules::subnets::refuse_if_used(tx, caller, &vpc.subnets));
    Ok(Item {
        id: id.0,
        label: vpc.label.as_str().to_owned(),
        url: vpcs::url(id),
        effect: match vpc.subnets.len() {
            0 => String::new(),
            count => format!("with {}", layout::pluralize(count, "subnet", "subnets")),
        },
        blocked: blocked(checked)?,
        version: Some(EntityTag::of(&vpc)),
    })
}

fn preview_subnet(tx: &mut ReadTx, caller: &Caller, at: (VpcId, SubnetId)) -> Result<Item> {
    let subnet = rules::subnets::view(tx, caller, at)?;
    let writable = caller.require_permission(tx, GrantKind::Vpc, at.0.0, Permission::ReadWrite);
    let used = |tx: &mut ReadTx| rules::subnets::refuse_if_used(tx, caller, std::slice::from_ref(&subnet));
    let checked = writable.and_then(|()| used(tx));
    Ok(Item {
        id: subnet.id.0,
        label: subnet.label.as_str().to_owned(),
        url: subnets::url(&subnet),
        effect: subnet.ipv4.to_string(),
        blocked: blocked(checked)?,
        version: Some(EntityTag::of(&subnet)),
    })
}

fn preview_instance(tx: &mut ReadTx, caller: &Caller, id: InstanceId, action: Action) -> Result<Item> {
    let instance = rules::instances::view(tx, caller, id)?;
    let writable = caller.require_permission(tx, GrantKind::Linode, id.0, Permission::ReadWrite);
    let state = match writable.is_ok() {
        true => wrong_state(tx, caller, &instance, action)?,
        false => None,
    };
    Ok(Item {
        id: id.0,
        label: instance.label.as_str().to_owned(),
        url: instances::url(id),
        effect: instance.status.word().replace('_', " "),
        blocked: blocked(writable)?.or(state),
        version: None,
    })
}

/// The reason why an instance in this state cannot be booted, rebooted or shut down.
fn wrong_state(
    tx: &mut ReadTx,
    caller: &Caller,
    instance: &Instance,
    action: Action,
) -> Result<Option<String>> {
    let needed = match action {
        Action::Boot => Status::Offline,
        Action::Reboot | Action::Shutdown => Status::Running,
        Action::Close | Action::Tag | Action::Delete => return Ok(None),
    };
    if instance.status != needed {
        let status = instance.status.word().replace('_', " ");
        return Ok(Some(format!("It is {status}, and must be {}.", needed.word())));
    }
    let list = ListRequest::first(1);
    let configs = rules::configs::list(tx, caller, instance.id, &list)?.results;
    Ok((configs == 0).then(|| "It has no config.".to_owned()))
}

fn preview_ticket(tx: &mut ReadTx, caller: &Caller, id: TicketId) -> Result<Item> {
    let found = rules::tickets::view(tx, caller, id)?;
    let writable = rules::tickets::load_for(tx, caller, id, Permission::ReadWrite).map(drop);
    let state = match (found.status, found.may_close) {
        (ticket::Status::Closed, _) => Some("It is already closed.".to_owned()),
        (_, false) => Some("Only your provider can close it.".to_owned()),
        (_, true) => None,
    };
    Ok(Item {
        id: id.0,
        label: found.summary.as_str().to_owned(),
        url: tickets::url(id),
        effect: String::new(),
        blocked: blocked(writable)?.or(state),
        version: Some(EntityTag::of(&found)),
    })
}

/// The reason of a refusal. Other errors are returned.
fn blocked(checked: Result<()>) -> Result<Option<String>> {
    match checked {
        Ok(()) => Ok(None),
        Err(Error::Forbidden) => Ok(Some("You have read-only access.".to_owned())),
        Err(Error::Refused(errors)) => {
            let reasons: Vec<_> = errors.iter().take(3).map(|error| error.reason.as_str()).collect();
            let more = errors.len().saturating_sub(reasons.len());
            let rest = if more > 0 {
                format!("; {more} more")
            } else {
                String::new()
            };
            Ok(Some(format!("{}{rest}.", reasons.join("; "))))
        }
        Err(other) => Err(other),
    }
}
