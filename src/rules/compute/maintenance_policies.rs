//! Maintenance policies: a public catalog.

use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::upkeep::MaintenancePolicy;
use crate::rules::error::Result;
use crate::rules::lists::ListRequest;
use crate::store::filter::{Field, Kind};
use crate::store::value::Value;

static FIELDS: [Field; 1] = [Field::new("slug", Kind::Text, "")];

pub fn list(policy: &Policy, list: &ListRequest) -> Result<Paged<MaintenancePolicy>> {
    let query = list.read(policy, &FIELDS)?;
    Ok(query.select(&MaintenancePolicy::ALL, |policy, _| Value::from(policy.word())))
}
