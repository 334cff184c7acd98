//! The settings of a server: from the command line, the environment, or a TOML file, in this order of precedence.
//!
//! The comments on fields with `#[arg(long …)]` are the texts of `garth serve --help`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches, ValueEnum};
use serde::Deserialize;

use super::arguments::{self, integer, listen_address};
use super::database::{DatabaseInFile, DatabaseUrl};
use super::logging::{self, LogFormat, LogSettings};

/// Upper bound of `attachments.max_bytes`: 1 GiB.
pub const MAX_ATTACHMENT_BYTES: i64 = 1 << 30;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Data folder. On the command line it is an option of all commands (`StoreArgs`), like the database.
    #[arg(skip)]
    pub data: Option<PathBuf>,

    #[arg(skip)]
    pub database: Option<DatabaseUrl>,
    #[arg(skip)]
    pub database_password_file: Option<PathBuf>,
    #[arg(skip)]
    pub database_connections: Option<u16>,

    /// IP address and port of the API and the console [default: 127.0.0.1:8080]
    #[arg(long, env = "GARTH_LISTEN", value_name = "ADDRESS", value_parser = listen_address)]
    #[serde(deserialize_with = "arguments::deserialize_listen_address")]
    pub listen: Option<SocketAddr>,

    /// TLS certificate chain (PEM file); enables HTTPS [default: plain HTTP]
    #[arg(long, env = "GARTH_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// Private key of the TLS certificate (PEM file)
    #[arg(long, env = "GARTH_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// Proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted, as comma-separated addresses or CIDR
    /// ranges [default: none]
    #[arg(
        long,
        env = "GARTH_TRUSTED_PROXIES",
        value_name = "CIDRS",
        value_delimiter = ','
    )]
    pub trusted_proxies: Option<Vec<String>>,

    /// Public URL of this server, with https:// or http:// [default: from the Host header of each request]
    #[arg(long, env = "GARTH_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,

    /// IP address and port for Prometheus metrics, at /metrics [default: disabled]
    #[arg(long, env = "GARTH_METRICS_LISTEN", value_name = "ADDRESS", value_parser = listen_address)]
    #[serde(deserialize_with = "arguments::deserialize_listen_address")]
    pub metrics_listen: Option<SocketAddr>,

    /// File with the API token for the admin user (64 lower-case hexadecimal characters), used at the first start;
    /// GARTH_BOOTSTRAP_TOKEN sets the token directly [default: random, printed unless the output goes to the journal or a container log]
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN_FILE", value_name = "FILE")]
    pub bootstrap_token_file: Option<PathBuf>,

    /// Format of log lines [default: text]
    #[arg(long, env = "GARTH_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    #[command(flatten)]
    #[serde(deserialize_with = "logging::text_or_table")]
    pub log: LogSettings,

    /// Free disk space in bytes below which /readyz fails [default: 268435456, 256 MiB]
    #[arg(long, env = "GARTH_MIN_FREE_BYTES", value_name = "BYTES", allow_negative_numbers = true, value_parser = integer(0..=u64::MAX))]
    pub min_free_bytes: Option<u64>,

    /// Set of default values; upstream uses the limits of the public Linode service
    #[arg(long, env = "GARTH_PROFILE", value_name = "PROFILE")]
    pub profile: Option<Profile>,

    /// Names that responses use for fields with two names, such as linode_id and compute_id; requests accept both
    /// [default: both]
    #[arg(long, env = "GARTH_WIRE_NAMES", value_name = "NAMES")]
    pub wire_names: Option<FieldNames>,

    /// Minimum page size of lists, 1 to 500 [default: 1; upstream: 25]
    #[arg(long, env = "GARTH_PAGE_SIZE_MIN", value_name = "N", allow_negative_numbers = true, value_parser = integer(1..=500_i64))]
    pub page_size_min: Option<i64>,

    /// Reserved ranges that subnets must not overlap, as comma-separated CIDR ranges; "" for none [default: 192.168.128.0/17]
    #[arg(
        long,
        env = "GARTH_FORBIDDEN_RANGES",
        value_name = "CIDRS",
        value_delimiter = ','
    )]
    pub forbidden_ranges: Option<Vec<String>>,

    /// Capabilities to add to every region, comma-separated; for test suites of clients that require them
    /// [default: none]
    #[arg(
        long,
        env = "GARTH_REGION_CAPABILITIES",
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub region_capabilities: Option<Vec<String>>,

    /// Retention of events in days, 1 to 36500 [default: 90]
    #[arg(long, env = "GARTH_EVENT_DAYS", value_name = "DAYS", allow_negative_numbers = true, value_parser = integer(1..=36_500_i64))]
    pub event_days: Option<i64>,

    #[command(flatten)]
    pub quota: QuotaSettings,

    #[command(flatten)]
    pub rate_limit: RateLimitSettings,

    #[command(flatten)]
    pub limits: LimitSettings,

    #[command(flatten)]
    pub compute: ComputeSettings,

    #[command(flatten)]
    pub desk: DeskSettings,

    #[command(flatten)]
    pub attachments: AttachmentSettings,

    #[command(flatten)]
    pub provider: ProviderSettings,

    #[command(flatten)]
    pub oauth: OauthSettings,

    /// The regions. Only in the settings file; the default is a built-in list.
    #[arg(skip)]
    pub regions: Option<Vec<RegionSettings>>,

    /// The instance types. Only in the settings file; the default is a built-in list.
    #[arg(skip)]
    pub types: Option<Vec<TypeSettings>>,

    /// The images. Only in the settings file; the default is a built-in list.
    #[arg(skip)]
    pub images: Option<Vec<ImageSettings>>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComputeSettings {
    /// Simulated time to create, boot, reboot or shut down an instance, in milliseconds [default: 0]
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

    /// Maximum number of public addresses of an account, not counting one for each instance [default: 16]
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

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeskSettings {
    /// Days after closing during which a customer's reply reopens the ticket: 1 to 36500, or the word never [default: never]
    #[arg(
        long = "desk-reopen",
        env = "GARTH_DESK_REOPEN",
        value_name = "DAYS",
        allow_negative_numbers = true
    )]
    pub reopen: Option<Reopen>,

    /// Accept tickets only about entities in the entity directory [default: false]
    #[arg(
        long = "desk-strict-entities",
        env = "GARTH_DESK_STRICT_ENTITIES",
        value_name = "BOOL"
    )]
    pub strict_entities: Option<bool>,
}

