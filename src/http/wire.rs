//! A connection that does not wait for ever.
//!
//! A client that begins a request and does not finish its head in time is told so and cut off;
//! one that stays silent between requests is let go. Timing a request's content and its answer is
//! not done here: those who read and write them know what is too long.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use super::answering;
use crate::model::reason::Code;

/// How long a connection may be silent between two requests.
const IDLE: Duration = Duration::from_secs(75);
const HTTP2: &[u8] = b"PRI * HTTP/2";

/// What the two ends of a connection tell each other: the wire, and those who answer requests.
#[derive(Default)]
pub struct Talk {
    begun: AtomicUsize,
    open: AtomicUsize,
}

impl Talk {
    /// A request's head has arrived; it is being answered until the guard is dropped.
    pub fn begin(self: &Arc<Self>) -> Answering {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.open.fetch_add(1, Ordering::SeqCst);
        Answering(self.clone())
    }
}

pub struct Answering(Arc<Talk>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Between two requests.
    Idle,
    /// Some of a request's head is here, but not all.
    Head,
    /// A request is being read or answered.
    Busy,
    /// HTTP/2 has its own way to find out whether the other side is alive.
    Multiplexed,
}

pub struct Wire {
    stream: TcpStream,
    talk: Arc<Talk>,
    phase: Phase,
    /// How many requests had begun when the phase was last looked at.
    begun: usize,
    header_timeout: Duration,
    deadline: Pin<Box<Sleep>>,
}

impl Wire {
    pub fn new(stream: TcpStream, talk: Arc<Talk>, header_timeout: Duration) -> Self {
        Self {
            stream,
            talk,
            phase: Phase::Idle,
            begun: 0,
            header_timeout,
            deadline: Box::pin(sleep(IDLE)),
        }
    }

    fn look(&mut self) {
        let begun = self.talk.begun.load(Ordering::SeqCst);
        let busy = self.talk.open.load(Ordering::SeqCst) > 0;
        match self.phase {
            Phase::Multiplexed => {}
            _ if busy => self.phase = Phase::Busy,
            Phase::Busy => self.enter(Phase::Idle, IDLE),
            Phase::Head if begun != self.begun => self.enter(Phase::Idle, IDLE),
            Phase::Head | Phase::Idle => {}
        }
        self.begun = begun;
    }

    fn enter(&mut self, phase: Phase, patience: Duration) {
        self.phase = phase;
        self.deadline.as_mut().reset(Instant::now() + patience);
    }

    /// The client has kept us waiting: true if it is to be cut off.
    fn is_too_late(&mut self, cx: &mut Context<'_>) -> bool {
        let waiting = matches!(self.phase, Phase::Idle | Phase::Head);
        waiting && self.deadline.as_mut().poll(cx).is_ready()
    }

    fn tell_it_was_too_slow(&self) {
        let body = format!(
            r#"{{"errors":[{{"reason":"The request's head did not arrive in time","code":"{}"}}]}}"#,
            Code::HeaderTimeout.word()
        );
        let mut answer = "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n".to_owned();
        for (name, value) in answering::headers_without_a_request().iter() {
            answer += &format!("{name}: {}\r\n", value.to_str().unwrap_or_default());
        }
        answer += &format!("content-length: {}\r\n\r\n{body}", body.len());
        // It may be gone already; then nobody needs telling.
        let _ = self.stream.try_write(answer.as_bytes());
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        wire.look();
        let before = buffer.filled().len();
        match Pin::new(&mut wire.stream).poll_read(cx, buffer) {
            Poll::Pending if wire.is_too_late(cx) => {
                if wire.phase == Phase::Head {
                    wire.tell_it_was_too_slow();
                }
                // The end of the stream, as if the client had closed it.
                Poll::Ready(Ok(()))
            }
            Poll::Pending => Poll::Pending,
            Poll::Ready(read) => {
                read?;
                let new = &buffer.filled()[before..];
                if wire.phase == Phase::Idle && !new.is_empty() {
                    match wire.begun == 0 && new.starts_with(&HTTP2[..new.len().min(HTTP2.len())]) {
                        true => wire.phase = Phase::Multiplexed,
                        false => wire.enter(Phase::Head, wire.header_timeout),
                    }
                }
                Poll::Ready(Ok(()))
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
