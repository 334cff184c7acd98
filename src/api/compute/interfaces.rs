//! JSON views of interfaces.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::interface::{Interface, write_address};
use crate::web::answer;

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

pub fn one(interface: &Interface, _: &ViewContext) -> Response {
    answer::one(interface, &InterfaceView::new(interface))
}

/// A plain array, as in the public API.
pub fn all(interfaces: &[Interface], _: &ViewContext) -> Response {
    let views: Vec<_> = interfaces.iter().map(InterfaceView::new).collect();
    answer::json(StatusCode::OK, &views)
}
