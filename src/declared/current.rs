//! Reads the current state of an account as a document.

use std::collections::HashMap;

use super::document::{
    Document, Grants, Instance, Interface, InterfaceIpv4, InterfaceIpv6, ObjectGrant, Range, Subnet, User,
    VERSION, Vpc,
};
use crate::model;
use crate::model::cidr::Cidr6;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{ConfigId, InstanceId, SubnetId, UserId, VpcId};
use crate::model::interface::{Ipv6Attachment, VpcAttachment, write_address};
use crate::model::page::{Page, Paged};
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::{Result, instances, users, vpcs};
use crate::store::{self, ReadTx};

/// The IDs of objects, by label in lower case.
#[derive(Debug, Default)]
pub struct Ids {
    pub vpcs: HashMap<String, VpcId>,
    /// By the labels of the VPC and the subnet.
    pub subnets: HashMap<(String, String), SubnetId>,
    /// With the config whose interfaces the document has.
    pub instances: HashMap<String, (InstanceId, Option<ConfigId>)>,
}

pub fn key(label: &str) -> String {
    label.to_ascii_lowercase()
}

impl Ids {
    pub fn add_vpc(&mut self, vpc: &model::vpc::Vpc) {
        self.vpcs.insert(key(vpc.label.as_str()), vpc.id);
        for subnet in &vpc.subnets {
            let labels = (key(vpc.label.as_str()), key(subnet.label.as_str()));
            self.subnets.insert(labels, subnet.id);
        }
    }
}

/// The state of the caller's account, sorted by label, and the IDs of its objects.
pub fn read(tx: &mut ReadTx, caller: &Caller) -> Result<(Document, Ids)> {
    let mut ids = Ids::default();
    let mut found_vpcs = all(|list| vpcs::list(tx, caller, list))?;
    found_vpcs.sort_by(|a, b| a.label.as_str().cmp(b.label.as_str()));
    found_vpcs.iter().for_each(|vpc| ids.add_vpc(vpc));
    let mut found_instances = all(|list| instances::list(tx, caller, list))?;
    found_instances.sort_by(|a, b| a.label.as_str().cmp(b.label.as_str()));
    let labels = Labels::of(&found_vpcs, &found_instances);

    let mut interfaces = read_interfaces(tx, &found_instances, &mut ids)?;
    let instance = |instance: &model::instance::Instance| {
        let interfaces = interfaces.remove(&instance.id).unwrap_or_default();
        describe_instance(instance, &interfaces, &labels)
    };
    let described_instances = found_instances.iter().map(instance).collect();
    let document = Document {
        version: VERSION,
        vpcs: Some(found_vpcs.iter().map(describe_vpc).collect()),
        instances: Some(described_instances),
        users: Some(read_users(tx, caller, &labels)?),
    };
    Ok((document, ids))
}

/// All pages of a list.
pub fn all<T>(mut page: impl FnMut(&ListRequest) -> Result<Paged<T>>) -> Result<Vec<T>> {
    let mut items = Vec::new();
    for number in 1.. {
        let found = page(&ListRequest::full_page().at(number))?;
        let pages = found.pages();
        items.extend(found.items);
        if number >= pages {
            break;
        }
    }
    Ok(items)
}

/// The labels of objects, by ID.
struct Labels {
    vpcs: HashMap<VpcId, String>,
    subnets: HashMap<SubnetId, String>,
    instances: HashMap<InstanceId, String>,
}

impl Labels {
    fn of(vpcs: &[model::vpc::Vpc], instances: &[model::instance::Instance]) -> Self {
        let subnets = vpcs.iter().flat_map(|vpc| &vpc.subnets);
        Self {
            vpcs: vpcs
                .iter()
                .map(|vpc| (vpc.id, vpc.label.as_str().to_owned()))
                .collect(),
            subnets: subnets
                .map(|subnet| (subnet.id, subnet.label.as_str().to_owned()))
                .collect(),
            instances: instances
                .iter()
                .map(|instance| (instance.id, instance.label.as_str().to_owned()))
                .collect(),
        }
    }
}

fn describe_vpc(vpc: &model::vpc::Vpc) -> Vpc {
    let subnet = |subnet: &model::subnet::Subnet| Subnet {
        label: subnet.label.as_str().to_owned(),
        ipv4: subnet.ipv4.to_string(),
        ipv6: subnet.ipv6.map(|range| vec![describe_range(range)]),
    };
    let mut subnets: Vec<_> = vpc.subnets.iter().map(subnet).collect();
    subnets.sort_by(|a, b| a.label.cmp(&b.label));
    Vpc {
        label: vpc.label.as_str().to_owned(),
        region: vpc.region.0.clone(),
        description: Some(vpc.description.as_str().to_owned()),
        ipv6: vpc.ipv6.map(|range| vec![describe_range(range)]),
        subnets: Some(subnets),
    }
}

fn describe_range(range: Cidr6) -> Range {
    Range {
        range: range.to_string(),
    }
}

type Interfaces = HashMap<InstanceId, Vec<model::interface::Interface>>;

