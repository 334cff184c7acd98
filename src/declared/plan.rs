//! Compares a document with the current state: a pure function that returns ordered steps.
//!
//! The order: deletions of users and instances, deletions of unused networks, networks, instances, deletions of
//! networks that instances have left, users and their grants. So a step finds everything that it refers to, and a freed
//! address or range can be used again.

use std::collections::{HashMap, HashSet};

use super::document::{Document, Grants, Instance, Interface, ObjectGrant, Range, User, Vpc};
use super::fault::Fault;
use super::interface_match::{are_interfaces, are_ranges};
use super::read::UNRESTRICTED;
use super::step::{Change, InstanceUpdate, Step, UserUpdate, VpcUpdate};
use crate::model::grant::Global;

/// The changes that make the current state match a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub steps: Vec<Step>,
    /// The deletions that only `prune` allows.
    pub unlisted: Vec<Change>,
}

/// The plan, or all differences that no change can remove. The document must be valid by itself. With `prune`, objects
/// that the document does not have are deleted, if it has the list to which they would belong.
pub fn plan(current: &Document, wanted: &Document, prune: bool) -> Result<Plan, Vec<Fault>> {
    let mut planner = Planner::new(current, wanted, prune);
    planner.plan_instances();
    planner.plan_networks();
    planner.plan_users();
    match planner.faults.is_empty() {
        true => Ok(planner.phases.into_plan(prune)),
        false => Err(planner.faults),
    }
}

/// The steps by phase.
#[derive(Default)]
struct Phases {
    deletions: Vec<Step>,
    unused_networks: Vec<Step>,
    networks: Vec<Step>,
    existing_instances: Vec<Step>,
    new_instances: Vec<Step>,
    left_networks: Vec<Step>,
    users: Vec<Step>,
}

impl Phases {
    fn into_plan(self, prune: bool) -> Plan {
        let changes = [self.networks, self.existing_instances, self.new_instances].concat();
        if prune {
            let (before, after) = (
                [self.deletions, self.unused_networks],
                [self.left_networks, self.users],
            );
            return Plan {
                steps: [before.concat(), changes, after.concat()].concat(),
                unlisted: Vec::new(),
            };
        }
        let unlisted = [self.unused_networks, self.left_networks, self.deletions].concat();
        Plan {
            steps: [changes, self.users].concat(),
            unlisted: unlisted.into_iter().map(|step| step.change).collect(),
        }
    }
}

/// Objects by label, in lower case.
type Index<'a, T> = HashMap<String, &'a T>;

fn index<'a, T>(items: Option<&'a Vec<T>>, label: fn(&T) -> &str) -> Index<'a, T> {
    let items = items.into_iter().flatten();
    items.map(|item| (key(label(item)), item)).collect()
}

fn key(label: &str) -> String {
    label.to_ascii_lowercase()
}

struct Planner<'a> {
    wanted: &'a Document,
    current_vpcs: Index<'a, Vpc>,
    wanted_vpcs: Index<'a, Vpc>,
    current_instances: Index<'a, Instance>,
    wanted_instances: Index<'a, Instance>,
    current: &'a Document,
    prune: bool,
    faults: Vec<Fault>,
    phases: Phases,
}

impl<'a> Planner<'a> {
    fn new(current: &'a Document, wanted: &'a Document, prune: bool) -> Self {
        Self {
            current_vpcs: index(current.vpcs.as_ref(), |vpc| &vpc.label),
            wanted_vpcs: index(wanted.vpcs.as_ref(), |vpc| &vpc.label),
            current_instances: index(current.instances.as_ref(), |instance| &instance.label),
            wanted_instances: index(wanted.instances.as_ref(), |instance| &instance.label),
            current,
            wanted,
            prune,
            faults: Vec::new(),
            phases: Phases::default(),
        }
    }

    fn refuse(&mut self, path: String, text: impl Into<String>) {
        self.faults.push(Fault::new(path, text));
    }

    /// Refuses a difference in a field that cannot be changed.
    fn refuse_change(&mut self, path: String, from: &str, kind: &str) {
        let text = format!("is {from} and cannot be changed; use another label, or delete the {kind} first");
        self.refuse(path, text);
    }

