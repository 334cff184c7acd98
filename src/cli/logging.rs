//! The settings of the log, and the subscriber that writes it.

use anyhow::{anyhow, ensure};
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
    /// Log level: off, error, warn, info, debug or trace. Modules can have their own levels:
    /// info,garth::store=debug [default: info]
    #[arg(long = "log", env = "GARTH_LOG", value_name = "LEVEL")]
    pub level: Option<String>,

    /// The log format. Only a settings file can set it here, as `log.format`; `log_format` works everywhere.
    #[arg(skip)]
    pub format: Option<LogFormat>,

    /// Client addresses in the log and in recorded log-ins: full, truncated to a network (IPv4 /24, IPv6 /48), or none [default: full]
    #[arg(
        long = "log-client-address",
        env = "GARTH_LOG_CLIENT_ADDRESS",
        value_name = "MODE"
    )]
    pub client_address: Option<LoggedAddress>,

    /// Usernames in the log lines of failed log-ins: hashed, full or none [default: hashed]
    #[arg(long = "log-login-names", env = "GARTH_LOG_LOGIN_NAMES", value_name = "MODE")]
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
    /// Fills in unset settings from `other`.
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

/// Deserializes `log` in a settings file: a string with the level, or a table.
pub fn text_or_table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LogSettings, D::Error> {
    struct TextOrTable;

    impl<'de> Visitor<'de> for TextOrTable {
        type Value = LogSettings;

        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("a log level or a table of log settings")
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

/// Checks the log level.
pub fn validate(settings: &LogSettings) -> anyhow::Result<()> {
    filter_of(settings).map(drop)
}

/// Starts logging to standard error. `format` takes precedence over the format in the settings.
pub fn start(settings: &LogSettings, format: Option<LogFormat>) -> anyhow::Result<()> {
    let filter = filter_of(settings)?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let log = tracing_subscriber::registry();
    match format.or(settings.format) {
        None | Some(LogFormat::Text) => {
            log.with(lines.with_ansi(false).with_target(false).with_filter(filter))
                .init();
        }
        Some(LogFormat::Json) => log
            .with(lines.json().flatten_event(true).with_filter(filter))
            .init(),
    }
    Ok(())
}

fn filter_of(settings: &LogSettings) -> anyhow::Result<Targets> {
    parse_filter(settings.level.as_deref().unwrap_or("info"))
}

/// Parses directives such as `info,garth::store=debug`. A directive without `=` must be a level, not a module.
fn parse_filter(text: &str) -> anyhow::Result<Targets> {
    let mut targets = Targets::new();
    for directive in text.split(',') {
        let invalid = || {
            format!(
                "log: {directive:?} is not a log directive: must be LEVEL or MODULE=LEVEL, separated by commas; levels \
                 are off, error, warn, info, debug and trace"
            )
        };
        let (module, level) = match directive.split_once('=') {
            Some((module, level)) => (Some(module), level),
            None => (None, directive),
        };
        // LevelFilter parses an empty string as error.
        ensure!(!level.is_empty() && module != Some(""), invalid());
        let level: LevelFilter = level.parse().map_err(|_| anyhow!(invalid()))?;
        targets = match module {
            Some(module) => targets.with_target(module, level),
            None => targets.with_default(level),
        };
    }
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_needs_a_level() {
        for accepted in ["info", "WARN", "off", "info,garth::store=debug"] {
            parse_filter(accepted).expect(accepted);
        }
        for refused in ["", "silly", "silly=", "=info", "info,", "garth=loud"] {
            let error = parse_filter(refused).expect_err(refused).to_string();
            assert!(error.contains("MODULE=LEVEL"), "{error}");
        }
    }
}
