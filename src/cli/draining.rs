//! `garth host drain`: the progress of a host that is drained, and its result.

use std::time::Duration;

use anyhow::ensure;

use super::host::{find, print_host};
use super::output::Output;
use super::store_args::OpenStore;
use crate::model::host::{AgentStatus, Host};
use crate::model::id::InstanceId;
use crate::model::time::Time;
use crate::rules::drain::{self, Progress};

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// After this time without progress, a hint is printed.
const STALLED_SECONDS: u32 = 15;

/// What becomes of the instances of a host while no other host is usable.
pub fn meanwhile(host: &Host, now: Time) -> &'static str {
    match host.agent_status(now) {
        AgentStatus::Online => "The instances remain and continue to run until another host is usable",
        _ => "The instances remain on this host, which does not report, until another host is usable",
    }
}

/// Waits until the instances of a host run elsewhere. Prints the progress to standard error whenever it changes.
pub async fn wait(
    output: Output,
    store: &OpenStore,
    mut host: Host,
    instances: Vec<InstanceId>,
) -> anyhow::Result<()> {
    let (name, total) = (host.id.to_string(), instances.len());
    let mut shown = None;
    let mut seconds_without_progress = 0;
    let mut progress = read(store, &host, &instances).await?;
    while host.is_draining && !progress.is_over() {
        seconds_without_progress += 1;
        if shown != Some(progress.running) {
            seconds_without_progress = 0;
            output.hint(&format!(
                "{} of {total} instances run on other hosts",
                progress.running
            ))?;
            shown = Some(progress.running);
        }
        if seconds_without_progress == STALLED_SECONDS {
            let obstacle = match progress.remaining {
                0 => None,
                _ => obstacle(store, &host).await?,
            };
            output.hint(obstacle.as_deref().unwrap_or(match progress.remaining {
                0 => "the new hosts have not reported the instances yet; they have two minutes to start",
                _ => "no instance has moved for a while: see the log of the server",
            }))?;
        }
        tokio::time::sleep(POLL_INTERVAL).await;
        host = find(store, &name).await?;
        progress = read(store, &host, &instances).await?;
    }
    print_host(output, store, &host)?;
    ensure!(
        !host.is_draining || progress.offline.is_empty(),
        "these instances do not run: {}. The log of the server has the reasons",
        progress.offline.join(", ")
    );
    Ok(())
}

async fn obstacle(store: &OpenStore, host: &Host) -> anyhow::Result<Option<String>> {
    let host = host.clone();
    store.read(move |tx| drain::obstacle(tx, &host)).await
}

async fn read(store: &OpenStore, host: &Host, instances: &[InstanceId]) -> anyhow::Result<Progress> {
    let (id, instances) = (host.id, instances.to_vec());
    store.read(move |tx| drain::progress(tx, id, &instances)).await
}