    fn plan_networks(&mut self) {
        for (at, vpc) in self.wanted.vpcs.iter().flatten().enumerate() {
            let path = format!("vpcs[{at}]");
            match self.current_vpcs.get(&key(&vpc.label)).copied() {
                Some(current) => self.plan_vpc(&path, current, vpc),
                None => add(&mut self.phases.networks, path, Change::CreateVpc(vpc.clone())),
            }
        }
        if self.wanted.vpcs.is_none() {
            return;
        }
        let used = self.subnets_of_remaining_instances();
        for current in self.current.vpcs.iter().flatten() {
            self.delete_networks(current, &used);
        }
    }

    fn plan_vpc(&mut self, path: &str, current: &Vpc, wanted: &Vpc) {
        if wanted.region != current.region {
            self.refuse_change(format!("{path}.region"), &current.region, "VPC");
        }
        self.refuse_other_range(path, wanted.ipv6.as_deref(), current.ipv6.as_deref(), "VPC");
        let to = VpcUpdate {
            label: differs(Some(&wanted.label), Some(&current.label)),
            description: differs(wanted.description.as_ref(), current.description.as_ref()),
        };
        if to != VpcUpdate::default() {
            let label = current.label.clone();
            let change = Change::UpdateVpc { label, to };
            add(&mut self.phases.networks, path.to_owned(), change);
        }
        let subnets = index(current.subnets.as_ref(), |subnet| &subnet.label);
        for (at, subnet) in wanted.subnets.iter().flatten().enumerate() {
            let path = format!("{path}.subnets[{at}]");
            let Some(current) = subnets.get(&key(&subnet.label)) else {
                let change = Change::CreateSubnet {
                    vpc: wanted.label.clone(),
                    subnet: subnet.clone(),
                };
                add(&mut self.phases.networks, path, change);
                continue;
            };
            if subnet.ipv4 != current.ipv4 {
                self.refuse_change(format!("{path}.ipv4"), &current.ipv4, "subnet");
            }
            self.refuse_other_range(&path, subnet.ipv6.as_deref(), current.ipv6.as_deref(), "subnet");
            if let Some(to) = differs(Some(&subnet.label), Some(&current.label)) {
                let (vpc, label) = (wanted.label.clone(), current.label.clone());
                let change = Change::RenameSubnet { vpc, label, to };
                add(&mut self.phases.networks, path, change);
            }
        }
    }

    fn refuse_other_range(
        &mut self,
        path: &str,
        wanted: Option<&[Range]>,
        current: Option<&[Range]>,
        kind: &str,
    ) {
        let current = current.unwrap_or_default();
        if !are_ranges(wanted, current) {
            let from = current.first().map_or("not set", |range| range.range.as_str());
            self.refuse_change(format!("{path}.ipv6"), from, kind);
        }
    }

    /// The subnets, as pairs of keys, in which instances have interfaces that are not deleted.
    fn subnets_of_remaining_instances(&self) -> HashSet<(String, String)> {
        let remaining = self.current.instances.iter().flatten();
        let remaining = remaining.filter(|instance| self.instance_remains(&instance.label));
        let interfaces = remaining.flat_map(|instance| instance.interfaces.iter().flatten());
        interfaces
            .filter_map(|interface| Some((key(interface.vpc.as_ref()?), key(interface.subnet.as_ref()?))))
            .collect()
    }

    /// Deletes a VPC, or those of its subnets, that the document does not have.
    fn delete_networks(&mut self, current: &Vpc, used: &HashSet<(String, String)>) {
        let is_used = |label: &str| used.contains(&(key(&current.label), key(label)));
        let Some(wanted) = self.wanted_vpcs.get(&key(&current.label)) else {
            let is_used = current
                .subnets
                .iter()
                .flatten()
                .any(|subnet| is_used(&subnet.label));
            let subnets = current.subnets.iter().flatten();
            let change = Change::DeleteVpc {
                label: current.label.clone(),
                subnets: subnets.map(|subnet| subnet.label.clone()).collect(),
            };
            add(self.network_deletions(is_used), "vpcs".to_owned(), change);
            return;
        };
        let Some(wanted_subnets) = &wanted.subnets else {
            return;
        };
        let listed = index(Some(wanted_subnets), |subnet| &subnet.label);
        let wanted: &Vpc = wanted;
        for subnet in current.subnets.iter().flatten() {
            if !listed.contains_key(&key(&subnet.label)) {
                // A step before the update of the VPC uses its current label, and a step after it uses the new one.
                let is_used = is_used(&subnet.label);
                let vpc = if is_used { &wanted.label } else { &current.label };
                let change = Change::DeleteSubnet {
                    vpc: vpc.clone(),
                    label: subnet.label.clone(),
                };
                let mut vpcs = self.wanted.vpcs.iter().flatten();
                let at = vpcs.position(|vpc| std::ptr::eq(vpc, wanted));
                let path = format!("vpcs[{}].subnets", at.unwrap_or_default());
                add(self.network_deletions(is_used), path, change);
            }
        }
    }