/// Whether a customer's reply reopens a closed ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ReopenValue")]
pub enum Reopen {
    Never,
    /// Within this many days after closing.
    Days(i64),
}

/// The value in a settings file: a number, or a string as on the command line.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReopenValue {
    Number(i64),
    Text(String),
}

impl TryFrom<ReopenValue> for Reopen {
    type Error = String;

    fn try_from(value: ReopenValue) -> Result<Self, String> {
        match value {
            ReopenValue::Number(days) => days.to_string().parse(),
            ReopenValue::Text(text) => text.parse(),
        }
    }
}

impl std::str::FromStr for Reopen {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let invalid = || format!("must be \"never\" or a number of days from 1 to 36500, not {raw}");
        match raw {
            "never" => Ok(Reopen::Never),
            raw => match raw.parse() {
                Ok(days @ 1..=36_500) => Ok(Reopen::Days(days)),
                _ => Err(invalid()),
            },
        }
    }
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttachmentSettings {
    /// Storage for attachments: a folder, or s3://bucket/prefix [default: DATA/attachments]
    #[arg(long = "attachments", env = "GARTH_ATTACHMENTS_URL", value_name = "URL")]
    pub url: Option<String>,

    /// File with the access key of the S3 bucket [default: the key in AWS_ACCESS_KEY_ID]
    #[arg(
        long = "attachments-access-key-file",
        env = "GARTH_ATTACHMENTS_ACCESS_KEY_FILE",
        value_name = "FILE"
    )]
    pub access_key_file: Option<PathBuf>,

    /// File with the secret key of the S3 bucket [default: the key in AWS_SECRET_ACCESS_KEY]
    #[arg(
        long = "attachments-secret-key-file",
        env = "GARTH_ATTACHMENTS_SECRET_KEY_FILE",
        value_name = "FILE"
    )]
    pub secret_key_file: Option<PathBuf>,

    /// Maximum size of an attachment in bytes, up to 1073741824 (1 GiB) [default: 5242880, 5 MiB]
    #[arg(
        long = "attachments-max-bytes",
        env = "GARTH_ATTACHMENTS_MAX_BYTES",
        value_name = "BYTES",
        allow_negative_numbers = true,
        value_parser = integer(1..=MAX_ATTACHMENT_BYTES)
    )]
    pub max_bytes: Option<i64>,

    /// Maximum number of attachments per ticket, up to 10000 [default: 20]
    #[arg(
        long = "attachments-max-per-ticket",
        env = "GARTH_ATTACHMENTS_MAX_PER_TICKET",
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = integer(0..=10_000_i64)
    )]
    pub max_per_ticket: Option<i64>,

    /// Command that scans each upload; {} is replaced by the file's path. Exit status 0 accepts, 1 rejects [default: none]
    #[arg(
        long = "attachments-scan-command",
        env = "GARTH_ATTACHMENTS_SCAN_COMMAND",
        value_name = "COMMAND"
    )]
    pub scan_command: Option<String>,

    /// Days within which every attachment is verified against its hash; 0 disables verification [default: 30]
    #[arg(
        long = "attachments-scrub-days",
        env = "GARTH_ATTACHMENTS_SCRUB_DAYS",
        value_name = "DAYS",
        allow_negative_numbers = true,
        value_parser = integer(0..=3650_i64)
    )]
    pub scrub_days: Option<i64>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// Provider's name, which customers see as the author of staff replies [default: Support]
    #[arg(long = "provider-name", env = "GARTH_PROVIDER_NAME", value_name = "NAME")]
    pub name: Option<String>,

    /// Provider's e-mail address, used for the avatar of staff replies [default: none]
    #[arg(long = "provider-email", env = "GARTH_PROVIDER_EMAIL", value_name = "EMAIL")]
    pub email: Option<String>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OauthSettings {
    /// Allow the OAuth implicit grant (response_type=token) for public clients [default: false]
    #[arg(long = "oauth-implicit", env = "GARTH_OAUTH_IMPLICIT", value_name = "BOOL")]
    pub implicit: Option<bool>,

    /// Require PKCE from confidential OAuth clients too; public clients always need it [default: false]
    #[arg(
        long = "oauth-require-pkce",
        env = "GARTH_OAUTH_REQUIRE_PKCE",
        value_name = "BOOL"
    )]
    pub require_pkce: Option<bool>,

    /// Additional path prefix for the log-in and OAuth endpoints, such as /login [default: none]
    #[arg(long = "oauth-prefix", env = "GARTH_OAUTH_PREFIX", value_name = "PATH")]
    pub prefix: Option<String>,
}

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
    /// Such as 2024-05-28T17:05:33; the default is 2024-01-01T00:00:00.
    pub created: Option<String>,
    /// The end of support, in the same format.
    pub eol: Option<String>,
}

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

    /// Memory for responses that clients have not read yet, in MiB; a client can use half of it [default: 256]
    #[arg(long = "limits-response-memory-mib", env = "GARTH_LIMITS_RESPONSE_MEMORY_MIB", value_name = "MIB", allow_negative_numbers = true, value_parser = integer(1..=1_048_576_u32))]
    pub response_memory_mib: Option<u32>,
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

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    Upstream,
}

