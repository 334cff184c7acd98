//! Control of a server by the tests of its clients: `garth serve --test-control` and `--chaos` (decision 0035).
//!
//! The operations under `/_test` reset the store, restore snapshots, set the clock, inject faults, list the requests
//! and change settings. A server without these options has none of this code in its path. `chaos.rs` chooses random
//! faults, and `interception.rs` applies the faults to requests.

mod changed_settings;
mod chaos;
mod control;
mod fault_path;
mod faults;
mod input;
mod interception;
mod interruptible_body;
mod locality;
mod operations;
mod random_fraction;
mod request_log;
mod restart;
mod snapshots;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::Response;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use changed_settings::ChangedSettings;
pub use changed_settings::PolicyChange;
pub use chaos::{Chaos, ChaosLevel};
use control::Control;
use restart::RestartableServer;
use snapshots::Snapshots;

use crate::jobs::{JobContext, Runner};
use crate::rules;
use crate::store::table_snapshot::TableSnapshot;
use crate::web::{Options, error};

/// The parts of a server with test control or chaos.
pub struct Setup {
    pub jobs: JobContext,
    pub options: Options,
    pub chaos: Option<Chaos>,
    /// The rows of a store that no server has used. `None` if the server does not have the operations under `/_test`.
    pub empty: Option<TableSnapshot>,
    pub change_policy: PolicyChange,
}

/// Starts a server whose requests go through test control. Returns its router, and a task that ends after the jobs of
/// the server have stopped.
pub async fn start(
    setup: Setup,
    runner: Arc<Runner>,
    stopping: watch::Receiver<bool>,
) -> rules::Result<(Router, JoinHandle<()>)> {
    let has_control = setup.empty.is_some();
    let snapshots = Snapshots::start(&setup.jobs.store, setup.empty).await?;
    let server = RestartableServer::start(setup.jobs, setup.options, runner);
    let settings = ChangedSettings::new(setup.change_policy);
    let control = Control::new(server, snapshots, settings, setup.chaos);
    let stopped = tokio::spawn(stop_with(control.clone(), stopping));
    Ok((router(control, has_control), stopped))
}

async fn stop_with(control: Control, mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
    control.server().stop().await;
}

fn router(control: Control, has_control: bool) -> Router {
    let router = match has_control {
        true => operations::router()
            .layer(middleware::from_fn(input::format_refusals))
            .layer(middleware::from_fn(locality::refuse_others)),
        false => Router::new(),
    };
    router
        .fallback(interception::handle)
        .layer(middleware::from_fn(run_to_completion))
        .with_state(control)
}

/// Runs a request to its end, even if its client disconnects. So a restore is complete, and no write of an earlier
/// request follows it.
async fn run_to_completion(request: Request, next: Next) -> Response {
    let task = tokio::spawn(next.run(request));
    task.await.unwrap_or_else(|_| error::internal())
}
