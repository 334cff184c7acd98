//! Quotas of an account, and limits on requests and connections.

use clap::Args;
use serde::Deserialize;

use crate::cli::arguments::integer;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuotaSettings {
    /// Maximum number of VPCs of an account per region [default: 1000; upstream: 10]
    #[arg(long = "quota-vpcs-per-region", env = "GARTH_QUOTA_VPCS_PER_REGION", value_name = "N", allow_negative_numbers = true, value_parser = integer(0..=i64::MAX))]
    pub vpcs_per_region: Option<i64>,

    /// Maximum number of subnets per VPC [default: 1000; upstream: 10]
    #[arg(long = "quota-subnets-per-vpc", env = "GARTH_QUOTA_SUBNETS_PER_VPC", value_name = "N", allow_negative_numbers = true, value_parser = integer(0..=i64::MAX))]
    pub subnets_per_vpc: Option<i64>,

    /// Maximum total size of an account's attachments in bytes [default: 10737418240, 10 GiB]
    #[arg(long = "quota-attachment-bytes", env = "GARTH_QUOTA_ATTACHMENT_BYTES", value_name = "BYTES", allow_negative_numbers = true, value_parser = integer(0..=i64::MAX))]
    pub attachment_bytes: Option<i64>,
}

impl QuotaSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            vpcs_per_region: self.vpcs_per_region.or(other.vpcs_per_region),
            subnets_per_vpc: self.subnets_per_vpc.or(other.subnets_per_vpc),
            attachment_bytes: self.attachment_bytes.or(other.attachment_bytes),
        }
    }
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimitSettings {
    /// Limit the rate of requests, at the rates of the public service [default: false; upstream: true]
    #[arg(
        long = "rate-limit-enabled",
        env = "GARTH_RATE_LIMIT_ENABLED",
        value_name = "BOOL"
    )]
    pub enabled: Option<bool>,
}

impl RateLimitSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            enabled: self.enabled.or(other.enabled),
        }
    }
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Maximum number of open connections, not counting health checks [default: 16384, or less if the open file limit is
    /// lower]
    #[arg(long = "limits-connections", env = "GARTH_LIMITS_CONNECTIONS", value_name = "N", allow_negative_numbers = true, value_parser = integer(1..=u32::MAX))]
    pub connections: Option<u32>,

    /// Maximum number of open connections per client address (IPv6: per /64); trusted proxies are exempt [default: 4096]
    #[arg(long = "limits-connections-per-address", env = "GARTH_LIMITS_CONNECTIONS_PER_ADDRESS", value_name = "N", allow_negative_numbers = true, value_parser = integer(1..=u32::MAX))]
    pub connections_per_address: Option<u32>,

    /// Memory for responses that clients have not read yet, in MiB. One client can use at most half of it
    /// [default: 256]
    #[arg(long = "limits-response-memory-mib", env = "GARTH_LIMITS_RESPONSE_MEMORY_MIB", value_name = "MIB", allow_negative_numbers = true, value_parser = integer(1..=1_048_576_u32))]
    pub response_memory_mib: Option<u32>,
}

impl LimitSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            connections: self.connections.or(other.connections),
            connections_per_address: self.connections_per_address.or(other.connections_per_address),
            response_memory_mib: self.response_memory_mib.or(other.response_memory_mib),
        }
    }
}
