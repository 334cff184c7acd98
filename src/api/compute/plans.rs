//! JSON views of plans, which the API calls types.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::plan::{Plan, RegionPrice};
use crate::web::answer;

#[derive(Serialize)]
struct TypeView<'a> {
    id: &'a str,
    label: &'a str,
    price: PriceView,
    region_prices: Vec<RegionPriceView<'a>>,
    addons: AddonsView<'a>,
    memory: i64,
    disk: i64,
    transfer: i64,
    vcpus: i64,
    gpus: i64,
    accelerated_devices: i64,
    network_out: i64,
    class: &'a str,
    successor: Option<&'a str>,
}

#[derive(Serialize)]
struct PriceView {
    hourly: f64,
    monthly: f64,
}

#[derive(Serialize)]
struct RegionPriceView<'a> {
    id: &'a str,
    hourly: f64,
    monthly: f64,
}

/// Garth makes no backups, so they cost nothing.
#[derive(Serialize)]
struct AddonsView<'a> {
    backups: BackupsView<'a>,
}

#[derive(Serialize)]
struct BackupsView<'a> {
    price: PriceView,
    region_prices: Vec<RegionPriceView<'a>>,
}

impl<'a> RegionPriceView<'a> {
    fn new(price: &'a RegionPrice) -> Self {
        Self {
            id: &price.region,
            hourly: price.hourly.dollars(),
            monthly: price.monthly.dollars(),
        }
    }

    fn free(price: &'a RegionPrice) -> Self {
        Self {
            id: &price.region,
            hourly: 0.0,
            monthly: 0.0,
        }
    }
}

impl<'a> TypeView<'a> {
    fn new(plan: &'a Plan) -> Self {
        let free = PriceView {
            hourly: 0.0,
            monthly: 0.0,
        };
        Self {
            id: &plan.id,
            label: &plan.label,
            price: PriceView {
                hourly: plan.hourly.dollars(),
                monthly: plan.monthly.dollars(),
            },
            region_prices: plan.region_prices.iter().map(RegionPriceView::new).collect(),
            addons: AddonsView {
                backups: BackupsView {
                    price: free,
                    region_prices: plan.region_prices.iter().map(RegionPriceView::free).collect(),
                },
            },
            memory: plan.memory,
            disk: plan.disk,
            transfer: plan.transfer,
            vcpus: plan.vcpus,
            gpus: plan.gpus,
            accelerated_devices: 0,
            network_out: plan.network_out,
            class: &plan.class,
            successor: plan.successor.as_deref(),
        }
    }
}

pub fn one(plan: &Plan, _: &ViewContext) -> Response {
    answer::one(plan, &TypeView::new(plan))
}

pub fn page(plans: &Paged<Plan>, _: &ViewContext) -> Response {
    answer::page(plans, TypeView::new)
}
