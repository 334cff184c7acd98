//! Regions.

use super::catalog;
use crate::model::range_request::OF_VPCS;

/// A data center location, as the provider describes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    pub id: String,
    pub label: String,
    pub country: String,
    pub capabilities: Vec<String>,
    pub status: String,
    pub resolvers_ipv4: String,
    pub resolvers_ipv6: String,
    pub placement_group_limits: PlacementGroupLimits,
    /// A retired region keeps its objects, but accepts no new ones.
    pub retired: bool,
}

/// The limits of placement groups in a region. Garth has no placement groups, but clients read these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlacementGroupLimits {
    /// `None` if the number of groups is not limited.
    pub groups_per_account: Option<i64>,
    pub instances_per_group: i64,
    /// The limit for groups that only prefer separate hosts.
    pub instances_per_flexible_group: i64,
}

impl PlacementGroupLimits {
    pub const NONE: Self = Self {
        groups_per_account: Some(0),
        instances_per_group: 0,
        instances_per_flexible_group: 0,
    };

    /// The limits in all core regions of the public service.
    const PUBLIC: Self = Self {
        groups_per_account: None,
        instances_per_group: 5,
        instances_per_flexible_group: 250,
    };
}

/// The capabilities of the public service that Garth knows, in its order. Garth stores whether disks are encrypted and
/// whether an instance has user data, but does nothing with it, so these are not in `all_capabilities`.
const PUBLIC_CAPABILITIES: [&str; 8] = [
    Region::LINODES,
    "Disk Encryption",
    "Vlans",
    Region::VPCS,
    Region::DUAL_STACK,
    Region::IPV6_STACK,
    "Metadata",
    "Maintenance Policy",
];

impl Region {
    pub const LINODES: &str = "Linodes";
    pub const VPCS: &str = "VPCs";
    /// VPCs can have an IPv6 range.
    pub const DUAL_STACK: &str = "VPC Dual Stack";
    const IPV6_STACK: &str = "VPC IPv6 Stack";
    /// VPCs can have an IPv6 range that is larger than a /52.
    pub const LARGE_PREFIXES: &str = "VPC IPv6 Large Prefixes";
    /// The capabilities of a region whose VPCs can have IPv6 ranges.
    pub const IPV6: [&str; 3] = [Self::DUAL_STACK, Self::IPV6_STACK, Self::LARGE_PREFIXES];
    /// All regions are core regions. The public service also has distributed regions.
    pub const SITE_TYPE: &str = "core";

    /// The default name servers: a public resolver (Quad9), because clients expect every region to have name servers.
    pub const RESOLVERS_IPV4: &str = "9.9.9.9,149.112.112.112";
    pub const RESOLVERS_IPV6: &str = "2620:fe::fe,2620:fe::9";

    /// The values of `status` that staff can choose.
    pub const STATUSES: [&str; 2] = ["ok", "outage"];

    /// All capabilities that Garth knows, including those that have no effect.
    pub fn known_capabilities() -> Vec<&'static str> {
        let mut known = PUBLIC_CAPABILITIES.to_vec();
        known.push(Self::LARGE_PREFIXES);
        known
    }

    /// All capabilities that Garth implements.
    pub fn all_capabilities() -> Vec<String> {
        let all = [Self::LINODES, "Vlans", Self::VPCS, "Maintenance Policy"];
        all.into_iter().chain(Self::IPV6).map(str::to_owned).collect()
    }

    /// The prefix lengths that the IPv6 range of a VPC can have, if the provider has a pool with this prefix length.
    pub fn ipv6_prefix_lengths(&self, pool: u8) -> &'static [u8] {
        let supported = match (
            self.has_capability(Self::DUAL_STACK),
            self.has_capability(Self::LARGE_PREFIXES),
        ) {
            (false, _) => &[],
            (true, false) => &OF_VPCS.allowed[..1],
            (true, true) => OF_VPCS.allowed,
        };
        let fitting = supported.iter().take_while(|length| **length >= pool);
        &supported[..fitting.count()]
    }

    /// Removes the capabilities for which the provider's pool is too small. `pool` is its prefix length; `None` if the
    /// provider has no pool.
    pub fn limit_to_pool(&mut self, pool: Option<u8>) {
        let is_available = |capability: &str| match (capability, pool) {
            (Self::LARGE_PREFIXES, Some(pool)) => OF_VPCS.allowed[1..].iter().any(|length| *length >= pool),
            (capability, None) => !Self::IPV6.contains(&capability),
            _ => true,
        };
        self.capabilities.retain(|held| is_available(held));
    }

    /// Whether new objects that need this capability can be created in the region.
    pub fn offers(&self, capability: &str) -> bool {
        !self.retired && self.has_capability(capability)
    }

    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|held| held == capability)
    }
}

