//! Detects stalled responses on a multiplexed connection (HTTP/2).
//!
//! An HTTP/2 client can stop reading one response while the connection itself makes progress, so no write
//! ever blocks (compare `write_stall.rs`). Each response is therefore tracked: taking or sending one of its
//! pieces counts as progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body_util::BodyExt;
use tokio::time::Instant;

use crate::web::write_stall::MAX_STALL;

/// The responses that a connection is sending.
#[derive(Default)]
pub struct Sending(Mutex<Vec<Weak<Progress>>>);

/// The time of the last progress, in milliseconds since [`STARTED`].
struct Progress(AtomicU64);

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now() -> u64 {
    u64::try_from(STARTED.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Sending {
    /// Tracks a response until its last piece is sent.
    pub fn watch(&self, response: Response) -> Response {
        let progress = Arc::new(Progress(AtomicU64::new(now())));
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answers.retain(|answer| answer.strong_count() > 0);
        answers.push(Arc::downgrade(&progress));
        drop(answers);
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                progress.0.store(now(), Ordering::Relaxed);
                let progress = progress.clone();
                frame.map_data(|bytes| Bytes::from_owner(TrackedPiece { bytes, progress }))
            }))
        })
    }

    /// The time left until the response that has waited longest counts as stalled; `None` without responses.
    pub fn remaining_time(&self) -> Option<Duration> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = |answer: &Weak<Progress>| answer.upgrade().map(|answer| answer.0.load(Ordering::Relaxed));
        let oldest = answers.iter().filter_map(last).min()?;
        Some(MAX_STALL.saturating_sub(Duration::from_millis(now().saturating_sub(oldest))))
    }
}

struct TrackedPiece {
    bytes: Bytes,
    progress: Arc<Progress>,
}

impl AsRef<[u8]> for TrackedPiece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for TrackedPiece {
    fn drop(&mut self) {
        self.progress.0.store(now(), Ordering::Relaxed);
    }
}
