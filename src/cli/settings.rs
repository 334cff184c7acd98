//! The settings of a server: from the command line, the environment, or a TOML file.
//!
//! The three have the same names, and the first that says something wins. `garth serve --help`
//! is made from this file.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Command, FromArgMatches, ValueEnum};
use serde::Deserialize;

use super::database::{DatabaseInFile, DatabaseUrl};
use super::logging::{self, LogFormat, LogSettings};

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Folder of the embedded store; on the command line it belongs to all commands.
    #[arg(skip)]
    pub data: Option<PathBuf>,

    /// The database that several nodes share, likewise; and its password and the number of connections.
    #[arg(skip)]
    pub database: Option<DatabaseUrl>,
    #[arg(skip)]
    pub database_password_file: Option<PathBuf>,
    #[arg(skip)]
    pub database_connections: Option<u16>,

    /// Address to serve the interface on [default: 127.0.0.1:8080]
    #[arg(long, env = "GARTH_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,

    /// File with the server's certificate and those above it (PEM); serves https [default: plain http]
    #[arg(long, env = "GARTH_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// File with the certificate's private key (PEM)
    #[arg(long, env = "GARTH_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,

    /// Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed: addresses or ranges, separated by commas [default: none]
    #[arg(
        long,
        env = "GARTH_TRUSTED_PROXIES",
        value_name = "CIDRS",
        value_delimiter = ','
    )]
    pub trusted_proxies: Option<Vec<String>>,

    /// Where clients find this server: its address with http or https [default: as they call it]
    #[arg(long, env = "GARTH_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,

    /// Address to serve Prometheus metrics on, at /metrics [default: nowhere]
    #[arg(long, env = "GARTH_METRICS_LISTEN", value_name = "ADDRESS")]
    pub metrics_listen: Option<SocketAddr>,

    /// File with the token that the user admin gets at the first start: 64 lower-case hexadecimal characters.
    /// GARTH_BOOTSTRAP_TOKEN has the token itself [default: a random one, printed unless the output is the log of a service]
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN_FILE", value_name = "FILE")]
    pub bootstrap_token_file: Option<PathBuf>,

    /// How log lines look [default: text]
    #[arg(long, env = "GARTH_LOG_FORMAT", value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,

    #[command(flatten)]
    #[serde(deserialize_with = "logging::text_or_table")]
    pub log: LogSettings,

    /// With less free disk space than this, in bytes, the server is not ready [default: 268435456, 256 MiB]
    #[arg(long, env = "GARTH_MIN_FREE_BYTES", value_name = "BYTES")]
    pub min_free_bytes: Option<u64>,

    /// Set every limit to the public service's number; single settings still win
    #[arg(long, env = "GARTH_PROFILE", value_name = "PROFILE")]
    pub profile: Option<Profile>,

    /// Which spelling of fields with two names is sent; both are always understood [default: both]
    #[arg(long, env = "GARTH_WIRE_NAMES", value_name = "NAMES")]
    pub wire_names: Option<Names>,

    /// Smallest page size that may be asked for [default: 1; upstream: 25]
    #[arg(long, env = "GARTH_PAGE_SIZE_MIN", value_name = "N", value_parser = clap::value_parser!(i64).range(1..=500))]
    pub page_size_min: Option<i64>,

    /// Ranges no subnet may overlap, separated by commas; "" for none [default: 192.168.128.0/17]
    #[arg(
        long,
        env = "GARTH_FORBIDDEN_RANGES",
        value_name = "CIDRS",
        value_delimiter = ','
    )]
    pub forbidden_ranges: Option<Vec<String>>,

    /// How many days events are kept [default: 90]
    #[arg(long, env = "GARTH_EVENT_DAYS", value_name = "DAYS", value_parser = clap::value_parser!(i64).range(1..=36500))]
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

    /// The regions, in the settings file only; a built-in list serves as the default.
    #[arg(skip)]
    pub regions: Option<Vec<RegionSettings>>,

    /// The plans instances can have, in the settings file only; a built-in list serves as the default.
    #[arg(skip)]
    pub types: Option<Vec<TypeSettings>>,

    /// The images instances can be made from, in the settings file only; a built-in list serves as the default.
    #[arg(skip)]
    pub images: Option<Vec<ImageSettings>>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComputeSettings {
    /// Milliseconds until a create, boot, reboot or shutdown has settled [default: 0, at once]
    #[arg(long = "compute-settle-ms", env = "GARTH_COMPUTE_SETTLE_MS", value_name = "MS", value_parser = clap::value_parser!(i64).range(0..=86_400_000))]
    pub settle_ms: Option<i64>,

    /// Ranges that instances get their public addresses from, separated by commas [default: the three ranges for documentation]
    #[arg(
        long = "compute-public-ranges",
        env = "GARTH_COMPUTE_PUBLIC_RANGES",
        value_name = "CIDRS",
        value_delimiter = ','
    )]
    pub public_ranges: Option<Vec<String>>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeskSettings {
    /// For how many days after closing a customer's reply opens a ticket again, or never [default: never]
    #[arg(long = "desk-reopen", env = "GARTH_DESK_REOPEN", value_name = "DAYS")]
    pub reopen: Option<Reopen>,

    /// Whether tickets may only be about what the entity directory knows [default: false]
    #[arg(
        long = "desk-strict-entities",
        env = "GARTH_DESK_STRICT_ENTITIES",
        value_name = "BOOL"
    )]
    pub strict_entities: Option<bool>,
}

