//! Subnets on the wire.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::model::cidr::Cidr;
use crate::model::id::{SubnetId, VpcId};
use crate::model::subnet::{Subnet, Use};
use crate::model::time::Time;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::WriteTx;
use crate::web::extract::At;
use crate::web::{App, WireNames, answer};

#[derive(Serialize)]
pub struct SubnetView<'a> {
    id: i64,
    label: &'a str,
    #[serde(serialize_with = "answer::network")]
    ipv4: Cidr,
    #[serde(skip_serializing_if = "Option::is_none")]
    linodes: Option<Vec<ComputeView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    computes: Option<Vec<ComputeView>>,
    /// Newer clients read the next two without asking whether they are there.
    databases: [(); 0],
    nodebalancers: [(); 0],
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
}

impl<'a> SubnetView<'a> {
    pub fn new(subnet: &'a Subnet, names: WireNames) -> Self {
        Self {
            id: subnet.id.0,
            label: subnet.label.as_str(),
            ipv4: subnet.ipv4,
            linodes: names.linode(ComputeView::all(&subnet.uses)),
            computes: names.compute(ComputeView::all(&subnet.uses)),
            databases: [],
            nodebalancers: [],
            created: subnet.created,
            updated: subnet.updated,
        }
    }
}

/// An instance on a subnet, with its interfaces there.
#[derive(Serialize)]
struct ComputeView {
    id: i64,
    interfaces: Vec<InterfaceOnSubnetView>,
}

#[derive(Serialize)]
struct InterfaceOnSubnetView {
    id: i64,
    active: bool,
    config_id: i64,
}

impl ComputeView {
    /// Uses come by instance, so those of one stand together.
    fn all(uses: &[Use]) -> Vec<Self> {
        let interface = |found: &Use| InterfaceOnSubnetView {
            id: found.interface.0,
            active: found.active,
            config_id: found.config.0,
        };
        let same = uses.chunk_by(|a, b| a.instance == b.instance);
        let view = |uses: &[Use]| ComputeView {
            id: uses[0].instance.0,
            interfaces: uses.iter().map(interface).collect(),
        };
        same.map(view).collect()
    }
}

type Path = At<(VpcId, SubnetId)>;

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    At(vpc): At<VpcId>,
    list: ListRequest,
) -> Result<Response> {
    let names = app.names();
    app.read(caller, move |tx, caller| {
        let subnets = rules::subnets::list(tx, caller, vpc, &list)?;
        Ok(answer::page(&subnets, |subnet| SubnetView::new(subnet, names)))
    })
    .await
}

pub async fn create(
    State(app): State<App>,
    caller: Caller,
    At(vpc): At<VpcId>,
    request: Request,
) -> Result<Response> {
    let subnet = app
        .write(caller, move |tx, caller| {
            rules::subnets::create(tx, caller, vpc, &request)
        })
        .await?;
    Ok(answer::one(&subnet, &SubnetView::new(&subnet, app.names())))
}

pub async fn view(State(app): State<App>, caller: Caller, At((vpc, id)): Path) -> Result<Response> {
    let names = app.names();
    app.read(caller, move |tx, caller| {
        let subnet = rules::subnets::view(tx, caller, vpc, id)?;
        Ok(answer::one(&subnet, &SubnetView::new(&subnet, names)))
    })
    .await
}

pub async fn update(
    State(app): State<App>,
    caller: Caller,
    At((vpc, id)): Path,
    request: Request,
) -> Result<Response> {
    let update =
        move |tx: &mut WriteTx, caller: &Caller| rules::subnets::update(tx, caller, vpc, id, &request);
    let subnet = app.write(caller, update).await?;
    Ok(answer::one(&subnet, &SubnetView::new(&subnet, app.names())))
}

pub async fn delete(
    State(app): State<App>,
    caller: Caller,
    At((vpc, id)): Path,
    request: Request,
) -> Result<Response> {
    app.write(caller, move |tx, caller| {
        rules::subnets::delete(tx, caller, vpc, id, &request)
    })
    .await?;
    Ok(answer::done())
}
