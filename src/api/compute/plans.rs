//! JSON views of plans, which the API calls types.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::Wire;
use crate::model::page::Paged;
use crate::model::plan::Plan;
use crate::web::answer;

#[derive(Serialize)]
struct TypeView<'a> {
    id: &'a str,
    label: &'a str,
    price: PriceView,
    region_prices: [(); 0],
    addons: AddonsView,
    memory: i64,
    disk: i64,
    transfer: i64,
    vcpus: i64,
    gpus: i64,
    network_out: i64,
    class: &'a str,
    successor: Option<&'a str>,
}

#[derive(Serialize)]
struct PriceView {
    hourly: f64,
    monthly: f64,
}

/// Garth makes no backups, so they cost nothing.
#[derive(Serialize)]
struct AddonsView {
    backups: BackupsView,
}

#[derive(Serialize)]
struct BackupsView {
    price: PriceView,
    region_prices: [(); 0],
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
            region_prices: [],
            addons: AddonsView {
                backups: BackupsView {
                    price: free,
                    region_prices: [],
                },
            },
            memory: plan.memory,
            disk: plan.disk,
            transfer: plan.transfer,
            vcpus: plan.vcpus,
            gpus: plan.gpus,
            network_out: plan.network_out,
            class: &plan.class,
            successor: None,
        }
    }
}

pub fn one(plan: &Plan, _: &Wire) -> Response {
    answer::one(plan, &TypeView::new(plan))
}

pub fn page(plans: &Paged<Plan>, _: &Wire) -> Response {
    answer::page(plans, TypeView::new)
}
