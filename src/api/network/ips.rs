//! JSON views of addresses outside of VPCs.

use axum::response::Response;
use serde::Serialize;

use crate::api::entity_urls;
use crate::api::handlers::ViewContext;
use crate::model::interface::write_address;
use crate::model::ip::{Hostname, Ip, IpKind, PRIVATE_MASK, PRIVATE_PREFIX};
use crate::model::page::Paged;
use crate::model::subject::SubjectKind;
use crate::web::answer;

#[derive(Serialize)]
pub struct IpView<'a> {
    address: String,
    gateway: Option<String>,
    subnet_mask: String,
    prefix: u8,
    #[serde(rename = "type")]
    kind: &'static str,
    public: bool,
    rdns: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linode_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compute_id: Option<i64>,
    interface_id: Option<()>,
    region: &'a str,
    vpc_nat_1_1: Option<NatView>,
    reserved: bool,
    assigned_entity: AssignedView<'a>,
}

#[derive(Serialize)]
struct NatView {
    vpc_id: i64,
    subnet_id: i64,
    address: String,
}

#[derive(Serialize)]
struct AssignedView<'a> {
    id: i64,
    label: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    url: String,
}

/// The gateway, mask and prefix length of an address.
struct Network {
    gateway: Option<String>,
    mask: String,
    prefix: u8,
}

impl<'a> IpView<'a> {
    pub fn new(ip: &'a Ip, context: &ViewContext) -> Self {
        let network = Network::of(ip, context);
        let entity = SubjectKind::Linode.entity(ip.instance.0, ip.instance_label.clone());
        Self {
            address: write_address(ip.address),
            gateway: network.gateway,
            subnet_mask: network.mask,
            prefix: network.prefix,
            kind: "ipv4",
            public: ip.kind == IpKind::Public,
            rdns: rdns(ip, context),
            linode_id: context.names.linode(ip.instance.0),
            compute_id: context.names.compute(ip.instance.0),
            interface_id: None,
            region: &ip.region,
            vpc_nat_1_1: ip.translated.as_ref().map(|target| NatView {
                vpc_id: target.vpc.0,
                subnet_id: target.subnet.0,
                address: write_address(target.address),
            }),
            reserved: false,
            assigned_entity: AssignedView {
                id: ip.instance.0,
                label: &ip.instance_label,
                kind: SubjectKind::Linode.word(),
                url: entity_urls::of(&entity),
            },
        }
    }
}

impl Network {
    fn of(ip: &Ip, context: &ViewContext) -> Self {
        if ip.kind == IpKind::Private {
            return Self {
                gateway: None,
                mask: write_address(PRIVATE_MASK),
                prefix: PRIVATE_PREFIX,
            };
        }
        let ranges = &context.policy.public_ranges;
        let range = ranges
            .iter()
            .find(|range| range.first() <= ip.address && ip.address <= range.last());
        Self {
            gateway: Some(range.map_or_else(String::new, |range| write_address(range.gateway()))),
            mask: range.map_or_else(String::new, |range| write_address(range.mask())),
            prefix: range.map_or(32, |range| range.prefix()),
        }
    }
}

/// The reverse DNS name that the owner has set, or the provider's default name.
fn rdns(ip: &Ip, context: &ViewContext) -> Option<String> {
    if ip.kind == IpKind::Private {
        return None;
    }
    let set_by_owner = ip.rdns.as_ref().map(|name| Hostname::as_str(name).to_owned());
    set_by_owner.or_else(|| {
        let domain = context.policy.rdns_domain.as_deref()?;
        Some(format!(
            "{}.{domain}",
            write_address(ip.address).replace('.', "-")
        ))
    })
}

pub fn one(ip: &Ip, context: &ViewContext) -> Response {
    answer::one(ip, &IpView::new(ip, context))
}

pub fn page(ips: &Paged<Ip>, context: &ViewContext) -> Response {
    answer::page(ips, |ip| IpView::new(ip, context))
}
