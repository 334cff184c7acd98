//! With which generation of keys packets are sent. Pure functions.

use std::collections::{BTreeMap, BTreeSet};

use crate::agent_protocol::{Encryption, HostKeys};

/// The hosts with which this host has a session, by generation. A session proves that both hosts have the keys of each
/// other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sessions(pub BTreeMap<u32, BTreeSet<i64>>);

impl Sessions {
    fn has(&self, generation: u32, host: i64) -> bool {
        self.0.get(&generation).is_some_and(|hosts| hosts.contains(&host))
    }

    /// The generation for each peer: the newest one with a session, or else the newest one.
    pub fn generations(&self, encryption: &Encryption) -> BTreeMap<i64, u32> {
        let of_peer = |peer: &HostKeys| {
            let newest_first = encryption.generations.iter().rev().copied();
            let mut usable = newest_first.filter(|generation| peer.key(*generation).is_some());
            let newest = usable.clone().next()?;
            let chosen = usable.find(|generation| self.has(*generation, peer.host_id));
            Some((peer.host_id, chosen.unwrap_or(newest)))
        };
        encryption.peers.iter().filter_map(of_peer).collect()
    }

    /// The newest generation, if all peers have a session of it.
    pub fn settled_generation(&self, encryption: &Encryption) -> Option<u32> {
        let newest = *encryption.generations.last()?;
        let mut peers = encryption.peers.iter();
        peers.all(|peer| self.has(newest, peer.host_id)).then_some(newest)
    }

    /// The peers without a session of any generation.
    pub fn unreachable_peers(&self, encryption: &Encryption) -> Vec<i64> {
        let has_session = |host: i64| self.0.values().any(|hosts| hosts.contains(&host));
        let hosts = encryption.peers.iter().map(|peer| peer.host_id);
        hosts.filter(|host| !has_session(*host)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_protocol::GenerationKey;

    fn peer(host_id: i64, generations: &[u32]) -> HostKeys {
        let key = |generation: &u32| GenerationKey {
            generation: *generation,
            public_key: "key".to_owned(),
        };
        HostKeys {
            host_id,
            address: [192, 0, 2, 1].into(),
            keys: generations.iter().map(key).collect(),
        }
    }

    #[test]
    fn packets_are_sent_with_the_newest_generation_that_has_a_session() {
        let encryption = Encryption {
            generations: vec![1, 2],
            peers: vec![
                peer(5, &[1, 2]),
                peer(6, &[1, 2]),
                peer(7, &[1]),
                peer(8, &[1, 2]),
            ],
        };
        let sessions = Sessions([(1, [5, 6, 7].into()), (2, [6].into())].into());
        let generations = sessions.generations(&encryption);
        assert_eq!(generations, [(5, 1), (6, 2), (7, 1), (8, 2)].into());
        assert_eq!(sessions.settled_generation(&encryption), None);
        assert_eq!(sessions.unreachable_peers(&encryption), [8]);
        let all = Sessions([(2, [5, 6, 7, 8].into())].into());
        assert_eq!(all.settled_generation(&encryption), Some(2));
    }
}
