//! Address ranges of VPCs, subnets and interfaces (decisions 0005 and 0029).

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use crate::model::family::{Bits, Family, V4, V6};
use crate::model::reason::{Code, Reason, Reasons};

/// A network without host bits: `10.0.0.0/24`, `fd00::/52`.
///
/// It can be any network, even a network that is not allowed for a subnet, such as a forbidden range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network<F: Family> {
    network: F::Bits,
    prefix: u8,
}

/// An IPv4 network. `for_subnet` accepts only a network that is allowed for a subnet.
pub type Cidr = Network<V4>;
/// An IPv6 network.
pub type Cidr6 = Network<V6>;

/// The private address ranges. Every subnet is inside one of them.
pub const PRIVATE: [Cidr; 3] = [
    Cidr::from_octets([10, 0, 0, 0], 8),
    Cidr::from_octets([172, 16, 0, 0], 12),
    Cidr::from_octets([192, 168, 0, 0], 16),
];

impl<F: Family> Network<F> {
    /// Parses any network in canonical form.
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let not_a_network = || {
            let text = format!("Must be an {} network", F::NAME);
            vec![Reason::new(Code::CidrInvalid, text)]
        };
        let (address, prefix_text) = raw.split_once('/').ok_or_else(not_a_network)?;
        let address = F::parse_address(address).ok_or_else(not_a_network)?;
        let prefix: u8 = prefix_text.parse().map_err(|_| not_a_network())?;
        // The standard library parses "+8" and "08" as 8, so the text is compared with its canonical form.
        if prefix > F::BITS || prefix.to_string() != prefix_text {
            return Err(not_a_network());
        }
        let network = Self::around(address, prefix);
        if network.network != address {
            let text = format!(
                "Must be an {} network without host bits set, such as {network}",
                F::NAME
            );
            return Err(vec![Reason::new(Code::CidrHostBits, text)]);
        }
        Ok(network)
    }

    /// The network with this first and this last address, if there is one.
    pub fn spanning(first: F::Bits, last: F::Bits) -> Option<Self> {
        let prefix = (first ^ last).leading_zeros() as u8;
        let network = Self {
            network: first,
            prefix,
        };
        (first & mask::<F>(prefix) == first && network.last() == last).then_some(network)
    }

    /// The network with this prefix length that contains an address.
    pub fn around(address: F::Bits, prefix: u8) -> Self {
        let prefix = prefix.min(F::BITS);
        Self {
            network: address & mask::<F>(prefix),
            prefix,
        }
    }

    /// The first network with this prefix length that starts at `address` or after it.
    pub fn at_or_after(address: F::Bits, prefix: u8) -> Option<Self> {
        let network = Self::around(address, prefix);
        match network.network == address {
            true => Some(network),
            false => Some(Self::around(network.last().plus(F::Bits::from_u8(1))?, prefix)),
        }
    }

    pub fn first(self) -> F::Bits {
        self.network
    }

    pub fn last(self) -> F::Bits {
        self.network | !mask::<F>(self.prefix)
    }

    pub fn prefix(self) -> u8 {
        self.prefix
    }

    /// The addresses of a subnet that can be assigned.
    pub fn assignable(self) -> RangeInclusive<F::Bits> {
        F::assignable(self)
    }

    pub fn contains(self, other: Self) -> bool {
        self.first() <= other.first() && other.last() <= self.last()
    }

    pub fn overlaps(self, other: Self) -> bool {
        self.first() <= other.last() && other.first() <= self.last()
    }

    /// Parses an address or a network for a search. The network can have host bits.
    pub fn parse_search(raw: &str) -> Option<Self> {
        let (address, prefix) = raw.split_once('/').map_or((raw, None), |(a, b)| (a, Some(b)));
        let prefix = match prefix {
            Some(prefix) => prefix.parse().ok().filter(|prefix| *prefix <= F::BITS)?,
            None => F::BITS,
        };
        Some(Self::around(F::parse_address(address)?, prefix))
    }

    /// Splits the network into networks with a longer prefix.
    pub fn split(self, prefix: u8) -> impl Iterator<Item = Self> {
        let next = move |part: &Self| Some(Self::around(part.last().plus(F::Bits::from_u8(1))?, prefix));
        let all = std::iter::successors(Some(Self::around(self.first(), prefix)), next);
        all.take_while(move |part| self.contains(*part))
    }
}

fn mask<F: Family>(prefix: u8) -> F::Bits {
    F::Bits::MAX.shifted(u32::from(F::BITS - prefix.min(F::BITS)))
}

impl<F: Family> std::fmt::Display for Network<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        F::with_text(*self, |text| f.pad(text))
    }
}

impl Cidr {
    /// The prefix length of the smallest subnet.
    pub const MAX_SUBNET_PREFIX: u8 = 29;

