//! The settings of a server: from the command line, the environment, or a TOML file, in this order of precedence.
//!
//! The modules in `settings/` define the sections. The doc comments of fields with `#[arg(long …)]` are the help texts
//! of `garth serve --help`.

mod attachments;
mod catalog;
mod compute;
mod desk;
mod limits;
mod mail;
mod network;
mod oauth;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Command, FromArgMatches, ValueEnum};
use serde::Deserialize;

use super::arguments::{self, duration_seconds, integer, listen_address};
use super::database::{DatabaseInFile, DatabaseUrl};
use super::environment;
use super::logging::{self, LogFormat, LogSettings};

pub use attachments::{AttachmentSettings, MAX_ATTACHMENT_BYTES};
pub use catalog::{ImageSettings, RegionPriceSettings, RegionSettings, TypeSettings};
pub use compute::ComputeSettings;
pub use desk::{DeskSettings, MinutesByPriority, ProviderSettings, Reopen};
pub use limits::{LimitSettings, QuotaSettings, RateLimitSettings};
pub use mail::MailSettings;
pub use network::NetworkSettings;
pub use oauth::OauthSettings;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The data folder in a settings file. On the command line, `StoreArgs` has this option and those of the
    /// database, because all commands share them.
    #[arg(skip)]
    #[serde(deserialize_with = "arguments::deserialize_folder")]
    pub data: Option<PathBuf>,

    #[arg(skip)]
    pub database: Option<DatabaseUrl>,
    #[arg(skip)]
    pub database_password_file: Option<PathBuf>,
    #[arg(skip)]
    pub database_connections: Option<i64>,

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

    /// Continuous archive of the embedded store, for garth restore --at: a folder on another disk, or s3://bucket/prefix
    /// [default: none]
    #[arg(long, env = "GARTH_ARCHIVE", value_name = "URL")]
    pub archive: Option<String>,

    /// Period within which the continuous archive can restore every moment, such as 12h, 7d or 4w [default: 7d]
    #[arg(long, env = "GARTH_ARCHIVE_RETENTION", value_name = "DURATION", value_parser = retention)]
    pub archive_retention: Option<String>,

    /// File with the API token of the admin user (64 lower-case hexadecimal characters), used at the first
    /// start. To pass the token itself, set GARTH_BOOTSTRAP_TOKEN [default: a random token is created and
    /// printed; none is created if the output goes to the journal or a container log]
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN_FILE", value_name = "FILE")]
    pub bootstrap_token_file: Option<PathBuf>,

    /// Serve /_test, with which tests reset the store, set the clock and inject faults. Only on loopback addresses, and
    /// never with data that you need: everyone on this machine can delete it [default: false]
    #[arg(
        long,
        env = "GARTH_TEST_CONTROL",
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub test_control: Option<bool>,

    /// Random faults for tests of clients: light, heavy, or a seed that an earlier start printed, such as heavy-7. Only
    /// on loopback addresses [default: none]
    #[arg(long, env = "GARTH_CHAOS", value_name = "LEVEL")]
    pub chaos: Option<String>,

    /// Format of log lines [default: text]
    #[arg(long, env = "GARTH_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    #[command(flatten)]
    #[serde(deserialize_with = "logging::text_or_table")]
    pub log: LogSettings,

    /// Free disk space in bytes below which /readyz fails [default: 268435456, 256 MiB]
    #[arg(long, env = "GARTH_MIN_FREE_BYTES", value_name = "BYTES", allow_negative_numbers = true, value_parser = integer(0..=u64::MAX))]
    pub min_free_bytes: Option<u64>,

    /// Set of default values. upstream has those of the public Linode service: pages of at least 25 items, 10 VPCs in
    /// a region and 10 subnets in a VPC, rate limits, VPCs only in the regions that have them there (us-ord, but not
    /// us-east) and only with a /52 of IPv6, and reverse DNS names below ip.linodeusercontent.com
    #[arg(long, env = "GARTH_PROFILE", value_name = "PROFILE")]
    pub profile: Option<Profile>,

    /// Names in responses for fields with two names, such as linode_id and compute_id. Requests accept either
    /// name [default: both]
    #[arg(long, env = "GARTH_WIRE_NAMES", value_name = "NAMES")]
    pub wire_names: Option<FieldNames>,

    /// Whether responses have the keys ipv4, ipv6 and vpc_type of newer clients. Without them, a VPC without IPv6
    /// looks as in earlier versions [default: true]
    #[arg(long, env = "GARTH_WIRE_EXTRAS", value_name = "BOOL")]
    pub wire_extras: Option<bool>,

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

    /// Capabilities to add to every region, comma-separated, for clients whose test suites require them
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
    pub network: NetworkSettings,

    #[command(flatten)]
    pub desk: DeskSettings,

    #[command(flatten)]
    pub mail: MailSettings,

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

/// Validates a duration, which the settings file has as text.
fn retention(raw: &str) -> Result<String, String> {
    duration_seconds(raw).map(|_| raw.to_owned())
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
    /// The settings in the environment, for commands that do not have these options.
    pub fn from_environment() -> anyhow::Result<Settings> {
        let mut command = Settings::augment_args(Command::new("garth"));
        let read = command.try_get_matches_from_mut(["garth"]);
        let settings = read.and_then(|matches| Settings::from_arg_matches(&matches));
        settings.map_err(|error| {
            let text = environment::explain(error, command).to_string();
            anyhow!("{}", text.trim_start_matches("error: ").trim_end())
        })
    }

    /// The database settings of a settings file.
    pub fn database_in_file(&self) -> DatabaseInFile<'_> {
        DatabaseInFile {
            url: self.database.as_ref(),
            password_file: self.database_password_file.as_deref(),
            connections: self.database_connections,
        }
    }

    /// Fills in unset settings from `other`.
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
            archive: self.archive.or(other.archive),
            archive_retention: self.archive_retention.or(other.archive_retention),
            bootstrap_token_file: self.bootstrap_token_file.or(other.bootstrap_token_file),
            test_control: self.test_control.or(other.test_control),
            chaos: self.chaos.or(other.chaos),
            log_format: self.log_format.or(other.log_format),
            log: self.log.or(other.log),
            min_free_bytes: self.min_free_bytes.or(other.min_free_bytes),
            profile: self.profile.or(other.profile),
            wire_names: self.wire_names.or(other.wire_names),
            wire_extras: self.wire_extras.or(other.wire_extras),
            page_size_min: self.page_size_min.or(other.page_size_min),
            forbidden_ranges: self.forbidden_ranges.or(other.forbidden_ranges),
            region_capabilities: self.region_capabilities.or(other.region_capabilities),
            event_days: self.event_days.or(other.event_days),
            quota: self.quota.or(other.quota),
            rate_limit: self.rate_limit.or(other.rate_limit),
            limits: self.limits.or(other.limits),
            compute: self.compute.or(other.compute),
            network: self.network.or(other.network),
            desk: self.desk.or(other.desk),
            mail: self.mail.or(other.mail),
            attachments: self.attachments.or(other.attachments),
            provider: self.provider.or(other.provider),
            oauth: self.oauth.or(other.oauth),
            regions: self.regions.or(other.regions),
            types: self.types.or(other.types),
            images: self.images.or(other.images),
        }
    }
}
