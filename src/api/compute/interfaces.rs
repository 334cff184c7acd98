//! JSON views of interfaces.

use std::net::Ipv6Addr;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::api::ranges::RangeView;
use crate::model::cidr::Cidr6;
use crate::model::family::V6;
use crate::model::id::InstanceId;
use crate::model::interface::{Interface, Ipv6Attachment, slaac_address, write_address};
use crate::model::policy::Policy;
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
    /// Null without IPv6. `None` omits the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    ipv6: Option<Option<Ipv6View>>,
}

#[derive(Serialize)]
struct Ipv6View {
    slaac: Vec<SlaacView>,
    ranges: Vec<RangeView<V6>>,
    is_public: bool,
}

#[derive(Serialize)]
struct SlaacView {
    range: String,
    address: String,
}

impl Ipv6View {
    fn new(ipv6: &Ipv6Attachment, instance: InstanceId) -> Self {
        let slaac = |range: Cidr6| SlaacView {
            range: range.to_string(),
            address: Ipv6Addr::from_bits(slaac_address(range, instance)).to_string(),
        };
        Self {
            slaac: ipv6.slaac.into_iter().map(slaac).collect(),
            ranges: ipv6.ranges.iter().copied().map(RangeView::new).collect(),
            is_public: ipv6.is_public,
        }
    }
}

#[derive(Serialize)]
struct Ipv4View {
    vpc: String,
    nat_1_1: Option<String>,
}

impl<'a> InterfaceView<'a> {
    pub fn new(interface: &'a Interface, policy: &Policy) -> Self {
        let vpc = interface.vpc.as_ref();
        let ipv6 = vpc.and_then(|vpc| vpc.ipv6.as_ref());
        let ipv6 = ipv6.map(|ipv6| Ipv6View::new(ipv6, interface.instance));
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
            ipv6: (ipv6.is_some() || policy.wire_extras).then_some(ipv6),
        }
    }
}

pub fn one(interface: &Interface, context: &ViewContext) -> Response {
    answer::one(interface, &InterfaceView::new(interface, context.policy))
}

/// A plain array, as in the public API.
pub fn all(interfaces: &[Interface], context: &ViewContext) -> Response {
    let view = |interface| InterfaceView::new(interface, context.policy);
    let views: Vec<_> = interfaces.iter().map(view).collect();
    answer::json(StatusCode::OK, &views)
}
