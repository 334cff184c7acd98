//! JSON views of VPC addresses.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::interface::write_address;
use crate::model::page::Paged;
use crate::model::vpc_ip::VpcIp;
use crate::web::{WireNames, answer};

#[derive(Serialize)]
pub struct VpcIpView<'a> {
    address: Option<String>,
    address_range: Option<String>,
    vpc_id: i64,
    subnet_id: i64,
    region: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    linode_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compute_id: Option<i64>,
    config_id: i64,
    interface_id: i64,
    active: bool,
    /// Empty if there is no NAT.
    nat_1_1: String,
    gateway: String,
    prefix: u8,
    subnet_mask: String,
}

impl<'a> VpcIpView<'a> {
    pub fn new(ip: &'a VpcIp, names: WireNames) -> Self {
        Self {
            address: ip.address.map(write_address),
            address_range: ip.range.map(|range| range.to_string()),
            vpc_id: ip.vpc.0,
            subnet_id: ip.subnet.0,
            region: &ip.region,
            linode_id: names.linode(ip.instance.0),
            compute_id: names.compute(ip.instance.0),
            config_id: ip.config.0,
            interface_id: ip.interface.0,
            active: ip.active,
            nat_1_1: ip.nat_1_1.map(write_address).unwrap_or_default(),
            gateway: write_address(ip.subnet_range.gateway()),
            prefix: ip.subnet_range.prefix(),
            subnet_mask: write_address(ip.subnet_range.mask()),
        }
    }
}

/// The list of IPv6 addresses. It is always empty.
pub fn ipv6_page(ips: &Paged<()>, _: &ViewContext) -> Response {
    answer::page(ips, |()| ())
}

pub fn page(ips: &Paged<VpcIp>, context: &ViewContext) -> Response {
    answer::page(ips, |ip| VpcIpView::new(ip, context.names))
}