/// The ID of a region that supports VPCs, or supported them when the VPC was created.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegionId(pub String);

/// The default regions. If `as_public` is false, all of them support VPCs, and they have the default name servers.
/// If it is true, they are as in the public service, except that they have only capabilities of Garth.
pub fn built_in(as_public: bool) -> Vec<Region> {
    let region = match as_public {
        true => public_region,
        false => garth_region,
    };
    catalog::rows(include_str!("catalog/regions.txt"))
        .map(region)
        .collect()
}

/// The columns: ID, label, country, whether the region supports VPCs in the public service, IPv4 and IPv6
/// addresses of its name servers.
type Row = [&'static str; 6];

fn garth_region([id, label, country, ..]: Row) -> Region {
    Region {
        id: id.to_owned(),
        label: label.to_owned(),
        country: country.to_owned(),
        capabilities: Region::all_capabilities(),
        status: "ok".to_owned(),
        resolvers_ipv4: Region::RESOLVERS_IPV4.to_owned(),
        resolvers_ipv6: Region::RESOLVERS_IPV6.to_owned(),
        placement_group_limits: PlacementGroupLimits::NONE,
        retired: false,
    }
}

fn public_region(row: Row) -> Region {
    let [_, _, _, vpcs, resolvers_ipv4, resolvers_ipv6] = row;
    let mut capabilities = PUBLIC_CAPABILITIES.map(str::to_owned).to_vec();
    if vpcs != "yes" {
        let of_vpcs = |name: &String| name == Region::VPCS || Region::IPV6.contains(&name.as_str());
        capabilities.retain(|capability| !of_vpcs(capability));
    }
    Region {
        capabilities,
        resolvers_ipv4: resolvers_ipv4.to_owned(),
        resolvers_ipv6: resolvers_ipv6.to_owned(),
        placement_group_limits: PlacementGroupLimits::PUBLIC,
        ..garth_region(row)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn a_region_has_only_capabilities_that_fit_the_pool() {
        let ipv6_in = |pool| {
            let mut region = built_in(false).remove(0);
            region.limit_to_pool(pool);
            Region::IPV6.map(|capability| region.has_capability(capability))
        };
        assert_eq!(ipv6_in(None), [false, false, false]);
        assert_eq!(ipv6_in(Some(52)), [true, true, false]);
        assert_eq!(ipv6_in(Some(49)), [true, true, false]);
        assert_eq!(ipv6_in(Some(48)), [true, true, true]);
        assert_eq!(ipv6_in(Some(32)), [true, true, true]);
    }

    #[test]
    fn built_in_regions_have_unique_ids_and_labels() {
        for as_public in [false, true] {
            let regions = built_in(as_public);
            let ids: HashSet<_> = regions.iter().map(|region| &region.id).collect();
            let labels: HashSet<_> = regions.iter().map(|region| &region.label).collect();
            assert_eq!((regions.len(), ids.len(), labels.len()), (34, 34, 34));
            assert!(regions.is_sorted_by_key(|region| &region.id));
            assert!(regions.iter().all(|region| region.country.len() == 2));
            let vpcs = regions
                .iter()
                .filter(|region| region.has_capability(Region::VPCS));
            assert_eq!(vpcs.count(), if as_public { 23 } else { 34 });
        }
    }

    #[test]
    fn every_public_region_has_ten_distinct_name_servers() {
        let mut all = HashSet::new();
        for region in built_in(true) {
            let of = |list: &str| {
                list.split(',')
                    .map(|one| one.trim().to_owned())
                    .collect::<Vec<_>>()
            };
            let (ipv4, ipv6) = (of(&region.resolvers_ipv4), of(&region.resolvers_ipv6));
            assert_eq!((ipv4.len(), ipv6.len()), (10, 10), "{}", region.id);
            assert!(ipv4.iter().all(|one| one.parse::<Ipv4Addr>().is_ok()), "{ipv4:?}");
            assert!(ipv6.iter().all(|one| one.parse::<Ipv6Addr>().is_ok()), "{ipv6:?}");
            all.extend(ipv4.into_iter().chain(ipv6));
        }
        assert_eq!(all.len(), 34 * 20);
    }

    #[test]
    fn the_table_of_regions_says_yes_or_no_about_vpcs() {
        let rows = catalog::rows::<6>(include_str!("catalog/regions.txt"));
        let answers: HashSet<_> = rows.map(|row| row[3]).collect();
        assert_eq!(answers, HashSet::from(["yes", "no"]));
    }
}
