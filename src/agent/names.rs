//! The names of kernel objects, and the marks by which the agent recognizes its own (decision 0030).

use std::fmt;
use std::str::FromStr;

/// The protocol number of the agent's routes, which no routing daemon uses.
pub const ROUTE_PROTOCOL: u8 = 71;

/// The link from the namespace of a VPC to the namespace of the host.
pub const UPLINK: &str = "uplink";

/// The prefix of all names that agents on the same machine could share: 1 to 6 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix(String);

impl Prefix {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The link group of the agent's links: a hash of the prefix. Group 0 is the default of all links.
    pub fn link_group(&self) -> u32 {
        let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
        let hash = self.0.bytes().fold(2_166_136_261, hash);
        0x4700_0000 | (hash & 0x00ff_ffff)
    }

    /// The host's end of the link to a VPC. Linux limits names to 15 characters.
    pub fn host_uplink(&self, vpc: i64) -> String {
        format!("{}-u{vpc}", self.0)
    }

    /// The host's ends of the links to all VPCs, as a pattern of nftables.
    pub fn uplink_pattern(&self) -> String {
        format!("{}-u*", self.0)
    }

    /// The link of the encrypted tunnel with a generation of keys.
    pub fn tunnel(&self, generation: u32) -> String {
        format!("{}-w{generation}", self.0)
    }

    /// The links of all encrypted tunnels, as a pattern of nftables.
    pub fn tunnel_pattern(&self) -> String {
        format!("{}-w*", self.0)
    }

    /// Whether a link in the namespace of the host has the name of the link to a VPC.
    pub fn is_uplink(&self, link: &str) -> bool {
        let rest = link.strip_prefix(self.as_str());
        let vpc = rest.and_then(|rest| rest.strip_prefix("-u"));
        vpc.is_some_and(|vpc| vpc.parse::<i64>().is_ok())
    }

    /// Whether a link in the namespace of the host has the name of an encrypted tunnel.
    pub fn is_tunnel(&self, link: &str) -> bool {
        let rest = link.strip_prefix(self.as_str());
        let generation = rest.and_then(|rest| rest.strip_prefix("-w"));
        generation.is_some_and(|generation| generation.parse::<u32>().is_ok())
    }
}

impl Default for Prefix {
    fn default() -> Self {
        Self("garth".to_owned())
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_allowed = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        let starts_with_letter = text.starts_with(|first: char| first.is_ascii_lowercase());
        if (1..=6).contains(&text.len()) && text.bytes().all(is_allowed) && starts_with_letter {
            Ok(Self(text.to_owned()))
        } else {
            Err("must be 1 to 6 lower case letters and digits, and start with a letter".to_owned())
        }
    }
}

/// A network namespace that the agent uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Namespace {
    /// The namespace that the agent was started in: the underlay.
    Host,
    Vpc(i64),
    Instance(i64),
}

impl Namespace {
    /// The name below `/run/netns`; `None` for the host.
    pub fn name(self, prefix: &Prefix) -> Option<String> {
        match self {
            Self::Host => None,
            Self::Vpc(id) => Some(format!("{prefix}-vpc-{id}")),
            Self::Instance(id) => Some(format!("gi-{id}")),
        }
    }

    /// The namespace with this name below `/run/netns`, if the name is one of the agent's.
    pub fn of_name(name: &str, prefix: &Prefix) -> Option<Self> {
        let id = |text: &str| {
            text.parse()
                .ok()
                .filter(|id: &i64| *id >= 0 && id.to_string() == text)
        };
        if let Some(text) = name.strip_prefix("gi-") {
            return id(text).map(Self::Instance);
        }
        let text = name.strip_prefix(prefix.as_str())?.strip_prefix("-vpc-")?;
        id(text).map(Self::Vpc)
    }
}

pub fn bridge(subnet: i64) -> String {
    format!("br{subnet}")
}

pub fn tunnel(subnet: i64) -> String {
    format!("vx{subnet}")
}

/// The link that the ranges inside of a subnet are routed to.
pub fn range_link(subnet: i64) -> String {
    format!("rl{subnet}")
}

/// The other end of `range_link`: a port of the bridge.
pub fn range_port(subnet: i64) -> String {
    format!("rp{subnet}")
}

pub fn port(interface: i64) -> String {
    format!("gi{interface}")
}

/// The interface ID of a port's link.
pub fn interface_of(link: &str) -> Option<i64> {
    link.strip_prefix("gi")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn namespaces_have_reversible_names() {
        let prefix: Prefix = "h1".parse().unwrap();
        for namespace in [Namespace::Vpc(7), Namespace::Instance(12)] {
            let name = namespace.name(&prefix).unwrap();
            assert_eq!(Namespace::of_name(&name, &prefix), Some(namespace));
        }
        for foreign in [
            "h2-vpc-7",
            "h1-vpc-",
            "h1-vpc-07",
            "h1-vpc--7",
            "gi-x",
            "docker0",
            "h1",
        ] {
            assert_eq!(Namespace::of_name(foreign, &prefix), None, "{foreign}");
        }
    }

    #[test]
    fn a_prefix_fits_into_the_name_of_a_link() {
        for wrong in ["", "garth12", "Garth", "1a", "a-b", "a/b"] {
            assert!(wrong.parse::<Prefix>().is_err(), "{wrong}");
        }
        let prefix: Prefix = "garth1".parse().unwrap();
        assert!(prefix.host_uplink(9_999_999).len() <= 15);
        assert!(prefix.is_uplink(&prefix.host_uplink(7)));
        assert!(!prefix.is_uplink(&prefix.tunnel(7)) && !prefix.is_uplink("eth0"));
        assert_ne!(prefix.link_group(), Prefix::default().link_group());
    }
}
