//! The client address behind trusted proxies.

use std::net::IpAddr;

use axum::http::HeaderMap;

/// A range of addresses with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    /// Parses `10.0.0.0/8`, `fd00::/8` or a single address.
    pub fn parse(raw: &str) -> Option<Self> {
        let (address, prefix) = match raw.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (raw, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Some(longest), |prefix| prefix.parse().ok())?;
        (prefix <= longest).then_some(Self { address, prefix })
    }

    pub fn contains(&self, address: IpAddr) -> bool {
        let (network, width) = bits(self.address);
        let (address, address_width) = bits(address.to_canonical());
        let host_bits = width - self.prefix;
        width == address_width && (host_bits >= 128 || network >> host_bits == address >> host_bits)
    }
}

/// An address as a number, and its width in bits.
fn bits(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u32::from(address).into(), 32),
        IpAddr::V6(address) => (address.into(), 128),
    }
}

/// The client address. If `peer` is a trusted proxy, this is the last address in `X-Forwarded-For` that is
/// not a trusted proxy. Otherwise it is `peer`.
pub fn origin(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    if trusted.is_empty() {
        return peer;
    }
    let is_trusted = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let forwarded = headers.get_all("x-forwarded-for").into_iter();
    let forwarded: Vec<&str> = forwarded
        .flat_map(|value| value.to_str().unwrap_or_default().split(','))
        .collect();
    let mut origin = peer;
    for forwarded in forwarded.iter().rev() {
        if !is_trusted(origin) {
            break;
        }
        match forwarded.trim().parse() {
            Ok(address) => origin = address,
            // Entries before an invalid entry cannot be trusted either.
            Err(_) => break,
        }
    }
    origin
}

/// The network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, because one host can use all
/// addresses of a /64.
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & (u128::MAX << 64)).into()),
        v4 => v4,
    }
}

/// Whether a trusted proxy received the request over HTTPS.
pub fn was_secured(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> bool {
    if !trusted.iter().any(|network| network.contains(peer)) {
        return false;
    }
    let forwarded = headers
        .get("x-forwarded-proto")
        .and_then(|value| value.to_str().ok());
    let first = forwarded
        .and_then(|forwarded| forwarded.split(',').next())
        .unwrap_or_default();
    first.trim().eq_ignore_ascii_case("https")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn network(raw: &str) -> Network {
        Network::parse(raw).expect("a network")
    }

    #[test]
    fn a_network_contains_only_its_own_addresses() {
        for (raw, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("127.0.0.1", "::ffff:127.0.0.1", "::1"),
            ("0.0.0.0/0", "8.8.8.8", "::1"),
            ("::/0", "fe80::1", "1.2.3.4"),
            ("fd00::/8", "fd12::1", "fe00::1"),
        ] {
            assert!(
                network(raw).contains(inside.parse().expect("an address")),
                "{raw} {inside}"
            );
            assert!(
                !network(raw).contains(outside.parse().expect("an address")),
                "{raw} {outside}"
            );
        }
        for bad in ["", "10.0.0.0/33", "10.0.0/8", "::/129", "x", "10.0.0.0/"] {
            assert!(Network::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn only_addresses_from_trusted_proxies_are_used() {
        let trusted = [network("10.0.0.0/8")];
        let from = |peer: &str, forwarded: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(
                "x-forwarded-for",
                HeaderValue::try_from(forwarded).expect("plain text"),
            );
            origin(peer.parse().expect("an address"), &headers, &trusted).to_string()
        };
        assert_eq!(from("10.0.0.1", "203.0.113.9"), "203.0.113.9");
        assert_eq!(
            from("10.0.0.1", "1.1.1.1, 203.0.113.9"),
            "203.0.113.9",
            "a client can forge earlier addresses"
        );
        assert_eq!(from("10.0.0.1", "203.0.113.9, 10.0.0.2"), "203.0.113.9");
        assert_eq!(from("10.0.0.1", "203.0.113.9, nonsense"), "10.0.0.1");
        assert_eq!(
            from("192.0.2.7", "203.0.113.9"),
            "192.0.2.7",
            "the peer is not a trusted proxy"
        );
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-proto", HeaderValue::from_static("https"));
        let secured = |peer: &str| was_secured(peer.parse().expect("an address"), &headers, &trusted);
        assert!(secured("10.0.0.1") && !secured("192.0.2.7"));
    }
}
