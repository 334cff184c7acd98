//! The regions, instance types and images of the provider, which only a settings file can set.

use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeSettings {
    pub id: String,
    pub label: Option<String>,
    pub class: Option<String>,
    /// In megabytes, like `disk`.
    pub memory: i64,
    pub disk: i64,
    pub vcpus: i64,
    #[serde(default)]
    pub transfer: i64,
    #[serde(default)]
    pub gpus: i64,
    #[serde(default)]
    pub network_out: i64,
    #[serde(default)]
    pub hourly: f64,
    #[serde(default)]
    pub monthly: f64,
    /// Prices in regions where they differ.
    #[serde(default)]
    pub region_prices: Vec<RegionPriceSettings>,
    /// The type that replaces this one.
    pub successor: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionPriceSettings {
    /// The ID of the region.
    pub id: String,
    pub hourly: f64,
    pub monthly: f64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageSettings {
    pub id: String,
    pub label: Option<String>,
    #[serde(default)]
    pub vendor: String,
    #[serde(default)]
    pub size: i64,
    #[serde(default)]
    pub deprecated: bool,
    /// What the image supports, such as `cloud-init`.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// A time such as 2024-05-28T17:05:33; the default is 2024-01-01T00:00:00.
    pub created: Option<String>,
    /// The end of support, in the same format.
    pub eol: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionSettings {
    pub id: String,
    pub label: Option<String>,
    #[serde(default)]
    pub country: String,
    /// The default is all capabilities that Garth implements.
    pub capabilities: Option<Vec<String>>,
    pub status: Option<String>,
    #[serde(default)]
    pub resolvers: ResolverSettings,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResolverSettings {
    pub ipv4: String,
    pub ipv6: String,
}
