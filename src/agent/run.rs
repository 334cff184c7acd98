//! The loop of the agent: applies a new desired state immediately, and repairs drift at an interval.
//!
//! Failures are retried with back-off. The kernel keeps the last state while the agent does not run.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::dhcp::DhcpServers;
use super::folder_watch::FolderWatch;
use super::hook::{Hooks, documents};
use super::reconcile::Agent;
use super::restored_ports::RestoredPorts;
use super::retry_delay::retry_delay;
use super::router_advertisement::RouterAdvertisers;
use super::server_link::FirstAnswer;
use super::state_folder::StateFolder;
use crate::agent_protocol::{HostState, HostWarning, PortReport, PortStatus, StatusReport};

/// How often the agent checks whether a pass is due.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How often the agent reads the desired state, if nothing has notified it.
const READ_INTERVAL: Duration = Duration::from_secs(2);

/// How long the agent waits for the state of the server before it uses the stored one, which may be old.
const FIRST_STATE_TIMEOUT: Duration = Duration::from_secs(3);

/// Runs until `stop` is ready. Leaves the kernel as it is. `reports` gets the report of each pass. `first_answer` is
/// `None` without a server.
pub async fn run(
    agent: Agent,
    folder: Arc<StateFolder>,
    hooks: Option<Arc<Hooks>>,
    resync: Duration,
    first_answer: Option<watch::Receiver<FirstAnswer>>,
    reports: watch::Sender<StatusReport>,
    stop: impl Future<Output = ()>,
) {
    tokio::pin!(stop);
    let passes = Arc::new(Passes {
        agent,
        folder,
        hooks: hooks.clone(),
        services: Mutex::default(),
        warned: Mutex::default(),
        restored: RestoredPorts::new(first_answer.clone()),
    });
    tokio::select! {
        () = &mut stop => return,
        () = wait_for_server(first_answer, || passes.clone().log_remains()) => {}
    }
    let running_hooks = hooks.map(|hooks| tokio::spawn(hooks.run()));
    follow(passes, resync, reports, stop).await;
    if let Some(task) = running_hooks {
        task.abort();
    }
}

/// Waits until the server has sent the current state. After a power loss, instances of the stored state can run on other
/// hosts. If the server does not respond in time, the stored state is used. If it refuses the host, nothing is restored:
/// other hosts run its instances.
async fn wait_for_server<F: Future<Output = ()>>(
    answer: Option<watch::Receiver<FirstAnswer>>,
    on_refusal: impl FnOnce() -> F,
) {
    let Some(mut answer) = answer else {
        return;
    };
    let is_known = |answer: &FirstAnswer| *answer != FirstAnswer::None;
    let Ok(known) = timeout(FIRST_STATE_TIMEOUT, answer.wait_for(is_known)).await else {
        tracing::warn!("no state of the server in time: the stored state is used");
        return;
    };
    if known.is_ok_and(|answer| *answer == FirstAnswer::Refusal) {
        tracing::error!("the stored state is not used, because the server refuses this host");
        on_refusal().await;
        // An error means that the connection to the server has ended, and the agent ends, too.
        let _ = answer.wait_for(|answer| *answer == FirstAnswer::State).await;
    }
}

