//! Settings of instances and their public addresses.

use clap::Args;
use serde::Deserialize;

use crate::cli::arguments::integer;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComputeSettings {
    /// Simulated duration of work on instances and disks, such as a boot, in milliseconds [default: 0]
    #[arg(long = "compute-settle-ms", env = "GARTH_COMPUTE_SETTLE_MS", value_name = "MS", allow_negative_numbers = true, value_parser = integer(0..=86_400_000_i64))]
    pub settle_ms: Option<i64>,

    /// Ranges for the public addresses of instances, as comma-separated CIDR ranges, /30 or larger
    /// [default: 192.0.2.0/24,198.51.100.0/24,203.0.113.0/24]
    #[arg(
        long = "compute-public-ranges",
        env = "GARTH_COMPUTE_PUBLIC_RANGES",
        value_name = "CIDRS",
        value_delimiter = ','
    )]
    pub public_ranges: Option<Vec<String>>,

    /// Maximum number of additional public addresses of an account; the first address of each instance is not counted
    /// [default: 16]
    #[arg(long = "compute-additional-addresses", env = "GARTH_COMPUTE_ADDITIONAL_ADDRESSES", value_name = "N", allow_negative_numbers = true, value_parser = integer(0..=1_000_000_i64))]
    pub additional_addresses: Option<i64>,

    /// Domain of the default reverse DNS names of public addresses, such as ip.example.com [default: no names]
    #[arg(
        long = "compute-rdns-domain",
        env = "GARTH_COMPUTE_RDNS_DOMAIN",
        value_name = "DOMAIN"
    )]
    pub rdns_domain: Option<String>,
}

impl ComputeSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            settle_ms: self.settle_ms.or(other.settle_ms),
            public_ranges: self.public_ranges.or(other.public_ranges),
            additional_addresses: self.additional_addresses.or(other.additional_addresses),
            rdns_domain: self.rdns_domain.or(other.rdns_domain),
        }
    }
}
