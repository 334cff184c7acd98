//! Rate limits like those of the public service: fixed windows per token (decision 0011).
//!
//! The counters are in memory, so each node has its own. Windows use the monotonic clock, so that changes of the system
//! clock have no effect.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::model::id::{TokenId, UserId};
use crate::model::reason::Code;
use crate::store::context::Clock;
use crate::web::error;
use crate::web::proxies::client_network;

/// The class of an operation, which determines its rate limit. Each operation is counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Command,
    InstanceCreate,
    List,
    /// Log-ins and OAuth tokens, counted per client address.
    Oauth,
    TicketCreate,
    Unlimited,
}

/// The client whose requests are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Token(TokenId),
    /// A user with a browser session.
    User(UserId),
    Address(IpAddr),
}

impl Key {
    /// The key of a client address. All addresses of an IPv6 /64 have the same key, because one host usually has a
    /// whole /64.
    pub fn address(address: IpAddr) -> Self {
        Key::Address(client_network(address))
    }
}

/// The maximum number of requests within a number of seconds.
#[derive(Clone, Copy, Debug)]
struct Rate {
    max_requests: u32,
    seconds: i64,
}

/// The limit for all requests of one key together.
const TOTAL_RATE: Rate = Rate {
    max_requests: 800,
    seconds: 120,
};
/// Expired windows are removed, at most once a second, if there are more windows than this.
const CLEANUP_THRESHOLD_WINDOWS: usize = 100_000;

fn rate_of(class: Class) -> Option<Rate> {
    match class {
        Class::Command => Some(Rate {
            max_requests: 400,
            seconds: 60,
        }),
        Class::InstanceCreate => Some(Rate {
            max_requests: 10,
            seconds: 30,
        }),
        Class::List => Some(Rate {
            max_requests: 200,
            seconds: 60,
        }),
        Class::Oauth => Some(Rate {
            max_requests: 60,
            seconds: 60,
        }),
        Class::TicketCreate => Some(Rate {
            max_requests: 2,
            seconds: 60,
        }),
        Class::Unlimited => None,
    }
}

#[derive(Default)]
pub struct Limits {
    windows: Mutex<Windows>,
}

#[derive(Default)]
struct Windows {
    /// By the client and the operation. The operation is empty for the total of all operations.
    windows: HashMap<(Key, &'static str), Window>,
    /// The time of the last cleanup, in seconds of the monotonic clock.
    cleaned_up: i64,
}

#[derive(Clone, Copy)]
struct Window {
    /// The end of the window, in seconds of the monotonic clock.
    ends: i64,
    used: u32,
}

/// The state of a caller's rate limit after a request.
#[derive(Clone, Debug)]
pub struct RateStatus {
    /// Whether the request exceeds the limit.
    pub refused: bool,
    limit: u32,
    remaining: u32,
    /// The Unix time at which the window ends.
    resets: i64,
    /// The number of seconds until the window ends.
    wait: i64,
}

impl Limits {
    /// Counts a request and returns the state of its rate limit; `None` if no limit applies.
    pub fn count(
        &self,
        key: Key,
        operation: &'static str,
        class: Class,
        clock: &Clock,
    ) -> Option<RateStatus> {
        let rate = rate_of(class)?;
        let now = i64::try_from(clock.monotonic().as_secs()).unwrap_or(i64::MAX);
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.clean_up(now);
        let total = windows.count((key, ""), TOTAL_RATE, now);
        let of_operation = windows.count((key, operation), rate, now);
        let mut status = if total.refused { total } else { of_operation };
        status.resets = clock.now().seconds() + status.wait;
        Some(status)
    }
}

impl Windows {
    /// Removes expired windows, if there are many windows. A cleanup reads all windows, so there is at most one per second.
    /// Returns whether this was a cleanup.
    fn clean_up(&mut self, now: i64) -> bool {
        let is_due = self.windows.len() > CLEANUP_THRESHOLD_WINDOWS && now > self.cleaned_up;
        if is_due {
            self.windows.retain(|_, window| window.ends > now);
            self.cleaned_up = now;
        }
        is_due
    }

    fn count(&mut self, key: (Key, &'static str), rate: Rate, now: i64) -> RateStatus {
        let fresh = Window {
            ends: now + rate.seconds,
            used: 0,
        };
        let window = self.windows.entry(key).or_insert(fresh);
        if window.ends <= now {
            *window = fresh;
        }
        let refused = window.used >= rate.max_requests;
        window.used = window.used.saturating_add(1).min(rate.max_requests);
        RateStatus {
            refused,
            limit: rate.max_requests,
            remaining: rate.max_requests - window.used,
            resets: 0,
            wait: window.ends - now,
        }
    }
}

impl RateStatus {
    pub fn add_headers(&self, headers: &mut HeaderMap) {
        headers.insert(
            HeaderName::from_static("x-ratelimit-limit"),
            HeaderValue::from(self.limit),
        );
        headers.insert(
            HeaderName::from_static("x-ratelimit-remaining"),
            HeaderValue::from(self.remaining),
        );
        headers.insert(
            HeaderName::from_static("x-ratelimit-reset"),
            HeaderValue::from(self.resets),
        );
        // The response may have set a more specific `Retry-After`.
        let wait = HeaderValue::from(self.wait);
        headers.entry(header::RETRY_AFTER).or_insert(wait);
    }

    pub fn refusal(&self) -> Response {
        error::plain(
            StatusCode::TOO_MANY_REQUESTS,
            Code::RateLimited,
            "Too many requests",
        )
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::{CLEANUP_THRESHOLD_WINDOWS, Key, TOTAL_RATE, Windows};

    #[test]
    fn expired_windows_are_removed_at_most_once_a_second() {
        let mut windows = Windows::default();
        for at in 0..=CLEANUP_THRESHOLD_WINDOWS as u32 {
            windows.count((Key::address(Ipv4Addr::from(at).into()), ""), TOTAL_RATE, 1);
        }
        let cleanups = (0..1000).filter(|_| windows.clean_up(2)).count();
        assert_eq!(
            (cleanups, windows.windows.len()),
            (1, CLEANUP_THRESHOLD_WINDOWS + 1)
        );
        assert!(windows.clean_up(1 + TOTAL_RATE.seconds));
        assert_eq!(windows.windows.len(), 0);
    }

    #[test]
    fn an_ipv6_network_or_an_ipv4_address_is_one_client() {
        let key = |raw: &str| Key::address(raw.parse().unwrap());
        assert_eq!(key("2001:db8::1"), key("2001:db8::ffff:1:2:3"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("::ffff:192.0.2.1"), key("::ffff:192.0.2.2"));
    }
}
