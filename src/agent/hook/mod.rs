//! The hook: a program that is run when a port appears, changes or goes, so that it can start or attach an instance.
//!
//! Hooks do not block passes, so a slow program does not delay other ports. The ports for which the hook has succeeded
//! are recorded in the folder of the agent. A port is up when its hook has succeeded.

mod document;
mod process;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

pub use document::{PortDocument, documents};

use super::retry_delay::retry_delay;
use super::state_folder::StateFolder;
use crate::agent_protocol::{HostWarning, WarningCode};

/// Hooks of this many ports run at the same time.
const PARALLEL_HOOKS: usize = 4;
/// The longest delay between attempts.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub struct HookSettings {
    /// The program, which gets no arguments.
    pub program: PathBuf,
    pub timeout: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    Added,
    Changed,
    Removed,
}

/// The document on standard input of the program.
#[derive(Serialize)]
struct Input<'a> {
    event: Event,
    port: &'a PortDocument,
}

pub struct Hooks {
    settings: HookSettings,
    folder: Arc<StateFolder>,
    queue: Mutex<Queue>,
    changed: Notify,
    /// Rises with each hook that ended.
    ended: watch::Sender<u64>,
}

#[derive(Default)]
struct Queue {
    /// Whether a pass has set the wanted ports. Before that, recorded ports must not be regarded as removed.
    is_known: bool,
    /// The ports of the desired state.
    wanted: BTreeMap<i64, PortDocument>,
    /// The wanted ports that the kernel has.
    ready: BTreeSet<i64>,
    /// The ports for which the hook has succeeded.
    done: BTreeMap<i64, PortDocument>,
    failures: BTreeMap<i64, Failure>,
    running: BTreeSet<i64>,
}

struct Failure {
    reason: String,
    attempts: u32,
    next_attempt: Instant,
}

impl Hooks {
    /// Continues with the ports that an earlier process has recorded.
    pub fn new(settings: HookSettings, folder: Arc<StateFolder>) -> io::Result<Self> {
        let queue = Queue {
            done: folder.hooked_ports()?.unwrap_or_default(),
            ..Queue::default()
        };
        Ok(Self {
            settings,
            folder,
            queue: Mutex::new(queue),
            changed: Notify::new(),
            ended: watch::Sender::new(0),
        })
    }

