//! Settings of tickets, and the provider's name on staff replies.

use std::collections::BTreeMap;

use clap::Args;
use serde::Deserialize;

use crate::model::target::TargetMinutes;
use crate::model::ticket::Priority;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeskSettings {
    /// Number of days after closing in which a customer's reply reopens the ticket: 1 to 36500, or never
    /// [default: never]
    #[arg(
        long = "desk-reopen",
        env = "GARTH_DESK_REOPEN",
        value_name = "DAYS",
        allow_negative_numbers = true
    )]
    pub reopen: Option<Reopen>,

    /// Refuse tickets about entities of other services that are not in the entity directory [default: false]
    #[arg(
        long = "desk-strict-entities",
        env = "GARTH_DESK_STRICT_ENTITIES",
        value_name = "BOOL"
    )]
    pub strict_entities: Option<bool>,

    /// Minutes until the first response to a ticket is due, for each priority, such as urgent=30,high=240 [default: no
    /// targets]
    #[arg(
        long = "desk-first-response-minutes",
        env = "GARTH_DESK_FIRST_RESPONSE_MINUTES",
        value_name = "TARGETS"
    )]
    pub first_response_minutes: Option<MinutesByPriority>,

    /// Minutes until the resolution of a ticket is due, for each priority, such as urgent=240,high=1440. Only the time
    /// in which the ticket waits for staff counts [default: no targets]
    #[arg(
        long = "desk-resolution-minutes",
        env = "GARTH_DESK_RESOLUTION_MINUTES",
        value_name = "TARGETS"
    )]
    pub resolution_minutes: Option<MinutesByPriority>,
}

impl DeskSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            reopen: self.reopen.or(other.reopen),
            strict_entities: self.strict_entities.or(other.strict_entities),
            first_response_minutes: self.first_response_minutes.or(other.first_response_minutes),
            resolution_minutes: self.resolution_minutes.or(other.resolution_minutes),
        }
    }
}

/// Whether a customer's reply reopens a closed ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ReopenValue")]
pub enum Reopen {
    Never,
    /// A reply reopens the ticket within this number of days after it was closed.
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

/// Minutes for some priorities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "MinutesValue")]
pub struct MinutesByPriority(pub TargetMinutes);

/// The value in a settings file: a table, or a string as on the command line.
#[derive(Deserialize)]
#[serde(untagged)]
enum MinutesValue {
    Table(BTreeMap<String, i64>),
    Text(String),
}

impl TryFrom<MinutesValue> for MinutesByPriority {
    type Error = String;

    fn try_from(value: MinutesValue) -> Result<Self, String> {
        match value {
            MinutesValue::Table(table) => {
                let entries = table
                    .iter()
                    .map(|(priority, minutes)| format!("{priority}={minutes}"));
                entries.collect::<Vec<_>>().join(",").parse()
            }
            MinutesValue::Text(text) => text.parse(),
        }
    }
}

impl std::str::FromStr for MinutesByPriority {
    type Err = String;

    /// Parses `urgent=30,high=240`. An empty text means no targets.
    fn from_str(raw: &str) -> Result<Self, String> {
        let invalid = || {
            let words = Priority::WORDS.join(", ");
            format!(
                "must be minutes from 1 to 525600 for some of {words}, such as urgent=30,high=240, not {raw}"
            )
        };
        let mut minutes = TargetMinutes::default();
        for entry in raw.split(',').map(str::trim).filter(|_| !raw.trim().is_empty()) {
            let (priority, value) = entry.split_once('=').ok_or_else(invalid)?;
            let priority = Priority::parse(priority.trim()).map_err(|_| invalid())?;
            match value.trim().parse() {
                Ok(value @ 1..=525_600) if minutes.of(priority).is_none() => {
                    minutes.0[priority as usize] = Some(value);
                }
                _ => return Err(invalid()),
            }
        }
        Ok(Self(minutes))
    }
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

impl ProviderSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            name: self.name.or(other.name),
            email: self.email.or(other.email),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_read_from_texts_and_tables() {
        let parse = |text: &str| text.parse::<MinutesByPriority>().map(|minutes| minutes.0.0);
        assert_eq!(parse(""), Ok([None; 4]));
        assert_eq!(
            parse("urgent=30, normal=525600"),
            Ok([None, Some(525_600), None, Some(30)])
        );
        for bad in [
            "urgent",
            "urgent=0",
            "urgent=525601",
            "urgent=x",
            "asap=5",
            "high=5,high=6",
            ",",
            "high=-5",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let file: DeskSettings = toml::from_str("first_response_minutes = { low = 60, high = 5 }").unwrap();
        let minutes = file.first_response_minutes.unwrap_or_default();
        assert_eq!(minutes.0.0, [Some(60), None, Some(5), None]);
        assert!(toml::from_str::<DeskSettings>("resolution_minutes = { low = 0 }").is_err());
    }
}
