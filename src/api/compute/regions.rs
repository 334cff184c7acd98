//! JSON views of regions.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::region::Region;
use crate::rules::regions::{PlanAvailability, VpcAvailability};
use crate::web::answer;

#[derive(Serialize)]
struct RegionView<'a> {
    id: &'a str,
    label: &'a str,
    country: &'a str,
    capabilities: &'a [String],
    monitors: MonitorsView,
    status: &'a str,
    resolvers: ResolversView<'a>,
    placement_group_limits: PlacementGroupLimitsView,
    site_type: &'static str,
}

#[derive(Serialize)]
struct ResolversView<'a> {
    ipv4: &'a str,
    ipv6: &'a str,
}

/// Garth does not monitor services, but newer clients expect these lists.
#[derive(Serialize)]
struct MonitorsView {
    alerts: [(); 0],
    metrics: [(); 0],
}

#[derive(Serialize)]
struct PlacementGroupLimitsView {
    maximum_pgs_per_customer: Option<i64>,
    maximum_linodes_per_pg: i64,
    maximum_linodes_per_flexible_pg: i64,
}

impl<'a> RegionView<'a> {
    fn new(region: &'a Region) -> Self {
        let limits = &region.placement_group_limits;
        Self {
            id: &region.id,
            label: &region.label,
            country: &region.country,
            capabilities: &region.capabilities,
            monitors: MonitorsView {
                alerts: [],
                metrics: [],
            },
            status: &region.status,
            resolvers: ResolversView {
                ipv4: &region.resolvers_ipv4,
                ipv6: &region.resolvers_ipv6,
            },
            placement_group_limits: PlacementGroupLimitsView {
                maximum_pgs_per_customer: limits.groups_per_account,
                maximum_linodes_per_pg: limits.instances_per_group,
                maximum_linodes_per_flexible_pg: limits.instances_per_flexible_group,
            },
            site_type: Region::SITE_TYPE,
        }
    }
}

#[derive(Serialize)]
struct PlanAvailabilityView<'a> {
    region: &'a str,
    plan: &'a str,
    available: bool,
}

impl<'a> PlanAvailabilityView<'a> {
    fn new(row: &'a PlanAvailability) -> Self {
        Self {
            region: &row.region,
            plan: &row.plan,
            available: row.available,
        }
    }
}

#[derive(Serialize)]
struct VpcAvailabilityView<'a> {
    region: &'a str,
    available: bool,
    available_ipv6_prefix_lengths: &'static [u8],
}

impl<'a> VpcAvailabilityView<'a> {
    fn new(row: &'a VpcAvailability) -> Self {
        Self {
            region: &row.region,
            available: row.available,
            available_ipv6_prefix_lengths: match row.ipv6_prefix_lengths {
                // In the public API, the list is empty if there is no choice.
                [_] => &[],
                lengths => lengths,
            },
        }
    }
}

pub fn plans_page(rows: &Paged<PlanAvailability>, _: &ViewContext) -> Response {
    answer::page(rows, PlanAvailabilityView::new)
}

/// A plain array, as in the public API.
pub fn plans(rows: &[PlanAvailability], _: &ViewContext) -> Response {
    let views: Vec<_> = rows.iter().map(PlanAvailabilityView::new).collect();
    answer::json(StatusCode::OK, &views)
}

pub fn vpcs(row: &VpcAvailability, _: &ViewContext) -> Response {
    answer::one(row, &VpcAvailabilityView::new(row))
}

pub fn vpcs_page(rows: &Paged<VpcAvailability>, _: &ViewContext) -> Response {
    answer::page(rows, VpcAvailabilityView::new)
}

pub fn one(region: &Region, _: &ViewContext) -> Response {
    answer::one(region, &RegionView::new(region))
}

pub fn page(regions: &Paged<Region>, _: &ViewContext) -> Response {
    answer::page(regions, RegionView::new)
}
