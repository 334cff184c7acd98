//! JSON views of plans for the provider.

use axum::response::Response;
use serde::Serialize;

use super::plans::{PriceView, RegionPriceView};
use super::provider_regions::source;
use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::rules::provider_plans::PlanDetails;
use crate::web::answer;

#[derive(Serialize)]
struct ProviderPlanView<'a> {
    id: &'a str,
    label: &'a str,
    class: &'a str,
    memory: i64,
    disk: i64,
    vcpus: i64,
    transfer: i64,
    gpus: i64,
    network_out: i64,
    price: PriceView,
    region_prices: Vec<RegionPriceView<'a>>,
    retired: bool,
    source: &'static str,
    instances: i64,
    #[serde(serialize_with = "answer::optional_time")]
    updated: Option<Time>,
}

impl<'a> ProviderPlanView<'a> {
    fn new(details: &'a PlanDetails) -> Self {
        let plan = &details.plan;
        Self {
            id: &plan.id,
            label: &plan.label,
            class: &plan.class,
            memory: plan.memory,
            disk: plan.disk,
            vcpus: plan.vcpus,
            transfer: plan.transfer,
            gpus: plan.gpus,
            network_out: plan.network_out,
            price: PriceView::new(&plan.prices),
            region_prices: RegionPriceView::list(&plan.prices),
            retired: plan.retired,
            source: source(details.updated),
            instances: details.instances,
            updated: details.updated,
        }
    }
}

pub fn one(details: &PlanDetails, _: &ViewContext) -> Response {
    answer::one(details, &ProviderPlanView::new(details))
}

pub fn page(plans: &Paged<PlanDetails>, _: &ViewContext) -> Response {
    answer::page(plans, ProviderPlanView::new)
}
