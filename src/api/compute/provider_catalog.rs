//! The operations with which the provider manages regions and plans (decision 0043).

use super::{provider_plans, provider_regions};
use crate::api::handlers::{change, change_at, list, view_at};
use crate::model::staff_role::StaffRole;
use crate::rules::Result;
use crate::rules::agent::Staff;
use crate::rules::provider_plans::{self as plans, PlanDetails};
use crate::rules::provider_regions::{self as regions, RegionDetails};
use crate::rules::request::Request;
use crate::store::WriteTx;
use crate::web::operation::{Handling, Operation, get, post, put};

const REGIONS: &str = "/provider/regions";
const REGION: &str = "/provider/regions/{regionId}";
const PLANS: &str = "/provider/plans";
const PLAN: &str = "/provider/plans/{typeId}";

pub fn operations() -> Vec<Operation> {
    let lists = [
        get(
            "getProviderRegions",
            REGIONS,
            list(
                |tx, _: &Staff, request| regions::list(tx, request),
                provider_regions::page,
            ),
        )
        .of_provider(StaffRole::Operator)
        .list(),
        get(
            "getProviderPlans",
            PLANS,
            list(
                |tx, _: &Staff, request| plans::list(tx, request),
                provider_plans::page,
            ),
        )
        .of_provider(StaffRole::Operator)
        .list(),
    ];
    let others = region_operations().into_iter().chain(plan_operations());
    let for_operators = |operation: Operation| operation.of_provider(StaffRole::Operator);
    lists.into_iter().chain(others.map(for_operators)).collect()
}

fn region_operations() -> Vec<Operation> {
    vec![
        post(
            "createProviderRegion",
            REGIONS,
            change(
                |tx, _: &Staff, request| regions::create(tx, request),
                provider_regions::one,
            ),
        ),
        get(
            "getProviderRegion",
            REGION,
            view_at(
                |tx, _: &Staff, id: String| regions::view(tx, &id),
                provider_regions::one,
            ),
        ),
        put("updateProviderRegion", REGION, change_region(regions::update)),
        post(
            "retireProviderRegion",
            "/provider/regions/{regionId}/retire",
            change_region(regions::retire),
        ),
        post(
            "reactivateProviderRegion",
            "/provider/regions/{regionId}/reactivate",
            change_region(regions::reactivate),
        ),
    ]
}

fn plan_operations() -> Vec<Operation> {
    vec![
        post(
            "createProviderPlan",
            PLANS,
            change(
                |tx, _: &Staff, request| plans::create(tx, request),
                provider_plans::one,
            ),
        ),
        get(
            "getProviderPlan",
            PLAN,
            view_at(
                |tx, _: &Staff, id: String| plans::view(tx, &id),
                provider_plans::one,
            ),
        ),
        put("updateProviderPlan", PLAN, change_plan(plans::update)),
        post(
            "retireProviderPlan",
            "/provider/plans/{typeId}/retire",
            change_plan(plans::retire),
        ),
        post(
            "reactivateProviderPlan",
            "/provider/plans/{typeId}/reactivate",
            change_plan(plans::reactivate),
        ),
    ]
}

fn change_region(rule: fn(&mut WriteTx, &str, &Request) -> Result<RegionDetails>) -> Handling {
    change_at(
        move |tx, _: &Staff, id: String, request| rule(tx, &id, request),
        provider_regions::one,
    )
}

fn change_plan(rule: fn(&mut WriteTx, &str, &Request) -> Result<PlanDetails>) -> Handling {
    change_at(
        move |tx, _: &Staff, id: String, request| rule(tx, &id, request),
        provider_plans::one,
    )
}
