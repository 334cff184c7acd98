//! JSON views of subnets.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::api::ranges::{self, RangeView};
use crate::model::cidr::Cidr;
use crate::model::family::V6;
use crate::model::page::Paged;
use crate::model::subnet::{Subnet, SubnetUse};
use crate::model::time::Time;
use crate::model::vpc::Vpc;
use crate::web::answer;

#[derive(Serialize)]
pub struct SubnetView<'a> {
    id: i64,
    label: &'a str,
    #[serde(serialize_with = "answer::network")]
    ipv4: Cidr,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipv6: Option<Option<[RangeView<V6>; 1]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linodes: Option<Vec<ComputeView>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    computes: Option<Vec<ComputeView>>,
    /// Newer clients require this field and the next two.
    databases: [(); 0],
    nodebalancers: [(); 0],
    #[serde(skip_serializing_if = "Option::is_none")]
    vpc_type: Option<&'static str>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
}

impl<'a> SubnetView<'a> {
    pub fn new(subnet: &'a Subnet, context: &ViewContext) -> Self {
        let (names, policy) = (context.names, context.policy);
        Self {
            id: subnet.id.0,
            label: subnet.label.as_str(),
            ipv4: subnet.ipv4,
            ipv6: ranges::ipv6(subnet.ipv6, policy),
            linodes: names.linode(ComputeView::all(&subnet.uses)),
            computes: names.compute(ComputeView::all(&subnet.uses)),
            databases: [],
            nodebalancers: [],
            vpc_type: policy.wire_extras.then_some(Vpc::TYPE),
            created: subnet.created,
            updated: subnet.updated,
        }
    }
}

/// An instance in a subnet, with its interfaces in this subnet.
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
    /// Groups the uses by instance. They are already sorted by instance.
    fn all(uses: &[SubnetUse]) -> Vec<Self> {
        let interface = |found: &SubnetUse| InterfaceOnSubnetView {
            id: found.interface.0,
            active: found.active,
            config_id: found.config.0,
        };
        let by_instance = uses.chunk_by(|a, b| a.instance == b.instance);
        let view = |uses: &[SubnetUse]| ComputeView {
            id: uses[0].instance.0,
            interfaces: uses.iter().map(interface).collect(),
        };
        by_instance.map(view).collect()
    }
}

pub fn one(subnet: &Subnet, context: &ViewContext) -> Response {
    answer::one(subnet, &SubnetView::new(subnet, context))
}

pub fn page(subnets: &Paged<Subnet>, context: &ViewContext) -> Response {
    answer::page(subnets, |subnet| SubnetView::new(subnet, context))
}
