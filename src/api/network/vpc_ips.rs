//! JSON views of VPC addresses.

use std::net::Ipv6Addr;

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::interface::{slaac_address, write_address};
use crate::model::page::Paged;
use crate::model::vpc_ip::{VpcIp, VpcIpv6};
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

/// An IPv6 network of an interface. Some keys of an IPv4 record have a fixed value.
#[derive(Serialize)]
pub struct VpcIpv6View<'a> {
    address: (),
    address_range: (),
    vpc_id: i64,
    subnet_id: i64,
    region: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    linode_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compute_id: Option<i64>,
    config_id: i64,
    interface_id: i64,
    nodebalancer_id: (),
    database_id: (),
    active: bool,
    nat_1_1: &'static str,
    gateway: (),
    prefix: u8,
    subnet_mask: &'static str,
    ipv6_range: String,
    ipv6_is_public: bool,
    ipv6_addresses: Vec<SlaacView>,
}

#[derive(Serialize)]
struct SlaacView {
    slaac_address: String,
}

impl<'a> VpcIpv6View<'a> {
    pub fn new(ip: &'a VpcIpv6, names: WireNames) -> Self {
        let slaac = ip.is_slaac.then(|| slaac_address(ip.range, ip.instance));
        let view = |address| SlaacView {
            slaac_address: Ipv6Addr::from_bits(address).to_string(),
        };
        Self {
            address: (),
            address_range: (),
            vpc_id: ip.vpc.0,
            subnet_id: ip.subnet.0,
            region: &ip.region,
            linode_id: names.linode(ip.instance.0),
            compute_id: names.compute(ip.instance.0),
            config_id: ip.config.0,
            interface_id: ip.interface.0,
            nodebalancer_id: (),
            database_id: (),
            active: ip.active,
            nat_1_1: "",
            gateway: (),
            prefix: ip.range.prefix(),
            subnet_mask: "",
            ipv6_range: ip.range.to_string(),
            ipv6_is_public: ip.is_public,
            ipv6_addresses: slaac.into_iter().map(view).collect(),
        }
    }
}

pub fn ipv6_page(ips: &Paged<VpcIpv6>, context: &ViewContext) -> Response {
    answer::page(ips, |ip| VpcIpv6View::new(ip, context.names))
}

pub fn page(ips: &Paged<VpcIp>, context: &ViewContext) -> Response {
    answer::page(ips, |ip| VpcIpView::new(ip, context.names))
}
