//! Operations on instances, disks, configs and interfaces, and the provider's catalog.

pub mod configs;
pub mod disks;
pub mod images;
pub mod instances;
pub mod interfaces;
pub mod kernels;
pub mod maintenance_policies;
pub mod plans;
mod provider_catalog;
mod provider_plans;
mod provider_regions;
mod refusals;
pub mod regions;
mod usage;

pub use provider_catalog::operations as provider_operations;

use crate::api::handlers::{catalog_item, catalog_list, change, change_at, done, list, list_at, view_at};
use crate::api::ips;
use crate::model::scope::Scope;
use crate::rules;
use crate::rules::caller::Caller;
use crate::web::operation::{Class, Needs, Operation, delete, get, post, put};

const INSTANCES: &str = "/compute/instances";
const INSTANCE: &str = "/compute/instances/{computeId}";
const BOOT: &str = "/compute/instances/{computeId}/boot";
const REBOOT: &str = "/compute/instances/{computeId}/reboot";
const SHUTDOWN: &str = "/compute/instances/{computeId}/shutdown";
const PASSWORD: &str = "/compute/instances/{computeId}/password";
const IPS: &str = "/compute/instances/{computeId}/ips";
const DISKS: &str = "/compute/instances/{computeId}/disks";
const DISK: &str = "/compute/instances/{computeId}/disks/{diskId}";
const DISK_RESIZE: &str = "/compute/instances/{computeId}/disks/{diskId}/resize";
const DISK_PASSWORD: &str = "/compute/instances/{computeId}/disks/{diskId}/password";
const DISK_CLONE: &str = "/compute/instances/{computeId}/disks/{diskId}/clone";
const IP: &str = "/compute/instances/{computeId}/ips/{address}";
const CONFIGS: &str = "/compute/instances/{computeId}/configs";
const CONFIG: &str = "/compute/instances/{computeId}/configs/{configId}";
const INTERFACES: &str = "/compute/instances/{computeId}/configs/{configId}/interfaces";
const INTERFACE_ORDER: &str = "/compute/instances/{computeId}/configs/{configId}/interfaces/order";
const INTERFACE: &str = "/compute/instances/{computeId}/configs/{configId}/interfaces/{interfaceId}";

pub fn operations() -> Vec<Operation> {
    let parts = [
        instance_operations(),
        usage::operations(),
        refusals::operations(),
        config_operations(),
    ];
    parts.into_iter().flatten().collect()
}

fn instance_operations() -> Vec<Operation> {
    vec![
        // Instances
        get(
            "getInstances",
            INSTANCES,
            list(rules::instances::list, instances::page),
        )
        .scope(Scope::LINODES_READ_ONLY)
        .list(),
        post(
            "createInstance",
            INSTANCES,
            change(rules::instances::create, instances::one),
        )
        .scope(Scope::LINODES_READ_WRITE)
        .needs(Needs::AddLinodes)
        .class(Class::InstanceCreate),
        get(
            "getInstance",
            INSTANCE,
            view_at(rules::instances::view, instances::one),
        )
        .on_instance(),
        put(
            "updateInstance",
            INSTANCE,
            change_at(rules::instances::update, instances::one),
        )
        .on_instance(),
        delete(
            "deleteInstance",
            INSTANCE,
            change_at(rules::instances::delete, done),
        )
        .on_instance(),
        post("bootInstance", BOOT, change_at(rules::power::boot, done)).on_instance(),
        post("rebootInstance", REBOOT, change_at(rules::power::reboot, done)).on_instance(),
        post(
            "shutdownInstance",
            SHUTDOWN,
            change_at(rules::power::shutdown, done),
        )
        .on_instance(),
        get(
            "getInstanceIps",
            IPS,
            view_at(rules::instances::addresses, instances::ips),
        )
        .on_instance(),
        post(
            "addInstanceIp",
            IPS,
            change_at(rules::ips::add_to_instance, ips::one),
        )
        .on_instance(),
        get(
            "getInstanceIp",
            IP,
            view_at(rules::ips::view_of_instance, ips::one),
        )
        .on_instance(),
        put(
            "updateInstanceIp",
            IP,
            change_at(rules::ips::update_of_instance, ips::one),
        )
        .on_instance(),
        delete("deleteInstanceIp", IP, change_at(rules::ips::remove, done)).on_instance(),
        // Disks of an instance
        get("getDisks", DISKS, list_at(rules::disks::list, disks::page))
            .on_instance()
            .list(),
        post("createDisk", DISKS, change_at(rules::disks::create, disks::one)).on_instance(),
        get("getDisk", DISK, view_at(rules::disks::view, disks::one)).on_instance(),
        put("updateDisk", DISK, change_at(rules::disks::update, disks::one)).on_instance(),
        delete("deleteDisk", DISK, change_at(rules::disks::delete, done)).on_instance(),
        post("resizeDisk", DISK_RESIZE, change_at(rules::disks::resize, done)).on_instance(),
        post(
            "setDiskPassword",
            DISK_PASSWORD,
            change_at(rules::disks::set_password, done),
        )
        .on_instance(),
        post(
            "setInstancePassword",
            PASSWORD,
            change_at(rules::disks::set_instance_password, done),
        )
        .on_instance(),
        post("cloneDisk", DISK_CLONE, change_at(rules::disks::copy, disks::one)).on_instance(),
    ]
}

