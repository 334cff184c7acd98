//! Pages for VPCs, subnets and their addresses.

pub mod address_map;
mod addresses;
pub mod blockers;
pub mod ipv6;
pub mod subnet_list;
pub mod subnets;
pub mod usage;
pub mod vpcs;

use crate::console::page::{Page, get, post};

pub fn pages() -> Vec<Page> {
    vec![
        get("pageVpcs", "/vpcs", vpcs::list),
        get("pageVpcNew", "/vpcs/new", vpcs::new),
        post("sendVpcNew", "/vpcs/new", vpcs::create),
        get("checkVpcNew", "/vpcs/new/check", vpcs::check),
        get("pageVpc", "/vpcs/{vpcId}", vpcs::view),
        get("pageVpcMap", "/vpcs/{vpcId}/map", vpcs::view_map),
        get("pageVpcEdit", "/vpcs/{vpcId}/edit", vpcs::edit),
        post("sendVpcEdit", "/vpcs/{vpcId}/edit", vpcs::update),
        get("pageVpcDelete", "/vpcs/{vpcId}/delete", vpcs::confirm_delete),
        post("sendVpcDelete", "/vpcs/{vpcId}/delete", vpcs::delete),
        get("pageSubnets", "/vpcs/{vpcId}/subnets", subnet_list::list),
        get(
            "exportSubnets",
            "/vpcs/{vpcId}/subnets/export.csv",
            subnet_list::export,
        ),
        get("exportVpcs", "/vpcs/export.csv", vpcs::export),
        get("exportAddresses", "/vpcs/addresses.csv", addresses::export_all),
        get(
            "exportVpcAddresses",
            "/vpcs/{vpcId}/addresses.csv",
            addresses::export_vpc,
        ),
        get("pageSubnetNew", "/vpcs/{vpcId}/subnets/new", subnets::new),
        post("sendSubnetNew", "/vpcs/{vpcId}/subnets/new", subnets::create),
        get("checkSubnetNew", "/vpcs/{vpcId}/subnets/check", subnets::check),
        get("pageSubnet", "/vpcs/{vpcId}/subnets/{vpcSubnetId}", subnets::view),
        get(
            "pageSubnetEdit",
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}/edit",
            subnets::edit,
        ),
        post(
            "sendSubnetEdit",
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}/edit",
            subnets::update,
        ),
        get(
            "pageSubnetDelete",
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}/delete",
            subnets::confirm_delete,
        ),
        post(
            "sendSubnetDelete",
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}/delete",
            subnets::delete,
        ),
    ]
}
