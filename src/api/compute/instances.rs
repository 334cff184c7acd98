//! JSON views of instances.

use std::net::Ipv6Addr;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::api::ips::IpView;
use crate::api::vpc_ips::{VpcIpView, VpcIpv6View};
use crate::model::instance::Instance;
use crate::model::interface::write_address;
use crate::model::ip::IpKind;
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::time::Time;
use crate::model::upkeep::Alerts;
use crate::rules::instances::Addresses;
use crate::web::answer;

#[derive(Serialize)]
pub struct InstanceView<'a> {
    id: i64,
    label: &'a str,
    group: &'a str,
    status: &'static str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
    #[serde(rename = "type")]
    plan: &'a str,
    ipv4: Vec<String>,
    ipv6: String,
    image: Option<&'a str>,
    region: &'a str,
    site_type: &'static str,
    specs: SpecsView,
    alerts: AlertsView,
    backups: BackupsView,
    hypervisor: &'static str,
    watchdog_enabled: bool,
    tags: &'a [String],
    host_uuid: &'a str,
    has_user_data: bool,
    placement_group: Option<()>,
    disk_encryption: &'static str,
    lke_cluster_id: Option<i64>,
    capabilities: [(); 0],
    interface_generation: &'static str,
    maintenance_policy: &'static str,
    locks: [(); 0],
}

#[derive(Default, Serialize)]
struct SpecsView {
    disk: i64,
    memory: i64,
    vcpus: i64,
    gpus: i64,
    transfer: i64,
    accelerated_devices: i64,
}

/// Thresholds that the owner has set; Garth sends no alerts.
#[derive(Serialize)]
struct AlertsView {
    cpu: i64,
    network_in: i64,
    network_out: i64,
    transfer_quota: i64,
    io: i64,
    system_alerts: [(); 0],
    user_alerts: [(); 0],
}

impl AlertsView {
    fn new(Alerts([cpu, network_in, network_out, transfer_quota, io]): Alerts) -> Self {
        Self {
            cpu,
            network_in,
            network_out,
            transfer_quota,
            io,
            system_alerts: [],
            user_alerts: [],
        }
    }
}

/// Garth makes no backups of instances.
#[derive(Default, Serialize)]
struct BackupsView {
    enabled: bool,
    available: bool,
    schedule: ScheduleView,
    last_successful: Option<()>,
}

#[derive(Default, Serialize)]
struct ScheduleView {
    day: Option<&'static str>,
    window: Option<&'static str>,
}

impl<'a> InstanceView<'a> {
    pub fn new(instance: &'a Instance, policy: &Policy) -> Self {
        let plan = policy.plans.iter().find(|plan| plan.id == instance.plan);
        let specs = plan.map(|plan| SpecsView {
            disk: plan.disk,
            memory: plan.memory,
            vcpus: plan.vcpus,
            gpus: plan.gpus,
            transfer: plan.transfer,
            accelerated_devices: 0,
        });
        Self {
            id: instance.id.0,
            label: instance.label.as_str(),
            group: &instance.group,
            status: instance.status.word(),
            created: instance.created,
            updated: instance.updated,
            plan: &instance.plan,
            ipv4: instance.addresses().map(write_address).collect(),
            ipv6: format!("{}/128", ipv6(instance)),
            image: instance.image.as_deref(),
            region: &instance.region,
            site_type: "core",
            specs: specs.unwrap_or_default(),
            alerts: AlertsView::new(instance.upkeep.alerts),
            backups: BackupsView {
                schedule: ScheduleView {
                    day: instance.upkeep.schedule.day,
                    window: instance.upkeep.schedule.window,
                },
                ..BackupsView::default()
            },
            hypervisor: "kvm",
            watchdog_enabled: instance.watchdog,
            tags: &instance.tags,
            host_uuid: &instance.host,
            has_user_data: instance.has_user_data,
            placement_group: None,
            disk_encryption: instance.disk_encryption.word(),
            lke_cluster_id: None,
            capabilities: [],
            interface_generation: "legacy_config",
            maintenance_policy: instance.upkeep.maintenance.word(),
            locks: [],
        }
    }
}

/// The IPv6 address of an instance: a fixed address in the documentation range.
fn ipv6(instance: &Instance) -> Ipv6Addr {
    const DOCUMENTATION: u128 = 0x2001_0db8 << 96;
    Ipv6Addr::from_bits(DOCUMENTATION | u128::from(instance.id.0.unsigned_abs()))
}

fn link_local(instance: &Instance) -> Ipv6Addr {
    const LOCAL: u128 = 0xfe80 << 112 | 0xffff << 32;
    Ipv6Addr::from_bits(LOCAL | u128::from(instance.id.0.unsigned_abs()))
}

pub fn one(instance: &Instance, context: &ViewContext) -> Response {
    answer::one(instance, &InstanceView::new(instance, context.policy))
}

pub fn page(instances: &Paged<Instance>, context: &ViewContext) -> Response {
    answer::page(instances, |instance| InstanceView::new(instance, context.policy))
}

#[derive(Serialize)]
struct IpsView<'a> {
    ipv4: Ipv4sView<'a>,
    ipv6: Ipv6sView<'a>,
}

#[derive(Serialize)]
struct Ipv4sView<'a> {
    public: Vec<IpView<'a>>,
    private: Vec<IpView<'a>>,
    shared: [(); 0],
    reserved: [(); 0],
    vpc: Vec<VpcIpView<'a>>,
}

#[derive(Serialize)]
struct Ipv6sView<'a> {
    slaac: Ipv6View<'a>,
    link_local: Ipv6View<'a>,
    global: [(); 0],
    /// `None` omits the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    vpc: Option<Vec<VpcIpv6View<'a>>>,
}

#[derive(Serialize)]
struct Ipv6View<'a> {
    address: String,
    gateway: &'static str,
    subnet_mask: &'static str,
    prefix: u8,
    #[serde(rename = "type")]
    kind: &'static str,
    public: bool,
    rdns: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    linode_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compute_id: Option<i64>,
    region: &'a str,
}

pub fn ips(found: &Addresses, context: &ViewContext) -> Response {
    let Addresses {
        instance,
        ips,
        vpc,
        vpc_ipv6,
    } = found;
    let names = context.names;
    let of_kind = |kind: IpKind| {
        let ips = ips.iter().filter(move |ip| ip.kind == kind);
        ips.map(|ip| IpView::new(ip, context)).collect()
    };
    let ipv6_view = |address: String, kind, public| Ipv6View {
        address,
        gateway: "fe80::1",
        subnet_mask: "ffff:ffff:ffff:ffff::",
        prefix: 64,
        kind,
        public,
        rdns: None,
        linode_id: names.linode(instance.id.0),
        compute_id: names.compute(instance.id.0),
        region: &instance.region,
    };
    let view = IpsView {
        ipv4: Ipv4sView {
            public: of_kind(IpKind::Public),
            private: of_kind(IpKind::Private),
            shared: [],
            reserved: [],
            vpc: vpc.iter().map(|ip| VpcIpView::new(ip, names)).collect(),
        },
        ipv6: Ipv6sView {
            slaac: ipv6_view(ipv6(instance).to_string(), "ipv6", true),
            link_local: ipv6_view(link_local(instance).to_string(), "ipv6", false),
            global: [],
            vpc: (!vpc_ipv6.is_empty() || context.policy.wire_extras)
                .then(|| vpc_ipv6.iter().map(|ip| VpcIpv6View::new(ip, names)).collect()),
        },
    };
    answer::json(StatusCode::OK, &view)
}
