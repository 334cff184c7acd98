//! Detects clients that stop reading their response (HTTP/1).
//!
//! Only the time during which a write is blocked counts. The server closes a connection that accepts no bytes for
//! [`MAX_STALL`], or that accepts fewer than [`MIN_BYTES_PER_SECOND`] on average over at least [`MAX_STALL`] of blocked
//! time.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The maximum time for which a write can be blocked.
pub const MAX_STALL: Duration = Duration::from_secs(30);
/// The minimum average rate at which a client must read.
const MIN_BYTES_PER_SECOND: u64 = 1024;

#[derive(Default)]
pub struct WriteStall {
    /// The time at which the current write became blocked.
    since: Option<Instant>,
    /// The total blocked time of earlier writes.
    waited: Duration,
    /// The number of bytes written since the first blocked write.
    written: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl WriteStall {
    /// Updates the state with the result of a write. Returns whether the connection must be closed.
    pub fn must_close(&mut self, cx: &mut Context<'_>, written: &Poll<std::io::Result<usize>>) -> bool {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.record_progress(*bytes as u64);
                false
            }
            Poll::Ready(Err(_)) => false,
            Poll::Pending => self.wait(cx),
        }
    }

    fn record_progress(&mut self, bytes: u64) {
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
        }
        if self.waited.is_zero() {
            return;
        }
        self.written += bytes;
        if self.waited >= MAX_STALL && !self.is_too_slow() {
            (self.waited, self.written) = (Duration::ZERO, 0);
        }
    }

    fn is_too_slow(&self) -> bool {
        self.waited >= MAX_STALL && self.written < MIN_BYTES_PER_SECOND * self.waited.as_secs()
    }

    /// Starts or continues to wait for a blocked write. Returns whether the connection must be closed.
    fn wait(&mut self, cx: &mut Context<'_>) -> bool {
        if self.is_too_slow() {
            return true;
        }
        let until = *self.since.get_or_insert_with(Instant::now) + MAX_STALL;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if timer.deadline() != until {
            timer.as_mut().reset(until);
        }
        timer.as_mut().poll(cx).is_ready()
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use tokio::time::advance;

    use super::*;

    /// Simulates a client that reads `bytes` after each pause. Returns the time until it is disconnected.
    async fn time_until_close(bytes: usize, pause: Duration) -> Option<Duration> {
        let mut stall = WriteStall::default();
        let begun = Instant::now();
        let cx = &mut Context::from_waker(Waker::noop());
        while begun.elapsed() < Duration::from_secs(600) {
            if stall.must_close(cx, &Poll::Pending) {
                return Some(begun.elapsed());
            }
            advance(pause).await;
            if stall.must_close(cx, &Poll::Pending) {
                return Some(begun.elapsed());
            }
            stall.must_close(cx, &Poll::Ready(Ok(bytes)));
        }
        None
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_or_is_too_slow_is_disconnected() {
        assert_eq!(
            time_until_close(0, Duration::from_secs(60)).await,
            Some(Duration::from_secs(60))
        );
        assert_eq!(
            time_until_close(1, Duration::from_secs(1)).await,
            Some(Duration::from_secs(30))
        );
        assert_eq!(time_until_close(2048, Duration::from_secs(1)).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn time_between_responses_does_not_count() {
        let mut stall = WriteStall::default();
        let cx = &mut Context::from_waker(Waker::noop());
        for _ in 0..10 {
            assert!(!stall.must_close(cx, &Poll::Ready(Ok(100))));
            advance(Duration::from_secs(100)).await;
        }
        assert!(!stall.must_close(cx, &Poll::Pending));
    }
}
