//! The conditions on the host that the agent needs and does not set, and the warnings about those that are not met.

use crate::agent_protocol::{HostState, HostWarning, Port, WarningCode};

/// What the agent has found on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostFacts {
    pub underlay: UnderlayLink,
    /// Whether the kernel forwards IPv4 packets that arrive at an interface which is not the agent's.
    pub forwards_ipv4: bool,
    pub forwards_ipv6: bool,
}

/// The interface with the underlay address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderlayLink {
    /// The kernel could not be read.
    Unknown,
    Missing,
    /// The MTU; `None` if it does not fit into 16 bits, as that of the loopback interface.
    Found(Option<u16>),
}

impl HostFacts {
    pub fn underlay_mtu(&self) -> Option<u16> {
        match self.underlay {
            UnderlayLink::Found(mtu) => mtu,
            UnderlayLink::Unknown | UnderlayLink::Missing => None,
        }
    }

    /// The conditions that the desired state needs, and that are not met.
    pub fn warnings(&self, state: &HostState) -> Vec<HostWarning> {
        let mut warnings = Vec::new();
        let (address, expected) = (state.underlay.address, state.underlay.mtu);
        match self.underlay {
            UnderlayLink::Missing => warnings.push(HostWarning::new(
                WarningCode::UnderlayAddressMissing,
                format!(
                    "no interface of this host has the underlay address {address}: correct it with garth host set \
                     --underlay, or add the address to the host"
                ),
            )),
            UnderlayLink::Found(Some(mtu)) if mtu < expected => warnings.push(HostWarning::new(
                WarningCode::UnderlayMtuSmall,
                format!("the MTU of the underlay is {mtu}, but {expected} is expected"),
            )),
            UnderlayLink::Unknown | UnderlayLink::Found(_) => {}
        }
        let ports = state.vpcs.iter().flat_map(|vpc| &vpc.ports);
        let needs = |is_public: fn(&Port) -> bool| ports.clone().any(is_public);
        if !self.forwards_ipv4 && needs(|port| port.nat_1_1.is_some()) {
            warnings.push(HostWarning::new(
                WarningCode::Ipv4ForwardingOff,
                "net.ipv4.ip_forward is 0, so instances with 1:1 NAT are not reachable: run sysctl -w \
                 net.ipv4.ip_forward=1, and set it in /etc/sysctl.d",
            ));
        }
        if !self.forwards_ipv6 && needs(|port| port.ipv6_public) {
            warnings.push(HostWarning::new(
                WarningCode::Ipv6ForwardingOff,
                "net.ipv6.conf.all.forwarding is 0, so instances with public IPv6 networks are not reachable: run \
                 sysctl -w net.ipv6.conf.all.forwarding=1, and set it in /etc/sysctl.d",
            ));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: HostFacts = HostFacts {
        underlay: UnderlayLink::Found(Some(1500)),
        forwards_ipv4: true,
        forwards_ipv6: true,
    };

    fn state(fields: &str) -> HostState {
        let text = format!(
            r#"{{"protocol": 1, "revision": 4, "host_id": 2,
            "underlay": {{"address": "192.0.2.1", "mtu": 1500, "hosts": []}},
            "vpcs": [{{"id": 7, "subnets": [], "ports": [{{"interface_id": 1, "instance_id": 1, "index": 0,
                "subnet_id": 1, "mac": "02:00:00:00:00:01"{fields}}}]}}]}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_missing_or_small_underlay_is_a_warning() {
        let with = |underlay| HostFacts { underlay, ..GOOD }.warnings(&state(""));
        let missing = &with(UnderlayLink::Missing)[0];
        assert_eq!(missing.code, WarningCode::UnderlayAddressMissing);
        assert!(missing.text.contains("underlay address 192.0.2.1"));
        let small = &with(UnderlayLink::Found(Some(1400)))[0];
        assert_eq!(small.code, WarningCode::UnderlayMtuSmall);
        assert!(small.text.contains("is 1400, but 1500"));
        for underlay in [UnderlayLink::Unknown, UnderlayLink::Found(None), GOOD.underlay] {
            assert_eq!(with(underlay), [], "{underlay:?}");
        }
    }

    #[test]
    fn forwarding_is_needed_only_for_public_addresses() {
        let bad = HostFacts {
            forwards_ipv4: false,
            forwards_ipv6: false,
            ..GOOD
        };
        assert_eq!(bad.warnings(&state("")), []);
        let nat = state(r#", "nat_1_1": "203.0.113.7""#);
        assert_eq!(bad.warnings(&nat)[0].code, WarningCode::Ipv4ForwardingOff);
        let public = state(r#", "ipv6_public": true"#);
        assert_eq!(bad.warnings(&public)[0].code, WarningCode::Ipv6ForwardingOff);
        assert_eq!(GOOD.warnings(&nat), []);
        assert_eq!(GOOD.warnings(&public), []);
    }
}
