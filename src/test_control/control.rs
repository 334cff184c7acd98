//! The state of test control, which all of its operations share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::changed_settings::ChangedSettings;
use super::chaos::Chaos;
use super::faults::Faults;
use super::request_log::RequestLog;
use super::restart::RestartableServer;
use super::snapshots::Snapshots;
use crate::store::{Store, VirtualClock};

/// A handle to the state. Clones share it.
#[derive(Clone)]
pub struct Control(Arc<Shared>);

struct Shared {
    server: RestartableServer,
    snapshots: Snapshots,
    faults: Mutex<Faults>,
    requests: Mutex<RequestLog>,
    settings: Mutex<ChangedSettings>,
    chaos: Option<Chaos>,
    clock_change: tokio::sync::Mutex<()>,
}

impl Control {
    pub fn new(
        server: RestartableServer,
        snapshots: Snapshots,
        settings: ChangedSettings,
        chaos: Option<Chaos>,
    ) -> Self {
        Self(Arc::new(Shared {
            server,
            snapshots,
            faults: Mutex::default(),
            requests: Mutex::default(),
            settings: Mutex::new(settings),
            chaos,
            clock_change: tokio::sync::Mutex::default(),
        }))
    }

    pub fn server(&self) -> &RestartableServer {
        &self.0.server
    }

    pub fn store(&self) -> &Store {
        self.0.server.store()
    }

    pub fn clock(&self) -> &VirtualClock {
        let clock = self.store().context().clock.as_virtual();
        clock.expect("a server with test control has a virtual clock")
    }

    /// Waits for the end of other changes of the clock. An advance waits for jobs, and another change must not be lost
    /// during this time.
    pub async fn clock_change(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.clock_change.lock().await
    }

    pub fn snapshots(&self) -> &Snapshots {
        &self.0.snapshots
    }

    pub fn chaos(&self) -> Option<&Chaos> {
        self.0.chaos.as_ref()
    }

    pub fn faults(&self) -> MutexGuard<'_, Faults> {
        self.0.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn requests(&self) -> MutexGuard<'_, RequestLog> {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn settings(&self) -> MutexGuard<'_, ChangedSettings> {
        self.0.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
