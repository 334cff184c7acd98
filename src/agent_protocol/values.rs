//! MAC addresses and IP ranges, as text in JSON.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The hardware address of an interface, such as `90:de:01:00:00:05`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// The link-local IPv6 address that a host derives from this hardware address (RFC 4291, appendix A).
    pub fn link_local(self) -> Ipv6Addr {
        let [a, b, c, d, e, f] = self.0;
        Ipv6Addr::from([0xfe, 0x80, 0, 0, 0, 0, 0, 0, a ^ 2, b, c, 0xff, 0xfe, d, e, f])
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for MacAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("\"{text}\" is not a MAC address such as 90:de:01:00:00:05");
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let is_byte =
                |part: &&str| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_hexdigit());
            let part = parts.next().filter(is_byte).ok_or_else(invalid)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| invalid())?;
        }
        match parts.next() {
            None => Ok(Self(bytes)),
            Some(_) => Err(invalid()),
        }
    }
}

/// A range of addresses in CIDR notation, such as `10.0.4.0/24`. Bits after the prefix are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IpRange {
    address: IpAddr,
    prefix: u8,
}

impl IpRange {
    /// The range of this prefix that contains the address; `None` if the prefix is too long.
    pub fn containing(address: IpAddr, prefix: u8) -> Option<Self> {
        let address = match address {
            IpAddr::V4(v4) if prefix <= 32 => {
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
                IpAddr::V4((v4.to_bits() & mask).into())
            }
            IpAddr::V6(v6) if prefix <= 128 => {
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
                IpAddr::V6((v6.to_bits() & mask).into())
            }
            _ => return None,
        };
        Some(Self { address, prefix })
    }

    /// The range with only this address.
    pub fn single(address: IpAddr) -> Self {
        let prefix = if address.is_ipv4() { 32 } else { 128 };
        Self { address, prefix }
    }

    pub fn address(self) -> IpAddr {
        self.address
    }

    pub fn prefix(self) -> u8 {
        self.prefix
    }

    pub fn is_ipv4(self) -> bool {
        self.address.is_ipv4()
    }

    pub fn contains(self, address: IpAddr) -> bool {
        address.is_ipv4() == self.is_ipv4() && Self::containing(address, self.prefix) == Some(self)
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for IpRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("\"{text}\" is not a range such as 10.0.4.0/24 or 2001:db8:4::/64");
        let (address, prefix) = text.split_once('/').ok_or_else(invalid)?;
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let prefix: u8 = prefix.parse().map_err(|_| invalid())?;
        let range = Self::containing(address, prefix).ok_or_else(invalid)?;
        if range.address == address {
            Ok(range)
        } else {
            Err(format!("\"{text}\" has bits after its prefix; expected {range}"))
        }
    }
}

macro_rules! as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

as_text!(MacAddress);
as_text!(IpRange);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mac_address_is_parsed_and_printed() {
        let mac: MacAddress = "90:DE:01:00:00:05".parse().unwrap();
        assert_eq!(mac.to_string(), "90:de:01:00:00:05");
        assert_eq!(mac.link_local().to_string(), "fe80::92de:1ff:fe00:5");
        for wrong in [
            "",
            "90:de:01:00:00",
            "90:de:01:00:00:05:06",
            "90:de:1:00:00:05",
            "90:de:01:00:00:+5",
        ] {
            assert!(wrong.parse::<MacAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_range_is_parsed_and_printed() {
        for text in ["10.0.4.0/24", "0.0.0.0/0", "10.0.4.7/32", "2001:db8::/64", "::/0"] {
            assert_eq!(text.parse::<IpRange>().unwrap().to_string(), text);
        }
        for wrong in [
            "10.0.4.0",
            "10.0.4.0/33",
            "10.0.4.1/24",
            "2001:db8::/129",
            "x/1",
            "10.0.4.0/-1",
        ] {
            assert!(wrong.parse::<IpRange>().is_err(), "{wrong}");
        }
        let range: IpRange = "10.0.4.0/24".parse().unwrap();
        assert!(range.contains("10.0.4.255".parse().unwrap()));
        assert!(!range.contains("10.0.5.0".parse().unwrap()));
        assert!(!range.contains("::".parse().unwrap()));
    }
}
