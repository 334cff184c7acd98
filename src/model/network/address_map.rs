//! Address maps: the assigned and free parts of an address space, as data to draw.

use crate::model::cidr::{Cidr, PRIVATE};
use crate::model::id::{ConfigId, InstanceId, InterfaceId};

/// A private address space as a sequence of parts without gaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    pub range: Cidr,
    pub parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub first: u32,
    pub last: u32,
    pub kind: PartKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The subnet at this index of the caller's list.
    Subnet(usize),
    /// Reserved by the provider.
    Forbidden,
    Free,
}

impl Part {
    pub fn size(&self) -> u64 {
        u64::from(self.last - self.first) + 1
    }
}

/// All private address spaces, each divided into subnets, forbidden ranges and free parts. The subnets must not
/// overlap.
pub fn spaces(subnets: &[Cidr], forbidden: &[Cidr]) -> Vec<Space> {
    let taken = subnets
        .iter()
        .enumerate()
        .map(|(at, range)| (*range, PartKind::Subnet(at)));
    // A subnet that was created before its range was forbidden is still shown.
    let is_unassigned = |range: &&Cidr| !subnets.iter().any(|subnet| subnet.overlaps(**range));
    let is_outermost = |range: &&Cidr| {
        !forbidden
            .iter()
            .any(|other| other != *range && other.contains(**range))
    };
    let reserved = forbidden.iter().filter(is_unassigned).filter(is_outermost);
    let mut used_parts: Vec<(Cidr, PartKind)> = taken
        .chain(reserved.map(|range| (*range, PartKind::Forbidden)))
        .collect();
    used_parts.sort_by_key(|(range, _)| range.first());
    used_parts.dedup_by_key(|(range, _)| *range);
    PRIVATE
        .into_iter()
        .map(|range| space(range, &used_parts))
        .collect()
}

fn space(range: Cidr, used_parts: &[(Cidr, PartKind)]) -> Space {
    let mut parts = Vec::new();
    let mut next = u64::from(range.first());
    let push_free_part = |from: u64, before: u64, parts: &mut Vec<Part>| {
        if from < before {
            parts.push(Part {
                first: from as u32,
                last: (before - 1) as u32,
                kind: PartKind::Free,
            });
        }
    };
    for (taken, kind) in used_parts.iter().filter(|(taken, _)| taken.overlaps(range)) {
        let (first, last) = (taken.first().max(range.first()), taken.last().min(range.last()));
        push_free_part(next, u64::from(first), &mut parts);
        parts.push(Part {
            first,
            last,
            kind: *kind,
        });
        next = u64::from(last) + 1;
    }
    push_free_part(next, u64::from(range.last()) + 1, &mut parts);
    Space { range, parts }
}

/// An interface that holds an address or a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    pub first: u32,
    pub last: u32,
    /// True for a range that is routed to the interface, false for a single address.
    pub is_range: bool,
    pub instance: InstanceId,
    /// Only if the caller can see the instance.
    pub instance_label: Option<String>,
    pub config: ConfigId,
    pub interface: InterfaceId,
    pub active: bool,
}

/// A part of a subnet, address by address or in buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum View {
    Addresses(Vec<(u32, State)>),
    Buckets(Vec<Bucket>),
}

/// The state of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Network,
    Gateway,
    /// The second-to-last address of a subnet, which is never assigned.
    Reserved,
    Broadcast,
    Free,
    /// Assigned to the holder at this index of the caller's list.
    Taken(usize),
}

/// A range of addresses that a map shows as one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub range: Cidr,
    /// The number of assigned addresses.
    pub used: u64,
    /// The number of usable addresses.
    pub all: u64,
}

/// Parts with at least this prefix length are shown address by address.
const ADDRESS_VIEW_PREFIX: u8 = 24;
/// The maximum prefix length of a bucket. A map has at most 256 buckets.
const MAX_BUCKET_PREFIX: u8 = 28;

/// The prefix length of the buckets for a part of a subnet; `None` if the part is shown address by address.
pub fn bucket_prefix(window: Cidr) -> Option<u8> {
    (window.prefix() < ADDRESS_VIEW_PREFIX).then(|| (window.prefix() + 8).min(MAX_BUCKET_PREFIX))
}

/// The part of a subnet around `address` that a map shows address by address.
pub fn window_around(subnet: Cidr, address: u32) -> Cidr {
    Cidr::around(address, ADDRESS_VIEW_PREFIX.max(subnet.prefix()))
}

/// A part of a subnet, address by address.
pub fn addresses(subnet: Cidr, window: Cidr, holders: &[Holder]) -> View {
    let state = |address: u32| match address {
        _ if address == subnet.first() => State::Network,
        _ if address == subnet.gateway() => State::Gateway,
        _ if address == subnet.last() => State::Broadcast,
        _ if address == subnet.last() - 1 => State::Reserved,
        _ => {
            let holds = |holder: &Holder| holder.first <= address && address <= holder.last;
            holders.iter().position(holds).map_or(State::Free, State::Taken)
        }
    };
    View::Addresses(
        (window.first()..=window.last())
            .map(|address| (address, state(address)))
            .collect(),
    )
}

