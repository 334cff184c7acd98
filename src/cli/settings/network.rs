//! Settings of networks.

use clap::Args;
use serde::Deserialize;

use crate::cli::arguments::integer;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSettings {
    /// IPv6 range from which VPCs get their ranges: a CIDR range with a prefix length from 8 to 52, of unique local
    /// addresses (fd00::/8) or global addresses; "" for VPCs without IPv6. VPCs can have a /48 or /44 only if the
    /// range is at least as large [default: fd67:6172::/32]
    #[arg(
        long = "network-ipv6-pool",
        env = "GARTH_NETWORK_IPV6_POOL",
        value_name = "CIDR"
    )]
    pub ipv6_pool: Option<String>,

    /// Time in hours after which the IPv6 range of a deleted VPC can be used again, 0 to 87600 [default: 24]
    #[arg(
        long = "network-ipv6-retention-hours",
        env = "GARTH_NETWORK_IPV6_RETENTION_HOURS",
        value_name = "HOURS",
        allow_negative_numbers = true,
        value_parser = integer(0..=87_600_i64)
    )]
    pub ipv6_retention_hours: Option<i64>,
}

impl NetworkSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            ipv6_pool: self.ipv6_pool.or(other.ipv6_pool),
            ipv6_retention_hours: self.ipv6_retention_hours.or(other.ipv6_retention_hours),
        }
    }
}
