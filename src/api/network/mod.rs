//! Operations on VPCs, subnets and their addresses.

pub mod default_ranges;
pub mod ips;
pub mod ranges;
pub mod subnets;
pub mod vlans;
pub mod vpc_ips;
pub mod vpcs;

use crate::api::handlers::{change, change_at, done, list, list_at, view, view_at};
use crate::api::other_products::refuse;
use crate::model::scope::Scope;
use crate::rules;
use crate::rules::caller::Caller;
use crate::web::operation::{Needs, Operation, delete, get, post, put};

const VPC: &str = "/vpcs/{vpcId}";
const SUBNETS: &str = "/vpcs/{vpcId}/subnets";
const SUBNET: &str = "/vpcs/{vpcId}/subnets/{vpcSubnetId}";
const IPS: &str = "/networking/ips";
const ASSIGN_IPS: &str = "/networking/ips/assign";
const SHARE_IPS: &str = "/networking/ips/share";
const IP: &str = "/networking/ips/{address}";

const MOVING: &str =
    "Moving addresses between instances is not offered; release the address and allocate another one";
const SHARING: &str = "Sharing addresses between instances is not offered";

pub fn operations() -> Vec<Operation> {
    vec![
        // VPCs (interface §4.1)
        get("getVpcs", "/vpcs", list(rules::vpcs::list, vpcs::page)).list(),
        post("createVpc", "/vpcs", change(rules::vpcs::create, vpcs::one))
            .scope(Scope::VPC_READ_WRITE)
            .needs(Needs::AddVpcs),
        get("getVpc", VPC, view_at(rules::vpcs::view, vpcs::one)).on_vpc(),
        put("updateVpc", VPC, change_at(rules::vpcs::update, vpcs::one)).on_vpc(),
        delete("deleteVpc", VPC, change_at(rules::vpcs::delete, done)).on_vpc(),
        get(
            "getDefaultRanges",
            "/vpcs/default-ranges",
            view(
                |tx, _: &Caller| Ok(rules::default_ranges::view(tx.policy())),
                default_ranges::one,
            ),
        ),
        // Subnets of a VPC (interface §4.2)
        get(
            "getVpcSubnets",
            SUBNETS,
            list_at(rules::subnets::list, subnets::page),
        )
        .on_vpc()
        .list(),
        post(
            "createVpcSubnet",
            SUBNETS,
            change_at(rules::subnets::create, subnets::one),
        )
        .on_vpc(),
        get(
            "getVpcSubnet",
            SUBNET,
            view_at(rules::subnets::view, subnets::one),
        )
        .on_vpc(),
        put(
            "updateVpcSubnet",
            SUBNET,
            change_at(rules::subnets::update, subnets::one),
        )
        .on_vpc(),
        delete("deleteVpcSubnet", SUBNET, change_at(rules::subnets::delete, done)).on_vpc(),
        // VLANs
        get(
            "getVlans",
            "/networking/vlans",
            list(rules::vlans::list, vlans::page),
        )
        .of_family("linodes")
        .list(),
        // Addresses in VPCs (interface §4.1)
        get(
            "getVpcsIps",
            "/vpcs/ips",
            list(rules::vpc_ips::list, vpc_ips::page),
        )
        .scope(Scope::IPS_READ_ONLY)
        .list(),
        get(
            "getVpcIps",
            "/vpcs/{vpcId}/ips",
            list_at(rules::vpc_ips::of_vpc, vpc_ips::page),
        )
        .scope(Scope::IPS_READ_ONLY)
        .needs(Needs::VpcReadOnly)
        .list(),
        get(
            "getVpcsIpv6s",
            "/vpcs/ipv6s",
            list(rules::vpc_ips::list_ipv6, vpc_ips::ipv6_page),
        )
        .scope(Scope::IPS_READ_ONLY)
        .list(),
        get(
            "getVpcIpv6s",
            "/vpcs/{vpcId}/ipv6s",
            list_at(rules::vpc_ips::ipv6_of_vpc, vpc_ips::ipv6_page),
        )
        .scope(Scope::IPS_READ_ONLY)
        .needs(Needs::VpcReadOnly)
        .list(),
        // Addresses of instances outside of VPCs
        get("getIps", IPS, list(rules::ips::list, ips::page))
            .scope(Scope::IPS_READ_ONLY)
            .list(),
        post("allocateIp", IPS, change(rules::ips::allocate, ips::one))
            .scope(Scope::IPS_READ_WRITE)
            .needs(Needs::LinodeReadWrite),
        post("assignIps", ASSIGN_IPS, refuse(MOVING)).scope(Scope::IPS_READ_WRITE),
        post("shareIps", SHARE_IPS, refuse(SHARING)).scope(Scope::IPS_READ_WRITE),
        get("getIp", IP, view_at(rules::ips::view, ips::one))
            .scope(Scope::IPS_READ_ONLY)
            .needs(Needs::LinodeReadOnly),
        put("updateIp", IP, change_at(rules::ips::update, ips::one))
            .scope(Scope::IPS_READ_WRITE)
            .needs(Needs::LinodeReadWrite),
    ]
}