/// When a customer's reply opens a closed ticket again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ReopenWritten")]
pub enum Reopen {
    Never,
    /// Within so many days.
    Days(i64),
}

/// In a settings file it is a number, or a text as on the command line.
#[derive(Deserialize)]
#[serde(untagged)]
enum ReopenWritten {
    Number(i64),
    Text(String),
}

impl TryFrom<ReopenWritten> for Reopen {
    type Error = String;

    fn try_from(written: ReopenWritten) -> Result<Self, String> {
        match written {
            ReopenWritten::Number(days) => days.to_string().parse(),
            ReopenWritten::Text(text) => text.parse(),
        }
    }
}

impl std::str::FromStr for Reopen {
    type Err = String;

    fn from_str(raw: &str) -> Result<Self, String> {
        let wrong = || format!("must be never or a number of days from 1 to 36500, not {raw}");
        match raw {
            "never" => Ok(Reopen::Never),
            raw => match raw.parse() {
                Ok(days @ 1..=36_500) => Ok(Reopen::Days(days)),
                _ => Err(wrong()),
            },
        }
    }
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttachmentSettings {
    /// Where attached files are kept: a folder, or s3://bucket/prefix [default: attachments in the data folder]
    #[arg(long = "attachments", env = "GARTH_ATTACHMENTS_URL", value_name = "URL")]
    pub url: Option<String>,

    /// File with the bucket's access key [default: AWS_ACCESS_KEY_ID]
    #[arg(
        long = "attachments-access-key-file",
        env = "GARTH_ATTACHMENTS_ACCESS_KEY_FILE",
        value_name = "FILE"
    )]
    pub access_key_file: Option<PathBuf>,

    /// File with the bucket's secret key [default: AWS_SECRET_ACCESS_KEY]
    #[arg(
        long = "attachments-secret-key-file",
        env = "GARTH_ATTACHMENTS_SECRET_KEY_FILE",
        value_name = "FILE"
    )]
    pub secret_key_file: Option<PathBuf>,

    /// How large an attached file may be, in bytes [default: 5242880]
    #[arg(
        long = "attachments-max-bytes",
        env = "GARTH_ATTACHMENTS_MAX_BYTES",
        value_name = "BYTES"
    )]
    pub max_bytes: Option<i64>,

    /// How many files a ticket may have [default: 20]
    #[arg(
        long = "attachments-max-per-ticket",
        env = "GARTH_ATTACHMENTS_MAX_PER_TICKET",
        value_name = "N"
    )]
    pub max_per_ticket: Option<i64>,

    /// Command that looks at each file before it is kept: {} stands for its path; 0 lets it in, 1 refuses it [default: none]
    #[arg(
        long = "attachments-scan-command",
        env = "GARTH_ATTACHMENTS_SCAN_COMMAND",
        value_name = "COMMAND"
    )]
    pub scan_command: Option<String>,

    /// Every attached file is read and compared with its hash once in so many days; 0 turns that off [default: 30]
    #[arg(
        long = "attachments-scrub-days",
        env = "GARTH_ATTACHMENTS_SCRUB_DAYS",
        value_name = "DAYS",
        value_parser = clap::value_parser!(i64).range(0..=3650)
    )]
    pub scrub_days: Option<i64>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// The name under which tenants hear from the staff [default: Support]
    #[arg(long = "provider-name", env = "GARTH_PROVIDER_NAME", value_name = "NAME")]
    pub name: Option<String>,

    /// The address whose avatar stands beside the staff's replies [default: none]
    #[arg(long = "provider-email", env = "GARTH_PROVIDER_EMAIL", value_name = "EMAIL")]
    pub email: Option<String>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OauthSettings {
    /// Whether public clients may get a token without a code, in the address of their page [default: false]
    #[arg(long = "oauth-implicit", env = "GARTH_OAUTH_IMPLICIT", value_name = "BOOL")]
    pub implicit: Option<bool>,

    /// Whether clients with a secret must send a code_challenge too, as public ones must [default: false]
    #[arg(
        long = "oauth-require-pkce",
        env = "GARTH_OAUTH_REQUIRE_PKCE",
        value_name = "BOOL"
    )]
    pub require_pkce: Option<bool>,

    /// Path under which log-in and OAuth are served as well, like /login [default: none]
    #[arg(long = "oauth-prefix", env = "GARTH_OAUTH_PREFIX", value_name = "PATH")]
    pub prefix: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeSettings {
    pub id: String,
    pub label: Option<String>,
    pub class: Option<String>,
    /// In megabytes, as the disk is.
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
    /// Like 2024-05-28T17:05:33; the beginning of 2024 if it is not said.
    pub created: Option<String>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuotaSettings {
    /// VPCs an account may have in one region [default: 1000; upstream: 10]
    #[arg(long = "quota-vpcs-per-region", env = "GARTH_QUOTA_VPCS_PER_REGION", value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    pub vpcs_per_region: Option<i64>,

    /// Subnets a VPC may have [default: 1000; upstream: 10]
    #[arg(long = "quota-subnets-per-vpc", env = "GARTH_QUOTA_SUBNETS_PER_VPC", value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
    pub subnets_per_vpc: Option<i64>,

    /// Bytes of attachments an account may have [default: 10737418240, 10 GiB]
    #[arg(long = "quota-attachment-bytes", env = "GARTH_QUOTA_ATTACHMENT_BYTES", value_name = "BYTES", value_parser = clap::value_parser!(i64).range(0..))]
    pub attachment_bytes: Option<i64>,
}

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimitSettings {
    /// Whether requests are limited, at the public service's rates [default: false; upstream: true]
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
    /// Connections that may be open; health checks get in above that [default: 16384, or what the open-file limit allows]
    #[arg(long = "limits-connections", env = "GARTH_LIMITS_CONNECTIONS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub connections: Option<u32>,

    /// Connections that may be open from one address (IPv6: from one /64); trusted proxies are exempt [default: 4096]
    #[arg(long = "limits-connections-per-address", env = "GARTH_LIMITS_CONNECTIONS_PER_ADDRESS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub connections_per_address: Option<u32>,

    /// Memory for responses that clients have not read yet, in MiB; one client gets half of it [default: 256]
    #[arg(long = "limits-answer-memory-mib", env = "GARTH_LIMITS_ANSWER_MEMORY_MIB", value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub answer_memory_mib: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionSettings {
    pub id: String,
    pub label: Option<String>,
    #[serde(default)]
    pub country: String,
    /// What it can hold; if not said, everything Garth knows.
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
pub enum Names {
    Both,
    Compute,
    Linode,
}

impl Settings {
    /// What the environment says, for commands that do not take these settings as options.
    pub fn from_environment() -> anyhow::Result<Settings> {
        let nothing = Settings::augment_args(Command::new("garth")).try_get_matches_from(["garth"]);
        Ok(Settings::from_arg_matches(&nothing?)?)
    }

    /// What a settings file says of the database.
    pub fn database_in_file(&self) -> DatabaseInFile<'_> {
        DatabaseInFile {
            url: self.database.as_ref(),
            password_file: self.database_password_file.as_deref(),
            connections: self.database_connections,
        }
    }

    /// These settings, with what they leave open taken from others.
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
                answer_memory_mib: self.limits.answer_memory_mib.or(other.limits.answer_memory_mib),
            },
            compute: ComputeSettings {
                settle_ms: self.compute.settle_ms.or(other.compute.settle_ms),
                public_ranges: self.compute.public_ranges.or(other.compute.public_ranges),
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
