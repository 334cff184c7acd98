//! Properties of plans, on a model of the kernel.

use std::net::{IpAddr, Ipv4Addr};

use proptest::collection::vec;
use proptest::prelude::*;

use super::encrypted_layout::{Implementation, Tunnels};
use super::kernel_state::{Forwarding, KernelState, LinkKind, NamespaceState, Rules};
use super::layout::{Driver, HostOptions, layout};
use super::model_kernel::apply;
use super::names::{Namespace, Prefix};
use super::plan::plan;
use crate::agent_protocol::{
    Encryption, Endpoint, GenerationKey, HostKeys, HostState, MacAddress, Port, Slaac, Subnet, SubnetRange,
    Underlay, VpcState, inner_address,
};

/// One interface: VPC, subnet, number, whether it is on this host, NAT, range, and the other host.
type Interface = (u8, u8, u8, bool, bool, bool, u8);

fn host_state(interfaces: &[Interface], own: u8) -> HostState {
    let mut state = HostState {
        protocol: 1,
        revision: 1,
        host_id: 1,
        underlay: Underlay {
            address: Ipv4Addr::new(192, 0, 2, own).into(),
            mtu: 1500,
            hosts: vec![Ipv4Addr::new(192, 0, 2, 9).into()],
            resolvers: Vec::new(),
            encryption: None,
        },
        vpcs: Vec::new(),
    };
    for (vpc, subnet, number, is_local, nat, ranges, host) in interfaces {
        let vpc_id = i64::from(*vpc);
        if !state.vpcs.iter().any(|vpc| vpc.id == vpc_id) {
            let subnets = (0..3).map(|subnet| subnet_of(*vpc, subnet)).collect();
            state.vpcs.push(VpcState {
                id: vpc_id,
                subnets,
                ports: Vec::new(),
                endpoints: Vec::new(),
            });
        }
        let Some(state) = state.vpcs.iter_mut().find(|vpc| vpc.id == vpc_id) else {
            continue;
        };
        let interface_id = i64::from(*vpc) * 1000 + i64::from(*number);
        let mac = MacAddress([2, 0xaa, 0, *vpc, *subnet, *number]);
        let ipv4 = Some(Ipv4Addr::new(10, 0, *subnet, 10 + *number));
        let ranges = if *ranges {
            // One of them is inside of the subnet.
            let ranges = [
                format!("172.16.{number}.0/24"),
                format!("10.0.{subnet}.{}/30", 128 + 4 * number),
            ];
            ranges.iter().map(|range| range.parse().unwrap()).collect()
        } else {
            Vec::new()
        };
        let ipv6 = format!("2001:db8:{subnet}:{number}::5").parse().unwrap();
        let subnet_id = i64::from(*vpc) * 10 + i64::from(*subnet);
        let is_known = state.ports.iter().any(|port| port.interface_id == interface_id)
            || state.endpoints.iter().any(|end| end.mac.0[5] == *number);
        if is_known {
            continue;
        }
        if *is_local {
            let range = format!("2001:db8:{subnet}:{number}::/64").parse().unwrap();
            state.ports.push(Port {
                interface_id,
                instance_id: interface_id,
                index: 0,
                subnet_id,
                mac,
                ipv4,
                slaac: Some(Slaac { range, address: ipv6 }),
                ranges,
                nat_1_1: nat.then(|| Ipv4Addr::new(198, 51, 100, *number)),
                ipv6_public: *nat,
                primary: *nat,
            });
        } else {
            let host = Ipv4Addr::new(192, 0, 2, 100 + *host).into();
            state.endpoints.push(Endpoint {
                subnet_id,
                mac,
                ipv4,
                ipv6: Some(ipv6),
                ranges,
                host,
            });
        }
    }
    state
}

/// Whether the region encrypts, has two generations of keys, uses the newer one, and encrypts in the kernel.
type Choice = (bool, bool, bool, bool);