#[derive(Clone, Copy, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum FieldNames {
    Both,
    Compute,
    Linode,
}

impl Settings {
    /// Reads the environment, for commands without these options.
    pub fn from_environment() -> anyhow::Result<Settings> {
        let matches = Settings::augment_args(Command::new("garth")).try_get_matches_from(["garth"]);
        Ok(Settings::from_arg_matches(&matches?)?)
    }

    /// The database settings of a settings file.
    pub fn database_in_file(&self) -> DatabaseInFile<'_> {
        DatabaseInFile {
            url: self.database.as_ref(),
            password_file: self.database_password_file.as_deref(),
            connections: self.database_connections,
        }
    }

    /// Fills in unset settings from others.
    pub fn or(self, other: Settings) -> Settings {
        Settings {
            data: self.data.or(other.data),
            database: self.database.or(other.database),
            database_password_file: self.database_password_file.or(other.database_password_file),
            database_connections: self.database_connections.or(other.database_connections),
            listen: self.listen.or(other.listen),
            tls_cert: self.tls_cert.or(other.tls_cert),
            tls_key: self.tls_key.or(other.tls_key),
            trusted_proxies: self.trusted_proxies.or(other.trusted_proxies),
            public_url: self.public_url.or(other.public_url),
            metrics_listen: self.metrics_listen.or(other.metrics_listen),
            bootstrap_token_file: self.bootstrap_token_file.or(other.bootstrap_token_file),
            log_format: self.log_format.or(other.log_format),
            log: self.log.or(other.log),
            min_free_bytes: self.min_free_bytes.or(other.min_free_bytes),
            profile: self.profile.or(other.profile),
            wire_names: self.wire_names.or(other.wire_names),
            page_size_min: self.page_size_min.or(other.page_size_min),
            forbidden_ranges: self.forbidden_ranges.or(other.forbidden_ranges),
            region_capabilities: self.region_capabilities.or(other.region_capabilities),
            event_days: self.event_days.or(other.event_days),
            quota: QuotaSettings {
                vpcs_per_region: self.quota.vpcs_per_region.or(other.quota.vpcs_per_region),
                subnets_per_vpc: self.quota.subnets_per_vpc.or(other.quota.subnets_per_vpc),
                attachment_bytes: self.quota.attachment_bytes.or(other.quota.attachment_bytes),
            },
            rate_limit: RateLimitSettings {
                enabled: self.rate_limit.enabled.or(other.rate_limit.enabled),
            },
            limits: LimitSettings {
                connections: self.limits.connections.or(other.limits.connections),
                connections_per_address: self
                    .limits
                    .connections_per_address
                    .or(other.limits.connections_per_address),
                response_memory_mib: self
                    .limits
                    .response_memory_mib
                    .or(other.limits.response_memory_mib),
            },
            compute: ComputeSettings {
                settle_ms: self.compute.settle_ms.or(other.compute.settle_ms),
                public_ranges: self.compute.public_ranges.or(other.compute.public_ranges),
                additional_addresses: self
                    .compute
                    .additional_addresses
                    .or(other.compute.additional_addresses),
                rdns_domain: self.compute.rdns_domain.or(other.compute.rdns_domain),
            },
            desk: DeskSettings {
                reopen: self.desk.reopen.or(other.desk.reopen),
                strict_entities: self.desk.strict_entities.or(other.desk.strict_entities),
            },
            attachments: AttachmentSettings {
                url: self.attachments.url.or(other.attachments.url),
                access_key_file: self
                    .attachments
                    .access_key_file
                    .or(other.attachments.access_key_file),
                secret_key_file: self
                    .attachments
                    .secret_key_file
                    .or(other.attachments.secret_key_file),
                max_bytes: self.attachments.max_bytes.or(other.attachments.max_bytes),
                max_per_ticket: self
                    .attachments
                    .max_per_ticket
                    .or(other.attachments.max_per_ticket),
                scan_command: self.attachments.scan_command.or(other.attachments.scan_command),
                scrub_days: self.attachments.scrub_days.or(other.attachments.scrub_days),
            },
            provider: ProviderSettings {
                name: self.provider.name.or(other.provider.name),
                email: self.provider.email.or(other.provider.email),
            },
            oauth: OauthSettings {
                implicit: self.oauth.implicit.or(other.oauth.implicit),
                require_pkce: self.oauth.require_pkce.or(other.oauth.require_pkce),
                prefix: self.oauth.prefix.or(other.oauth.prefix),
            },
            regions: self.regions.or(other.regions),
            types: self.types.or(other.types),
            images: self.images.or(other.images),
        }
    }
}