/// A part of a subnet in buckets. `counts` has pairs: the index of a bucket, and the number of assigned
/// addresses in it. These numbers do not include the addresses in `ranges`. `ranges` must be sorted and can
/// overlap.
pub fn buckets(subnet: Cidr, window: Cidr, prefix: u8, counts: &[(u64, u64)], ranges: &[(u32, u32)]) -> View {
    let assignable = subnet.assignable();
    let parts = window.split(prefix);
    let mut buckets: Vec<Bucket> = parts
        .map(|range| {
            let (first, last) = (
                range.first().max(*assignable.start()),
                range.last().min(*assignable.end()),
            );
            let all = (u64::from(last) + 1).saturating_sub(u64::from(first));
            Bucket { range, used: 0, all }
        })
        .collect();
    for (at, count) in counts {
        if let Some(bucket) = usize::try_from(*at).ok().and_then(|at| buckets.get_mut(at)) {
            bucket.used += count;
        }
    }
    let mut next = 0;
    for (first, last) in ranges {
        let first = u64::from(*first).max(next);
        for bucket in &mut buckets {
            let from = first.max(u64::from(bucket.range.first()));
            let to = u64::from((*last).min(bucket.range.last())) + 1;
            bucket.used += to.saturating_sub(from);
        }
        next = next.max(u64::from(*last) + 1);
    }
    View::Buckets(buckets)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    #[test]
    fn spaces_have_no_gaps() {
        let subnets = [cidr("10.0.1.0/24"), cidr("10.0.0.0/29"), cidr("192.168.0.0/24")];
        let drawn = spaces(&subnets, &[cidr("192.168.128.0/17")]);
        let kinds: Vec<Vec<PartKind>> = drawn
            .iter()
            .map(|space| space.parts.iter().map(|part| part.kind).collect())
            .collect();
        assert_eq!(
            kinds,
            [
                vec![
                    PartKind::Subnet(1),
                    PartKind::Free,
                    PartKind::Subnet(0),
                    PartKind::Free
                ],
                vec![PartKind::Free],
                vec![PartKind::Subnet(2), PartKind::Free, PartKind::Forbidden],
            ]
        );
        for space in drawn {
            let size: u64 = space.parts.iter().map(Part::size).sum();
            assert_eq!(size, u64::from(space.range.last() - space.range.first()) + 1);
            assert!(space.parts.windows(2).all(|two| two[0].last + 1 == two[1].first));
        }
    }

    #[test]
    fn the_smallest_subnet_shows_its_eight_addresses() {
        let subnet = cidr("10.0.0.0/29");
        let holder = Holder {
            first: subnet.first() + 2,
            last: subnet.first() + 2,
            is_range: false,
            instance: InstanceId(7),
            instance_label: None,
            config: ConfigId(1),
            interface: InterfaceId(1),
            active: true,
        };
        let View::Addresses(cells) = addresses(subnet, subnet, &[holder]) else {
            panic!("not addresses");
        };
        let states: Vec<_> = cells.into_iter().map(|(_, state)| state).collect();
        use State::*;
        assert_eq!(
            states,
            [Network, Gateway, Taken(0), Free, Free, Free, Reserved, Broadcast]
        );
    }

    #[test]
    fn smaller_windows_have_smaller_buckets() {
        let prefixes = [
            "10.0.0.0/8",
            "10.0.0.0/16",
            "10.0.0.0/20",
            "10.0.0.0/23",
            "10.0.0.0/24",
            "10.0.0.0/29",
        ];
        let buckets = prefixes.map(|window| bucket_prefix(cidr(window)));
        assert_eq!(buckets, [Some(16), Some(24), Some(28), Some(28), None, None]);
        let address = cidr("10.0.3.64/32").first();
        let closest =
            ["10.0.0.0/8", "10.0.3.0/24", "10.0.3.64/29"].map(|whole| window_around(cidr(whole), address));
        assert_eq!(closest, ["10.0.3.0/24", "10.0.3.0/24", "10.0.3.64/29"].map(cidr));
    }

    #[test]
    fn a_range_counts_once_in_each_bucket_that_it_overlaps() {
        let subnet = cidr("10.0.0.0/22");
        let from = subnet.first();
        let ranges = [(from + 8, from + 23), (from + 16, from + 31)];
        let View::Buckets(buckets) = buckets(subnet, subnet, 28, &[(1, 3), (63, 1)], &ranges) else {
            panic!("not buckets");
        };
        assert_eq!(buckets.len(), 64);
        assert_eq!((buckets[0].used, buckets[0].all), (8, 14));
        assert_eq!((buckets[1].used, buckets[1].all), (16 + 3, 16));
        assert_eq!((buckets[2].used, buckets[63].used, buckets[63].all), (0, 1, 14));
    }

    proptest! {
        #[test]
        fn spaces_of_any_subnets_have_no_gap(at in proptest::collection::btree_set(0u32..4096, 0..40)) {
            let subnets: Vec<Cidr> = at
                .iter()
                .map(|at| cidr(&format!("10.{}.{}.0/24", at / 256, at % 256)))
                .collect();
            let space = &spaces(&subnets, &[])[0];
            let size: u64 = space.parts.iter().map(Part::size).sum();
            prop_assert_eq!(size, 1 << 24);
            let drawn = space.parts.iter().filter(|part| matches!(part.kind, PartKind::Subnet(_))).count();
            prop_assert_eq!(drawn, subnets.len());
        }
    }
}
