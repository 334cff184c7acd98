//! The VPCs and interfaces of the object that a ticket is about.

use crate::model::entity::{Entity, EntityKind};
use crate::model::id::{InstanceId, VpcId};
use crate::model::interface::Interface;
use crate::model::subject::SubjectKind;
use crate::model::ticket::Ticket;
use crate::model::vpc::Vpc;
use crate::rules::error::Result;
use crate::store::{self, ReadTx};

/// The maximum number of VPCs that the pages of a ticket show. Each VPC can have many subnets.
const MAX_VPCS: usize = 20;

/// The VPC that a ticket is about, or the newest VPCs of its instance, ordered by ID, if they still exist. Also returns
/// the number of older VPCs, which are omitted.
pub fn vpcs(tx: &mut ReadTx, ticket: &Ticket) -> Result<(Vec<Vpc>, usize)> {
    let ids = vpc_ids(tx, ticket)?;
    let omitted = ids.len().saturating_sub(MAX_VPCS);
    let mut vpcs = Vec::new();
    for id in &ids[omitted..] {
        vpcs.extend(store::vpcs::find(tx, ticket.account, *id)?);
    }
    Ok((vpcs, omitted))
}

/// The VPC or instance that a ticket is about, if it still exists.
pub fn existing_entity<'a>(tx: &mut ReadTx, ticket: &'a Ticket) -> Result<Option<&'a Entity>> {
    let Some(entity) = &ticket.entity else {
        return Ok(None);
    };
    let account = ticket.account;
    let exists = match entity.kind {
        EntityKind::Subject(SubjectKind::Vpc) => {
            store::vpcs::find_without_subnets(tx, account, VpcId(entity.id))?.is_some()
        }
        EntityKind::Subject(SubjectKind::Linode) => {
            store::instances::find(tx, account, InstanceId(entity.id))?.is_some()
        }
        _ => false,
    };
    Ok(exists.then_some(entity))
}

/// A VPC of a ticket, without its subnets.
pub fn find_vpc(tx: &mut ReadTx, ticket: &Ticket, id: VpcId) -> Result<Option<Vpc>> {
    match vpc_ids(tx, ticket)?.contains(&id) {
        true => Ok(store::vpcs::find_without_subnets(tx, ticket.account, id)?),
        false => Ok(None),
    }
}

/// The ID of the VPC that a ticket is about, or the IDs of the VPCs of its instance, in ascending order.
fn vpc_ids(tx: &mut ReadTx, ticket: &Ticket) -> Result<Vec<VpcId>> {
    let Some(subject) = &ticket.entity else {
        return Ok(Vec::new());
    };
    let attached = interfaces(tx, ticket)?;
    let attached = attached.iter().filter_map(|interface| interface.vpc.as_ref());
    let mut ids: Vec<_> = attached.map(|attached| attached.vpc).collect();
    if subject.kind == EntityKind::Subject(SubjectKind::Vpc) {
        ids.push(VpcId(subject.id));
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// The interfaces of the instance that a ticket is about, in order of creation.
pub fn interfaces(tx: &mut ReadTx, ticket: &Ticket) -> Result<Vec<Interface>> {
    let is_instance = |subject: &&Entity| subject.kind == EntityKind::Subject(SubjectKind::Linode);
    let Some(subject) = ticket.entity.as_ref().filter(is_instance) else {
        return Ok(Vec::new());
    };
    let found = store::interfaces::of_instance(tx, InstanceId(subject.id))?;
    let mut found: Vec<_> = found.into_values().flatten().collect();
    found.sort_unstable_by_key(|interface| interface.id);
    Ok(found)
}
