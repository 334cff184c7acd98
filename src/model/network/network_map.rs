//! The map of a subnet's IPv6 range, as data to draw: its /64 networks, or the blocks of a large subnet.

use crate::model::cidr::Cidr6;
use crate::model::family::{Family, V6};
use crate::model::id::{ConfigId, InstanceId, InterfaceId};

/// An interface that has a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkHolder {
    pub network: Cidr6,
    /// True for the network in which the instance configures its address, false for a routed network.
    pub is_slaac: bool,
    pub is_public: bool,
    pub instance: InstanceId,
    /// Only if the caller can see the instance.
    pub instance_label: Option<String>,
    pub config: ConfigId,
    pub interface: InterfaceId,
    pub active: bool,
}

/// A part of a subnet, network by network or in blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkView {
    Networks(Vec<(Cidr6, NetworkState)>),
    Blocks(Vec<NetworkBlock>),
}

/// The state of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkState {
    /// Never assigned.
    Reserved,
    Free,
    /// Assigned to the holder at this index of the caller's list.
    Taken(usize),
}

/// Several networks that a map shows as one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkBlock {
    pub range: Cidr6,
    /// The number of assigned networks.
    pub used: u64,
    /// The number of usable networks.
    pub all: u64,
}

/// Parts with at least this prefix length are shown network by network. They have at most 256 networks.
const NETWORK_VIEW_PREFIX: u8 = 56;
/// The prefix length of a block. The largest subnet is a /52, so a map has at most 256 blocks.
const BLOCK_PREFIX: u8 = 60;

/// The prefix length of the blocks for a part of a subnet; `None` if the part is shown network by network.
pub fn block_prefix(window: Cidr6) -> Option<u8> {
    (window.prefix() < NETWORK_VIEW_PREFIX).then_some(BLOCK_PREFIX)
}

/// The number of networks in a part of a subnet that can be assigned.
pub fn usable_networks(subnet: Cidr6, part: Cidr6) -> u64 {
    let all = 1u64 << V6::UNIT_PREFIX.saturating_sub(part.prefix()).min(63);
    let has_reserved = part.first() < *subnet.assignable().start();
    all - u64::from(has_reserved)
}

/// Shows each network of a part of a subnet. `holders` is ordered by network.
pub fn networks(subnet: Cidr6, window: Cidr6, holders: &[NetworkHolder]) -> NetworkView {
    let state = |network: Cidr6| {
        let at = holders.partition_point(|holder| holder.network.first() < network.first());
        match holders.get(at) {
            Some(holder) if holder.network == network => NetworkState::Taken(at),
            _ if network.first() < *subnet.assignable().start() => NetworkState::Reserved,
            _ => NetworkState::Free,
        }
    };
    let all = window.split(V6::UNIT_PREFIX);
    NetworkView::Networks(all.map(|network| (network, state(network))).collect())
}

/// Counts the networks in use in each block of a part of a subnet. `used` is ordered.
pub fn blocks(subnet: Cidr6, window: Cidr6, prefix: u8, used: &[Cidr6]) -> NetworkView {
    let block = |range: Cidr6| {
        let before = |end: u128| used.partition_point(|network| network.first() <= end);
        let first = used.partition_point(|network| network.first() < range.first());
        NetworkBlock {
            range,
            used: (before(range.last()) - first) as u64,
            all: usable_networks(subnet, range),
        }
    };
    NetworkView::Blocks(window.split(prefix).map(block).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cidr(text: &str) -> Cidr6 {
        Cidr6::parse(text).unwrap()
    }

    #[test]
    fn a_small_subnet_is_shown_by_network_and_a_large_one_in_blocks() {
        let subnet = cidr("fd00::/62");
        assert_eq!(block_prefix(subnet), None);
        let NetworkView::Networks(all) = networks(subnet, subnet, &[]) else {
            panic!("networks");
        };
        let states: Vec<_> = all.iter().map(|(_, state)| *state).collect();
        let free = NetworkState::Free;
        assert_eq!(states, [NetworkState::Reserved, free, free, free]);
        assert_eq!(all[3].0, cidr("fd00:0:0:3::/64"));

        let subnet = cidr("fd00::/52");
        let used = [
            cidr("fd00:0:0:1::/64"),
            cidr("fd00:0:0:f::/64"),
            cidr("fd00:0:0:10::/64"),
        ];
        let NetworkView::Blocks(all) = blocks(subnet, subnet, block_prefix(subnet).unwrap(), &used) else {
            panic!("blocks");
        };
        assert_eq!(all.len(), 256);
        let counts: Vec<_> = all.iter().map(|block| (block.used, block.all)).take(3).collect();
        assert_eq!(counts, [(2, 15), (1, 16), (0, 16)]);
    }
}
