//! Limits on open connections, in total and per client address.
//!
//! A server without free file descriptors cannot answer any request, including health checks. So the number
//! of connections is limited, and some connections above the limit are reserved for health checks (decision
//! 0023).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use crate::web::proxies::client_network;

/// The maximum number of connections above the limit. Such a connection can send only health checks.
const MAX_HEALTH_CONNECTIONS: usize = 64;
/// The maximum number of health-check connections from one address, so that one address cannot block the
/// health checks of the others.
const MAX_HEALTH_CONNECTIONS_PER_ADDRESS: usize = 8;
/// File descriptors that are reserved for other parts of the server: the store, files, logs, database connections.
const RESERVED_FILE_DESCRIPTORS: u64 = 512;

/// The configured limits.
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
    /// Lowers the limits to fit the open file limit of the process.
    pub fn within(self, open_files: u64) -> Self {
        let available = open_files
            .saturating_sub(RESERVED_FILE_DESCRIPTORS + MAX_HEALTH_CONNECTIONS as u64)
            .max(16);
        let total = self.total.min(usize::try_from(available).unwrap_or(usize::MAX));
        Self { total, ..self }
    }
}

/// The limit that a connection exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Total,
    PerAddress,
}

impl Limit {
    /// The setting that configures the limit.
    pub fn setting(self) -> &'static str {
        match self {
            Limit::Total => "limits.connections",
            Limit::PerAddress => "limits.connections_per_address",
        }
    }
}

/// The requests that a new connection is allowed to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    All,
    /// The connection is above a limit: all requests except health checks are refused.
    HealthOnly(Limit),
}

pub struct Connections {
    max: MaxConnections,
    open: Arc<Mutex<Open>>,
}

#[derive(Default)]
struct Open {
    all: Count,
    by_address: HashMap<IpAddr, Count>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    ordinary: usize,
    health_only: usize,
}

impl Count {
    fn counter_mut(&mut self, admission: Admission) -> &mut usize {
        match admission {
            Admission::All => &mut self.ordinary,
            Admission::HealthOnly(_) => &mut self.health_only,
        }
    }

    fn total(&self) -> usize {
        self.ordinary + self.health_only
    }
}

impl Connections {
    pub fn new(max: MaxConnections) -> Self {
        Self {
            max,
            open: Arc::default(),
        }
    }

    /// Counts a new connection. An error means that the connection must be closed immediately. `is_proxy` exempts
    /// trusted proxies from the limits per address.
    pub fn admit(&self, address: IpAddr, is_proxy: bool) -> Result<(Admission, ConnectionGuard), Limit> {
        let address = client_network(address);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let from_address = open.by_address.get(&address).copied().unwrap_or_default();
        let admission = self.admission(open.all, from_address, is_proxy)?;
        *open.all.counter_mut(admission) += 1;
        *open.by_address.entry(address).or_default().counter_mut(admission) += 1;
        metrics::gauge!("garth_connections").set(open.all.total() as f64);
        let guard = ConnectionGuard {
            address,
            admission,
            open: self.open.clone(),
        };
        Ok((admission, guard))
    }

    fn admission(&self, all: Count, from_address: Count, is_proxy: bool) -> Result<Admission, Limit> {
        let limit = match () {
            () if from_address.ordinary >= self.max.per_address && !is_proxy => Limit::PerAddress,
            () if all.ordinary >= self.max.total => Limit::Total,
            () => return Ok(Admission::All),
        };
        let has_health_slot = all.health_only < MAX_HEALTH_CONNECTIONS
            && (from_address.health_only < MAX_HEALTH_CONNECTIONS_PER_ADDRESS || is_proxy);
        match has_health_slot {
            true => Ok(Admission::HealthOnly(limit)),
            false => Err(limit),
        }
    }
}

/// Counts a connection as open until the guard is dropped.
pub struct ConnectionGuard {
    address: IpAddr,
    admission: Admission,
    open: Arc<Mutex<Open>>,
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open.all.counter_mut(self.admission) -= 1;
        metrics::gauge!("garth_connections").set(open.all.total() as f64);
        if let Some(count) = open.by_address.get_mut(&self.address) {
            *count.counter_mut(self.admission) -= 1;
            if count.total() == 0 {
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

    /// Admits connections, keeps them open, and returns how each was admitted.
    fn admit(
        connections: &Connections,
        held: &mut Vec<ConnectionGuard>,
        last: u8,
        count: usize,
    ) -> Vec<Result<Admission, Limit>> {
        let mut admit = |_| {
            let (admission, guard) = connections.admit(address(last), false)?;
            held.push(guard);
            Ok(admission)
        };
        (0..count).map(&mut admit).collect()
    }

    #[test]
    fn an_address_has_a_limit_and_health_checks_are_admitted_above_the_maximum() {
        let connections = Connections::new(MaxConnections {
            total: 3,
            per_address: 2,
        });
        let mut held = Vec::new();
        assert_eq!(admit(&connections, &mut held, 1, 2), [Ok(Admission::All); 2]);
        let above = admit(&connections, &mut held, 1, 9);
        assert_eq!(above[..8], [Ok(Admission::HealthOnly(Limit::PerAddress)); 8]);
        assert_eq!(
            above[8],
            Err(Limit::PerAddress),
            "health checks also have a limit per address"
        );
        let proxied = connections.admit(address(1), true).expect("a proxy is exempt");
        assert_eq!(proxied.0, Admission::All);

        assert_eq!(
            admit(&connections, &mut held, 2, 1),
            [Ok(Admission::HealthOnly(Limit::Total))]
        );
        for last in 3..9 {
            admit(&connections, &mut held, last, 8);
        }
        let rest = admit(&connections, &mut held, 9, 8);
        assert_eq!(
            rest.iter().filter(|admitted| admitted.is_ok()).count(),
            64 - 8 - 1 - 6 * 8
        );
        assert_eq!(rest[7], Err(Limit::Total));
        drop((held, proxied));
        let open = connections.open.lock().unwrap();
        assert!(open.by_address.is_empty());
        assert_eq!(open.all.total(), 0);
    }

    #[test]
    fn the_maximum_leaves_file_descriptors_for_other_parts() {
        let max = MaxConnections::default();
        assert_eq!(max.within(1 << 20), max);
        assert_eq!(max.within(1_024).total, 1_024 - 512 - 64);
        assert_eq!(max.within(0).total, 16);
    }
}