/// The interfaces of one config of each instance: the config that it runs with or was last booted with, or else the
/// first config.
fn read_interfaces(
    tx: &mut ReadTx,
    instances: &[model::instance::Instance],
    ids: &mut Ids,
) -> Result<Interfaces> {
    let mut found = Interfaces::new();
    for page in instances.chunks(Page::MAX_SIZE as usize) {
        let page_ids: Vec<_> = page.iter().map(|instance| instance.id).collect();
        let first = store::configs::first_of(tx, &page_ids)?;
        let config = |instance: &model::instance::Instance| {
            let booted = instance.running.or(instance.last_booted);
            booted.or(first.get(&instance.id).copied())
        };
        let configs: Vec<_> = page.iter().filter_map(config).collect();
        let mut interfaces = store::interfaces::of_configs(tx, &configs)?;
        for instance in page {
            let config = config(instance);
            let label = key(instance.label.as_str());
            ids.instances.insert(label, (instance.id, config));
            let of_config = config.and_then(|config| interfaces.remove(&config));
            found.insert(instance.id, of_config.unwrap_or_default());
        }
    }
    Ok(found)
}

fn describe_instance(
    instance: &model::instance::Instance,
    interfaces: &[model::interface::Interface],
    labels: &Labels,
) -> Instance {
    let mut tags = instance.tags.clone();
    tags.sort_unstable();
    let interface = |interface: &model::interface::Interface| describe_interface(interface, labels);
    Instance {
        label: instance.label.as_str().to_owned(),
        region: instance.region.clone(),
        plan: instance.plan.clone(),
        image: instance.image.clone(),
        tags: Some(tags),
        interfaces: Some(interfaces.iter().map(interface).collect()),
    }
}

fn describe_interface(interface: &model::interface::Interface, labels: &Labels) -> Interface {
    let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let described = Interface {
        purpose: interface.purpose.word().to_owned(),
        primary: interface.primary,
        label: text(&interface.label),
        ipam_address: text(&interface.ipam_address),
        ..Interface::default()
    };
    let Some(vpc) = &interface.vpc else {
        return described;
    };
    Interface {
        vpc: labels.vpcs.get(&vpc.vpc).cloned(),
        subnet: labels.subnets.get(&vpc.subnet).cloned(),
        ipv4: Some(describe_ipv4(vpc)),
        ip_ranges: vpc.ranges.iter().map(ToString::to_string).collect(),
        ipv6: vpc.ipv6.as_ref().map(describe_ipv6),
        ..described
    }
}

fn describe_ipv4(vpc: &VpcAttachment) -> InterfaceIpv4 {
    InterfaceIpv4 {
        vpc: Some(write_address(vpc.address)),
        nat_1_1: vpc.nat_1_1.map(write_address),
    }
}

fn describe_ipv6(ipv6: &Ipv6Attachment) -> InterfaceIpv6 {
    let ranges = ipv6.ranges.iter().copied().map(describe_range);
    InterfaceIpv6 {
        slaac: Some(ipv6.slaac.into_iter().map(describe_range).collect()),
        ranges: Some(ranges.collect()),
        is_public: Some(ipv6.is_public),
    }
}

fn read_users(tx: &mut ReadTx, caller: &Caller, labels: &Labels) -> Result<Vec<User>> {
    let mut found = all(|list| users::page(tx, caller, list))?;
    found.sort_by(|a, b| a.username.as_str().cmp(b.username.as_str()));
    let mut grants = read_grants(tx, caller, labels)?;
    let user = |user: &model::user::User| {
        let mut grants = grants.remove(&user.id).unwrap_or_default();
        grants.account_access = user.account_access.map(|access| access.word().to_owned());
        User {
            username: user.username.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            restricted: Some(user.restricted),
            grants: user.restricted.then_some(grants),
        }
    };
    Ok(found.iter().map(user).collect())
}

/// The grants of all users, without the access to the account.
fn read_grants(tx: &mut ReadTx, caller: &Caller, labels: &Labels) -> Result<HashMap<UserId, Grants>> {
    let mut found: HashMap<UserId, Grants> = HashMap::new();
    for (user, word) in store::grants::globals_in(tx, caller.account)? {
        found.entry(user).or_default().global.push(word);
    }
    let grant = |label: &String, permission: Permission| ObjectGrant {
        label: label.clone(),
        permissions: permission.word().to_owned(),
    };
    for (user, id, permission) in store::grants::entities_in(tx, caller.account, GrantKind::Vpc)? {
        if let Some(label) = labels.vpcs.get(&VpcId(id)) {
            found.entry(user).or_default().vpcs.push(grant(label, permission));
        }
    }
    for (user, id, permission) in store::grants::entities_in(tx, caller.account, GrantKind::Linode)? {
        if let Some(label) = labels.instances.get(&InstanceId(id)) {
            let grants = found.entry(user).or_default();
            grants.instances.push(grant(label, permission));
        }
    }
    for grants in found.values_mut() {
        grants.vpcs.sort_unstable();
        grants.instances.sort_unstable();
    }
    Ok(found)
}
