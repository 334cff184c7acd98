//! How many connections are open, in total and from each address.
//!
//! A server that runs out of file descriptors answers no one, not even its health checks. So the
//! number is bounded, and some room above the bound is kept for requests that ask for health only.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::web::proxies::client_network;

/// Connections above the maximum that may still ask whether the server is well.
const HEALTH_CHECKS: usize = 64;
/// How many file descriptors the rest of the server needs: the store, files, logs, streams to the database.
const OTHER_FILES: u64 = 512;

/// How many connections may be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaxConnections {
    pub total: usize,
    pub per_address: usize,
}

impl Default for MaxConnections {
    fn default() -> Self {
        Self {
            total: 16_384,
            per_address: 4_096,
        }
    }
}

impl MaxConnections {
    /// At most as many as the process can have files open.
    pub fn within(self, open_files: u64) -> Self {
        let room = open_files
            .saturating_sub(OTHER_FILES + HEALTH_CHECKS as u64)
            .max(16);
        let total = self.total.min(usize::try_from(room).unwrap_or(usize::MAX));
        Self { total, ..self }
    }
}

/// What a new connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    All,
    /// There are too many: it may ask for health, and is refused everything else.
    HealthOnly,
}

pub struct Connections {
    max: MaxConnections,
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

impl Connections {
    pub fn new(max: MaxConnections) -> Self {
        Self {
            max,
            open: Arc::default(),
        }
    }

    /// Counts a new connection; `None` if it must be closed at once. `is_proxy` exempts the provider's own
    /// proxies from the bound per address.
    pub fn admit(&self, address: IpAddr, is_proxy: bool) -> Option<(Admission, Counted)> {
        let address = client_network(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let from_here = open.by_address.get(&address).copied().unwrap_or(0);
        if (from_here >= self.max.per_address && !is_proxy) || open.total >= self.max.total + HEALTH_CHECKS {
            return None;
        }
        let admission = match open.total >= self.max.total {
            true => Admission::HealthOnly,
            false => Admission::All,
        };
        open.total += 1;
        open.by_address.insert(address, from_here + 1);
        metrics::gauge!("garth_connections").set(open.total as f64);
        let counted = Counted {
            address,
            open: self.open.clone(),
        };
        Some((admission, counted))
    }
}

/// A connection that is open until this is dropped.
pub struct Counted {
    address: IpAddr,
    open: Arc<Mutex<Open>>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.total -= 1;
        metrics::gauge!("garth_connections").set(open.total as f64);
        if let Some(count) = open.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn one_address_gets_its_share_and_health_checks_get_in_above_the_maximum() {
        let connections = Connections::new(MaxConnections {
            total: 3,
            per_address: 2,
        });
        let admit = |last| connections.admit(address(last), false);
        let first = admit(1);
        let second = admit(1);
        assert!(second.is_some() && admit(1).is_none());
        assert!(connections.admit(address(1), true).is_some());
        let third = admit(2);
        assert_eq!(
            third.as_ref().map(|(admission, _)| *admission),
            Some(Admission::All)
        );
        let above = admit(3);
        assert_eq!(
            above.as_ref().map(|(admission, _)| *admission),
            Some(Admission::HealthOnly)
        );
        drop((first, second, third, above));
        assert!(connections.open.lock().unwrap().by_address.is_empty());
        assert_eq!(connections.open.lock().unwrap().total, 0);
    }

    #[test]
    fn the_maximum_leaves_files_for_everything_else() {
        let max = MaxConnections::default();
        assert_eq!(max.within(1 << 20), max);
        assert_eq!(max.within(1_024).total, 1_024 - 512 - 64);
        assert_eq!(max.within(0).total, 16);
    }
}
