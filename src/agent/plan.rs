//! The steps from the observed to the desired kernel objects. A pure function.
//!
//! The order matters: filters before ports, links before their addresses, addresses before routes, and neighbors after
//! everything that flushes them. Removed links are deleted before the filters that protected the host from them.

use super::kernel_state::{
    Address, BridgePort, Forwarding, KernelState, Link, LinkKind, NamespaceState, Route, Rules, Table,
};
use super::names::Namespace;
use crate::agent_protocol::{IpRange, MacAddress};
use std::net::IpAddr;

/// A change in one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub namespace: Namespace,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    AddNamespace,
    DeleteNamespace,
    /// Creates a link that is down and in no bridge. Creates both ends of a pair.
    AddLink {
        name: String,
        link: Link,
        peer: Option<Link>,
    },
    DeleteLink {
        name: String,
    },
    SetMac {
        link: String,
        mac: MacAddress,
    },
    SetMtu {
        link: String,
        mtu: u16,
    },
    SetBridge {
        link: String,
        port: Option<BridgePort>,
    },
    SetUp {
        link: String,
        up: bool,
    },
    AddAddress(Address),
    DeleteAddress(Address),
    SetRoute {
        range: IpRange,
        route: Route,
    },
    DeleteRoute {
        range: IpRange,
        route: Route,
    },
    SetNeighbor {
        link: String,
        address: IpAddr,
        mac: MacAddress,
    },
    DeleteNeighbor {
        link: String,
        address: IpAddr,
    },
    AddForwarding(Forwarding),
    DeleteForwarding(Forwarding),
    SetSetting {
        path: String,
        value: String,
    },
    SetTable {
        table: Table,
        text: String,
    },
    DeleteTable {
        table: Table,
    },
}

/// The steps that lead from `observed` to `desired`.
pub fn plan(desired: &KernelState, observed: &KernelState) -> Vec<Step> {
    let mut plan = Plan {
        observed: observed.clone(),
        steps: Vec::new(),
    };
    plan.delete_links(desired);
    for (namespace, state) in &desired.namespaces {
        if !plan.observed.namespaces.contains_key(namespace) {
            plan.observed
                .namespaces
                .insert(*namespace, NamespaceState::default());
            plan.push(*namespace, Action::AddNamespace);
        }
        plan.set_tables(*namespace, state);
        plan.set_settings(*namespace, state, false);
    }
    plan.add_links(desired);
    for (namespace, state) in &desired.namespaces {
        plan.set_settings(*namespace, state, true);
        plan.set_links(*namespace, state);
        plan.set_addresses(*namespace, state);
        plan.set_routes(*namespace, state);
        plan.set_entries(*namespace, state);
    }
    plan.steps
}

/// The plan so far. `observed` is the state after the steps, as far as later steps depend on it.
struct Plan {
    observed: KernelState,
    steps: Vec<Step>,
}

impl Plan {
    fn push(&mut self, namespace: Namespace, action: Action) {
        self.steps.push(Step { namespace, action });
    }

    fn state(&mut self, namespace: Namespace) -> &mut NamespaceState {
        self.observed.namespaces.entry(namespace).or_default()
    }

    /// Deletes links that are not desired or cannot be changed into the desired ones, then namespaces and tables. A
    /// namespace is deleted after its links, because the kernel deletes the links of a namespace later.
    fn delete_links(&mut self, desired: &KernelState) {
        let mut deleted = Vec::new();
        for (namespace, state) in &self.observed.namespaces {
            let wanted = desired.namespaces.get(namespace);
            for (name, link) in &state.links {
                let same = wanted
                    .and_then(|state| state.links.get(name))
                    .is_some_and(|wanted| wanted.kind == link.kind);
                if !same {
                    deleted.push((*namespace, name.clone()));
                }
            }
        }
        // Ports and tunnels before bridges, so that no frame is flooded.
        deleted.sort_by_key(|(_, name)| name.starts_with("br"));
        for (namespace, name) in deleted {
            if self.state(namespace).links.contains_key(&name) {
                self.forget_link(namespace, &name);
                self.push(namespace, Action::DeleteLink { name });
            }
        }
        let namespaces: Vec<_> = self.observed.namespaces.keys().copied().collect();
        for namespace in namespaces {
            match desired.namespaces.get(&namespace) {
                Some(wanted) => self.delete_tables(namespace, wanted),
                None if namespace == Namespace::Host => {
                    self.delete_tables(namespace, &NamespaceState::default())
                }
                None => {
                    self.observed.namespaces.remove(&namespace);
                    self.push(namespace, Action::DeleteNamespace);
                }
            }
        }
    }

    fn delete_tables(&mut self, namespace: Namespace, wanted: &NamespaceState) {
        let tables: Vec<_> = self.state(namespace).tables.keys().copied().collect();
        for table in tables
            .into_iter()
            .filter(|table| !wanted.tables.contains_key(table))
        {
            self.push(namespace, Action::DeleteTable { table });
        }
    }

    /// Removes a link with everything that the kernel removes with it, including the other end of a pair.
    fn forget_link(&mut self, namespace: Namespace, name: &str) {
        let link = self.state(namespace).forget(name);
        if let Some(Link {
            kind: LinkKind::Pair { peer },
            ..
        }) = link
        {
            self.state(peer.0).forget(&peer.1);
        }
    }

    fn set_tables(&mut self, namespace: Namespace, state: &NamespaceState) {
        for (table, rules) in &state.tables {
            let Rules::Text(text) = rules else { continue };
            if self.state(namespace).tables.get(table) != Some(rules) {
                self.push(
                    namespace,
                    Action::SetTable {
                        table: *table,
                        text: text.clone(),
                    },
                );
            }
        }
    }

