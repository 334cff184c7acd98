//! DHCP: answers the instances of this host with the addresses of the desired state.
//!
//! There are no leases to store: an address belongs to its interface. Other hardware addresses get no answer.

mod message;
mod server;

use std::net::{IpAddr, Ipv4Addr};

use message::{ACK, DISCOVER, INFORM, NAK, NetworkOptions, OFFER, REQUEST};
pub use message::{ClientMessage, ServerMessage};
pub use server::DhcpServers;

use super::layout::{instance_routes, link_mtu};
use crate::agent_protocol::{HostState, Port, Subnet, VpcState};

const LEASE_SECONDS: u32 = 24 * 60 * 60;

/// The answer to a message that arrived in a subnet; `None` if the server must not answer.
pub fn answer(
    state: &HostState,
    vpc_id: i64,
    subnet_id: i64,
    request: &ClientMessage,
) -> Option<ServerMessage> {
    let vpc = state.vpcs.iter().find(|vpc| vpc.id == vpc_id)?;
    let subnet = vpc.subnets.iter().find(|subnet| subnet.id == subnet_id)?;
    let port = vpc
        .ports
        .iter()
        .find(|port| port.subnet_id == subnet_id && port.mac == request.mac)?;
    let IpAddr::V4(server) = subnet.ipv4?.gateway else {
        return None;
    };
    let address = port.ipv4?;
    if request.server.is_some_and(|chosen| chosen != server) {
        return None;
    }
    let message = |kind, address, lease_seconds, network| ServerMessage {
        kind,
        server,
        address,
        lease_seconds,
        network,
    };
    let network = network_options(state, vpc, subnet, port)?;
    match request.kind {
        DISCOVER => Some(message(OFFER, Some(address), Some(LEASE_SECONDS), Some(network))),
        REQUEST => {
            let renewed = Some(request.client_address).filter(|address| !address.is_unspecified());
            match request.requested_address.or(renewed) {
                Some(requested) if requested == address => {
                    Some(message(ACK, Some(address), Some(LEASE_SECONDS), Some(network)))
                }
                Some(_) => Some(message(NAK, None, None, None)),
                None => None,
            }
        }
        INFORM if request.client_address == address => Some(message(ACK, None, None, Some(network))),
        _ => None,
    }
}

fn network_options(
    state: &HostState,
    vpc: &VpcState,
    subnet: &Subnet,
    port: &Port,
) -> Option<NetworkOptions> {
    let routes = instance_routes(vpc, subnet, port).into_iter();
    let routes = routes.filter_map(|(range, gateway)| match gateway {
        IpAddr::V4(gateway) => Some((range, gateway)),
        IpAddr::V6(_) => None,
    });
    let resolvers = state
        .underlay
        .resolvers
        .iter()
        .filter_map(|resolver| match resolver {
            IpAddr::V4(resolver) => Some(*resolver),
            IpAddr::V6(_) => None,
        });
    Some(NetworkOptions {
        prefix: subnet.ipv4?.range.prefix(),
        mtu: link_mtu(&state.underlay),
        routes: routes.collect(),
        resolvers: resolvers.collect(),
    })
}

