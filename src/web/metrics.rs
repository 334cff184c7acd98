//! Figures for Prometheus, on a listener of their own so that they are not public by accident.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use metrics::{Counter, Histogram, counter, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Upper bounds of the buckets of request times, in seconds.
const SECONDS: [f64; 12] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0,
];
/// How often samples are folded into their buckets.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);
const JOBS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Starts collecting, and serves what is collected at `/metrics` until `stop` becomes true.
pub async fn serve(listener: TcpListener, mut stop: watch::Receiver<bool>) -> anyhow::Result<()> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_jobs".to_owned()), &JOBS)?;
    let recorder = builder.build_recorder();
    let figures = recorder.handle();
    metrics::set_global_recorder(recorder)?;
    describe();
    tokio::spawn(run_upkeep(figures.clone(), stop.clone()));
    let router = Router::new().route("/metrics", get(move || std::future::ready(figures.render())));
    tokio::spawn(async move {
        let stopped = async move {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        let served = axum::serve(listener, router)
            .with_graceful_shutdown(stopped)
            .await;
        if let Err(cause) = served {
            tracing::error!(%cause, "the metrics listener failed");
        }
    });
    Ok(())
}

/// Folds recorded samples into their buckets. Rendering does that too, but without a scraper nothing renders, and each
/// request would keep a sample in memory.
async fn run_upkeep(figures: PrometheusHandle, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = tokio::time::sleep(UPKEEP_INTERVAL) => figures.run_upkeep(),
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

/// Counts a request that was answered.
pub fn count(operation: &'static str, status: u16, took: Duration) {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(figures) = known.get(&(operation, status)) {
        return figures.count(took);
    }
    drop(known);
    let figures = Figures::new(operation, status);
    figures.count(took);
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.insert((operation, status), figures);
}

/// What is counted of an operation's answers with one status. Naming these takes longer than counting does, so what
/// has a name is kept. Collecting has to begin before the first request.
static KNOWN: LazyLock<RwLock<HashMap<(&str, u16), Figures>>> = LazyLock::new(Default::default);

struct Figures {
    requests: Counter,
    seconds: Histogram,
}

impl Figures {
    fn new(operation: &'static str, status: u16) -> Self {
        let status = status.to_string();
        Self {
            requests: counter!("garth_http_requests_total", "operation" => operation, "status" => status),
            seconds: histogram!("garth_http_request_seconds", "operation" => operation),
        }
    }

    fn count(&self, took: Duration) {
        self.requests.increment(1);
        self.seconds.record(took);
    }
}

fn describe() {
    metrics::describe_counter!(
        "garth_http_requests_total",
        "Requests answered, by operation and status."
    );
    metrics::describe_histogram!(
        "garth_http_request_seconds",
        "Time to answer a request, by operation."
    );
    metrics::describe_gauge!("garth_connections", "Connections that are open.");
    metrics::describe_counter!(
        "garth_connections_refused_total",
        "Connections closed at once because there were too many, in total or from one address."
    );
    metrics::describe_gauge!(
        "garth_answer_memory_bytes",
        "Bytes of responses that clients have not read yet."
    );
    metrics::describe_counter!(
        "garth_attachments_damaged_total",
        "Times an attachment was found missing or different from its hash."
    );
    metrics::describe_counter!(
        "garth_attachments_scrubbed_total",
        "Attachments read by the scrub and compared with their hashes."
    );
    metrics::describe_gauge!(
        "garth_attachments_damaged",
        "Attachments that were missing or different from their hash when last read."
    );
    metrics::describe_gauge!(
        "garth_store_check_failed",
        "1 if the last check of the embedded database found damage, else 0."
    );
    metrics::describe_gauge!(
        "garth_jobs_due",
        "Background jobs that could run now and that no node runs, by kind."
    );
    metrics::describe_gauge!(
        "garth_jobs_running",
        "Background jobs that this node runs, by kind."
    );
    metrics::describe_gauge!(
        "garth_jobs_dead",
        "Background jobs that failed too often and are not run again, by kind."
    );
    metrics::describe_counter!(
        "garth_jobs_completed_total",
        "Background jobs that this node completed, by kind."
    );
    metrics::describe_counter!(
        "garth_jobs_retried_total",
        "Runs of background jobs on this node that failed and are retried, by kind."
    );
    metrics::describe_gauge!("garth_ready", "1 if a check of /readyz is ok, else 0, by check.");
    metrics::describe_gauge!(
        "garth_disk_free_bytes",
        "Free bytes of the disks that are written to, by folder."
    );
    metrics::describe_histogram!(
        "garth_store_writer_wait_seconds",
        "Time that a write without changes waits for the writer."
    );
    metrics::describe_histogram!(
        "garth_store_flush_seconds",
        "Time to commit a batch to disk, in the embedded store."
    );
    metrics::describe_histogram!("garth_store_batch_jobs", "Writes that shared one commit.");
}