fn config_operations() -> Vec<Operation> {
    vec![
        // Configs of an instance
        get(
            "getConfigs",
            CONFIGS,
            list_at(rules::configs::list, configs::page),
        )
        .on_instance()
        .list(),
        post(
            "createConfig",
            CONFIGS,
            change_at(rules::configs::create, configs::one),
        )
        .on_instance(),
        get("getConfig", CONFIG, view_at(rules::configs::view, configs::one)).on_instance(),
        put(
            "updateConfig",
            CONFIG,
            change_at(rules::configs::update, configs::one),
        )
        .on_instance(),
        delete("deleteConfig", CONFIG, change_at(rules::configs::delete, done)).on_instance(),
        // Interfaces of a config
        get(
            "getConfigInterfaces",
            INTERFACES,
            view_at(rules::interfaces::list, |found, context| {
                interfaces::all(found, context)
            }),
        )
        .on_instance(),
        post(
            "createConfigInterface",
            INTERFACES,
            change_at(rules::interfaces::create, interfaces::one),
        )
        .on_instance(),
        post(
            "orderConfigInterfaces",
            INTERFACE_ORDER,
            change_at(rules::interfaces::order, done),
        )
        .on_instance(),
        get(
            "getConfigInterface",
            INTERFACE,
            view_at(rules::interfaces::view, interfaces::one),
        )
        .on_instance(),
        put(
            "updateConfigInterface",
            INTERFACE,
            change_at(rules::interfaces::update, interfaces::one),
        )
        .on_instance(),
        delete(
            "deleteConfigInterface",
            INTERFACE,
            change_at(rules::interfaces::delete, done),
        )
        .on_instance(),
    ]
}

/// The provider's public catalog.
pub fn catalog_operations() -> Vec<Operation> {
    vec![
        get(
            "getRegions",
            "/regions",
            catalog_list(rules::regions::list, regions::page),
        )
        .public()
        .list(),
        get(
            "getRegion",
            "/regions/{regionId}",
            catalog_item(rules::regions::view, regions::one),
        )
        .public(),
        get(
            "getPlanAvailability",
            "/regions/availability",
            catalog_list(rules::regions::list_plan_availability, regions::plans_page),
        )
        .public()
        .list(),
        get(
            "getRegionPlanAvailability",
            "/regions/{regionId}/availability",
            catalog_item(rules::regions::plan_availability, |rows, context| {
                regions::plans(rows, context)
            }),
        )
        .public(),
        get(
            "getVpcAvailability",
            "/regions/vpc-availability",
            list(
                |tx, _: &Caller, list| rules::regions::list_vpc_availability(tx.policy(), list),
                regions::vpcs_page,
            ),
        )
        .of_family("vpc")
        .list(),
        get(
            "getRegionVpcAvailability",
            "/regions/{regionId}/vpc-availability",
            view_at(
                |tx, _: &Caller, id: String| rules::regions::vpc_availability(tx.policy(), &id),
                regions::vpcs,
            ),
        )
        .of_family("vpc"),
        get(
            "getKernels",
            "/compute/kernels",
            catalog_list(rules::kernels::list, kernels::page),
        )
        .public()
        .list(),
        get(
            "getKernel",
            "/compute/kernels/{kernelId}",
            catalog_item(rules::kernels::view, kernels::one),
        )
        .public(),
        get(
            "getMaintenancePolicies",
            "/maintenance/policies",
            catalog_list(rules::maintenance_policies::list, maintenance_policies::page),
        )
        .public()
        .list(),
        get(
            "getTypes",
            "/compute/types",
            catalog_list(rules::plans::list, plans::page),
        )
        .public()
        .list(),
        get(
            "getType",
            "/compute/types/{typeId}",
            catalog_item(rules::plans::view, plans::one),
        )
        .public(),
        get(
            "getImages",
            "/images",
            catalog_list(rules::images::list, images::page),
        )
        .public()
        .list(),
        get(
            "getImage",
            "/images/{imageId}",
            catalog_item(rules::images::view, images::one),
        )
        .public(),
    ]
}
