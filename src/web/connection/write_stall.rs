//! Detects clients that stop reading their response (HTTP/1).
//!
//! Only time during which a write was blocked counts. The connection is closed if it accepted nothing for
//! [`MAX_STALL`], or less than [`MIN_BYTES_PER_SECOND`] on average over that much blocked time.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

/// The maximum time without progress of a write.
pub const MAX_STALL: Duration = Duration::from_secs(30);
/// The minimum rate of a slow reader, measured over at least [`MAX_STALL`] of blocked time.
const MIN_BYTES_PER_SECOND: u64 = 1024;

#[derive(Default)]
pub struct WriteStall {
    /// When the current write blocked.
    since: Option<Instant>,
    /// Blocked time of earlier writes, and the bytes written during it.
    waited: Duration,
    written: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl WriteStall {
    /// Updates the state with the result of a write; true if the connection must be closed.
    pub fn must_close(&mut self, cx: &mut Context<'_>, written: &Poll<std::io::Result<usize>>) -> bool {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.progress(*bytes as u64);
                false
            }
            Poll::Ready(Err(_)) => false,
            Poll::Pending => self.wait(cx),
        }
    }

    fn progress(&mut self, bytes: u64) {
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

    /// How long a reader that takes `bytes` after each pause is served.
    async fn served(bytes: usize, pause: Duration) -> Option<Duration> {
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
            served(0, Duration::from_secs(60)).await,
            Some(Duration::from_secs(60))
        );
        assert_eq!(
            served(1, Duration::from_secs(1)).await,
            Some(Duration::from_secs(30))
        );
        assert_eq!(served(2048, Duration::from_secs(1)).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn time_between_answers_does_not_count() {
        let mut stall = WriteStall::default();
        let cx = &mut Context::from_waker(Waker::noop());
        for _ in 0..10 {
            assert!(!stall.must_close(cx, &Poll::Ready(Ok(100))));
            advance(Duration::from_secs(100)).await;
        }
        assert!(!stall.must_close(cx, &Poll::Pending));
    }
}