/// Encrypts the state as chosen. The hosts 101 to 103 have keys.
fn encrypt(mut state: HostState, (is_encrypted, two, newer, kernel): Choice) -> (HostState, Tunnels) {
    if !is_encrypted {
        return (state, Tunnels::default());
    }
    let generations = if two { vec![1, 2] } else { vec![2] };
    let key = |generation: &u32| GenerationKey {
        generation: *generation,
        public_key: "key".to_owned(),
    };
    let peer = |number: u8| HostKeys {
        host_id: i64::from(number),
        address: Ipv4Addr::new(192, 0, 2, number).into(),
        keys: generations.iter().map(key).collect(),
    };
    let used = if two && !newer { 1 } else { 2 };
    let tunnels = Tunnels {
        implementation: if kernel {
            Implementation::Kernel
        } else {
            Implementation::UserSpace
        },
        generations: (101..104).map(|host| (host, used)).collect(),
    };
    let peers = (101..104).map(peer).collect();
    state.underlay.encryption = Some(Encryption { generations, peers });
    (state, tunnels)
}

fn subnet_of(vpc: u8, subnet: u8) -> Subnet {
    let id = i64::from(vpc) * 10 + i64::from(subnet);
    let range = |range: String, gateway: String| SubnetRange {
        range: range.parse().unwrap(),
        gateway: gateway.parse().unwrap(),
    };
    Subnet {
        id,
        vni: 1000 + u32::from(vpc) * 10 + u32::from(subnet),
        gateway_mac: MacAddress([2, 0, 0, 0, vpc, subnet]),
        ipv4: Some(range(format!("10.0.{subnet}.0/24"), format!("10.0.{subnet}.1"))),
        ipv6: Some(range(
            format!("2001:db8:{subnet}::/48"),
            format!("2001:db8:{subnet}::1"),
        )),
    }
}

fn interfaces() -> impl Strategy<Value = Vec<Interface>> {
    vec(
        (
            1u8..4,
            0u8..3,
            0u8..12,
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            0u8..3,
        ),
        0..12,
    )
}

fn driver() -> impl Strategy<Value = Driver> {
    prop_oneof![Just(Driver::Netns), Just(Driver::Tap)]
}

/// Damages the kernel state like an operator would: deletes or changes the object that `choice` selects.
fn damage(kernel: &mut KernelState, choice: usize) {
    let namespaces: Vec<Namespace> = kernel.namespaces.keys().copied().collect();
    let namespace = namespaces[choice % namespaces.len()];
    let state = kernel.namespaces.get_mut(&namespace).unwrap();
    let pick = choice / 64;
    macro_rules! remove_from {
        ($set:expr) => {{
            let key = $set
                .iter()
                .nth(pick % $set.len().max(1))
                .map(|entry| entry.clone());
            key
        }};
    }
    match choice / 8 % 10 {
        0 => {
            let name = state.links.keys().nth(pick % state.links.len().max(1)).cloned();
            if let Some(link) = name.and_then(|name| state.forget(&name))
                && let LinkKind::Pair { peer } = link.kind
            {
                kernel
                    .namespaces
                    .get_mut(&peer.0)
                    .and_then(|state| state.forget(&peer.1));
            }
        }
        1 => drop(remove_from!(state.addresses).map(|key| state.addresses.remove(&key))),
        2 => drop(
            state
                .routes
                .keys()
                .nth(pick % state.routes.len().max(1))
                .copied()
                .map(|key| state.routes.remove(&key)),
        ),
        3 => drop(
            state
                .neighbors
                .keys()
                .nth(pick % state.neighbors.len().max(1))
                .cloned()
                .map(|key| state.neighbors.remove(&key)),
        ),
        4 => drop(remove_from!(state.forwarding).map(|key| state.forwarding.remove(&key))),
        5 => drop(state.settings.pop_first()),
        6 => state
            .tables
            .values_mut()
            .for_each(|rules| *rules = Rules::Unknown),
        7 => drop(state.tables.pop_first()),
        8 => {
            for link in state.links.values_mut().skip(pick % 3).take(1) {
                link.mtu += 1;
                link.mac = Some(MacAddress([6; 6]));
            }
        }
        _ => {
            let names: Vec<_> = state.links.keys().cloned().collect();
            if let Some(name) = names.get(pick % names.len().max(1)) {
                let link = state.links.get_mut(name).unwrap();
                link.up = false;
                link.bridge = None;
                // A kernel accepts new entries for a link that is down, and flushes them later.
                if pick.is_multiple_of(2) {
                    return;
                }
                state.neighbors.retain(|(of, _), _| of != name);
                state.routes.retain(|_, route| route.link != *name);
                state.forwarding.retain(|entry| entry.link() != name);
            }
        }
    }
}

