//! Logs and counts the connections that the server refuses because too many are open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::web::connections::Limit;
use crate::web::ongoing_condition::OngoingCondition;

/// The interval at which to check whether the refusals have ended.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// For each limit, whether the server is refusing connections because of it. Clones share this state.
#[derive(Clone, Default)]
pub struct Refusals(Arc<[Mutex<OngoingCondition>; 2]>);

impl Refusals {
    /// Counts a refusal, and logs it unless another refusal was logged recently.
    pub fn record(&self, limit: Limit) {
        metrics::counter!("garth_connections_refused_total").increment(1);
        let Some(summary) = self.condition(limit).occur(Instant::now()) else {
            return;
        };
        tracing::warn!(
            limit = limit.setting(),
            refused = summary.count,
            "connections refused"
        );
        if summary.count == 1 {
            tokio::spawn(self.clone().log_end(limit));
        }
    }

    async fn log_end(self, limit: Limit) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let ended = self.condition(limit).end_when_quiet(Instant::now());
            if let Some(summary) = ended {
                tracing::info!(
                    limit = limit.setting(),
                    refused = summary.count,
                    seconds = summary.seconds(),
                    "connections no longer refused"
                );
                return;
            }
        }
    }

    fn condition(&self, limit: Limit) -> MutexGuard<'_, OngoingCondition> {
        self.0[limit as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
