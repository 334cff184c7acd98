//! Prometheus metrics, on a separate listener so that they are not exposed with the API.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use metrics::{Counter, Histogram, counter, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// Upper bounds of the histogram buckets for durations, in seconds.
const DURATION_BUCKETS: [f64; 12] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0,
];
/// The interval at which recorded samples are added to their buckets.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);
/// Upper bounds of the histogram buckets for the number of writes per commit.
const BATCH_BUCKETS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Installs the recorder, and serves `/metrics` until `stop` becomes true.
pub async fn serve(listener: TcpListener, mut stop: watch::Receiver<bool>) -> anyhow::Result<()> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &DURATION_BUCKETS)?
        .set_buckets_for_metric(Matcher::Suffix("_jobs".to_owned()), &BATCH_BUCKETS)?;
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder)?;
    describe();
    register_counters();
    tokio::spawn(run_upkeep(handle.clone(), stop.clone()));
    let router = Router::new().route("/metrics", get(move || std::future::ready(handle.render())));
    tokio::spawn(async move {
        let stopped = async move {
            let _ = stop.wait_for(|stop| *stop).await;
        };
        let served = axum::serve(listener, router)
            .with_graceful_shutdown(stopped)
            .await;
        if let Err(cause) = served {
            tracing::error!(error = %cause, "metrics listener failed");
        }
    });
    Ok(())
}

/// Adds recorded samples to their buckets. A scrape also does this, but without scrapes all samples would remain in
/// memory.
async fn run_upkeep(handle: PrometheusHandle, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            _ = tokio::time::sleep(UPKEEP_INTERVAL) => handle.run_upkeep(),
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

/// Records a response.
pub fn count(operation: &'static str, status: u16, duration: Duration) {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(metrics) = registered.get(&(operation, status)) {
        return metrics.record(duration);
    }
    drop(registered);
    let metrics = RequestMetrics::new(operation, status);
    metrics.record(duration);
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.insert((operation, status), metrics);
}

/// The metrics by operation and status. A lookup in the recorder is slower than recording, so the handles are cached.
/// The recorder must be installed before the first request.
static REGISTERED: LazyLock<RwLock<HashMap<(&str, u16), RequestMetrics>>> = LazyLock::new(Default::default);

struct RequestMetrics {
    requests: Counter,
    seconds: Histogram,
}

impl RequestMetrics {
    fn new(operation: &'static str, status: u16) -> Self {
        let status = status.to_string();
        Self {
            requests: counter!("garth_http_requests_total", "operation" => operation, "status" => status),
            seconds: histogram!("garth_http_request_seconds", "operation" => operation),
        }
    }

    fn record(&self, duration: Duration) {
        self.requests.increment(1);
        self.seconds.record(duration);
    }
}

fn describe() {
    metrics::describe_counter!(
        "garth_http_requests_total",
        "HTTP responses, by operation and status."
    );
    metrics::describe_histogram!(
        "garth_http_request_seconds",
        "Duration of HTTP requests in seconds, by operation."
    );
    metrics::describe_gauge!("garth_connections", "Open client connections.");
    metrics::describe_counter!(
        "garth_connections_refused_total",
        "Client connections refused because of limits.connections or limits.connections_per_address."
    );
    metrics::describe_gauge!(
        "garth_response_memory_bytes",
        "Size in bytes of responses that clients have not read yet."
    );
    metrics::describe_counter!(
        "garth_attachments_damaged_total",
        "Reads of attachments, by downloads and the scrub, that found the file missing or different from its hash."
    );
    metrics::describe_counter!(
        "garth_attachments_scrubbed_total",
        "Attachments verified by the scrub of this node."
    );
    metrics::describe_gauge!(
        "garth_attachments_damaged",
        "Attachments that were missing or different from their hash when last read."
    );
    metrics::describe_counter!(
        "garth_attachment_scans_failed_total",
        "Scans of attachments that returned no verdict, because the scanner failed or timed out."
    );
    metrics::describe_gauge!(
        "garth_desk_waiting_tickets",
        "Open tickets whose last message is from the customer."
    );
    metrics::describe_gauge!(
        "garth_desk_oldest_waiting_seconds",
        "Age in seconds of the oldest customer's message that has no answer; 0 if there is none."
    );
    metrics::describe_counter!(
        "garth_mail_received_total",
        "Messages that arrived by mail, by outcome and reason. All nodes report the same number."
    );
    metrics::describe_gauge!(
        "garth_tls_certificate_expiry_timestamp_seconds",
        "Time at which the server's certificate expires, in seconds since 1970."
    );
    metrics::describe_gauge!(
        "garth_store_check_failed",
        "Whether the last check of the embedded database found damage (1) or not (0)."
    );
    metrics::describe_gauge!(
        "garth_jobs_due",
        "Background jobs that are due but not running, by kind."
    );
    metrics::describe_gauge!(
        "garth_jobs_running",
        "Background jobs running on this node, by kind."
    );
    metrics::describe_gauge!(
        "garth_jobs_dead",
        "Background jobs that failed 10 times and are not retried, by kind."
    );
    metrics::describe_counter!(
        "garth_jobs_completed_total",
        "Background jobs completed by this node, by kind."
    );
    metrics::describe_counter!(
        "garth_jobs_retried_total",
        "Failed runs of background jobs on this node that are retried, by kind."
    );
    metrics::describe_gauge!(
        "garth_ready",
        "Whether a check of /readyz passes (1) or fails (0), by check."
    );
    metrics::describe_gauge!("garth_disk_free_bytes", "Free disk space in bytes, by folder.");
    metrics::describe_histogram!(
        "garth_store_writer_wait_seconds",
        "Duration of an empty write to the store, in seconds, measured by the readiness check."
    );
    metrics::describe_histogram!(
        "garth_store_flush_seconds",
        "Duration of commits to the embedded database, in seconds."
    );
    metrics::describe_histogram!(
        "garth_store_batch_jobs",
        "Number of writes per commit of the embedded database."
    );
    metrics::describe_counter!(
        "garth_store_retries_total",
        "Attempts of PostgreSQL transactions that failed because of a conflict with another transaction."
    );
}

/// Registers the counters without labels, with the value 0, so that they exist before the first increment.
fn register_counters() {
    for name in [
        "garth_connections_refused_total",
        "garth_attachments_damaged_total",
        "garth_attachment_scans_failed_total",
        "garth_store_retries_total",
    ] {
        counter!(name).absolute(0);
    }
}
