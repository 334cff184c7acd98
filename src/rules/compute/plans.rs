//! Plans: the provider's public catalog of instance sizes.

use std::borrow::Cow;

use crate::model::page::Paged;
use crate::model::plan::Plan;
use crate::model::policy::Policy;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::store::filter::{Field, Kind};
use crate::store::value::Value;

static FIELDS: [Field; 10] = [
    Field::new("id", Kind::Text, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("class", Kind::Text, ""),
    Field::new("memory", Kind::Integer, ""),
    Field::new("vcpus", Kind::Integer, ""),
    Field::new("disk", Kind::Integer, ""),
    Field::new("gpus", Kind::Integer, ""),
    Field::new("network_out", Kind::Integer, ""),
    Field::new("transfer", Kind::Integer, ""),
    Field::new("successor", Kind::Text, ""),
];

/// The plans that new instances can have. Retired plans can only be viewed one by one.
pub fn list(policy: &Policy, list: &ListRequest) -> Result<Paged<Plan>> {
    let query = list.read(policy, &FIELDS)?;
    Ok(query.select(&offered(policy), field))
}

pub fn view(policy: &Policy, id: &str) -> Result<Plan> {
    let plan = policy.plans.iter().find(|plan| plan.id == id);
    plan.cloned().ok_or(Error::NotFound)
}

fn offered(policy: &Policy) -> Cow<'_, [Plan]> {
    match policy.plans.iter().any(|plan| plan.retired) {
        false => Cow::Borrowed(&policy.plans),
        true => {
            let offered = policy.plans.iter().filter(|plan| !plan.retired);
            offered.cloned().collect()
        }
    }
}

fn field<'a>(plan: &'a Plan, name: &str) -> Value<'a> {
    match name {
        "id" => Value::from(plan.id.as_str()),
        "label" => Value::from(plan.label.as_str()),
        "class" => Value::from(plan.class.as_str()),
        "memory" => Value::from(plan.memory),
        "vcpus" => Value::from(plan.vcpus),
        "disk" => Value::from(plan.disk),
        "gpus" => Value::from(plan.gpus),
        "network_out" => Value::from(plan.network_out),
        "transfer" => Value::from(plan.transfer),
        _ => Value::from(plan.successor.as_deref()),
    }
}
