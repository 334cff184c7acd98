//! Times in the format of the interface: UTC, in whole seconds, without a time zone.

use jiff::{Timestamp, civil::DateTime, tz::Offset};

const MICROS_PER_SECOND: i64 = 1_000_000;

/// Microseconds since 1970, UTC.
///
/// Stored and shown times are whole seconds (`to_second`), so that times that look equal to a client also
/// compare as equal in filters and sort orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

impl Time {
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds * MICROS_PER_SECOND)
    }

    pub const fn micros(self) -> i64 {
        self.0
    }

    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(MICROS_PER_SECOND)
    }

    /// Rounds down to a whole second.
    pub const fn to_second(self) -> Self {
        Self::from_seconds(self.seconds())
    }

    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(MICROS_PER_SECOND)))
    }

    /// The year and the month (1 to 12), UTC.
    pub fn year_and_month(self) -> (i64, i64) {
        let seconds = self.seconds().clamp(0, Timestamp::MAX.as_second()) as u64;
        let (year, month, _) = civil_day(seconds / 86_400);
        (year as i64, month as i64)
    }

    /// The day in UTC: `2024-05-31`.
    pub fn date(self) -> String {
        let mut text = self.to_string();
        text.truncate("2024-05-31".len());
        text
    }

    /// The day in UTC for people: `Friday, May 31, 2024`.
    pub fn long_date(self) -> String {
        let seconds = self.seconds().clamp(0, Timestamp::MAX.as_second());
        let at = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
        Offset::UTC.to_datetime(at).strftime("%A, %B %-d, %Y").to_string()
    }

    /// Parses `2024-05-31T17:43:12`, with an optional fraction, and `Z` or an offset such as `+02:00`. Without an
    /// offset, the time is UTC.
    pub fn parse(raw: &str) -> Option<Self> {
        if let Ok(at) = raw.parse::<Timestamp>() {
            return Some(Self(at.as_microsecond()));
        }
        let civil: DateTime = raw.strip_suffix('Z').unwrap_or(raw).parse().ok()?;
        let at = Offset::UTC.to_timestamp(civil).ok()?;
        Some(Self(at.as_microsecond()))
    }
}

impl Time {
    /// The number of characters of a formatted time.
    pub const WIDTH: usize = 19;

    /// Formats the time into a buffer. A response can contain many timestamps, and `write!` is measurably
    /// slower.
    pub fn write(self, text: &mut [u8; Self::WIDTH]) -> &str {
        let last = Timestamp::MAX.as_second();
        let seconds = self.seconds().clamp(0, last) as u64;
        let (year, month, day) = civil_day(seconds / 86_400);
        let clock = seconds % 86_400;
        *text = *b"0000-00-00T00:00:00";
        let pairs = [
            (year / 100, 0),
            (year % 100, 2),
            (month, 5),
            (day, 8),
            (clock / 3600, 11),
            (clock / 60 % 60, 14),
            (clock % 60, 17),
        ];
        for (number, offset) in pairs {
            text[offset] += (number / 10) as u8;
            text[offset + 1] += (number % 10) as u8;
        }
        std::str::from_utf8(text).unwrap_or_default()
    }
}

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.write(&mut [0; Self::WIDTH]))
    }
}

/// The year, month and day of the date `days` days after 1970-01-01. The algorithm counts years from
/// March, so that the leap day is the last day of a year. It uses cycles of 400 years, because all such
/// cycles have the same length.
fn civil_day(days: u64) -> (u64, u64, u64) {
    let since_march_of_year_0 = days + 719_468;
    let (cycle, day_of_cycle) = (since_march_of_year_0 / 146_097, since_march_of_year_0 % 146_097);
    let year = (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year = day_of_cycle - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (cycle * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::Time;

    #[test]
    fn a_time_has_a_day_in_utc() {
        let time = Time::parse("2024-05-31T23:59:59").expect("a time");
        assert_eq!(
            (time.date().as_str(), time.long_date().as_str()),
            ("2024-05-31", "Friday, May 31, 2024")
        );
        assert_eq!(time.plus_seconds(1).long_date(), "Saturday, June 1, 2024");
    }

    #[test]
    fn times_round_trip_without_zone_or_fraction() {
        let time = Time::from_micros(1_717_177_392_900_000);
        assert_eq!(time.to_string(), "2024-05-31T17:43:12");
        assert_eq!(Time::parse("2024-05-31T17:43:12"), Some(time.to_second()));
        assert_eq!(Time::parse("2024-05-31T17:43:12.9Z"), Some(time));
    }

    #[test]
    fn every_day_is_formatted_correctly() {
        for day in (0..300_000)
            .step_by(13)
            .chain([59, 60, 789, 11_016, 11_017, 2_932_000])
        {
            let time = Time::from_seconds(day * 86_400 + day % 86_400);
            let calendar = jiff::Timestamp::from_second(time.seconds()).unwrap();
            let calendar = jiff::tz::Offset::UTC.to_datetime(calendar);
            assert_eq!(time.to_string(), calendar.to_string());
        }
    }

    #[test]
    fn a_month_ends_with_its_last_second() {
        let month = |text| Time::parse(text).unwrap().year_and_month();
        assert_eq!(month("2024-02-29T23:59:59"), (2024, 2));
        assert_eq!(month("2024-03-01T00:00:00"), (2024, 3));
        assert_eq!(month("2024-12-31T23:59:59"), (2024, 12));
        assert_eq!(month("2025-01-01T00:00:00"), (2025, 1));
    }

    #[test]
    fn malformed_times_are_refused() {
        for raw in ["", "soon", "2024-13-01T00:00:00", "2024-05-31T25:00:00", "5"] {
            assert_eq!(Time::parse(raw), None, "{raw}");
        }
    }
}
