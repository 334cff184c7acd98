//! Detects stalled responses on a multiplexed connection (HTTP/2).
//!
//! An HTTP/2 client can stop reading one response while it reads others. Writes to the connection do not
//! block then, so `write_stall.rs` does not detect the stall. This module therefore tracks each response. A
//! response makes progress when hyper reads one of its chunks, and when hyper has sent the chunk.

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

/// The current time, in milliseconds since [`STARTED`].
fn now() -> u64 {
    u64::try_from(STARTED.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Sending {
    /// Tracks a response until its last chunk is sent.
    pub fn watch(&self, response: Response) -> Response {
        let progress = Arc::new(Progress(AtomicU64::new(now())));
        let mut responses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        responses.retain(|response| response.strong_count() > 0);
        responses.push(Arc::downgrade(&progress));
        drop(responses);
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                progress.0.store(now(), Ordering::Relaxed);
                let progress = progress.clone();
                frame.map_data(|bytes| Bytes::from_owner(TrackedChunk { bytes, progress }))
            }))
        })
    }

    /// The time until the next response counts as stalled; `None` if no response is being sent.
    pub fn remaining_time(&self) -> Option<Duration> {
        let responses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = |progress: &Weak<Progress>| {
            progress
                .upgrade()
                .map(|progress| progress.0.load(Ordering::Relaxed))
        };
        let oldest = responses.iter().filter_map(last).min()?;
        Some(MAX_STALL.saturating_sub(Duration::from_millis(now().saturating_sub(oldest))))
    }
}

struct TrackedChunk {
    bytes: Bytes,
    progress: Arc<Progress>,
}

impl AsRef<[u8]> for TrackedChunk {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for TrackedChunk {
    fn drop(&mut self) {
        self.progress.0.store(now(), Ordering::Relaxed);
    }
}
