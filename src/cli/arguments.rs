//! Parsers for the values of options, with error messages that say which values are accepted.

use std::fmt::Display;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

use crate::model::reason::Reasons;

/// Turns a parser of the model into one for an option.
pub fn parse_with<T>(
    parse: fn(&str) -> Result<T, Reasons>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: 'static,
{
    move |raw| {
        parse(raw).map_err(|reasons| {
            let reasons: Vec<_> = reasons.into_iter().map(|reason| reason.text).collect();
            reasons.join("; ")
        })
    }
}

/// Parses a whole number within a range.
pub fn integer<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |raw| match raw.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!(
            "must be a whole number from {} to {}",
            range.start(),
            range.end()
        )),
    }
}

/// Parses the ID of a resource.
pub fn id(raw: &str) -> Result<i64, String> {
    integer(1..=i64::MAX)(raw).map_err(|_| "must be an ID: an integer greater than 0".to_owned())
}

/// Parses the address of a listener.
pub fn listen_address(raw: &str) -> Result<SocketAddr, String> {
    raw.parse().map_err(|_| {
        "must be an IP address and a port, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::]:8080".to_owned()
    })
}

/// Deserializes the address of a listener from the settings file.
pub fn deserialize_listen_address<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SocketAddr>, D::Error> {
    let raw = String::deserialize(deserializer)?;
    listen_address(&raw).map(Some).map_err(de::Error::custom)
}

/// Deserializes the path of a folder from the settings file. The command line parser refuses an empty path, too.
pub fn deserialize_folder<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let path = PathBuf::deserialize(deserializer)?;
    match path.as_os_str().is_empty() {
        true => Err(de::Error::custom(
            "must be the path of a folder, not an empty string",
        )),
        false => Ok(Some(path)),
    }
}

/// Parses a duration such as `12h`, in seconds.
pub fn duration_seconds(raw: &str) -> Result<i64, String> {
    let invalid = || {
        "must be a whole number greater than 0 with a unit (s, m, h, d or w), such as 45s, 30m, 12h, 30d or 4w"
            .to_owned()
    };
    let unit = raw.chars().last().ok_or_else(invalid)?;
    let unit_seconds: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return Err(invalid()),
    };
    match raw[..raw.len() - 1].parse::<u32>() {
        Ok(number @ 1..) => Ok(i64::from(number) * unit_seconds),
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_which_values_are_accepted() {
        assert_eq!(integer(1..=500)("500"), Ok(500));
        for raw in ["0", "501", "-1", "many", "1.5", "", "99999999999999999999"] {
            assert_eq!(
                integer(1..=500)(raw),
                Err("must be a whole number from 1 to 500".to_owned())
            );
        }
        assert!(listen_address("[::]:80").is_ok());
        for raw in ["127.0.0.1", "8080", ":8080", "localhost:8080"] {
            let error = listen_address(raw).expect_err(raw);
            assert!(error.contains("127.0.0.1:8080"), "{error}");
        }
    }

    #[test]
    fn durations_have_a_number_and_a_unit() {
        assert_eq!(duration_seconds("4w"), Ok(4 * 7 * 24 * 3600));
        for raw in ["", "s", "0s", "-1h", "12", "soon", "99999999999d", "1ä"] {
            assert!(duration_seconds(raw).is_err(), "{raw}");
        }
    }
}
