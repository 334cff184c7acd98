//! JSON views of regions for the provider.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::rules::provider_regions::RegionDetails;
use crate::web::answer;

#[derive(Serialize)]
struct ProviderRegionView<'a> {
    id: &'a str,
    label: &'a str,
    country: &'a str,
    capabilities: &'a [String],
    status: &'a str,
    retired: bool,
    source: &'static str,
    instances: i64,
    vpcs: i64,
    hosts: i64,
    #[serde(serialize_with = "answer::optional_time")]
    updated: Option<Time>,
}

impl<'a> ProviderRegionView<'a> {
    fn new(details: &'a RegionDetails) -> Self {
        let (region, usage) = (&details.region, details.usage);
        Self {
            id: &region.id,
            label: &region.label,
            country: &region.country,
            capabilities: &region.capabilities,
            status: &region.status,
            retired: region.retired,
            source: source(details.updated),
            instances: usage.instances,
            vpcs: usage.vpcs,
            hosts: usage.hosts,
            updated: details.updated,
        }
    }
}

/// Where a region or plan comes from. Stored ones have the time of their last change.
pub fn source(updated: Option<Time>) -> &'static str {
    match updated {
        Some(_) => "store",
        None => "settings",
    }
}

pub fn one(details: &RegionDetails, _: &ViewContext) -> Response {
    answer::one(details, &ProviderRegionView::new(details))
}

pub fn page(regions: &Paged<RegionDetails>, _: &ViewContext) -> Response {
    answer::page(regions, ProviderRegionView::new)
}
