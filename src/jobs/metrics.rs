//! Figures about jobs and attachments that are the same on every node, read from the store now and then.

use std::time::Duration;

use metrics::gauge;
use tokio::sync::watch;

use crate::model::job::JobKind;
use crate::rules::{jobs, scrub};
use crate::store::Store;

const INTERVAL: Duration = Duration::from_secs(15);

/// Refreshes the figures until `stop` becomes true.
pub async fn refresh(store: Store, mut stop: watch::Receiver<bool>) {
    loop {
        count_jobs(&store).await;
        count_damaged(&store).await;
        tokio::select! {
            () = tokio::time::sleep(INTERVAL) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
    }
}

async fn count_jobs(store: &Store) {
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

/// How many attachments are known to be damaged.
pub async fn count_damaged(store: &Store) {
    if let Ok(damaged) = store.read(scrub::count_damaged).await {
        gauge!("garth_attachments_damaged").set(damaged as f64);
    }
}
