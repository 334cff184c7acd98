//! The JSON view of the allowed and the forbidden ranges of subnets.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::cidr::Cidr;
use crate::rules::default_ranges::DefaultRanges;
use crate::web::answer;

#[derive(Serialize)]
struct DefaultRangesView {
    default_ipv4_ranges: Vec<String>,
    forbidden_ipv4_ranges: Vec<String>,
}

pub fn one(ranges: &DefaultRanges, _: &ViewContext) -> Response {
    let write = |ranges: &[Cidr]| ranges.iter().map(ToString::to_string).collect();
    let view = DefaultRangesView {
        default_ipv4_ranges: write(&ranges.allowed),
        forbidden_ipv4_ranges: write(&ranges.forbidden),
    };
    answer::one(ranges, &view)
}
