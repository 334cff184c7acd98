//! Regions.

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
    /// All regions are core regions; the public service also has distributed ones.
    pub const SITE_TYPE: &str = "core";

    pub fn has_capability(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|held| held == capability)
    }
}

/// The ID of a region that exists and supports VPCs, or did when the VPC was created.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegionId(pub String);

/// The public service's regions of May 2024, and whether each supported VPCs.
const PUBLIC: [(&str, &str, &str, bool); 25] = [
    ("ap-northeast", "Tokyo, JP", "jp", false),
    ("ap-south", "Singapore, SG", "sg", false),
    ("ap-southeast", "Sydney, AU", "au", false),
    ("ap-west", "Mumbai, IN", "in", false),
    ("br-gru", "Sao Paulo, BR", "br", true),
    ("ca-central", "Toronto, CA", "ca", false),
    ("es-mad", "Madrid, ES", "es", true),
    ("eu-central", "Frankfurt, DE", "de", false),
    ("eu-west", "London, UK", "gb", false),
    ("fr-par", "Paris, FR", "fr", true),
    ("id-cgk", "Jakarta, ID", "id", true),
    ("in-maa", "Chennai, IN", "in", true),
    ("it-mil", "Milan, IT", "it", true),
    ("jp-osa", "Osaka, JP", "jp", true),
    ("nl-ams", "Amsterdam, NL", "nl", true),
    ("se-sto", "Stockholm, SE", "se", true),
    ("us-central", "Dallas, TX", "us", false),
    ("us-east", "Newark, NJ", "us", false),
    ("us-iad", "Washington, DC", "us", true),
    ("us-lax", "Los Angeles, CA", "us", true),
    ("us-mia", "Miami, FL", "us", true),
    ("us-ord", "Chicago, IL", "us", true),
    ("us-sea", "Seattle, WA", "us", true),
    ("us-southeast", "Atlanta, GA", "us", false),
    ("us-west", "Fremont, CA", "us", false),
];

/// The default regions. All support VPCs, unless `as_public` applies the limits of the public service.
pub fn built_in(as_public: bool) -> Vec<Region> {
    let region = |(id, label, country, has_vpcs): (&str, &str, &str, bool)| {
        let mut capabilities = vec!["Linodes".to_owned(), "Vlans".to_owned()];
        if has_vpcs || !as_public {
            capabilities.push(Region::VPCS.to_owned());
        }
        Region {
            id: id.to_owned(),
            label: label.to_owned(),
            country: country.to_owned(),
            capabilities,
            status: "ok".to_owned(),
            resolvers_ipv4: String::new(),
            resolvers_ipv6: String::new(),
        }
    };
    PUBLIC.into_iter().map(region).collect()
}
