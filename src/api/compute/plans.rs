//! Plans on the wire, where they are called types.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::model::plan::Plan;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, answer};

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

pub async fn list(State(app): State<App>, list: ListRequest) -> Result<Response> {
    let plans = rules::plans::list(&app.store().world().policy, &list)?;
    Ok(answer::page(&plans, TypeView::new))
}

pub async fn view(State(app): State<App>, At(id): At<String>) -> Result<Response> {
    let plan = rules::plans::view(&app.store().world().policy, &id)?;
    Ok(answer::one(&plan, &TypeView::new(&plan)))
}
