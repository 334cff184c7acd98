//! Points in time, as the interface writes them: UTC, to the second, without a zone.

use jiff::{Timestamp, civil::DateTime, tz::Offset};

const MICROS: i64 = 1_000_000;

/// Microseconds since 1970, UTC.
///
/// What is kept and shown is whole seconds (`to_second`), so that two times that look equal to a
/// caller compare as equal in filters and orders too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds * MICROS)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(MICROS)
    }

    pub const fn to_second(self) -> Self {
        Self::from_seconds(self.seconds())
    }

    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(MICROS)))
    }

    /// Reads `2024-05-31T17:43:12`; a fraction and a final `Z` are allowed.
    pub fn parse(raw: &str) -> Option<Self> {
        let civil: DateTime = raw.strip_suffix('Z').unwrap_or(raw).parse().ok()?;
        let at = Offset::UTC.to_timestamp(civil).ok()?;
        Some(Self(at.as_microsecond()))
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = Timestamp::from_microsecond(self.0).unwrap_or(Timestamp::MAX);
        let at = Offset::UTC.to_datetime(at);
        // Written often, so digit by digit rather than through six formatters.
        let mut text = *b"0000-00-00T00:00:00";
        let mut put = |place: usize, width: usize, mut number: u32| {
            for digit in text[place..place + width].iter_mut().rev() {
                *digit = b'0' + (number % 10) as u8;
                number /= 10;
            }
        };
        put(0, 4, u32::from(at.year().unsigned_abs()));
        let parts = [at.month(), at.day(), at.hour(), at.minute(), at.second()];
        for (part, place) in parts.into_iter().zip([5, 8, 11, 14, 17]) {
            put(place, 2, u32::from(part.unsigned_abs()));
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn a_time_is_written_without_zone_or_fraction_and_read_back() {
        let time = Time::from_micros(1_717_177_392_900_000);
        assert_eq!(time.to_string(), "2024-05-31T17:43:12");
        assert_eq!(Time::parse("2024-05-31T17:43:12"), Some(time.to_second()));
        assert_eq!(Time::parse("2024-05-31T17:43:12.9Z"), Some(time));
    }

    #[test]
    fn what_is_no_time_is_not_read_as_one() {
        for raw in ["", "soon", "2024-13-01T00:00:00", "2024-05-31T25:00:00", "5"] {
            assert_eq!(Time::parse(raw), None, "{raw}");
        }
    }
}
