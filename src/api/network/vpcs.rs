//! JSON views of VPCs.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::api::subnets::SubnetView;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::model::vpc::Vpc;
use crate::web::{WireNames, answer};

#[derive(Serialize)]
pub struct VpcView<'a> {
    id: i64,
    label: &'a str,
    description: &'a str,
    region: &'a str,
    subnets: Vec<SubnetView<'a>>,
    vpc_type: &'static str,
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
            vpc_type: Vpc::TYPE,
            created: vpc.created,
            updated: vpc.updated,
        }
    }
}

pub fn one(vpc: &Vpc, context: &ViewContext) -> Response {
    answer::one(vpc, &VpcView::new(vpc, context.names))
}

pub fn page(vpcs: &Paged<Vpc>, context: &ViewContext) -> Response {
    answer::page(vpcs, |vpc| VpcView::new(vpc, context.names))
}
