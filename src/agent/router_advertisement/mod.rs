//! Router advertisements: tell each instance its prefix, from which it derives its address (SLAAC), and its routes.
//!
//! Each interface has its own prefix. So advertisements are sent to the address of one instance, never to all of them.

mod message;
mod server;

use std::net::{IpAddr, Ipv6Addr};

use message::Advertisement;
pub use server::RouterAdvertisers;

use super::layout::{instance_routes, link_mtu};
use crate::agent_protocol::{HostState, Port, Subnet, VpcState};

/// The advertisements for the ports of a subnet: the target address and the message of each.
fn advertisements(state: &HostState, vpc_id: i64, subnet_id: i64) -> Vec<(Ipv6Addr, Vec<u8>)> {
    let Some(vpc) = state.vpcs.iter().find(|vpc| vpc.id == vpc_id) else {
        return Vec::new();
    };
    let Some(subnet) = vpc.subnets.iter().find(|subnet| subnet.id == subnet_id) else {
        return Vec::new();
    };
    let ports = vpc.ports.iter().filter(|port| port.subnet_id == subnet_id);
    let message = |port: &Port| {
        let advertisement = advertisement(state, vpc, subnet, port)?;
        Some((port.mac.link_local(), advertisement.encode()))
    };
    ports.filter_map(message).collect()
}

/// The advertisement for a port; `None` if the port has no prefix.
fn advertisement(state: &HostState, vpc: &VpcState, subnet: &Subnet, port: &Port) -> Option<Advertisement> {
    let routes = instance_routes(vpc, subnet, port).into_iter();
    let routes = routes.map(|(range, _)| range).filter(|range| !range.is_ipv4());
    let resolvers = state
        .underlay
        .resolvers
        .iter()
        .filter_map(|resolver| match resolver {
            IpAddr::V6(resolver) => Some(*resolver),
            IpAddr::V4(_) => None,
        });
    Some(Advertisement {
        source: subnet.gateway_mac,
        mtu: link_mtu(&state.underlay),
        prefix: port.slaac?.range,
        is_default_router: port.primary,
        routes: routes.filter(|range| range.prefix() > 0).collect(),
        resolvers: resolvers.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(primary: bool) -> HostState {
        let text = r#"{"protocol": 1, "revision": 1, "host_id": 1,
            "underlay": {"address": "192.0.2.1", "mtu": 1500, "resolvers": ["9.9.9.9", "2620:fe::fe"]},
            "vpcs": [{"id": 1, "subnets": [
                {"id": 10, "vni": 1, "gateway_mac": "02:00:00:00:00:01", "ipv6": {"range": "2001:db8::/56", "gateway": "2001:db8::1"}},
                {"id": 11, "vni": 2, "gateway_mac": "02:00:00:00:00:01", "ipv6": {"range": "2001:db8:0:100::/56", "gateway": "2001:db8:0:100::1"}}],
              "ports": [
                {"interface_id": 5, "instance_id": 5, "index": 0, "subnet_id": 10, "mac": "02:aa:00:00:00:05", "primary": PRIMARY,
                 "slaac": {"range": "2001:db8:0:7::/64", "address": "2001:db8:0:7:aa:ff:fe00:5"}},
                {"interface_id": 6, "instance_id": 6, "index": 0, "subnet_id": 10, "mac": "02:aa:00:00:00:06"}]}]}"#;
        serde_json::from_str(&text.replace("PRIMARY", &primary.to_string())).unwrap()
    }

    /// The options of a message by type.
    fn options(message: &[u8]) -> Vec<(u8, &[u8])> {
        let (mut options, mut rest) = (Vec::new(), &message[16..]);
        while let [kind, units, ..] = rest {
            let (option, others) = rest.split_at(usize::from(*units) * 8);
            options.push((*kind, &option[2..]));
            rest = others;
        }
        assert!(rest.is_empty());
        options
    }

    #[test]
    fn a_port_gets_its_own_prefix_and_the_default_route() {
        let sent = advertisements(&state(true), 1, 10);
        let [(target, message)] = &sent[..] else {
            panic!("{sent:?}")
        };
        assert_eq!(*target, "fe80::aa:ff:fe00:5".parse::<Ipv6Addr>().unwrap());
        // Hop limit 64; addresses and other settings are not from DHCPv6; the longest lifetime of a router.
        assert_eq!(message[..8], [134, 0, 0, 0, 64, 0, 255, 255]);
        let mut prefix = vec![64, 0x40, 0, 1, 0x51, 0x80, 0, 1, 0x51, 0x80, 0, 0, 0, 0];
        prefix.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
        let mut resolver = vec![0, 0, 0, 1, 0x51, 0x80];
        resolver.extend("2620:fe::fe".parse::<Ipv6Addr>().unwrap().octets());
        let expected: [(u8, &[u8]); 4] = [
            (1, &[2, 0, 0, 0, 0, 1]),
            (5, &[0, 0, 0, 0, 5, 170]),
            (3, &prefix),
            (25, &resolver),
        ];
        assert_eq!(options(message), expected);
    }

    #[test]
    fn an_interface_that_is_not_primary_gets_routes_to_the_vpc_only() {
        let sent = advertisements(&state(false), 1, 10);
        assert_eq!(sent[0].1[6..8], [0, 0]);
        let routes: Vec<_> = options(&sent[0].1)
            .into_iter()
            .filter(|(kind, _)| *kind == 24)
            .collect();
        let prefix = |route: &[u8]| (route[0], route[6..14].to_vec());
        let routes: Vec<_> = routes.iter().map(|(_, route)| prefix(route)).collect();
        let expected = [
            (56, vec![0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0]),
            (56, vec![0x20, 1, 0x0d, 0xb8, 0, 0, 1, 0]),
        ];
        assert_eq!(routes, expected);
    }

    #[test]
    fn other_subnets_get_no_advertisement() {
        assert!(advertisements(&state(true), 1, 11).is_empty());
        assert!(advertisements(&state(true), 2, 10).is_empty());
    }
}
