//! Reports of the desk: volume and first response times of a period.

use crate::model::id::AccountId;
use crate::model::reason::{Code, Reason};
use crate::model::time::Time;

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Whole days in UTC, at most `Period::MAX_DAYS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Period {
    start: Time,
    days: i64,
}

impl Period {
    pub const MAX_DAYS: i64 = 366;
    const DEFAULT_DAYS: i64 = 30;

    /// The period from the first to the last of these days, such as `2024-05-31`. By default, the last day is today, and
    /// the period has 30 days. The error has the name of the wrong parameter.
    pub fn parse(from: Option<&str>, to: Option<&str>, now: Time) -> Result<Self, (&'static str, Reason)> {
        let last = match to {
            Some(to) => day(to).ok_or_else(|| ("to", invalid_day()))?,
            None => midnight(now),
        };
        let start = match from {
            Some(from) => day(from).ok_or_else(|| ("from", invalid_day()))?,
            None => last.plus_seconds(-(Self::DEFAULT_DAYS - 1) * DAY_SECONDS),
        };
        let days = (last.seconds() - start.seconds()) / DAY_SECONDS + 1;
        match days {
            1..=Self::MAX_DAYS => Ok(Self { start, days }),
            ..1 => {
                let text = "The last day must not be before the first day";
                Err(("to", Reason::new(Code::TimeInvalid, text)))
            }
            _ => {
                let text = format!("A report can have at most {} days", Self::MAX_DAYS);
                Err(("from", Reason::new(Code::TimeInvalid, text)))
            }
        }
    }

    pub fn start(&self) -> Time {
        self.start
    }

    /// The first moment after the period.
    pub fn end(&self) -> Time {
        self.start.plus_seconds(self.days * DAY_SECONDS)
    }

    pub fn first_day(&self) -> String {
        self.start.date()
    }

    pub fn last_day(&self) -> String {
        self.end().plus_seconds(-1).date()
    }

    /// The days, in order.
    pub fn days(&self) -> impl Iterator<Item = String> {
        let start = self.start;
        (0..self.days).map(move |day| start.plus_seconds(day * DAY_SECONDS).date())
    }

    /// The index of the day of a time in the period.
    pub fn day_of(&self, time: Time) -> Option<usize> {
        let seconds = time.seconds() - self.start.seconds();
        usize::try_from(seconds.div_euclid(DAY_SECONDS))
            .ok()
            .filter(|day| (*day as i64) < self.days)
    }
}

fn midnight(time: Time) -> Time {
    Time::from_seconds(time.seconds().div_euclid(DAY_SECONDS) * DAY_SECONDS)
}

fn day(raw: &str) -> Option<Time> {
    Time::parse(&format!("{raw}T00:00:00")).filter(|start| start.date() == raw)
}

fn invalid_day() -> Reason {
    Reason::new(Code::TimeInvalid, "Must be a day in UTC, such as 2024-05-31")
}

/// The figures of a period.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Report {
    pub period: Period,
    pub total: Figures,
    /// For each day of the period, in order.
    pub days: Vec<Volume>,
    /// The accounts with the most tickets, in descending order.
    pub accounts: Vec<AccountFigures>,
    /// The tags with the most tickets, in descending order.
    pub tags: Vec<(String, Figures)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AccountFigures {
    pub account: AccountId,
    /// The company, or else the e-mail address.
    pub name: String,
    pub figures: Figures,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Volume {
    pub opened: i64,
    pub closed: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Figures {
    pub volume: Volume,
    pub first_response: ResponseTimes,
}

/// The first response times of the tickets that were opened in the period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResponseTimes {
    /// The number of tickets with a first response.
    pub count: i64,
    /// In seconds; `None` without responses.
    pub median: Option<i64>,
    pub percentile_90: Option<i64>,
}

impl ResponseTimes {
    /// The median of an even number of responses is the mean of the two in the middle. The percentile has the nearest rank:
    /// the shortest time that at least this part of the responses does not exceed.
    pub fn of(mut seconds: Vec<i64>) -> Self {
        seconds.sort_unstable();
        let nearest_rank = |percent: usize| {
            let rank = (seconds.len() * percent).div_ceil(100);
            seconds.get(rank.checked_sub(1)?).copied()
        };
        let median = match seconds.len() {
            0 => None,
            count if count % 2 == 1 => Some(seconds[count / 2]),
            count => Some((seconds[count / 2 - 1] + seconds[count / 2]) / 2),
        };
        Self {
            count: seconds.len() as i64,
            median,
            percentile_90: nearest_rank(90),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_mean_and_the_percentile_a_nearest_rank() {
        for (seconds, median, percentile_90) in [
            (vec![], None, None),
            (vec![7], Some(7), Some(7)),
            (vec![9, 1], Some(5), Some(9)),
            (vec![4, 1], Some(2), Some(4)),
            (vec![3, 1, 2], Some(2), Some(3)),
            ((1..=10).rev().collect(), Some(5), Some(9)),
            (
                (1..=100).map(|second| 10 * second).collect(),
                Some(505),
                Some(900),
            ),
        ] {
            let found = ResponseTimes::of(seconds.clone());
            assert_eq!(
                (found.median, found.percentile_90),
                (median, percentile_90),
                "{seconds:?}"
            );
        }
    }

    fn is_given(raw: &&str) -> bool {
        !raw.is_empty()
    }

    #[test]
    fn a_period_has_whole_days() {
        let now = Time::parse("2024-06-01T12:00:00").unwrap();
        let period = |from: &str, to: &str| {
            let parsed = Period::parse(Some(from).filter(is_given), Some(to).filter(is_given), now);
            parsed.map(|period| (period.first_day(), period.last_day(), period.days().count()))
        };
        let days = |first: &str, last: &str, count| Ok((first.to_owned(), last.to_owned(), count));
        assert_eq!(period("", ""), days("2024-05-03", "2024-06-01", 30));
        assert_eq!(period("2024-05-31", ""), days("2024-05-31", "2024-06-01", 2));
        assert_eq!(period("", "2024-02-29"), days("2024-01-31", "2024-02-29", 30));
        assert_eq!(period("2023-06-02", ""), days("2023-06-02", "2024-06-01", 366));
        for (from, to, field) in [
            ("2023-06-01", "", "from"),
            ("2024-06-02", "", "to"),
            ("2024-02-30", "", "from"),
            ("", "today", "to"),
            ("2024-6-1", "", "from"),
        ] {
            assert_eq!(
                period(from, to).map_err(|(field, _)| field),
                Err(field),
                "{from} {to}"
            );
        }
        let june = Period::parse(Some("2024-06-01"), Some("2024-06-02"), now).unwrap();
        let index = |raw: &str| june.day_of(Time::parse(raw).unwrap());
        assert_eq!(index("2024-05-31T23:59:59"), None);
        assert_eq!(index("2024-06-01T00:00:00"), Some(0));
        assert_eq!(index("2024-06-02T23:59:59"), Some(1));
        assert_eq!(index("2024-06-03T00:00:00"), None);
    }
}
