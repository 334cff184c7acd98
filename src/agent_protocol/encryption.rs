//! Encryption between hosts: the keys of the other hosts, and the report of an agent (decision 0033).

use std::net::{IpAddr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// The prefix of the addresses inside of the encrypted network: a unique local prefix (RFC 4193).
const INNER_PREFIX: Ipv6Addr = Ipv6Addr::new(0xfdc4, 0x9b1e, 0x72d0, 0, 0, 0, 0, 0);
/// All addresses with this prefix.
pub const INNER_RANGE: &str = "fdc4:9b1e:72d0::/64";

/// The encryption of a region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Encryption {
    /// The generations of keys in use, in ascending order. Each host has a key of each generation. There are two of
    /// them during a rotation.
    pub generations: Vec<u32>,
    /// The other hosts that have keys.
    #[serde(default)]
    pub peers: Vec<HostKeys>,
}

/// The public keys of another host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostKeys {
    pub host_id: i64,
    /// Its underlay address.
    pub address: IpAddr,
    pub keys: Vec<GenerationKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationKey {
    pub generation: u32,
    /// In base64, as `wg pubkey` prints it.
    pub public_key: String,
}

/// The keys of a host, and how far it uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncryptionReport {
    /// The program that encrypts: `kernel` or `user space`.
    #[serde(default)]
    pub implementation: String,
    #[serde(default)]
    pub keys: Vec<GenerationKey>,
    /// The newest generation, if the host has a session of this generation with each of its peers.
    #[serde(default)]
    pub settled_generation: Option<u32>,
    /// The peers without a session of any generation, by host ID.
    #[serde(default)]
    pub unreachable_peers: Vec<i64>,
    /// Tunnel packets that arrived in clear text, and were dropped.
    #[serde(default)]
    pub clear_text_packets: u64,
}

/// The address of a host inside of the encrypted network.
pub fn inner_address(host_id: i64) -> Ipv6Addr {
    Ipv6Addr::from_bits(INNER_PREFIX.to_bits() | u128::from(host_id.unsigned_abs()))
}

/// Whether an address is the inner address of a host.
pub fn is_inner_address(address: Ipv6Addr) -> bool {
    address.segments()[..4] == INNER_PREFIX.segments()[..4]
}

impl HostKeys {
    pub fn inner_address(&self) -> Ipv6Addr {
        inner_address(self.host_id)
    }

    pub fn key(&self, generation: u32) -> Option<&str> {
        let mut keys = self.keys.iter();
        let found = keys.find(|key| key.generation == generation);
        found.map(|key| key.public_key.as_str())
    }
}
