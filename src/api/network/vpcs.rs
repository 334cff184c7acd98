//! VPCs on the wire.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::api::subnets::SubnetView;
use crate::model::id::VpcId;
use crate::model::time::Time;
use crate::model::vpc::Vpc;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, WireNames, answer};

#[derive(Serialize)]
pub struct VpcView<'a> {
    id: i64,
    label: &'a str,
    description: &'a str,
    region: &'a str,
    subnets: Vec<SubnetView<'a>>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
}

impl<'a> VpcView<'a> {
    pub fn new(vpc: &'a Vpc, names: WireNames) -> Self {
        Self {
            id: vpc.id.0,
            label: vpc.label.as_str(),
            description: vpc.description.as_str(),
            region: &vpc.region.0,
            subnets: vpc
                .subnets
                .iter()
                .map(|subnet| SubnetView::new(subnet, names))
                .collect(),
            created: vpc.created,
            updated: vpc.updated,
        }
    }
}

pub async fn list(State(app): State<App>, caller: Caller, list: ListRequest) -> Result<Response> {
    let names = app.names();
    // Shaped where it was read: rows by the hundred thousand that one thread makes and another frees stay with the allocator.
    app.read(caller, move |tx, caller| {
        let vpcs = rules::vpcs::list(tx, caller, &list)?;
        Ok(answer::page(&vpcs, |vpc| VpcView::new(vpc, names)))
    })
    .await
}

pub async fn create(State(app): State<App>, caller: Caller, request: Request) -> Result<Response> {
    let vpc = app
        .write(caller, move |tx, caller| {
            rules::vpcs::create(tx, caller, &request)
        })
        .await?;
    Ok(answer::one(&vpc, &VpcView::new(&vpc, app.names())))
}

pub async fn view(State(app): State<App>, caller: Caller, At(id): At<VpcId>) -> Result<Response> {
    let names = app.names();
    app.read(caller, move |tx, caller| {
        let vpc = rules::vpcs::view(tx, caller, id)?;
        Ok(answer::one(&vpc, &VpcView::new(&vpc, names)))
    })
    .await
}

pub async fn update(
    State(app): State<App>,
    caller: Caller,
    At(id): At<VpcId>,
    request: Request,
) -> Result<Response> {
    let vpc = app
        .write(caller, move |tx, caller| {
            rules::vpcs::update(tx, caller, id, &request)
        })
        .await?;
    Ok(answer::one(&vpc, &VpcView::new(&vpc, app.names())))
}

pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    At(id): At<VpcId>,
    request: Request,
) -> Result<Response> {
    app.write(caller, move |tx, caller| {
        rules::vpcs::delete(tx, caller, id, &request)
    })
    .await?;
    Ok(answer::done())
}
