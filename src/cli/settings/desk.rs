//! Settings of tickets, and the provider's name on staff replies.

use clap::Args;
use serde::Deserialize;

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
}

impl DeskSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            reopen: self.reopen.or(other.reopen),
            strict_entities: self.strict_entities.or(other.strict_entities),
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
