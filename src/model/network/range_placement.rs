//! Places the requested IPv6 ranges of a new VPC's subnets, without the store (decision 0029).

use std::collections::BTreeMap;

use crate::model::cidr::Cidr6;
use crate::model::range_request::RangeRequest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    At(Cidr6),
    /// The requested range is outside of the VPC.
    Outside,
    /// No range with this prefix length is free.
    NoRoom(u8),
}

/// Places certain ranges first, and then the lowest free ranges in their order.
pub fn place(vpc: Cidr6, requests: &[Option<RangeRequest>]) -> Vec<Option<Placement>> {
    let mut taken = TakenRanges::default();
    let mut placements = vec![None; requests.len()];
    for (placement, request) in placements.iter_mut().zip(requests) {
        if let Some(RangeRequest::This(range)) = *request {
            *placement = Some(match vpc.contains(range) {
                true => taken.take(range),
                false => Placement::Outside,
            });
        }
    }
    for (placement, request) in placements.iter_mut().zip(requests) {
        if let Some(RangeRequest::Lowest(prefix)) = *request {
            *placement = Some(match taken.lowest_free(vpc, prefix) {
                Some(range) => taken.take(range),
                None => Placement::NoRoom(prefix),
            });
        }
    }
    placements
}

#[derive(Default)]
struct TakenRanges {
    by_first_address: BTreeMap<u128, Cidr6>,
    /// By prefix length: the lowest range that can be free. Ranges are only taken, so it only moves up. Without it, the
    /// work would be quadratic in the number of subnets.
    lowest: BTreeMap<u8, Cidr6>,
}

impl TakenRanges {
    /// Takes a range, unless it overlaps one that is taken. The caller has refused such a range.
    fn take(&mut self, range: Cidr6) -> Placement {
        if self.overlapping(range).is_none() {
            self.by_first_address.insert(range.first(), range);
        }
        Placement::At(range)
    }

    /// Taken ranges do not overlap each other, so only the last one that begins before the end of the range can overlap
    /// it.
    fn overlapping(&self, range: Cidr6) -> Option<Cidr6> {
        let (_, last) = self.by_first_address.range(..=range.last()).next_back()?;
        Some(*last).filter(|taken| taken.overlaps(range))
    }

    fn lowest_free(&mut self, vpc: Cidr6, prefix: u8) -> Option<Cidr6> {
        let whole = vpc.prefix() <= prefix;
        let lowest = self.lowest.get(&prefix).copied();
        let mut range = lowest.unwrap_or(Cidr6::around(vpc.first(), prefix));
        while whole && vpc.contains(range) {
            match self.overlapping(range) {
                Some(taken) => range = Cidr6::at_or_after(taken.last().checked_add(1)?, prefix)?,
                None => {
                    self.lowest.insert(prefix, range);
                    return Some(range);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(vpc: &str, requests: &[&str]) -> Vec<String> {
        let request = |raw: &&str| {
            Some(match raw.strip_prefix('/') {
                Some(prefix) => RangeRequest::Lowest(prefix.parse().ok()?),
                None => RangeRequest::This(Cidr6::parse(raw).ok()?),
            })
        };
        let requests: Vec<_> = requests.iter().map(request).collect();
        let text = |placement| match placement {
            None => "none".to_owned(),
            Some(Placement::At(range)) => range.to_string(),
            Some(Placement::Outside) => "outside".to_owned(),
            Some(Placement::NoRoom(prefix)) => format!("no /{prefix}"),
        };
        place(Cidr6::parse(vpc).unwrap(), &requests)
            .into_iter()
            .map(text)
            .collect()
    }

    #[test]
    fn certain_ranges_are_placed_first_and_the_lowest_free_ones_between_them() {
        assert_eq!(
            placed(
                "fd00::/52",
                &[
                    "/56",
                    "fd00::/56",
                    "-",
                    "/62",
                    "fd00:0:0:200::/55",
                    "/56",
                    "/62",
                    "fd99::/56"
                ]
            ),
            [
                "fd00:0:0:100::/56",
                "fd00::/56",
                "none",
                "fd00:0:0:400::/62",
                "fd00:0:0:200::/55",
                "fd00:0:0:500::/56",
                "fd00:0:0:404::/62",
                "outside",
            ]
        );
    }

    #[test]
    fn a_range_without_room_is_reported_and_smaller_ones_still_fit() {
        assert_eq!(
            placed("fd00::/52", &["/53", "/54", "/53", "/54", "/62"]),
            [
                "fd00::/53",
                "fd00:0:0:800::/54",
                "no /53",
                "fd00:0:0:c00::/54",
                "no /62"
            ]
        );
        assert_eq!(placed("fd00::/53", &["/52"]), ["no /52"]);
        assert_eq!(
            placed("ffff:ffff:ffff:f000::/52", &["/52", "/62"]),
            ["ffff:ffff:ffff:f000::/52", "no /62"]
        );
    }
}