    const fn from_octets(octets: [u8; 4], prefix: u8) -> Self {
        Self {
            network: u32::from_be_bytes(octets),
            prefix,
        }
    }

    /// Parses the range of a subnet: private, /8 to /29, outside the forbidden ranges.
    pub fn for_subnet(raw: &str, forbidden: &[Cidr]) -> Result<Self, Reasons> {
        let cidr = Self::parse(raw)?;
        let mut reasons = Reasons::new();
        if !PRIVATE.iter().any(|range| range.contains(cidr)) {
            let text = "Must be inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16";
            reasons.push(Reason::new(Code::CidrNotPrivate, text));
        }
        if !(8..=Self::MAX_SUBNET_PREFIX).contains(&cidr.prefix) {
            let text = "Must have a prefix length from 8 to 29";
            reasons.push(Reason::new(Code::CidrPrefix, text));
        }
        for range in forbidden.iter().filter(|range| range.overlaps(cidr)) {
            let text = format!("Must not overlap {range}, which is reserved");
            reasons.push(Reason::new(Code::CidrForbidden, text));
        }
        if reasons.is_empty() {
            Ok(cidr)
        } else {
            Err(reasons)
        }
    }

    pub fn mask(self) -> u32 {
        mask::<V4>(self.prefix)
    }

    /// The gateway of the subnet.
    pub fn gateway(self) -> u32 {
        self.first() + 1
    }

    /// The network of an address with a prefix length, such as `10.0.0.5/24`. `None` if the text is a network
    /// itself, or if the network is not private.
    pub fn network_of(raw: &str) -> Option<Self> {
        let (address, prefix) = raw.split_once('/')?;
        let address: Ipv4Addr = address.parse().ok()?;
        let network = Self::around(
            address.to_bits(),
            prefix.parse().ok().filter(|prefix| *prefix <= 32)?,
        );
        let is_private = PRIVATE.iter().any(|range| range.contains(network));
        (is_private && network.first() != address.to_bits()).then_some(network)
    }

    /// The prefix length at the end of a text, such as `10.0.0.5/24` or `/24`. The rest need not be valid.
    pub fn prefix_length_of(raw: &str) -> Option<u8> {
        raw.rsplit_once('/')?.1.trim().parse().ok()
    }

    /// The next network of the same size that does not overlap any network in `taken`. The search begins at
    /// this network and continues to the end of its private range. Then it searches each private range from
    /// the beginning.
    pub fn next_free(self, taken: &[Cidr]) -> Option<Cidr> {
        let mut taken = taken.to_vec();
        taken.sort_by_key(|range| range.first());
        let own_space = PRIVATE.into_iter().find(|space| space.contains(self));
        let after_self = own_space.map(|space| (self.first(), space));
        let from_start = PRIVATE.into_iter().map(|space| (space.first(), space));
        after_self
            .into_iter()
            .chain(from_start)
            .filter(|(_, space)| space.prefix <= self.prefix)
            .find_map(|(from, space)| free_from(from, space, self.prefix, &taken))
    }
}

/// The first free network in `space` that starts at or after `from`. `taken` must be sorted.
fn free_from(from: u32, space: Cidr, prefix: u8, taken: &[Cidr]) -> Option<Cidr> {
    let size = 1u64 << (32 - prefix);
    let mut first = u64::from(from);
    for range in taken {
        if u64::from(range.first()) >= first + size {
            continue;
        }
        // The start of the next aligned network after the taken range.
        let after = (u64::from(range.last()) + 1).div_ceil(size) * size;
        first = first.max(after);
    }
    let last = first + size - 1;
    (last <= u64::from(space.last())).then_some(Cidr {
        network: first as u32,
        prefix,
    })
}

impl Cidr {
    /// The maximum length of the formatted network, plus a space.
    pub const WIDTH: usize = "255.255.255.255/32 ".len();

