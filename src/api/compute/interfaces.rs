//! Interfaces of a config on the wire.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::model::id::{ConfigId, InstanceId};
use crate::model::interface::{Interface, write_address};
use crate::rules::caller::Caller;
use crate::rules::interfaces::Place;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::WriteTx;
use crate::web::extract::At;
use crate::web::{App, answer};

#[derive(Serialize)]
pub struct InterfaceView<'a> {
    id: i64,
    purpose: &'static str,
    primary: bool,
    active: bool,
    ipam_address: Option<&'a str>,
    label: Option<&'a str>,
    vpc_id: Option<i64>,
    subnet_id: Option<i64>,
    ipv4: Option<Ipv4View>,
    ip_ranges: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Ipv4View {
    vpc: String,
    nat_1_1: Option<String>,
}

impl<'a> InterfaceView<'a> {
    pub fn new(interface: &'a Interface) -> Self {
        let vpc = interface.vpc.as_ref();
        Self {
            id: interface.id.0,
            purpose: interface.purpose.word(),
            primary: interface.primary,
            active: interface.active,
            ipam_address: interface.ipam_address.as_deref(),
            label: interface.label.as_deref(),
            vpc_id: vpc.map(|vpc| vpc.vpc.0),
            subnet_id: vpc.map(|vpc| vpc.subnet.0),
            ipv4: vpc.map(|vpc| Ipv4View {
                vpc: write_address(vpc.address),
                nat_1_1: vpc.nat_1_1.map(write_address),
            }),
            ip_ranges: vpc.map(|vpc| vpc.ranges.iter().map(ToString::to_string).collect()),
        }
    }
}

type ConfigAt = At<(InstanceId, ConfigId)>;

/// A bare array, as the public service answers.
pub async fn list(State(app): State<App>, caller: Caller, At(at): ConfigAt) -> Result<Response> {
    let found = app
        .read(caller, move |tx, caller| rules::interfaces::list(tx, caller, at))
        .await?;
    let views: Vec<_> = found.iter().map(InterfaceView::new).collect();
    Ok(answer::json(StatusCode::OK, &views))
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    At(at): ConfigAt,
    request: Request,
) -> Result<Response> {
    let create = move |tx: &mut WriteTx, caller: &Caller| rules::interfaces::create(tx, caller, at, &request);
    let interface = app.write(caller, create).await?;
    Ok(answer::one(&interface, &InterfaceView::new(&interface)))
}

pub async fn order(
    State(app): State<App>,
    caller: Caller,
    At(at): ConfigAt,
    request: Request,
) -> Result<Response> {
    app.write(caller, move |tx, caller| {
        rules::interfaces::order(tx, caller, at, &request)
    })
    .await?;
    Ok(answer::done())
}

pub async fn view(State(app): State<App>, caller: Caller, At(at): At<Place>) -> Result<Response> {
    let interface = app
        .read(caller, move |tx, caller| rules::interfaces::view(tx, caller, at))
        .await?;
    Ok(answer::one(&interface, &InterfaceView::new(&interface)))
}

pub async fn update(
    State(app): State<App>,
    caller: Caller,
    At(at): At<Place>,
    request: Request,
) -> Result<Response> {
    let update = move |tx: &mut WriteTx, caller: &Caller| rules::interfaces::update(tx, caller, at, &request);
    let interface = app.write(caller, update).await?;
    Ok(answer::one(&interface, &InterfaceView::new(&interface)))
}

pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    At(at): At<Place>,
    request: Request,
) -> Result<Response> {
    app.write(caller, move |tx, caller| {
        rules::interfaces::delete(tx, caller, at, &request)
    })
    .await?;
    Ok(answer::done())
}
