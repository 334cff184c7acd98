//! The loop of the agent: applies a new desired state immediately, and repairs drift at an interval.
//!
//! Failures are retried with back-off. The kernel keeps the last state while the agent does not run.

use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::dhcp::DhcpServers;
use super::reconcile::Agent;
use super::router_advertisement::RouterAdvertisers;
use super::state_folder::StateFolder;
use crate::agent_protocol::{HostState, PortStatus, StatusReport};

/// How often the agent looks for a new desired state.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The delay of the first retry. It doubles up to the resynchronization interval.
const FIRST_RETRY_DELAY: Duration = Duration::from_secs(1);

/// Runs until `stop` is ready. Leaves the kernel as it is. `reports` gets the report of each pass.
pub async fn run(
    agent: Agent,
    folder: Arc<StateFolder>,
    resync: Duration,
    reports: watch::Sender<StatusReport>,
    stop: impl Future<Output = ()>,
) {
    let agent = Arc::new(agent);
    let services = Arc::new(Mutex::new(Services::default()));
    tokio::pin!(stop);
    let mut applied: Option<HostState> = None;
    let mut next_pass = Instant::now();
    let mut failed_passes = 0;
    loop {
        let state = match folder.desired() {
            Ok(state) => state,
            Err(error) => {
                tracing::error!(error = %error, "desired state not read");
                None
            }
        };
        if let Some(state) = state
            && (applied.as_ref() != Some(&state) || Instant::now() >= next_pass)
        {
            let report = pass(&agent, &folder, &services, state.clone()).await;
            let ok = report.as_ref().is_some_and(is_as_desired);
            if let Some(report) = report {
                reports.send_replace(report);
            }
            failed_passes = if ok { 0 } else { failed_passes + 1 };
            applied = Some(state);
            next_pass = Instant::now()
                + if ok {
                    resync
                } else {
                    retry_delay(failed_passes, resync)
                };
        }
        tokio::select! {
            () = &mut stop => return,
            () = sleep(POLL_INTERVAL) => {}
        }
    }
}

/// The services for the instances of a host.
#[derive(Default)]
struct Services {
    dhcp: DhcpServers,
    router_advertisers: RouterAdvertisers,
}

impl Services {
    /// Makes the services match the state. Returns those that do not work, with the reason.
    fn update(&mut self, agent: &Agent, state: &HostState) -> Vec<String> {
        let mut failures = self.dhcp.update(&agent.prefix, state);
        failures.extend(self.router_advertisers.update(&agent.prefix, state));
        failures
    }
}

/// Runs one pass on a thread for blocking work. Returns its report; `None` if the kernel could not be read.
async fn pass(
    agent: &Arc<Agent>,
    folder: &Arc<StateFolder>,
    services: &Arc<Mutex<Services>>,
    state: HostState,
) -> Option<StatusReport> {
    let (agent, folder, services) = (agent.clone(), folder.clone(), services.clone());
    let work = move || {
        let (steps, mut report) = match agent.reconcile(&state) {
            Ok(done) => done,
            Err(error) => {
                tracing::error!(error, "pass failed");
                return None;
            }
        };
        if steps > 0 {
            tracing::info!(steps, revision = state.revision, "kernel changed");
        }
        if let Ok(mut services) = services.lock() {
            report.warnings.extend(services.update(&agent, &state));
        }
        let written = serde_json::to_vec_pretty(&report)
            .map_err(Into::into)
            .and_then(|text| folder.set_status(&text));
        if let Err(error) = written {
            tracing::warn!(error = %error, "status not written");
        }
        Some(report)
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}

fn is_as_desired(report: &StatusReport) -> bool {
    report.warnings.is_empty() && report.ports.iter().all(|port| port.status == PortStatus::Up)
}

/// The delay after some failed attempts in a row, between 50 and 100 % of its nominal value.
pub fn retry_delay(failed_attempts: u32, longest: Duration) -> Duration {
    let nominal = FIRST_RETRY_DELAY
        .saturating_mul(1 << failed_attempts.saturating_sub(1).min(16))
        .min(longest);
    jittered(nominal)
}

/// Between 50 and 100 % of a duration.
pub fn jittered(nominal: Duration) -> Duration {
    // The keys of the standard hasher are random.
    let percent = 50 + u32::try_from(RandomState::new().hash_one(()) % 51).unwrap_or_default();
    nominal * percent / 100
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_delayed_longer_up_to_the_interval() {
        let longest = Duration::from_secs(10);
        for failed in 1..40 {
            let nominal = Duration::from_secs(1 << (failed - 1).min(16)).min(longest);
            let delay = retry_delay(failed, longest);
            assert!(delay >= nominal / 2 && delay <= nominal, "{failed}: {delay:?}");
        }
    }
}
