//! Regions: the provider's public catalog.

use std::borrow::Cow;

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

/// The filter field of lists whose items have a field `region`, with the ID of a region.
static NAMED_FIELDS: [Field; 1] = [Field::new("region", Kind::Text, "")];

/// The regions, for a list whose items have a field `region`. Clients filter by this field instead of `id`.
pub fn list_named(policy: &Policy, list: &ListRequest) -> Result<Paged<Region>> {
    let query = list.read(policy, &NAMED_FIELDS)?;
    Ok(query.select(&offered(policy), |region, _| Value::from(region.id.as_str())))
}

/// Whether instances of a plan can be created in a region.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanAvailability {
    pub region: String,
    pub plan: String,
    pub available: bool,
}

static PLAN_FIELDS: [Field; 3] = [
    Field::new("region", Kind::Text, ""),
    Field::new("plan", Kind::Text, ""),
    Field::new("available", Kind::Boolean, ""),
];

/// The availability of all plans in all regions.
pub fn list_plan_availability(policy: &Policy, list: &ListRequest) -> Result<Paged<PlanAvailability>> {
    let query = list.read(policy, &PLAN_FIELDS)?;
    let regions = offered(policy);
    let all: Vec<_> = regions
        .iter()
        .flat_map(|region| plans_in(policy, region))
        .collect();
    Ok(query.select(&all, |row, name| match name {
        "region" => Value::from(row.region.as_str()),
        "plan" => Value::from(row.plan.as_str()),
        _ => Value::from(row.available),
    }))
}

/// The availability of all plans in one region.
pub fn plan_availability(policy: &Policy, id: &str) -> Result<Vec<PlanAvailability>> {
    Ok(plans_in(policy, &view(policy, id)?).collect())
}

fn plans_in(policy: &Policy, region: &Region) -> impl Iterator<Item = PlanAvailability> {
    let available = region.offers(Region::LINODES);
    let offered = policy.plans.iter().filter(|plan| !plan.retired);
    offered.map(move |plan| PlanAvailability {
        region: region.id.clone(),
        plan: plan.id.clone(),
        available,
    })
}

static VPC_FIELDS: [Field; 2] = [
    Field::new("region", Kind::Text, ""),
    Field::new("available", Kind::Boolean, ""),
];

/// Whether VPCs can be created in a region, and with which IPv6 ranges.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VpcAvailability {
    pub region: String,
    pub available: bool,
    pub ipv6_prefix_lengths: &'static [u8],
}

impl VpcAvailability {
    fn of(policy: &Policy, region: &Region) -> Self {
        Self {
            region: region.id.clone(),
            available: region.offers(Region::VPCS),
            ipv6_prefix_lengths: policy.ipv6_prefix_lengths(region),
        }
    }
}

/// The availability of VPCs in all regions.
pub fn list_vpc_availability(policy: &Policy, list: &ListRequest) -> Result<Paged<VpcAvailability>> {
    let query = list.read(policy, &VPC_FIELDS)?;
    let regions = offered(policy);
    let all: Vec<_> = regions
        .iter()
        .map(|region| VpcAvailability::of(policy, region))
        .collect();
    Ok(query.select(&all, |row, name| match name {
        "region" => Value::from(row.region.as_str()),
        _ => Value::from(row.available),
    }))
}

/// The availability of VPCs in one region.
pub fn vpc_availability(policy: &Policy, id: &str) -> Result<VpcAvailability> {
    Ok(VpcAvailability::of(policy, &view(policy, id)?))
}

/// The regions in which objects can be created. Retired regions can only be viewed one by one.
pub fn list(policy: &Policy, list: &ListRequest) -> Result<Paged<Region>> {
    let query = list.read(policy, &FIELDS)?;
    Ok(query.select(&offered(policy), field))
}

pub fn view(policy: &Policy, id: &str) -> Result<Region> {
    let region = policy.regions.iter().find(|region| region.id == id);
    region.cloned().ok_or(Error::NotFound)
}

fn offered(policy: &Policy) -> Cow<'_, [Region]> {
    match policy.regions.iter().any(|region| region.retired) {
        false => Cow::Borrowed(&policy.regions),
        true => {
            let offered = policy.regions.iter().filter(|region| !region.retired);
            offered.cloned().collect()
        }
    }
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
