//! JSON views of VPCs.

use axum::response::Response;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::api::handlers::ViewContext;
use crate::api::ranges::{self, RangeView};
use crate::api::subnets::SubnetView;
use crate::model::family::V6;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::model::vpc::Vpc;
use crate::web::answer;

#[derive(Serialize)]
pub struct VpcView<'a> {
    id: i64,
    label: &'a str,
    description: &'a str,
    region: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipv4: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipv6: Option<Option<[RangeView<V6>; 1]>>,
    subnets: Vec<SubnetView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vpc_type: Option<&'static str>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
}

impl<'a> VpcView<'a> {
    pub fn new(vpc: &'a Vpc, context: &ViewContext<'a>) -> Self {
        let policy = context.policy;
        Self {
            id: vpc.id.0,
            label: vpc.label.as_str(),
            description: vpc.description.as_str(),
            region: &vpc.region.0,
            ipv4: policy.wire_extras.then_some(context.default_ranges),
            ipv6: ranges::ipv6(vpc.ipv6, policy),
            subnets: vpc
                .subnets
                .iter()
                .map(|subnet| SubnetView::new(subnet, context))
                .collect(),
            vpc_type: policy.wire_extras.then_some(Vpc::TYPE),
            created: vpc.created,
            updated: vpc.updated,
        }
    }
}

pub fn one(vpc: &Vpc, context: &ViewContext) -> Response {
    answer::one(vpc, &VpcView::new(vpc, context))
}

pub fn page(vpcs: &Paged<Vpc>, context: &ViewContext) -> Response {
    answer::page(vpcs, |vpc| VpcView::new(vpc, context))
}