    /// The number of hooks that ended; a new value means that `problem_of` may have another result.
    pub fn ended(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    /// Takes over the ports after a pass. `created` are the ports whose link is new. An instance that was attached to the
    /// old link is not attached to the new one, so the hook runs again.
    pub fn update(&self, wanted: Vec<PortDocument>, ready: BTreeSet<i64>, created: &BTreeSet<i64>) {
        let mut queue = self.lock();
        queue.is_known = true;
        queue.wanted = wanted.into_iter().map(|port| (port.interface_id, port)).collect();
        queue.ready = ready;
        let Queue {
            wanted,
            done,
            failures,
            ..
        } = &mut *queue;
        done.retain(|id, _| !(created.contains(id) && wanted.contains_key(id)));
        failures.retain(|id, _| wanted.contains_key(id) || done.contains_key(id));
        drop(queue);
        self.changed.notify_waiters();
    }

    /// Why the hook of a wanted port has not succeeded.
    pub fn problem_of(&self, interface: i64) -> Option<String> {
        let queue = self.lock();
        if queue.done.get(&interface) == queue.wanted.get(&interface) {
            return None;
        }
        let failure = queue.failures.get(&interface);
        Some(failure.map_or_else(
            || "the hook has not ended yet".to_owned(),
            |failure| failure.reason.clone(),
        ))
    }

    /// The failed hooks of removed ports, which are in no port of the report.
    pub fn problems_of_removed(&self) -> Vec<HostWarning> {
        let queue = self.lock();
        let removed = queue
            .failures
            .iter()
            .filter(|(id, _)| !queue.wanted.contains_key(id));
        removed
            .map(|(id, failure)| {
                let text = format!("removed port {id}: {}", failure.reason);
                HostWarning::new(WarningCode::RemovedPortHookFailed, text)
            })
            .collect()
    }

    /// Runs hooks forever.
    pub async fn run(self: Arc<Self>) {
        let mut workers = JoinSet::new();
        for _ in 0..PARALLEL_HOOKS {
            workers.spawn(self.clone().work());
        }
        while workers.join_next().await.is_some() {}
    }

    async fn work(self: Arc<Self>) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // From now on, a notification is not lost.
            changed.as_mut().enable();
            let (next, delay) = self.lock().take(Instant::now());
            match next {
                Some((event, port)) => self.call(event, port).await,
                None => {
                    tokio::select! {
                        () = changed => {}
                        () = sleep(delay) => {}
                    }
                }
            }
        }
    }

    async fn call(&self, event: Event, port: PortDocument) {
        let input = serde_json::to_vec(&Input { event, port: &port });
        let result = match input {
            Ok(input) => process::run(&self.settings, &input).await,
            Err(error) => Err(error.to_string()),
        };
        let id = port.interface_id;
        match &result {
            Ok(()) => tracing::info!(interface = id, event = ?event, "hook succeeded"),
            Err(reason) => tracing::warn!(interface = id, event = ?event, reason, "hook failed"),
        }
        let mut queue = self.lock();
        queue.end(event, port, result);
        if let Err(error) = self.folder.set_hooked_ports(&queue.done) {
            // After a restart, the agent may run the hook again.
            tracing::warn!(error = %error, "record of hooks not written");
        }
        drop(queue);
        self.changed.notify_waiters();
        self.ended.send_modify(|ended| *ended += 1);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// The next hook to run, which is then marked as running, or the time until one may be due.
    fn take(&mut self, now: Instant) -> (Option<(Event, PortDocument)>, Duration) {
        let mut delay = MAX_RETRY_DELAY;
        if !self.is_known {
            return (None, delay);
        }
        let removed = self.done.iter().filter(|(id, _)| !self.wanted.contains_key(id));
        let removed = removed.map(|(id, port)| (*id, Event::Removed, port));
        let wanted = self.wanted.iter().filter(|(id, _)| self.ready.contains(id));
        let wanted = wanted.filter_map(|(id, port)| match self.done.get(id) {
            None => Some((*id, Event::Added, port)),
            Some(done) if done != port => Some((*id, Event::Changed, port)),
            Some(_) => None,
        });
        let mut found = None;
        for (id, event, port) in removed.chain(wanted) {
            if self.running.contains(&id) {
                continue;
            }
            match self.failures.get(&id) {
                Some(failure) if failure.next_attempt > now => {
                    delay = delay.min(failure.next_attempt - now);
                }
                _ => {
                    found = Some((event, port.clone()));
                    break;
                }
            }
        }
        if let Some((_, port)) = &found {
            self.running.insert(port.interface_id);
        }
        (found, delay)
    }

    fn end(&mut self, event: Event, port: PortDocument, result: Result<(), String>) {
        let id = port.interface_id;
        self.running.remove(&id);
        match result {
            Ok(()) => {
                self.failures.remove(&id);
                match event {
                    Event::Added | Event::Changed => drop(self.done.insert(id, port)),
                    Event::Removed => drop(self.done.remove(&id)),
                }
            }
            Err(reason) => {
                let attempts = self
                    .failures
                    .get(&id)
                    .map_or(1, |failure| failure.attempts.saturating_add(1));
                let next_attempt = Instant::now() + retry_delay(attempts, MAX_RETRY_DELAY);
                let failure = Failure {
                    reason: format!("hook: {reason}"),
                    attempts,
                    next_attempt,
                };
                self.failures.insert(id, failure);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(id: i64, mtu: u16) -> PortDocument {
        PortDocument {
            interface_id: id,
            mtu,
            ..PortDocument::default()
        }
    }

    fn queue(ports: &[PortDocument]) -> Queue {
        let wanted: BTreeMap<_, _> = ports
            .iter()
            .map(|port| (port.interface_id, port.clone()))
            .collect();
        Queue {
            is_known: true,
            ready: wanted.keys().copied().collect(),
            wanted,
            ..Queue::default()
        }
    }

    fn taken(queue: &mut Queue) -> Option<(Event, i64)> {
        let (next, _) = queue.take(Instant::now());
        next.map(|(event, port)| (event, port.interface_id))
    }

    #[test]
    fn each_change_of_a_port_runs_one_hook() {
        let mut queue = queue(&[port(1, 1450)]);
        assert_eq!(taken(&mut queue), Some((Event::Added, 1)));
        assert_eq!(taken(&mut queue), None, "it is running");
        queue.end(Event::Added, port(1, 1450), Ok(()));
        assert_eq!(taken(&mut queue), None);
        queue.wanted.insert(1, port(1, 1400));
        assert_eq!(taken(&mut queue), Some((Event::Changed, 1)));
        queue.end(Event::Changed, port(1, 1400), Ok(()));
        queue.wanted.clear();
        assert_eq!(taken(&mut queue), Some((Event::Removed, 1)));
        queue.end(Event::Removed, port(1, 1400), Ok(()));
        assert_eq!(taken(&mut queue), None);
    }

    #[test]
    fn recorded_ports_are_not_removed_before_the_first_pass() {
        let mut queue = Queue {
            done: [(1, port(1, 1450))].into(),
            ..Queue::default()
        };
        assert_eq!(taken(&mut queue), None);
        queue.is_known = true;
        assert_eq!(taken(&mut queue), Some((Event::Removed, 1)));
    }

    #[test]
    fn a_port_that_the_kernel_lacks_has_no_hook() {
        let mut queue = queue(&[port(1, 1450)]);
        queue.ready.clear();
        assert_eq!(taken(&mut queue), None);
    }

    #[test]
    fn a_failed_hook_is_retried_later() {
        let mut queue = queue(&[port(1, 1450), port(2, 1450)]);
        assert_eq!(taken(&mut queue), Some((Event::Added, 1)));
        queue.end(Event::Added, port(1, 1450), Err("exit status 1".to_owned()));
        assert_eq!(
            taken(&mut queue),
            Some((Event::Added, 2)),
            "other ports do not wait"
        );
        let (next, delay) = queue.take(Instant::now());
        assert!(next.is_none() && delay <= Duration::from_secs(1), "{delay:?}");
        let later = Instant::now() + Duration::from_secs(2);
        assert!(queue.take(later).0.is_some());
        queue.end(Event::Added, port(1, 1450), Err("exit status 1".to_owned()));
        let (_, delay) = queue.take(Instant::now());
        assert!(delay > Duration::from_millis(900), "{delay:?}");
    }

    #[test]
    fn a_port_that_goes_during_its_hook_is_removed_afterward() {
        let mut queue = queue(&[port(1, 1450)]);
        assert_eq!(taken(&mut queue), Some((Event::Added, 1)));
        queue.wanted.clear();
        assert_eq!(taken(&mut queue), None);
        queue.end(Event::Added, port(1, 1450), Ok(()));
        assert_eq!(taken(&mut queue), Some((Event::Removed, 1)));
    }
}
