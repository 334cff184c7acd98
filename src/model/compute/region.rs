//! Regions.

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
}

impl Region {
    pub const LINODES: &str = "Linodes";
    pub const VPCS: &str = "VPCs";
    /// VPCs can have an IPv6 range.
    pub const DUAL_STACK: &str = "VPC Dual Stack";
    /// VPCs can have an IPv6 range that is larger than a /52.
    pub const LARGE_PREFIXES: &str = "VPC IPv6 Large Prefixes";
    /// The capabilities of a region whose VPCs can have IPv6 ranges.
    pub const IPV6: [&str; 3] = [Self::DUAL_STACK, "VPC IPv6 Stack", Self::LARGE_PREFIXES];
    /// All regions are core regions. The public service also has distributed regions.
    pub const SITE_TYPE: &str = "core";

    /// The default name servers: a public resolver (Quad9), because clients expect every region to have name servers.
    pub const RESOLVERS_IPV4: &str = "9.9.9.9,149.112.112.112";
    pub const RESOLVERS_IPV6: &str = "2620:fe::fe,2620:fe::9";

    /// All capabilities that Garth implements.
    pub fn all_capabilities() -> Vec<String> {
        let all = [Self::LINODES, "Vlans", Self::VPCS, "Maintenance Policy"];
        all.into_iter().chain(Self::IPV6).map(str::to_owned).collect()
    }

    /// The prefix lengths that the IPv6 range of a VPC can have.
    pub fn ipv6_prefix_lengths(&self) -> &'static [u8] {
        match (
            self.has_capability(Self::DUAL_STACK),
            self.has_capability(Self::LARGE_PREFIXES),
        ) {
            (false, _) => &[],
            (true, false) => &OF_VPCS.allowed[..1],
            (true, true) => OF_VPCS.allowed,
        }
    }

    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|held| held == capability)
    }
}

/// The ID of a region that supports VPCs, or supported them when the VPC was created.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegionId(pub String);

/// The regions of the public service in June 2026: ID, label, country, and whether the region supported VPCs.
const PUBLIC: [(&str, &str, &str, bool); 34] = [
    ("ap-northeast", "Tokyo, JP", "jp", false),
    ("ap-south", "Singapore, SG", "sg", false),
    ("ap-southeast", "Sydney, AU", "au", false),
    ("ap-west", "Mumbai, IN", "in", false),
    ("au-mel", "Melbourne, AU", "au", true),
    ("br-gru", "Sao Paulo, BR", "br", true),
    ("ca-central", "Toronto, CA", "ca", false),
    ("de-fra-2", "Frankfurt 2, DE", "de", true),
    ("es-mad", "Madrid, ES", "es", true),
    ("eu-central", "Frankfurt, DE", "de", false),
    ("eu-west", "London, UK", "gb", false),
    ("fr-par", "Paris, FR", "fr", true),
    ("fr-par-2", "Paris 2, FR", "fr", true),
    ("gb-lon", "London 2, UK", "gb", true),
    ("id-cgk", "Jakarta, ID", "id", true),
    ("in-bom-2", "Mumbai 2, IN", "in", true),
    ("in-maa", "Chennai, IN", "in", true),
    ("it-mil", "Milan, IT", "it", true),
    ("jp-osa", "Osaka, JP", "jp", true),
    ("jp-tyo-3", "Tokyo 3, JP", "jp", true),
    ("nl-ams", "Amsterdam, NL", "nl", true),
    ("no-osl-1", "Oslo, NO", "no", true),
    ("se-sto", "Stockholm, SE", "se", true),
    ("sg-sin-2", "Singapore 2, SG", "sg", true),
    ("us-central", "Dallas, TX", "us", false),
    ("us-east", "Newark, NJ", "us", false),
    ("us-iad", "Washington, DC", "us", true),
    ("us-iad-2", "Washington 2, DC", "us", true),
    ("us-lax", "Los Angeles, CA", "us", true),
    ("us-mia", "Miami, FL", "us", true),
    ("us-ord", "Chicago, IL", "us", true),
    ("us-sea", "Seattle, WA", "us", true),
    ("us-southeast", "Atlanta, GA", "us", false),
    ("us-west", "Fremont, CA", "us", false),
];

/// The default regions. If `as_public` is false, all of them support VPCs. If it is true, a region supports
/// VPCs only if it does so in the public service.
pub fn built_in(as_public: bool) -> Vec<Region> {
    let region = |(id, label, country, has_vpcs): (&str, &str, &str, bool)| {
        let mut capabilities = Region::all_capabilities();
        if as_public {
            capabilities.retain(|capability| capability != Region::LARGE_PREFIXES);
        }
        if as_public && !has_vpcs {
            let of_vpcs = |capability: &String| {
                capability == Region::VPCS || Region::IPV6.contains(&capability.as_str())
            };
            capabilities.retain(|capability| !of_vpcs(capability));
        }
        Region {
            id: id.to_owned(),
            label: label.to_owned(),
            country: country.to_owned(),
            capabilities,
            status: "ok".to_owned(),
            resolvers_ipv4: Region::RESOLVERS_IPV4.to_owned(),
            resolvers_ipv6: Region::RESOLVERS_IPV6.to_owned(),
        }
    };
    PUBLIC.into_iter().map(region).collect()
}