/// Runs a pass for each new desired state, after each hook, and at an interval.
async fn follow(
    passes: Arc<Passes>,
    resync: Duration,
    reports: watch::Sender<StatusReport>,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) {
    let mut ended_hooks = passes.hooks.as_ref().map(|hooks| hooks.ended());
    let mut applied: Option<Arc<HostState>> = None;
    let mut next_pass = Instant::now();
    let mut failed_passes = 0;
    let watch = FolderWatch::new(passes.folder.path());
    let mut stored: Option<Arc<HostState>> = None;
    let mut next_read = Instant::now();
    let mut was_refused = false;
    loop {
        let is_refused = passes.folder.is_refused();
        if Instant::now() >= next_read {
            next_read = Instant::now() + READ_INTERVAL;
            let read = passes.folder.desired().unwrap_or_else(|error| {
                tracing::error!(error = %error, "desired state not read");
                None
            });
            stored = read.map(Arc::new);
        }
        let desired = stored
            .clone()
            .map(|state| passes.restored.remove_if_refused(state));
        let hook_ended = ended_hooks.as_mut().is_some_and(|ended| {
            let changed = ended.has_changed().unwrap_or_default();
            ended.mark_unchanged();
            changed
        });
        let sessions_changed = match &desired {
            Some(state) => passes.clone().have_sessions_changed(state.clone()).await,
            None => false,
        };
        if let Some(state) = &desired
            && (applied.as_ref() != Some(state)
                || hook_ended
                || sessions_changed
                || Instant::now() >= next_pass)
        {
            let report = passes.clone().run(state.clone()).await;
            let ok = report.as_ref().is_some_and(is_as_desired);
            if let Some(report) = report {
                reports.send_replace(report);
            }
            failed_passes = if ok { 0 } else { failed_passes + 1 };
            applied = Some(state.clone());
            next_pass = Instant::now()
                + if ok {
                    resync
                } else {
                    retry_delay(failed_passes, resync)
                };
        }
        // After the pass, which has removed the ports that were restored without the server.
        if is_refused && !was_refused {
            passes.clone().log_remains().await;
        }
        was_refused = is_refused;
        tokio::select! {
            () = &mut stop => return,
            () = watch.changed() => next_read = Instant::now(),
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
    fn update(&mut self, agent: &Agent, state: &HostState) -> Vec<HostWarning> {
        let mut failures = self.dhcp.update(&agent.options.prefix, state);
        failures.extend(self.router_advertisers.update(&agent.options.prefix, state));
        failures
    }
}

/// What a pass needs.
struct Passes {
    agent: Agent,
    folder: Arc<StateFolder>,
    hooks: Option<Arc<Hooks>>,
    services: Mutex<Services>,
    /// The warnings of the last report, which are in the log.
    warned: Mutex<BTreeSet<HostWarning>>,
    restored: RestoredPorts,
}

impl Passes {
    /// Reads the sessions of encrypted tunnels on a thread for blocking work: the kernel's need a process.
    async fn have_sessions_changed(self: Arc<Self>, state: Arc<HostState>) -> bool {
        if state.underlay.encryption.is_none() {
            return false;
        }
        let work = move || self.agent.tunnels.have_sessions_changed(&state);
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    }

    /// Runs one pass on a thread for blocking work. Returns its report; `None` if the thread panicked.
    async fn run(self: Arc<Self>, state: Arc<HostState>) -> Option<StatusReport> {
        let work = move || {
            let report = self.reconcile(&state);
            self.log_warnings(&report);
            let written = serde_json::to_vec_pretty(&report)
                .map_err(Into::into)
                .and_then(|text| self.folder.set_status(&text));
            if let Err(error) = written {
                tracing::warn!(error = %error, "status not written");
            }
            report
        };
        tokio::task::spawn_blocking(work).await.ok()
    }

    /// Logs what remains on the host, because the server refuses it.
    async fn log_remains(self: Arc<Self>) {
        let work = move || self.agent.remains(&self.folder).log();
        // An error means that the thread has panicked, which is in the log.
        let _ = tokio::task::spawn_blocking(work).await;
    }

    /// Logs the warnings that the report before did not have.
    fn log_warnings(&self, report: &StatusReport) {
        let current: BTreeSet<HostWarning> = report.warnings.iter().cloned().collect();
        if let Ok(mut warned) = self.warned.lock() {
            for warning in current.difference(&warned) {
                tracing::warn!(warning = warning.text, "problem of the host");
            }
            *warned = current;
        }
    }

    fn reconcile(&self, state: &HostState) -> StatusReport {
        let pass = match self.agent.reconcile(state) {
            Ok(pass) => pass,
            Err(error) => {
                tracing::error!(error, "pass failed");
                return self.agent.failed_report(state, &error);
            }
        };
        if pass.steps > 0 {
            tracing::info!(steps = pass.steps, revision = state.revision, "kernel changed");
        }
        self.restored.add(&pass.created_ports);
        let mut report = pass.report;
        if let Ok(mut services) = self.services.lock() {
            report.warnings.extend(services.update(&self.agent, state));
        }
        if let Some(hooks) = &self.hooks {
            let wanted = documents(state, &self.agent.options);
            let is_up = |port: &&PortReport| port.status == PortStatus::Up;
            let ready = report.ports.iter().filter(is_up);
            let ready = ready.map(|port| port.interface_id).collect();
            hooks.update(wanted, ready, &pass.created_ports);
            add_problems(&mut report, hooks);
        }
        report
    }
}

/// A port is up only if its hook has succeeded.
fn add_problems(report: &mut StatusReport, hooks: &Hooks) {
    for port in &mut report.ports {
        if port.status == PortStatus::Up
            && let Some(reason) = hooks.problem_of(port.interface_id)
        {
            port.status = PortStatus::Error;
            port.reason = Some(reason);
        }
    }
    report.warnings.extend(hooks.problems_of_removed());
}

fn is_as_desired(report: &StatusReport) -> bool {
    report.warnings.is_empty() && report.ports.iter().all(|port| port.status == PortStatus::Up)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_stored_state_is_used_only_if_the_server_sends_none_in_time() {
        let begun = Instant::now();
        wait_for_server(None, async || ()).await;
        assert_eq!(begun.elapsed(), Duration::ZERO, "there is no server");

        let (sender, received) = watch::channel(FirstAnswer::None);
        wait_for_server(Some(received.clone()), async || ()).await;
        assert_eq!(begun.elapsed(), FIRST_STATE_TIMEOUT, "the server is silent");

        let begun = Instant::now();
        tokio::spawn(async move {
            sleep(Duration::from_secs(1)).await;
            sender.send_replace(FirstAnswer::State);
            std::future::pending::<()>().await;
        });
        wait_for_server(Some(received), async || ()).await;
        assert_eq!(begun.elapsed(), Duration::from_secs(1));

        let begun = Instant::now();
        let (sender, received) = watch::channel(FirstAnswer::Refusal);
        tokio::spawn(async move {
            sleep(Duration::from_secs(60)).await;
            sender.send_replace(FirstAnswer::State);
            std::future::pending::<()>().await;
        });
        let mut refusals = 0;
        wait_for_server(Some(received), async || refusals += 1).await;
        assert_eq!(refusals, 1);
        assert_eq!(
            begun.elapsed(),
            Duration::from_secs(60),
            "the server refuses the host"
        );
    }
}
