//! Metrics of jobs, attachments, the desk and its mail. This module reads the numbers of due jobs, dead jobs, damaged
//! attachments, waiting tickets and received messages from the store periodically, so every node reports the same
//! numbers.

use std::time::Duration;

use metrics::{counter, gauge};
use tokio::sync::watch;

use crate::model::job::JobKind;
use crate::rules::{attachment_checks, desk, jobs, mail_counts};
use crate::store::Store;

const REFRESH_INTERVAL: Duration = Duration::from_secs(15);

/// Sets the counters of this node to 0, so that monitoring can compute a rate from the first increment.
pub fn register_counters() {
    for kind in JobKind::ALL {
        counter!("garth_jobs_completed_total", "kind" => kind.word()).absolute(0);
        counter!("garth_jobs_retried_total", "kind" => kind.word()).absolute(0);
        gauge!("garth_jobs_running", "kind" => kind.word()).set(0.0);
    }
    counter!("garth_attachments_scrubbed_total").absolute(0);
}

/// Updates the gauges until `stop` becomes true.
pub async fn refresh(store: Store, mut stop: watch::Receiver<bool>) {
    loop {
        update_jobs(&store).await;
        update_damaged(&store).await;
        update_desk(&store).await;
        update_mail(&store).await;
        tokio::select! {
            () = tokio::time::sleep(REFRESH_INTERVAL) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

async fn update_jobs(store: &Store) {
    let Ok(counts) = store.read(jobs::count).await else {
        return;
    };
    for kind in JobKind::ALL {
        let count = counts.iter().find(|count| count.kind == kind.word());
        let (due, dead) = count.map_or((0, 0), |count| (count.due, count.dead));
        gauge!("garth_jobs_due", "kind" => kind.word()).set(due as f64);
        gauge!("garth_jobs_dead", "kind" => kind.word()).set(dead as f64);
    }
}

/// Updates the gauge of damaged attachments.
pub async fn update_damaged(store: &Store) {
    if let Ok(damaged) = store.read(attachment_checks::count_damaged).await {
        gauge!("garth_attachments_damaged").set(damaged as f64);
    }
}

/// Updates the gauges of the tickets that wait for staff.
async fn update_desk(store: &Store) {
    let Ok(waiting) = store.read(desk::waiting).await else {
        return;
    };
    let now = store.context().clock.now();
    let age_micros = waiting.oldest.map_or(0, |oldest| now.micros() - oldest.micros());
    gauge!("garth_desk_waiting_tickets").set(waiting.count as f64);
    gauge!("garth_desk_oldest_waiting_seconds").set(age_micros.max(0) as f64 / 1e6);
}

/// Updates the counters of received messages. `garth mail receive` counts in the store, too.
async fn update_mail(store: &Store) {
    let Ok(counts) = store.read(mail_counts::list).await else {
        return;
    };
    for count in counts {
        let messages = u64::try_from(count.messages).unwrap_or_default();
        counter!("garth_mail_received_total", "outcome" => count.outcome.word(), "reason" => count.reason)
            .absolute(messages);
    }
}