/// Where the answer is sent. A client without an address gets it at the assigned address, because the kernel has a
/// permanent neighbor entry for it.
pub fn target(request: &ClientMessage, answer: &ServerMessage) -> Ipv4Addr {
    match answer.address {
        _ if !request.client_address.is_unspecified() && answer.kind == ACK => request.client_address,
        Some(address) if !request.wants_broadcast => address,
        _ => Ipv4Addr::BROADCAST,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> HostState {
        let text = r#"{"protocol": 1, "revision": 1, "host_id": 1,
            "underlay": {"address": "192.0.2.1", "mtu": 1500, "resolvers": ["9.9.9.9", "2620:fe::fe"]},
            "vpcs": [{"id": 1, "subnets": [
                {"id": 10, "vni": 1, "gateway_mac": "02:00:00:00:00:01", "ipv4": {"range": "10.0.0.0/24", "gateway": "10.0.0.1"}},
                {"id": 11, "vni": 2, "gateway_mac": "02:00:00:00:00:02", "ipv4": {"range": "10.0.16.0/20", "gateway": "10.0.16.1"}}],
              "ports": [{"interface_id": 5, "instance_id": 5, "index": 0, "subnet_id": 10, "mac": "02:aa:00:00:00:05", "ipv4": "10.0.0.5"}]}]}"#;
        serde_json::from_str(text).unwrap()
    }

    fn request(kind: u8, options: &[u8]) -> Vec<u8> {
        let mut data = vec![0; 240];
        data[..3].copy_from_slice(&[1, 1, 6]);
        data[4..8].copy_from_slice(b"abcd");
        data[28..34].copy_from_slice(&[2, 0xaa, 0, 0, 0, 5]);
        data[236..].copy_from_slice(&[99, 130, 83, 99]);
        data.extend([53, 1, kind]);
        data.extend(options);
        data.push(255);
        data
    }

    fn answered(data: &[u8], subnet: i64) -> Option<ServerMessage> {
        answer(&state(), 1, subnet, &ClientMessage::parse(data).unwrap())
    }

    #[test]
    fn a_known_client_gets_its_address() {
        let data = request(DISCOVER, &[]);
        let message = ClientMessage::parse(&data).unwrap();
        let offer = answered(&data, 10).unwrap();
        assert_eq!(
            (offer.kind, offer.address),
            (OFFER, Some(Ipv4Addr::new(10, 0, 0, 5)))
        );
        let bytes = offer.encode(&message);
        assert_eq!(bytes[..8], *b"\x02\x01\x06\0abcd");
        assert_eq!(bytes[16..20], [10, 0, 0, 5]);
        // Mask, resolver, MTU 1450, and the route to the other subnet; no router, because the port is not primary.
        let options = [
            1, 4, 255, 255, 255, 0, 6, 4, 9, 9, 9, 9, 26, 2, 5, 170, 121, 8, 20, 10, 0, 16, 10, 0, 0, 1, 255,
        ];
        assert!(
            bytes.windows(options.len()).any(|window| window == options),
            "{bytes:?}"
        );
        assert_eq!(target(&message, &offer), Ipv4Addr::new(10, 0, 0, 5));
    }

    #[test]
    fn only_the_assigned_address_is_acknowledged() {
        let right = request(REQUEST, &[50, 4, 10, 0, 0, 5, 54, 4, 10, 0, 0, 1]);
        assert_eq!(answered(&right, 10).unwrap().kind, ACK);
        assert_eq!(
            answered(&request(REQUEST, &[50, 4, 10, 0, 0, 9]), 10)
                .unwrap()
                .kind,
            NAK
        );
        assert_eq!(
            answered(&request(REQUEST, &[50, 4, 10, 0, 0, 5, 54, 4, 10, 0, 0, 2]), 10),
            None
        );
        assert_eq!(answered(&request(REQUEST, &[]), 10), None);
    }

    #[test]
    fn an_unknown_client_gets_no_answer() {
        assert_eq!(answered(&request(DISCOVER, &[]), 11), None);
        let mut data = request(DISCOVER, &[]);
        data[33] = 6;
        assert_eq!(answered(&data, 10), None);
    }

    #[test]
    fn malformed_messages_are_ignored() {
        let data = request(DISCOVER, &[]);
        for length in 0..241 {
            let parsed = ClientMessage::parse(&data[..length.min(240)]);
            assert!(parsed.is_none_or(|message| message.kind == 0), "{length}");
        }
        assert_eq!(ClientMessage::parse(&request(DISCOVER, &[12, 200, 1])), None);
        let mut relayed = data.clone();
        relayed[24] = 10;
        assert_eq!(ClientMessage::parse(&relayed), None);
    }
}
