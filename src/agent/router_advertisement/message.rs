//! The messages of router discovery (RFC 4861, RFC 4191, RFC 8106). The kernel adds the checksum.

use std::net::{IpAddr, Ipv6Addr};

use crate::agent_protocol::{IpRange, MacAddress};

const ROUTER_SOLICITATION: u8 = 133;
const ROUTER_ADVERTISEMENT: u8 = 134;
const HOP_LIMIT: u8 = 64;
/// The longest lifetime of a default router (RFC 8319), so that an instance keeps its route while the agent is down.
const ROUTER_LIFETIME_SECONDS: u16 = u16::MAX;
/// As long as a DHCP lease.
const LIFETIME_SECONDS: u32 = 24 * 60 * 60;
/// The instance derives an address from the prefix. The prefix is not on-link, so all packets are sent to the gateway.
const AUTONOMOUS: u8 = 0x40;

pub struct Advertisement {
    pub source: MacAddress,
    pub mtu: u16,
    pub prefix: IpRange,
    pub is_default_router: bool,
    /// More specific routes through this router.
    pub routes: Vec<IpRange>,
    pub resolvers: Vec<Ipv6Addr>,
}

impl Advertisement {
    pub fn encode(&self) -> Vec<u8> {
        let lifetime = LIFETIME_SECONDS.to_be_bytes();
        let mut data = vec![ROUTER_ADVERTISEMENT, 0, 0, 0, HOP_LIMIT, 0];
        let router_lifetime = if self.is_default_router {
            ROUTER_LIFETIME_SECONDS
        } else {
            0
        };
        data.extend(router_lifetime.to_be_bytes());
        // The times of neighbor discovery are not specified.
        data.extend([0; 8]);
        data.extend([1, 1]);
        data.extend(self.source.0);
        data.extend([5, 1, 0, 0]);
        data.extend(u32::from(self.mtu).to_be_bytes());
        data.extend([3, 4, self.prefix.prefix(), AUTONOMOUS]);
        // Valid and preferred.
        data.extend(lifetime);
        data.extend(lifetime);
        data.extend([0; 4]);
        data.extend(octets(self.prefix));
        for route in &self.routes {
            data.extend([24, 3, route.prefix(), 0]);
            data.extend(lifetime);
            data.extend(octets(*route));
        }
        if let Ok(count) = u8::try_from(self.resolvers.len())
            && (1..=127).contains(&count)
        {
            data.extend([25, 1 + 2 * count, 0, 0]);
            data.extend(lifetime);
            data.extend(self.resolvers.iter().flat_map(Ipv6Addr::octets));
        }
        data
    }
}

fn octets(range: IpRange) -> [u8; 16] {
    match range.address() {
        IpAddr::V6(address) => address.octets(),
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
    }
}

/// Whether a message is a valid router solicitation.
pub fn is_solicitation(data: &[u8]) -> bool {
    let Some((&[ROUTER_SOLICITATION, 0, ..], mut options)) = data.split_first_chunk::<8>() else {
        return false;
    };
    while let [_, units, ..] = options {
        // An option of length zero is invalid.
        match options.get(usize::from(*units) * 8..) {
            Some(others) if *units > 0 => options = others,
            _ => return false,
        }
    }
    options.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_solicitations_are_ignored() {
        let bare = [133, 0, 0, 0, 0, 0, 0, 0];
        let with_source = [bare, [1, 1, 2, 0xaa, 0, 0, 0, 5]].concat();
        assert!(is_solicitation(&bare) && is_solicitation(&with_source));
        let mut wrong: Vec<Vec<u8>> = (0..8).map(|length| bare[..length].to_vec()).collect();
        wrong.extend((9..16).map(|length| with_source[..length].to_vec()));
        wrong.push([bare, [1, 0, 0, 0, 0, 0, 0, 0]].concat());
        wrong.push([134, 0, 0, 0, 0, 0, 0, 0].to_vec());
        wrong.push([133, 1, 0, 0, 0, 0, 0, 0].to_vec());
        for data in wrong {
            assert!(!is_solicitation(&data), "{data:?}");
        }
    }
}
