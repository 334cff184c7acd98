//! The address families: what differs between IPv4 and IPv6 (decision 0029).
//!
//! Rules and queries are generic over `Family`. They contain no branches on the family.

use std::fmt::Debug;
use std::hash::Hash;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::{BitAnd, BitOr, BitXor, Not, RangeInclusive};

use crate::model::cidr::Network;

/// The bits of an address, as an unsigned integer.
pub trait Bits:
    Copy
    + Ord
    + Hash
    + Debug
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    const ZERO: Self;
    const MAX: Self;

    /// `None` if the sum is not an address.
    fn plus(self, other: Self) -> Option<Self>;
    /// `None` if the difference is not an address.
    fn minus(self, other: Self) -> Option<Self>;
    /// Shifts to the left; zero if all bits are shifted out.
    fn shifted(self, by: u32) -> Self;
    fn leading_zeros(self) -> u32;
    fn from_u8(number: u8) -> Self;
}

macro_rules! bits {
    ($($number:ty),+) => {$(
        impl Bits for $number {
            const ZERO: Self = 0;
            const MAX: Self = <$number>::MAX;

            fn plus(self, other: Self) -> Option<Self> {
                self.checked_add(other)
            }

            fn minus(self, other: Self) -> Option<Self> {
                self.checked_sub(other)
            }

            fn shifted(self, by: u32) -> Self {
                self.checked_shl(by).unwrap_or(0)
            }

            fn leading_zeros(self) -> u32 {
                <$number>::leading_zeros(self)
            }

            fn from_u8(number: u8) -> Self {
                number.into()
            }
        }
    )+};
}
bits!(u32, u128);

/// An address family.
pub trait Family: Copy + Eq + Hash + Debug + Sized + 'static {
    /// An address.
    type Bits: Bits;

    const NAME: &'static str;
    /// The length of an address in bits.
    const BITS: u8;
    /// The prefix length of the part of a subnet that an interface gets: one address, or one SLAAC network.
    const UNIT_PREFIX: u8;
    /// What an interface gets, for an error text.
    const UNIT_NAME: &'static str;
    /// The addresses of a subnet that are never assigned, for an error text.
    const RESERVED: &'static str;

    fn parse_address(raw: &str) -> Option<Self::Bits>;
    fn address_text(address: Self::Bits) -> String;
    /// The assignable addresses of a subnet.
    fn assignable(subnet: Network<Self>) -> RangeInclusive<Self::Bits>;
    /// Calls `use_text` with the text of a network. Long lists contain many networks, so IPv4 needs no new string.
    fn with_text<T>(network: Network<Self>, use_text: impl FnOnce(&str) -> T) -> T;
    /// The text for a part of a subnet with the prefix length `UNIT_PREFIX`.
    fn unit_text(unit: Network<Self>) -> String;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct V4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct V6;

impl Family for V4 {
    type Bits = u32;

    const NAME: &'static str = "IPv4";
    const BITS: u8 = 32;
    const UNIT_PREFIX: u8 = 32;
    const UNIT_NAME: &'static str = "address";
    const RESERVED: &'static str = "its first two and last two addresses";

    fn parse_address(raw: &str) -> Option<u32> {
        raw.parse::<Ipv4Addr>().ok().map(Ipv4Addr::to_bits)
    }

    fn address_text(address: u32) -> String {
        Ipv4Addr::from_bits(address).to_string()
    }

    /// All addresses but the first two and the last two.
    fn assignable(subnet: Network<V4>) -> RangeInclusive<u32> {
        subnet.first() + 2..=subnet.last() - 2
    }

    fn with_text<T>(network: Network<V4>, use_text: impl FnOnce(&str) -> T) -> T {
        use_text(network.write(&mut [0; Network::WIDTH]))
    }

    fn unit_text(unit: Network<V4>) -> String {
        Self::address_text(unit.first())
    }
}

impl Family for V6 {
    type Bits = u128;

    const NAME: &'static str = "IPv6";
    const BITS: u8 = 128;
    const UNIT_PREFIX: u8 = 64;
    const UNIT_NAME: &'static str = "/64";
    const RESERVED: &'static str = "its first /64";

    /// Accepts every text form of an address (RFC 4291, section 2.2).
    fn parse_address(raw: &str) -> Option<u128> {
        raw.parse::<Ipv6Addr>().ok().map(Ipv6Addr::to_bits)
    }

    fn address_text(address: u128) -> String {
        Ipv6Addr::from_bits(address).to_string()
    }

    /// All addresses but the first /64. A subnet without a second /64 would have no assignable addresses, but the
    /// smallest subnet is a /62.
    fn assignable(subnet: Network<V6>) -> RangeInclusive<u128> {
        subnet.first() | 1 << 64..=subnet.last()
    }

    fn with_text<T>(network: Network<V6>, use_text: impl FnOnce(&str) -> T) -> T {
        let address = Ipv6Addr::from_bits(network.first());
        use_text(&format!("{address}/{}", network.prefix()))
    }

    fn unit_text(unit: Network<V6>) -> String {
        unit.to_string()
    }
}
