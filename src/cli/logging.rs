//! The log: its settings, and the subscriber that writes its lines.

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, de};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::web::{ClientAddress, LoginNames};

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// What is logged: off, error, warn, info or debug, also per module (garth::store=debug) [default: info]
    #[arg(long = "log", env = "GARTH_LOG", value_name = "LEVEL")]
    pub level: Option<String>,

    /// In a settings file the format can be given here too; elsewhere it is `log_format`.
    #[arg(skip)]
    pub format: Option<LogFormat>,

    /// Client addresses in request log lines: full, truncated (IPv4 /24, IPv6 /48) or none [default: full]
    #[arg(
        long = "log-client-address",
        env = "GARTH_LOG_CLIENT_ADDRESS",
        value_name = "HOW"
    )]
    pub client_address: Option<LoggedAddress>,

    /// User names in log lines of failed log-ins: hashed, full or none [default: hashed]
    #[arg(long = "log-login-names", env = "GARTH_LOG_LOGIN_NAMES", value_name = "HOW")]
    pub login_names: Option<LoggedName>,
}

#[derive(Clone, Copy, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LoggedAddress {
    Full,
    Truncated,
    None,
}

#[derive(Clone, Copy, Debug, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LoggedName {
    Hashed,
    Full,
    None,
}

impl LogSettings {
    /// These settings, with missing values taken from others.
    pub fn or(self, other: LogSettings) -> LogSettings {
        LogSettings {
            level: self.level.or(other.level),
            format: self.format.or(other.format),
            client_address: self.client_address.or(other.client_address),
            login_names: self.login_names.or(other.login_names),
        }
    }

    pub fn client_address(&self) -> ClientAddress {
        match self.client_address {
            None | Some(LoggedAddress::Full) => ClientAddress::Full,
            Some(LoggedAddress::Truncated) => ClientAddress::Truncated,
            Some(LoggedAddress::None) => ClientAddress::None,
        }
    }

    pub fn login_names(&self) -> LoginNames {
        match self.login_names {
            None | Some(LoggedName::Hashed) => LoginNames::Hashed,
            Some(LoggedName::Full) => LoginNames::Full,
            Some(LoggedName::None) => LoginNames::None,
        }
    }
}

/// Reads `log` in a settings file: the levels as a text, or a table.
pub fn text_or_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LogSettings, D::Error> {
    struct TextOrTable;

    impl<'de> Visitor<'de> for TextOrTable {
        type Value = LogSettings;

        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("log levels or a table of log settings")
        }

        fn visit_str<E: de::Error>(self, level: &str) -> Result<LogSettings, E> {
            Ok(LogSettings {
                level: Some(level.to_owned()),
                ..LogSettings::default()
            })
        }

        fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<LogSettings, A::Error> {
            LogSettings::deserialize(MapAccessDeserializer::new(table))
        }
    }

    deserializer.deserialize_any(TextOrTable)
}

/// Writes log lines to standard error from now on. A format here wins against the one in the settings.
pub fn start(settings: &LogSettings, format: Option<LogFormat>) -> anyhow::Result<()> {
    let level = settings.level.as_deref().unwrap_or("info");
    let wanted = log_levels(level).with_context(|| format!("log: {level} is no log level"))?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = tracing_subscriber::registry();
    match format.or(settings.format) {
        None | Some(LogFormat::Text) => {
            log.with(lines.with_ansi(false).with_target(false).with_filter(wanted))
                .init();
        }
        Some(LogFormat::Json) => log
            .with(lines.json().flatten_event(true).with_filter(wanted))
            .init(),
    }
    Ok(())
}

/// Reads `info,garth::store=debug`; a word that is no level is not taken for a module.
fn log_levels(text: &str) -> anyhow::Result<Targets> {
    let mut targets = Targets::new();
    for part in text.split(',') {
        targets = match part.split_once('=') {
            Some((module, level)) => targets.with_target(module, level.parse::<LevelFilter>()?),
            None => targets.with_default(part.parse::<LevelFilter>()?),
        };
    }
    Ok(targets)
}