    /// Formats the network into a buffer instead of a new string, because long lists contain many networks.
    pub fn write(self, text: &mut [u8; Self::WIDTH]) -> &str {
        let [a, b, c, d] = self.network.to_be_bytes();
        let mut end = 0;
        for (number, separator) in [(a, b'.'), (b, b'.'), (c, b'.'), (d, b'/'), (self.prefix, b' ')] {
            let digits = [number / 100, number / 10 % 10, number % 10].map(|digit| b'0' + digit);
            let zeros = usize::from(number < 100) + usize::from(number < 10);
            let written = &[digits[0], digits[1], digits[2], separator][zeros..];
            text[end..end + written.len()].copy_from_slice(written);
            end += written.len();
        }
        std::str::from_utf8(&text[..end - 1]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_network_is_formatted_as_address_and_prefix_length() {
        let networks = [0, 9, 10, 99, 100, 255].into_iter().flat_map(|byte: u8| {
            let address = u32::from_be_bytes([byte, 255 - byte, byte / 2, byte]);
            (0..=32).map(move |prefix| Cidr::around(address, prefix))
        });
        for network in networks {
            let address = Ipv4Addr::from_bits(network.first());
            assert_eq!(network.to_string(), format!("{address}/{}", network.prefix()));
        }
    }

    #[test]
    fn the_default_route_contains_every_network() {
        let all = Cidr::parse("0.0.0.0/0").unwrap();
        assert_eq!((all.first(), all.last()), (0, u32::MAX));
    }

    #[test]
    fn the_next_free_network_follows_or_wraps_around() {
        let all = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| Cidr::parse(text).unwrap())
                .collect::<Vec<_>>()
        };
        let next = |from: &str, taken: &[&str]| {
            let from = Cidr::parse(from).unwrap();
            from.next_free(&all(taken)).map(|found| found.to_string())
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(next("10.0.0.0/24", &[]), some("10.0.0.0/24"));
        assert_eq!(next("10.0.0.0/24", &["10.0.0.0/24"]), some("10.0.1.0/24"));
        assert_eq!(
            next("10.0.0.0/24", &["10.0.1.0/25", "10.0.0.0/24"]),
            some("10.0.2.0/24")
        );
        assert_eq!(
            next("10.5.0.0/24", &["10.5.0.0/24", "10.5.2.0/23"]),
            some("10.5.1.0/24")
        );
        assert_eq!(next("10.255.255.0/24", &["10.255.255.0/24"]), some("10.0.0.0/24"));
        assert_eq!(next("10.0.0.0/8", &["10.9.0.0/16"]), None);
        assert_eq!(next("10.0.0.0/16", &["10.0.0.0/8"]), some("172.16.0.0/16"));
        let full = ["10.0.0.0/8", "172.16.0.0/12", "192.168.128.0/17"];
        assert_eq!(next("192.168.128.0/17", &full), some("192.168.0.0/17"));
        assert_eq!(next("10.0.0.0/16", &full), None);
    }

    proptest! {
        #[test]
        fn a_network_is_determined_by_its_first_and_last_address(first: u32, last: u32, prefix in 0u8..=32) {
            let cidr = Cidr { network: first & mask::<V4>(prefix), prefix };
            prop_assert_eq!(Cidr::spanning(cidr.first(), cidr.last()), Some(cidr));
            let other = Cidr::spanning(first, last);
            prop_assert!(other.is_none_or(|other| (other.first(), other.last()) == (first, last)));
        }

        #[test]
        fn a_proposed_network_is_free(taken in proptest::collection::vec((0u32..1 << 24, 9u8..=29), 0..30), prefix in 9u8..=29) {
            let base = Cidr::parse("10.0.0.0/8").unwrap().first();
            let taken: Vec<Cidr> = taken
                .into_iter()
                .map(|(bits, prefix)| Cidr { network: (base | bits) & mask::<V4>(prefix), prefix })
                .collect();
            let from = Cidr { network: base, prefix };
            let found = from.next_free(&taken);
            let lowest = Cidr::parse("10.0.0.0/8").unwrap().split(prefix).take(70_000);
            let mut lowest = lowest.filter(|network| !taken.iter().any(|range| range.overlaps(*network)));
            if let Some(found) = found {
                prop_assert!(!taken.iter().any(|range| range.overlaps(found)));
                prop_assert_eq!(found.first() % (1 << (32 - prefix)), 0);
                if let Some(lowest) = lowest.next() {
                    prop_assert_eq!(found, lowest);
                }
            } else {
                prop_assert!(lowest.next().is_none());
            }
        }

        #[test]
        fn formatted_networks_round_trip(bits: u32, prefix in 0u8..=32) {
            let cidr = Cidr { network: bits & mask::<V4>(prefix), prefix };
            prop_assert_eq!(Cidr::parse(&cidr.to_string()), Ok(cidr));
        }

        #[test]
        fn networks_overlap_exactly_if_one_contains_the_other(
            a: u32, b: u32, p in 0u8..=32, q in 0u8..=32,
        ) {
            let a = Cidr { network: a & mask::<V4>(p), prefix: p };
            let b = Cidr { network: b & mask::<V4>(q), prefix: q };
            prop_assert_eq!(a.overlaps(b), a.contains(b) || b.contains(a));
        }

        #[test]
        fn only_canonical_text_is_parsed(raw in "[0-9./+ ]{0,20}") {
            if let Ok(cidr) = Cidr::parse(&raw) {
                prop_assert_eq!(cidr.to_string(), raw);
            }
        }
    }
}
