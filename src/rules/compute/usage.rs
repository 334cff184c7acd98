//! The usage of an instance, and its attached volumes, firewalls and NodeBalancers. Agents measure the traffic of
//! instances on hosts. Nothing is backed up or attached.

use crate::model::grant::Permission;
use crate::model::id::InstanceId;
use crate::model::instance::Instance;
use crate::model::page::Paged;
use crate::model::traffic::{Month, Traffic};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::loading::instance_for;
use crate::rules::not_offered;
use crate::store::filter::{Field, Kind};
use crate::store::{self, ReadTx};

/// A month of an instance's usage.
#[derive(Clone, Copy, Debug)]
pub struct MonthPath {
    pub instance: InstanceId,
    pub year: i64,
    pub month: i64,
}

/// The fields that clients filter and sort volumes, firewalls and NodeBalancers by.
static FIELDS: [Field; 7] = [
    Field::new("id", Kind::Integer, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("status", Kind::Text, ""),
    Field::new("region", Kind::Text, ""),
    Field::new("tags", Kind::Text, ""),
    Field::new("created", Kind::Time, ""),
    Field::new("updated", Kind::Time, ""),
];

/// An instance, and the traffic of its VPC interfaces in this month.
pub struct Usage {
    pub instance: Instance,
    pub traffic: Traffic,
}

pub fn transfer(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<Usage> {
    let instance = view(tx, caller, id)?;
    let month = Month::of(tx.now());
    let traffic = store::traffic::of_instance(tx, id, month)?;
    Ok(Usage { instance, traffic })
}

/// The traffic of an instance in a month.
pub fn monthly_transfer(tx: &mut ReadTx, caller: &Caller, at: MonthPath) -> Result<Traffic> {
    let month = month(tx, caller, at)?;
    Ok(store::traffic::of_instance(tx, at.instance, month)?)
}

/// The instance, for the view of its backups.
pub fn view(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<Instance> {
    instance_for(tx, caller, id, Permission::ReadOnly)
}

/// Checks that the caller can see the instance, and that the month is valid.
fn month(tx: &mut ReadTx, caller: &Caller, at: MonthPath) -> Result<Month> {
    view(tx, caller, at.instance)?;
    Month::new(at.year, at.month).ok_or(Error::NotFound)
}

/// Refuses statistics with the error text that the public web app expects.
pub fn stats(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<()> {
    view(tx, caller, id)?;
    Err(not_offered::refusal("Stats are unavailable at this time."))
}

pub fn monthly_stats(tx: &mut ReadTx, caller: &Caller, at: MonthPath) -> Result<()> {
    month(tx, caller, at)?;
    stats(tx, caller, at.instance)
}

/// The volumes, firewalls or NodeBalancers of an instance. The list is always empty.
pub fn attached(tx: &mut ReadTx, caller: &Caller, id: InstanceId, list: &ListRequest) -> Result<Paged<()>> {
    view(tx, caller, id)?;
    list.read_empty(tx.policy(), &FIELDS)
}
