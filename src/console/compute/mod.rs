//! Pages for instances, their configs and their interfaces.

pub mod attach;
pub mod configs;
pub mod detach;
pub mod instances;
pub mod power;
pub mod subnet_choice;

use crate::console::page::{Page, get, post};

const CONFIG_EDIT_PATH: &str = "/instances/{computeId}/configs/{configId}/edit";
const CONFIG_DELETE_PATH: &str = "/instances/{computeId}/configs/{configId}/delete";
const DETACH_PATH: &str = "/instances/{computeId}/configs/{configId}/interfaces/{interfaceId}/detach";
const SUBNET_ATTACH_PATH: &str = "/vpcs/{vpcId}/subnets/{vpcSubnetId}/attach";

pub fn pages() -> Vec<Page> {
    vec![
        get("pageInstances", "/instances", instances::list),
        get("exportInstances", "/instances/export.csv", instances::export),
        get("pageInstanceNew", "/instances/new", instances::new),
        post("sendInstanceNew", "/instances/new", instances::create),
        get("pageInstance", "/instances/{computeId}", instances::view),
        get("pageInstanceEdit", "/instances/{computeId}/edit", instances::edit),
        post(
            "sendInstanceEdit",
            "/instances/{computeId}/edit",
            instances::update,
        ),
        get(
            "pageInstanceDelete",
            "/instances/{computeId}/delete",
            instances::confirm_delete,
        ),
        post(
            "sendInstanceDelete",
            "/instances/{computeId}/delete",
            instances::delete,
        ),
        post("sendInstancePower", "/instances/{computeId}/power", power::change),
        get(
            "pageInstanceAttach",
            "/instances/{computeId}/attach",
            attach::form,
        ),
        post(
            "sendInstanceAttach",
            "/instances/{computeId}/attach",
            attach::attach,
        ),
        get(
            "pageConfigNew",
            "/instances/{computeId}/configs/new",
            configs::new,
        ),
        post(
            "sendConfigNew",
            "/instances/{computeId}/configs/new",
            configs::create,
        ),
        get("pageConfigEdit", CONFIG_EDIT_PATH, configs::edit),
        post("sendConfigEdit", CONFIG_EDIT_PATH, configs::update),
        get("pageConfigDelete", CONFIG_DELETE_PATH, configs::confirm_delete),
        post("sendConfigDelete", CONFIG_DELETE_PATH, configs::delete),
        get("pageInterfaceDetach", DETACH_PATH, detach::confirm),
        post("sendInterfaceDetach", DETACH_PATH, detach::detach),
        get("pageSubnetAttach", SUBNET_ATTACH_PATH, attach::choose_instance),
    ]
}