    /// Settings of a link exist only after the link; the others must precede it, because links inherit them.
    fn set_settings(&mut self, namespace: Namespace, state: &NamespaceState, of_links: bool) {
        for (path, value) in &state.settings {
            let is_of_link = state
                .links
                .keys()
                .any(|link| path.split('/').any(|part| part == link));
            if is_of_link == of_links && self.state(namespace).settings.get(path) != Some(value) {
                self.push(
                    namespace,
                    Action::SetSetting {
                        path: path.clone(),
                        value: value.clone(),
                    },
                );
            }
        }
    }

    fn add_links(&mut self, desired: &KernelState) {
        for (namespace, state) in &desired.namespaces {
            for (name, link) in &state.links {
                if self.state(*namespace).links.contains_key(name) {
                    continue;
                }
                let peer = match &link.kind {
                    LinkKind::Pair { peer } => desired
                        .link(peer.0, &peer.1)
                        .map(|link| (peer.clone(), created(link))),
                    _ => None,
                };
                self.state(*namespace).links.insert(name.clone(), created(link));
                if let Some(((namespace, name), link)) = &peer {
                    self.state(*namespace).links.insert(name.clone(), link.clone());
                }
                let peer = peer.map(|(_, link)| link);
                self.push(
                    *namespace,
                    Action::AddLink {
                        name: name.clone(),
                        link: created(link),
                        peer,
                    },
                );
            }
        }
    }

    fn set_links(&mut self, namespace: Namespace, state: &NamespaceState) {
        for (name, wanted) in &state.links {
            let Some(link) = self.state(namespace).links.get(name).cloned() else {
                continue;
            };
            if let Some(mac) = wanted.mac.filter(|mac| link.mac != Some(*mac)) {
                self.state(namespace).neighbors.retain(|(of, _), _| of != name);
                self.push(
                    namespace,
                    Action::SetMac {
                        link: name.clone(),
                        mac,
                    },
                );
            }
            if link.mtu != wanted.mtu {
                self.push(
                    namespace,
                    Action::SetMtu {
                        link: name.clone(),
                        mtu: wanted.mtu,
                    },
                );
            }
            if link.bridge != wanted.bridge {
                let is_other = link.bridge.as_ref().map(|port| &port.name)
                    != wanted.bridge.as_ref().map(|port| &port.name);
                if is_other {
                    self.state(namespace)
                        .forwarding
                        .retain(|entry| !entry.is_port(name));
                }
                self.push(
                    namespace,
                    Action::SetBridge {
                        link: name.clone(),
                        port: wanted.bridge.clone(),
                    },
                );
            }
        }
        for (name, wanted) in &state.links {
            let is_up = self.state(namespace).links.get(name).is_some_and(|link| link.up);
            if is_up != wanted.up {
                // The kernel has removed the routes and neighbors of a link that is down, and IPv6 addresses.
                let observed = self.state(namespace);
                observed.neighbors.retain(|(of, _), _| of != name);
                observed.routes.retain(|_, route| route.link != *name);
                observed
                    .addresses
                    .retain(|address| address.link != *name || address.address.is_ipv4());
                self.push(
                    namespace,
                    Action::SetUp {
                        link: name.clone(),
                        up: wanted.up,
                    },
                );
            }
        }
    }

    fn set_addresses(&mut self, namespace: Namespace, state: &NamespaceState) {
        let observed = self.state(namespace).addresses.clone();
        for address in observed.difference(&state.addresses) {
            self.push(namespace, Action::DeleteAddress(address.clone()));
        }
        for address in state.addresses.difference(&observed) {
            self.push(namespace, Action::AddAddress(address.clone()));
        }
    }

    fn set_routes(&mut self, namespace: Namespace, state: &NamespaceState) {
        let observed = self.state(namespace).routes.clone();
        for (range, route) in &observed {
            if !state.routes.contains_key(range) {
                self.push(
                    namespace,
                    Action::DeleteRoute {
                        range: *range,
                        route: route.clone(),
                    },
                );
            }
        }
        for (range, route) in &state.routes {
            if observed.get(range) != Some(route) {
                self.push(
                    namespace,
                    Action::SetRoute {
                        range: *range,
                        route: route.clone(),
                    },
                );
            }
        }
    }

    /// Neighbors and forwarding entries. A host of an endpoint changes by a new entry: the old one is deleted first.
    fn set_entries(&mut self, namespace: Namespace, state: &NamespaceState) {
        let NamespaceState {
            neighbors,
            forwarding,
            ..
        } = self.state(namespace).clone();
        for (link, address) in neighbors.keys() {
            if !state.neighbors.contains_key(&(link.clone(), *address)) {
                self.push(
                    namespace,
                    Action::DeleteNeighbor {
                        link: link.clone(),
                        address: *address,
                    },
                );
            }
        }
        for ((link, address), mac) in &state.neighbors {
            if neighbors.get(&(link.clone(), *address)) != Some(mac) {
                self.push(
                    namespace,
                    Action::SetNeighbor {
                        link: link.clone(),
                        address: *address,
                        mac: *mac,
                    },
                );
            }
        }
        for entry in forwarding.difference(&state.forwarding) {
            self.push(namespace, Action::DeleteForwarding(entry.clone()));
        }
        for entry in state.forwarding.difference(&forwarding) {
            self.push(namespace, Action::AddForwarding(entry.clone()));
        }
    }
}

/// A link as `AddLink` creates it.
fn created(link: &Link) -> Link {
    Link {
        up: false,
        bridge: None,
        ..link.clone()
    }
}