    fn network_deletions(&mut self, is_used: bool) -> &mut Vec<Step> {
        match is_used {
            true => &mut self.phases.left_networks,
            false => &mut self.phases.unused_networks,
        }
    }

    fn plan_instances(&mut self) {
        for (at, instance) in self.wanted.instances.iter().flatten().enumerate() {
            let path = format!("instances[{at}]");
            for (at, interface) in instance.interfaces.iter().flatten().enumerate() {
                self.refuse_unknown_subnet(&format!("{path}.interfaces[{at}]"), interface);
            }
            match self.current_instances.get(&key(&instance.label)).copied() {
                Some(current) => self.plan_instance(&path, current, instance),
                None => {
                    let change = Change::CreateInstance(instance.clone());
                    add(&mut self.phases.new_instances, path, change);
                }
            }
        }
        if self.wanted.instances.is_none() {
            return;
        }
        for current in self.current.instances.iter().flatten() {
            if !self.wanted_instances.contains_key(&key(&current.label)) {
                let label = current.label.clone();
                let change = Change::DeleteInstance { label };
                add(&mut self.phases.deletions, "instances".to_owned(), change);
            }
        }
    }

    fn plan_instance(&mut self, path: &str, current: &Instance, wanted: &Instance) {
        for (name, wanted, current) in [
            ("region", Some(&wanted.region), Some(&current.region)),
            ("type", Some(&wanted.plan), Some(&current.plan)),
            ("image", wanted.image.as_ref(), current.image.as_ref()),
        ] {
            if differs(wanted, current).is_some() {
                let from = current.map_or("not set", String::as_str);
                self.refuse_change(format!("{path}.{name}"), from, "instance");
            }
        }
        let sorted = |tags: &Option<Vec<String>>| {
            let mut tags = tags.clone()?;
            tags.sort_unstable();
            tags.dedup();
            Some(tags)
        };
        let to = InstanceUpdate {
            label: differs(Some(&wanted.label), Some(&current.label)),
            // The tags are sent in the order of the document, to which the paths of errors refer.
            tags: differs(sorted(&wanted.tags).as_ref(), sorted(&current.tags).as_ref())
                .and(wanted.tags.clone()),
        };
        if to != InstanceUpdate::default() {
            let label = current.label.clone();
            let change = Change::UpdateInstance { label, to };
            add(&mut self.phases.existing_instances, path.to_owned(), change);
        }
        let current = current.interfaces.as_deref().unwrap_or_default();
        if let Some(interfaces) = &wanted.interfaces
            && !are_interfaces(interfaces, current)
        {
            let change = Change::SetInterfaces {
                instance: wanted.label.clone(),
                interfaces: interfaces.clone(),
            };
            add(&mut self.phases.existing_instances, path.to_owned(), change);
        }
    }

    fn instance_remains(&self, label: &str) -> bool {
        let is_pruned = self.prune && self.wanted.instances.is_some();
        !is_pruned || self.wanted_instances.contains_key(&key(label))
    }

    fn instance_exists(&self, label: &str) -> bool {
        let is_current = self.current_instances.contains_key(&key(label)) && self.instance_remains(label);
        is_current || self.wanted_instances.contains_key(&key(label))
    }

    fn vpc_exists(&self, label: &str) -> bool {
        let is_pruned = self.prune && self.wanted.vpcs.is_some();
        let is_current = self.current_vpcs.contains_key(&key(label)) && !is_pruned;
        is_current || self.wanted_vpcs.contains_key(&key(label))
    }

    /// Refuses an interface whose subnet does not exist after all steps.
    fn refuse_unknown_subnet(&mut self, path: &str, interface: &Interface) {
        let (Some(vpc), Some(subnet)) = (&interface.vpc, &interface.subnet) else {
            return;
        };
        if !self.vpc_exists(vpc) {
            self.refuse(format!("{path}.vpc"), format!("no VPC has the label {vpc}"));
            return;
        }
        let has = |vpc: Option<&&Vpc>| {
            let subnets = vpc.and_then(|vpc| vpc.subnets.as_ref()).into_iter().flatten();
            let mut labels = subnets.map(|subnet| &subnet.label);
            labels.any(|label| key(label) == key(subnet))
        };
        let wanted = self.wanted_vpcs.get(&key(vpc));
        let is_pruned = self.prune && wanted.is_some_and(|vpc| vpc.subnets.is_some());
        if !has(wanted) && (is_pruned || !has(self.current_vpcs.get(&key(vpc)))) {
            let text = format!("the VPC {vpc} has no subnet with the label {subnet}");
            self.refuse(format!("{path}.subnet"), text);
        }
    }

