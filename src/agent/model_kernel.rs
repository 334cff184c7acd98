//! A model of the kernel for tests: applies steps, and refuses those that a kernel would refuse.

use std::collections::BTreeSet;

use super::kernel_state::{Forwarding, KernelState, Link, LinkKind, NamespaceState, Rules};
use super::names::Namespace;
use super::plan::{Action, Step};

/// Applies a step, or returns why a kernel would refuse it.
pub fn apply(kernel: &mut KernelState, step: &Step) -> Result<(), String> {
    let refused = |reason: &str| Err(format!("{reason}: {step:?}"));
    let at = step.namespace;
    match &step.action {
        Action::AddNamespace => {
            if at == Namespace::Host || kernel.namespaces.contains_key(&at) {
                return refused("exists");
            }
            kernel.namespaces.insert(at, NamespaceState::default());
            return Ok(());
        }
        Action::DeleteNamespace => {
            return match kernel.namespaces.remove(&at) {
                Some(state) if state.links.is_empty() && at != Namespace::Host => Ok(()),
                _ => refused("has links, or does not exist"),
            };
        }
        Action::AddLink { name, link, peer } => return add_link(kernel, at, name, link, peer.as_ref()),
        Action::DeleteLink { name } => {
            let state = kernel.namespaces.get_mut(&at).ok_or("no namespace")?;
            return match state.forget(name) {
                Some(Link {
                    kind: LinkKind::Pair { peer },
                    ..
                }) => {
                    kernel
                        .namespaces
                        .get_mut(&peer.0)
                        .and_then(|state| state.forget(&peer.1));
                    Ok(())
                }
                Some(_) => Ok(()),
                None => refused("no link"),
            };
        }
        _ => {}
    }
    let state = kernel
        .namespaces
        .get_mut(&at)
        .ok_or(format!("no namespace: {step:?}"))?;
    apply_inside(state, &step.action).map_err(|reason| format!("{reason}: {step:?}"))
}

fn add_link(
    kernel: &mut KernelState,
    at: Namespace,
    name: &str,
    link: &Link,
    peer: Option<&Link>,
) -> Result<(), String> {
    let mut ends = vec![(at, name.to_owned(), link.clone())];
    if let LinkKind::Pair {
        peer: (namespace, name),
    } = &link.kind
    {
        ends.push((
            *namespace,
            name.clone(),
            peer.ok_or("a pair has two ends")?.clone(),
        ));
    }
    if link.up || link.bridge.is_some() {
        return Err(format!("{name} is up or in a bridge"));
    }
    let vnis = |state: &NamespaceState| state.links.values().map(vni).collect::<Vec<_>>();
    let used: BTreeSet<_> = kernel.namespaces.values().flat_map(vnis).flatten().collect();
    if vni(link).is_some_and(|vni| used.contains(&vni)) {
        return Err(format!("the VNI of {name} is in use"));
    }
    for (namespace, name, link) in ends {
        let state = kernel
            .namespaces
            .get_mut(&namespace)
            .ok_or(format!("no namespace of {name}"))?;
        if state.links.insert(name.clone(), link).is_some() {
            return Err(format!("{name} exists"));
        }
    }
    Ok(())
}

fn vni(link: &Link) -> Option<u32> {
    match link.kind {
        LinkKind::Tunnel { vni, .. } => Some(vni),
        _ => None,
    }
}

fn apply_inside(state: &mut NamespaceState, action: &Action) -> Result<(), &'static str> {
    let is_up = |state: &NamespaceState, link: &str| state.links.get(link).is_some_and(|link| link.up);
    let require = |condition: bool, reason| if condition { Ok(()) } else { Err(reason) };
    match action {
        Action::SetMac { link, mac } => {
            state.links.get_mut(link).ok_or("no link")?.mac = Some(*mac);
            state.neighbors.retain(|(of, _), _| of != link);
        }
        Action::SetMtu { link, mtu } => state.links.get_mut(link).ok_or("no link")?.mtu = *mtu,
        Action::SetBridge { link, port } => {
            let exists = port
                .as_ref()
                .is_none_or(|port| state.links.contains_key(&port.name));
            require(exists, "no bridge")?;
            let changed = state.links.get_mut(link).ok_or("no link")?;
            let name =
                |port: &Option<super::kernel_state::BridgePort>| port.as_ref().map(|port| port.name.clone());
            let is_moved = name(&changed.bridge) != name(port);
            changed.bridge = port.clone();
            if is_moved {
                state
                    .forwarding
                    .retain(|entry| !matches!(entry, Forwarding::Port { link: of, .. } if of == link));
            }
        }
        Action::SetUp { link, up } => {
            // Decision 0030: no port carries packets before its filters.
            require(!link.starts_with("gi") || !state.tables.is_empty(), "no filters")?;
            state.links.get_mut(link).ok_or("no link")?.up = *up;
            state.neighbors.retain(|(of, _), _| of != link);
            state.routes.retain(|_, route| route.link != *link);
            state
                .addresses
                .retain(|address| address.link != *link || address.address.is_ipv4());
        }
        Action::AddAddress(address) => {
            require(state.links.contains_key(&address.link), "no link")?;
            require(state.addresses.insert(address.clone()), "exists")?;
        }
        Action::DeleteAddress(address) => require(state.addresses.remove(address), "no address")?,
        Action::SetRoute { range, route } => {
            require(is_up(state, &route.link), "network is down")?;
            state.routes.insert(*range, route.clone());
        }
        Action::DeleteRoute { range, .. } => drop(state.routes.remove(range).ok_or("no route")?),
        Action::SetNeighbor { link, address, mac } => {
            require(is_up(state, link), "the entry would be flushed")?;
            state.neighbors.insert((link.clone(), *address), *mac);
        }
        Action::DeleteNeighbor { link, address } => {
            state
                .neighbors
                .remove(&(link.clone(), *address))
                .ok_or("no neighbor")?;
        }
        Action::AddForwarding(entry) => {
            let link = state.links.get(entry.link()).ok_or("no link")?;
            let in_bridge = link.bridge.is_some() || matches!(entry, Forwarding::Remote { .. });
            require(in_bridge, "not in a bridge")?;
            require(state.forwarding.insert(entry.clone()), "exists")?;
        }
        Action::DeleteForwarding(entry) => require(state.forwarding.remove(entry), "no entry")?,
        Action::SetSetting { path, value } => {
            let parts: Vec<_> = path.split('/').collect();
            let is_general = parts.len() < 4 || ["all", "default"].contains(&parts[2]);
            require(
                is_general || state.links.contains_key(parts[2]),
                "no link of this setting",
            )?;
            state.settings.insert(path.clone(), value.clone());
        }
        Action::SetTable { table, text } => drop(state.tables.insert(*table, Rules::Text(text.clone()))),
        Action::DeleteTable { table } => drop(state.tables.remove(table).ok_or("no table")?),
        Action::AddNamespace
        | Action::DeleteNamespace
        | Action::AddLink { .. }
        | Action::DeleteLink { .. } => {
            return Err("applied elsewhere");
        }
    }
    Ok(())
}