fn reach(kernel: &mut KernelState, desired: &KernelState) -> Result<(), TestCaseError> {
    for step in plan(desired, kernel) {
        apply(kernel, &step).map_err(TestCaseError::fail)?;
    }
    let mut reached = kernel.clone();
    // The kernel may choose some hardware addresses.
    for (namespace, state) in &mut reached.namespaces {
        for (name, link) in &mut state.links {
            if desired
                .link(*namespace, name)
                .is_some_and(|link| link.mac.is_none())
            {
                link.mac = None;
            }
        }
        if let Some(wanted) = desired.namespaces.get(namespace) {
            state
                .settings
                .retain(|path, _| wanted.settings.contains_key(path));
        }
    }
    prop_assert_eq!(&reached, desired);
    let again = plan(desired, kernel);
    prop_assert!(again.is_empty(), "a second plan has steps: {:?}", again);
    Ok(())
}

fn options(driver: Driver) -> HostOptions {
    HostOptions {
        driver,
        prefix: Prefix::default(),
        allowed_networks: Vec::new(),
    }
}

fn empty_host() -> KernelState {
    KernelState {
        namespaces: [(Namespace::Host, NamespaceState::default())].into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_reaches_the_desired_state_from_any_state(
        first in interfaces(), second in interfaces(), driver in driver(), other_driver in driver(),
        damages in vec(any::<u16>(), 0..6), moved in any::<bool>(), from in any::<Choice>(), to in any::<Choice>(),
    ) {
        let mut kernel = empty_host();
        let (state, tunnels) = encrypt(host_state(&first, 1), from);
        reach(&mut kernel, &layout(&state, &options(driver), &tunnels))?;
        for choice in damages {
            damage(&mut kernel, usize::from(choice));
        }
        let own = if moved { 2 } else { 1 };
        let (state, tunnels) = encrypt(host_state(&second, own), to);
        reach(&mut kernel, &layout(&state, &options(other_driver), &tunnels))?;
        reach(&mut kernel, &empty_host())?;
    }

    #[test]
    fn an_encrypted_host_sends_to_inner_addresses_of_hosts_with_keys_only(first in interfaces(), choice in any::<Choice>()) {
        let (state, tunnels) = encrypt(host_state(&first, 1), (true, choice.1, choice.2, choice.3));
        let kernel = layout(&state, &options(Driver::Netns), &tunnels);
        let keys: Vec<_> = (101..104).map(|host| IpAddr::from(inner_address(host))).collect();
        for (namespace, state) in &kernel.namespaces {
            for entry in &state.forwarding {
                if let Forwarding::Remote { host, .. } = entry {
                    prop_assert!(keys.contains(host), "{:?} sends to {}", namespace, host);
                }
            }
            for link in state.links.values() {
                if let LinkKind::Tunnel { local, .. } = link.kind {
                    prop_assert_eq!(local, IpAddr::from(inner_address(1)));
                    prop_assert_eq!(link.mtu, 1370);
                }
            }
        }
    }

    #[test]
    fn an_unrelated_change_leaves_running_ports_alone(first in interfaces(), added in interfaces()) {
        let before = layout(&host_state(&first, 1), &options(Driver::Netns), &Tunnels::default());
        let both: Vec<_> = first.iter().chain(&added).copied().collect();
        let after = layout(&host_state(&both, 1), &options(Driver::Netns), &Tunnels::default());
        for step in plan(&after, &before) {
            let name = format!("{:?}", step.action);
            let disruptive = ["Delete", "SetMac", "SetUp { link: \"br", "SetMtu"];
            let existed = before.namespaces.contains_key(&step.namespace);
            prop_assert!(!existed || !disruptive.iter().any(|word| name.starts_with(word)), "{}", name);
        }
    }
}
