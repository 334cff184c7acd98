//! How log lines show the client address (`log.client_address`).
//!
//! `proxies.rs` determines the address; the server stores it in the request as `Peer`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The setting `log.client_address`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAddress {
    #[default]
    Full,
    /// Only the network: the first 24 bits of an IPv4 address, or the first 48 bits of an IPv6 address.
    Truncated,
    None,
}

impl ClientAddress {
    /// The value to log, if any.
    pub fn logged(self, address: IpAddr) -> Option<IpAddr> {
        match (self, address.to_canonical()) {
            (ClientAddress::None, _) => None,
            (ClientAddress::Full, address) => Some(address),
            (ClientAddress::Truncated, IpAddr::V4(address)) => Some(truncate_v4(address).into()),
            (ClientAddress::Truncated, IpAddr::V6(address)) => Some(truncate_v6(address).into()),
        }
    }
}

fn truncate_v4(address: Ipv4Addr) -> Ipv4Addr {
    address & Ipv4Addr::from_bits(!0 << 8)
}

fn truncate_v6(address: Ipv6Addr) -> Ipv6Addr {
    address & Ipv6Addr::from_bits(!0 << 80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_address_has_only_its_network() {
        for (address, full, truncated) in [
            ("203.0.113.9", "203.0.113.9", "203.0.113.0"),
            ("255.255.255.255", "255.255.255.255", "255.255.255.0"),
            ("::ffff:203.0.113.9", "203.0.113.9", "203.0.113.0"),
            ("2001:db8:7:8::9", "2001:db8:7:8::9", "2001:db8:7::"),
            ("2001:db8:ffff:ffff::", "2001:db8:ffff:ffff::", "2001:db8:ffff::"),
            ("::1", "::1", "::"),
        ] {
            let address: IpAddr = address.parse().expect("an address");
            let logged = |setting: ClientAddress| setting.logged(address).map(|logged| logged.to_string());
            assert_eq!(logged(ClientAddress::Full).as_deref(), Some(full));
            assert_eq!(logged(ClientAddress::Truncated).as_deref(), Some(truncated));
            assert_eq!(logged(ClientAddress::None), None);
        }
    }
}
