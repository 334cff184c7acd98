//! The traffic of ports and instances.

use crate::model::time::Time;

/// Counters of bytes and packets, as seen from the instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Traffic {
    pub received_bytes: i64,
    pub received_packets: i64,
    pub sent_bytes: i64,
    pub sent_packets: i64,
    /// Frames of the instance that a filter dropped.
    pub dropped_packets: i64,
}

impl Traffic {
    pub fn total_bytes(self) -> i64 {
        self.received_bytes.saturating_add(self.sent_bytes)
    }

    /// The traffic between two reports about a port. Counters start at zero when the host creates the port again, so
    /// a counter that is lower than before has counted only new traffic.
    pub fn since(self, last: Traffic) -> Traffic {
        let links = [
            (self.received_bytes, last.received_bytes),
            (self.received_packets, last.received_packets),
            (self.sent_bytes, last.sent_bytes),
            (self.sent_packets, last.sent_packets),
        ];
        let last_links = match links.iter().any(|(now, last)| now < last) {
            true => Traffic::default(),
            false => last,
        };
        // The filters have their own counters.
        let last_dropped = match self.dropped_packets < last.dropped_packets {
            true => 0,
            false => last.dropped_packets,
        };
        Traffic {
            received_bytes: self.received_bytes.saturating_sub(last_links.received_bytes),
            received_packets: self.received_packets.saturating_sub(last_links.received_packets),
            sent_bytes: self.sent_bytes.saturating_sub(last_links.sent_bytes),
            sent_packets: self.sent_packets.saturating_sub(last_links.sent_packets),
            dropped_packets: self.dropped_packets.saturating_sub(last_dropped),
        }
    }

    /// The counters of a new report. An agent reports zeros if it cannot read the counters of a port. Then the last
    /// counters remain, so that no traffic is counted twice.
    pub fn or_last(self, last: Traffic) -> Traffic {
        let is_unknown = Traffic {
            dropped_packets: 0,
            ..self
        } == Traffic::default();
        Traffic {
            dropped_packets: match self.dropped_packets {
                0 => last.dropped_packets,
                dropped => dropped,
            },
            ..if is_unknown { last } else { self }
        }
    }
}

/// A calendar month, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Month(i64);

impl Month {
    /// `month` is 1 to 12.
    pub fn new(year: i64, month: i64) -> Option<Self> {
        let is_valid = (1..=9999).contains(&year) && (1..=12).contains(&month);
        is_valid.then_some(Self(year * 12 + month - 1))
    }

    pub fn of(time: Time) -> Self {
        let (year, month) = time.year_and_month();
        Self(year * 12 + month - 1)
    }

    /// The number of months since January of year 0.
    pub fn number(self) -> i64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(bytes: i64, dropped: i64) -> Traffic {
        Traffic {
            received_bytes: bytes,
            received_packets: bytes / 10,
            sent_bytes: bytes * 2,
            sent_packets: bytes / 5,
            dropped_packets: dropped,
        }
    }

    #[test]
    fn a_port_that_was_created_again_counts_from_zero() {
        assert_eq!(traffic(150, 7).since(traffic(100, 3)), traffic(50, 4));
        assert_eq!(traffic(50, 7).since(traffic(100, 3)), traffic(50, 4));
        assert_eq!(traffic(150, 1).since(traffic(100, 3)), traffic(50, 1));
        assert_eq!(traffic(100, 3).since(traffic(100, 3)), Traffic::default());
    }

    #[test]
    fn counters_that_cannot_be_read_do_not_change() {
        assert_eq!(Traffic::default().or_last(traffic(100, 3)), traffic(100, 3));
        assert_eq!(traffic(0, 5).or_last(traffic(100, 3)), traffic(100, 5));
        assert_eq!(traffic(20, 0).or_last(traffic(100, 3)), traffic(20, 3));
    }

    #[test]
    fn months_are_consecutive() {
        let number = |year, month| Month::new(year, month).map(Month::number);
        assert_eq!(number(2024, 12).map(|last| last + 1), number(2025, 1));
        assert_eq!(Month::new(2024, 0), None);
        assert_eq!(Month::new(2024, 13), None);
        assert_eq!(Month::new(10_000, 1), None);
        let time = Time::parse("2024-02-29T23:59:59").unwrap();
        assert_eq!(Some(Month::of(time)), Month::new(2024, 2));
    }
}
