//! Regions: the provider's public catalog.

use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::region::Region;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::store::filter::{Field, Kind};
use crate::store::value::Value;

static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Text, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("country", Kind::Text, ""),
    Field::new("status", Kind::Text, ""),
    Field::new("site_type", Kind::Text, ""),
];

/// The field for the region in lists about something else.
static NAMED: [Field; 1] = [Field::new("region", Kind::Text, "")];

/// The regions for a list that only names them.
pub fn list_named(policy: &Policy, list: &ListRequest) -> Result<Paged<Region>> {
    let wanted = list.read(policy, &NAMED)?;
    Ok(wanted.select(&policy.regions, |region, _| Value::from(region.id.as_str())))
}

pub fn list(policy: &Policy, list: &ListRequest) -> Result<Paged<Region>> {
    let wanted = list.read(policy, &FIELDS)?;
    Ok(wanted.select(&policy.regions, field))
}

pub fn view(policy: &Policy, id: &str) -> Result<Region> {
    let region = policy.regions.iter().find(|region| region.id == id);
    region.cloned().ok_or(Error::NotFound)
}

fn field<'a>(region: &'a Region, name: &str) -> Value<'a> {
    Value::from(match name {
        "id" => region.id.as_str(),
        "label" => region.label.as_str(),
        "country" => region.country.as_str(),
        "status" => region.status.as_str(),
        _ => Region::SITE_TYPE,
    })
}
