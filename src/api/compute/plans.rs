//! JSON views of plans, which the API calls types.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::plan::{Plan, PriceList, RegionPrice};
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
pub struct PriceView {
    hourly: f64,
    monthly: f64,
}

#[derive(Serialize)]
pub struct RegionPriceView<'a> {
    id: &'a str,
    hourly: f64,
    monthly: f64,
}

#[derive(Serialize)]
struct AddonsView<'a> {
    backups: BackupsView<'a>,
}

#[derive(Serialize)]
struct BackupsView<'a> {
    price: PriceView,
    region_prices: Vec<RegionPriceView<'a>>,
}

impl PriceView {
    pub fn new(prices: &PriceList) -> Self {
        Self {
            hourly: prices.hourly.dollars(),
            monthly: prices.monthly.dollars(),
        }
    }
}

impl<'a> RegionPriceView<'a> {
    pub fn list(prices: &'a PriceList) -> Vec<Self> {
        let view = |price: &'a RegionPrice| Self {
            id: &price.region,
            hourly: price.hourly.dollars(),
            monthly: price.monthly.dollars(),
        };
        prices.regions.iter().map(view).collect()
    }
}

impl<'a> TypeView<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self {
            id: &plan.id,
            label: &plan.label,
            price: PriceView::new(&plan.prices),
            region_prices: RegionPriceView::list(&plan.prices),
            addons: AddonsView {
                backups: BackupsView {
                    price: PriceView::new(&plan.backup_prices),
                    region_prices: RegionPriceView::list(&plan.backup_prices),
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