    fn plan_users(&mut self) {
        let current_users = index(self.current.users.as_ref(), |user| &user.username);
        for (at, user) in self.wanted.users.iter().flatten().enumerate() {
            let path = format!("users[{at}]");
            if let Some(grants) = &user.grants {
                self.refuse_unknown_objects(&format!("{path}.grants"), grants);
            }
            let current = current_users.get(&key(&user.username)).copied();
            self.plan_user(path, current, user);
        }
        let listed = index(self.wanted.users.as_ref(), |user| &user.username);
        for user in self.current.users.iter().flatten() {
            if self.wanted.users.is_some() && !listed.contains_key(&key(&user.username)) {
                let username = user.username.clone();
                let change = Change::DeleteUser { username };
                add(&mut self.phases.deletions, "users".to_owned(), change);
            }
        }
    }

    fn plan_user(&mut self, path: String, current: Option<&User>, wanted: &User) {
        let held = match current {
            None => {
                let user = User {
                    grants: None,
                    ..wanted.clone()
                };
                add(&mut self.phases.users, path.clone(), Change::CreateUser(user));
                None
            }
            Some(current) => {
                let to = UserUpdate {
                    username: differs(Some(&wanted.username), Some(&current.username)),
                    email: differs(Some(&wanted.email), Some(&current.email)),
                    restricted: differs(wanted.restricted.as_ref(), current.restricted.as_ref()),
                };
                // A change of `restricted` deletes the grants.
                let held = current.grants.clone().filter(|_| to.restricted.is_none());
                if to != UserUpdate::default() {
                    let username = current.username.clone();
                    let change = Change::UpdateUser { username, to };
                    add(&mut self.phases.users, path.clone(), change);
                }
                held
            }
        };
        let Some(grants) = &wanted.grants else { return };
        let is_restricted = wanted.restricted.or(current.and_then(|user| user.restricted));
        if is_restricted == Some(false) {
            self.refuse(format!("{path}.grants"), UNRESTRICTED);
        } else if comparable(grants) != comparable(&held.unwrap_or_default()) {
            let change = Change::SetGrants {
                username: wanted.username.clone(),
                grants: grants.clone(),
            };
            add(&mut self.phases.users, path, change);
        }
    }

    /// Refuses grants on objects that do not exist after all steps.
    fn refuse_unknown_objects(&mut self, path: &str, grants: &Grants) {
        for (at, grant) in grants.vpcs.iter().enumerate() {
            if !self.vpc_exists(&grant.label) {
                let text = format!("no VPC has the label {}", grant.label);
                self.refuse(format!("{path}.vpcs[{at}].label"), text);
            }
        }
        for (at, grant) in grants.instances.iter().enumerate() {
            if !self.instance_exists(&grant.label) {
                let text = format!("no instance has the label {}", grant.label);
                self.refuse(format!("{path}.instances[{at}].label"), text);
            }
        }
    }
}

fn add(steps: &mut Vec<Step>, path: String, change: Change) {
    steps.push(Step { path, change });
}

/// The wanted value, if there is one and it differs from the current value.
fn differs<T: Clone + PartialEq>(wanted: Option<&T>, current: Option<&T>) -> Option<T> {
    wanted.filter(|wanted| Some(*wanted) != current).cloned()
}

/// Grants without order, and with labels in lower case.
fn comparable(grants: &Grants) -> Grants {
    let comparable = |grants: &[ObjectGrant]| {
        let grants = grants.iter().map(|grant| ObjectGrant {
            label: key(&grant.label),
            permissions: grant.permissions.clone(),
        });
        let mut grants: Vec<_> = grants.collect();
        grants.sort_unstable();
        grants
    };
    let mut global: Vec<_> = grants
        .global
        .iter()
        .map(|word| Global::parse(word).map_or(word.clone(), |global| global.word().to_owned()))
        .collect();
    global.sort_unstable();
    global.dedup();
    Grants {
        account_access: grants.account_access.clone(),
        global,
        vpcs: comparable(&grants.vpcs),
        instances: comparable(&grants.instances),
    }
}
