//! Plans as the provider manages them: add, change and retire (decision 0043).

mod change;

pub use change::{MAX_PRICE_DOLLARS, MAX_REGION_PRICES, PlanLabel};

use self::change::PlanChange;
use crate::model::page::Paged;
use crate::model::plan::{Plan, Price, PriceList};
use crate::model::reason::{Code, Reason};
use crate::model::stored_catalog::{CatalogId, StoredCatalog};
use crate::model::time::Time;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::filter::{Field, Kind};
use crate::store::value::Value;
use crate::store::{self, ReadTx, WriteTx};

/// A plan with the number of its instances.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct PlanDetails {
    pub plan: Plan,
    pub instances: i64,
    /// The time of the last change; `None` if the plan is as in the settings.
    pub updated: Option<Time>,
}

static FIELDS: [Field; 12] = [
    Field::new("id", Kind::Text, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("class", Kind::Text, ""),
    Field::new("memory", Kind::Integer, ""),
    Field::new("disk", Kind::Integer, ""),
    Field::new("vcpus", Kind::Integer, ""),
    Field::new("transfer", Kind::Integer, ""),
    Field::new("gpus", Kind::Integer, ""),
    Field::new("network_out", Kind::Integer, ""),
    Field::new("retired", Kind::Boolean, ""),
    Field::new("instances", Kind::Integer, ""),
    Field::new("updated", Kind::Time, ""),
];

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<PlanDetails>> {
    let query = list.read(tx.policy(), &FIELDS)?;
    Ok(query.select(&all(tx)?, field))
}

pub fn view(tx: &mut ReadTx, id: &str) -> Result<PlanDetails> {
    let found = all(tx)?.into_iter().find(|details| details.plan.id == id);
    found.ok_or(Error::NotFound)
}

/// Adds a plan. Without prices, it is free, and with only a monthly price, it has the usual hourly price.
pub fn create(tx: &mut WriteTx, request: &Request) -> Result<PlanDetails> {
    let mut form = request.form()?;
    let id = form.required("id", CatalogId::parse);
    if let Some(id) = &id
        && all(tx)?.iter().any(|details| details.plan.id == id.as_str())
    {
        form.refuse("id", Reason::new(Code::IdTaken, "A plan has this ID"));
    }
    let change = PlanChange::read(&mut form, true);
    let id = form.finish(|| id)?.into_string();
    let free = PriceList {
        hourly: Price::ZERO,
        monthly: Price::ZERO,
        regions: Vec::new(),
    };
    let mut plan = Plan {
        label: id.clone(),
        id,
        class: "standard".to_owned(),
        memory: 0,
        disk: 0,
        transfer: 0,
        vcpus: 0,
        gpus: 0,
        network_out: 0,
        prices: free.clone(),
        backup_prices: free,
        successor: None,
        retired: false,
    };
    change.apply(&mut plan);
    store::plans::save(tx, &plan)?;
    view(tx, &plan.id)
}

/// Changes a plan of the settings or a stored plan. The result is stored completely.
pub fn update(tx: &mut WriteTx, id: &str, request: &Request) -> Result<PlanDetails> {
    let PlanDetails {
        mut plan, instances, ..
    } = load(tx, id, request)?;
    let mut form = request.form()?;
    let change = PlanChange::read(&mut form, false);
    refuse_smaller_disk(&mut form, &plan, instances, &change);
    form.finish(|| Some(()))?;
    change.apply(&mut plan);
    store::plans::save(tx, &plan)?;
    view(tx, id)
}

/// The disks of existing instances must fit.
fn refuse_smaller_disk(form: &mut Form, plan: &Plan, instances: i64, change: &PlanChange) {
    if instances > 0 && change.disk.is_some_and(|disk| disk < plan.disk) {
        let text = format!(
            "Must be at least {} MB, because instances have this plan",
            plan.disk
        );
        form.refuse("disk", Reason::new(Code::OutOfRange, text));
    }
}

/// Refuses new instances of the plan. Existing instances keep it.
pub fn retire(tx: &mut WriteTx, id: &str, request: &Request) -> Result<PlanDetails> {
    set_retired(tx, id, request, true)
}

/// Permits new instances of a retired plan again.
pub fn reactivate(tx: &mut WriteTx, id: &str, request: &Request) -> Result<PlanDetails> {
    set_retired(tx, id, request, false)
}

fn set_retired(tx: &mut WriteTx, id: &str, request: &Request, retired: bool) -> Result<PlanDetails> {
    let PlanDetails { mut plan, .. } = load(tx, id, request)?;
    request.require_valid_body()?;
    if plan.retired == retired {
        let text = match retired {
            true => "The plan is already retired",
            false => "The plan is not retired",
        };
        return Err(Error::refused(Code::RetiredState, text));
    }
    plan.retired = retired;
    store::plans::save(tx, &plan)?;
    view(tx, id)
}

/// Loads a plan for a change. The number of its instances does not matter for `If-Match`.
fn load(tx: &mut ReadTx, id: &str, request: &Request) -> Result<PlanDetails> {
    let details = view(tx, id)?;
    request.check_if_match_or_stable(&details, &details.plan)?;
    Ok(details)
}

/// All plans, as this transaction sees them. The policy may be older or newer.
fn all(tx: &mut ReadTx) -> Result<Vec<PlanDetails>> {
    let stored = store::plans::list(tx)?;
    let mut usage = store::plans::usage(tx)?;
    let catalog = StoredCatalog {
        regions: Vec::new(),
        plans: stored.iter().map(|(plan, _)| plan.clone()).collect(),
    };
    let plans = tx.policy().with_stored(&catalog).plans.into_iter();
    let details = plans.map(|plan| PlanDetails {
        instances: usage.remove(&plan.id).unwrap_or_default(),
        updated: stored
            .iter()
            .find(|(stored, _)| stored.id == plan.id)
            .map(|(_, updated)| *updated),
        plan,
    });
    Ok(details.collect())
}

fn field<'a>(details: &'a PlanDetails, name: &str) -> Value<'a> {
    let plan = &details.plan;
    match name {
        "id" => Value::from(plan.id.as_str()),
        "label" => Value::from(plan.label.as_str()),
        "class" => Value::from(plan.class.as_str()),
        "memory" => Value::from(plan.memory),
        "disk" => Value::from(plan.disk),
        "vcpus" => Value::from(plan.vcpus),
        "transfer" => Value::from(plan.transfer),
        "gpus" => Value::from(plan.gpus),
        "network_out" => Value::from(plan.network_out),
        "retired" => Value::from(plan.retired),
        "instances" => Value::from(details.instances),
        _ => Value::from(details.updated),
    }
}
