//! Answers on their way out through a connection that carries many at once (HTTP/2).
//!
//! There a client stops one answer without stopping the connection, so that no write ever waits
//! (compare `write_stall.rs`). Each answer is therefore watched by itself: a piece of it that is
//! taken or sent is progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body_util::BodyExt;
use tokio::time::Instant;

use crate::web::write_stall::MAX_STALL;

/// The answers that one connection is sending.
#[derive(Default)]
pub struct Sending(Mutex<Vec<Weak<Progress>>>);

/// When an answer last went on, in milliseconds since [`STARTED`].
struct Progress(AtomicU64);

static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now() -> u64 {
    u64::try_from(STARTED.elapsed().as_millis()).unwrap_or(u64::MAX)
}

impl Sending {
    /// Watches over an answer until its last piece was sent.
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
                frame.map_data(|bytes| Bytes::from_owner(Piece { bytes, progress }))
            }))
        })
    }

    /// How long the answer that has waited longest may still wait; nothing if there is none.
    pub fn patience(&self) -> Option<Duration> {
        let answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = |answer: &Weak<Progress>| answer.upgrade().map(|answer| answer.0.load(Ordering::Relaxed));
        let oldest = answers.iter().filter_map(last).min()?;
        Some(MAX_STALL.saturating_sub(Duration::from_millis(now().saturating_sub(oldest))))
    }
}

struct Piece {
    bytes: Bytes,
    progress: Arc<Progress>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.progress.0.store(now(), Ordering::Relaxed);
    }
}
