//! A connection with timeouts for each phase of a request.
//!
//! A client that starts a request but does not finish its head in time gets a 408 response and is
//! disconnected. A new connection has the same time to start its first request. An idle keep-alive connection
//! has longer. Clients that do not read their response are disconnected as well (`write_stall.rs`,
//! `sending.rs`). The code that reads a body sets its own timeout. Error responses of the HTTP parser are
//! rewritten as JSON.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};
use tokio_rustls::server::TlsStream;

use crate::model::reason::Code;
use crate::web::answering;
use crate::web::head_lines::HeadLines;
use crate::web::sending::Sending;
use crate::web::write_stall::WriteStall;

/// The maximum time between two requests of a connection.
const IDLE: Duration = Duration::from_secs(75);
const HTTP2: &[u8] = b"PRI * HTTP/2";
/// The maximum size of one read. A larger read would grow hyper's buffer, which every connection keeps.
const SOME: usize = 32 * 1024;

/// State that the connection shares with the tasks that answer its requests.
#[derive(Default)]
pub struct Talk {
    begun: AtomicUsize,
    open: AtomicUsize,
    multiplexed: AtomicBool,
    pub sending: Sending,
}

impl Talk {
    /// Whether the connection is HTTP/2.
    pub fn is_multiplexed(&self) -> bool {
        self.multiplexed.load(Ordering::Relaxed)
    }

    /// Records that the head of a request has arrived. The request counts as active until the guard is
    /// dropped.
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
    /// Part of a request head has arrived.
    Head,
    /// A request is being read or answered.
    Busy,
    /// HTTP/2 detects dead connections itself.
    Multiplexed,
}

/// A connection that can be closed without sending the buffered data.
pub trait Cut {
    /// Makes the system discard unsent data when the connection is dropped.
    fn cut(&self);
}

impl Cut for TcpStream {
    fn cut(&self) {
        let _ = self.set_zero_linger();
    }
}

impl Cut for TlsStream<TcpStream> {
    fn cut(&self) {
        self.get_ref().0.cut();
    }
}

/// `S` is a TCP or a TLS stream.
pub struct Wire<S> {
    stream: S,
    talk: Arc<Talk>,
    phase: Phase,
    /// The number of requests when the phase was last updated.
    begun: usize,
    /// The first bytes of the connection, as long as they may be the HTTP/2 preface.
    opening: Vec<u8>,
    header_timeout: Duration,
    /// The timeout of the current phase, and its deadline once the connection has to wait.
    patience: Duration,
    until: Option<Instant>,
    /// Wakes the task at the deadline or earlier. It is reset when it fires, not with every request.
    alarm: Pin<Box<Sleep>>,
    /// The rest of a response of ours that replaces one of the HTTP parser.
    own: Vec<u8>,
    head_lines: HeadLines,
    write_stall: WriteStall,
}

impl<S: AsyncRead + AsyncWrite + Cut + Unpin> Wire<S> {
    pub fn new(stream: S, talk: Arc<Talk>, header_timeout: Duration) -> Self {
        Self {
            stream,
            talk,
            phase: Phase::Idle,
            begun: 0,
            opening: Vec::new(),
            header_timeout,
            // The first request must arrive within the header timeout; only later requests may take longer.
            patience: header_timeout,
            until: None,
            alarm: Box::pin(sleep(header_timeout)),
            own: Vec::new(),
            head_lines: HeadLines::default(),
            write_stall: WriteStall::default(),
        }
    }

    fn read_some(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let stream = Pin::new(&mut self.stream);
        if buffer.remaining() <= SOME {
            return stream.poll_read(cx, buffer);
        }
        let mut some = ReadBuf::new(buffer.initialize_unfilled_to(SOME));
        ready!(stream.poll_read(cx, &mut some))?;
        let read = some.filled().len();
        buffer.advance(read);
        Poll::Ready(Ok(()))
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
        self.patience = patience;
        self.until = None;
    }

    /// Processes bytes that were read; false if they cannot be part of a request head.
    fn hear(&mut self, new: &[u8]) -> bool {
        if self.phase == Phase::Idle && !new.is_empty() {
            self.enter(Phase::Head, self.header_timeout);
            self.head_lines = HeadLines::default();
        }
        if self.begun == 0 && self.phase == Phase::Head && self.opening.len() < HTTP2.len() {
            self.opening
                .extend(&new[..new.len().min(HTTP2.len() - self.opening.len())]);
            if self.opening == HTTP2 {
                self.phase = Phase::Multiplexed;
                self.talk.multiplexed.store(true, Ordering::Relaxed);
            }
        }
        self.phase != Phase::Head || self.head_lines.are_good(new)
    }

    /// Whether the client has exceeded its timeout and must be disconnected.
    fn is_too_late(&mut self, cx: &mut Context<'_>) -> bool {
        match self.phase {
            Phase::Idle | Phase::Head => self.is_past(cx),
            Phase::Multiplexed if self.begun == 0 => self.is_past(cx),
            Phase::Multiplexed => self.is_stalled(cx),
            Phase::Busy => false,
        }
    }

    /// Whether one of the responses has made no progress for too long.
    fn is_stalled(&mut self, cx: &mut Context<'_>) -> bool {
        while let Some(patience) = self.talk.sending.patience() {
            if patience.is_zero() {
                return true;
            }
            let until = Instant::now() + patience;
            if self.alarm.is_elapsed() || self.alarm.deadline() > until {
                self.alarm.as_mut().reset(until);
            }
            if self.alarm.as_mut().poll(cx).is_pending() {
                return false;
            }
        }
        false
    }

    fn is_past(&mut self, cx: &mut Context<'_>) -> bool {
        let until = *self.until.get_or_insert_with(|| Instant::now() + self.patience);
        if self.alarm.deadline() > until {
            self.alarm.as_mut().reset(until);
        }
        while self.alarm.as_mut().poll(cx).is_ready() {
            if Instant::now() >= until {
                return true;
            }
            self.alarm.as_mut().reset(until);
        }
        false
    }

    /// Whether the HTTP parser is writing an error response for a head that it could not parse. There is no
    /// request then, so it must be rewritten as JSON here.
    fn is_refusal(&self, bytes: &[u8]) -> bool {
        let unbegun = self.talk.begun.load(Ordering::SeqCst) == self.begun;
        // All of our responses have a request ID.
        let ours = || {
            bytes
                .windows(12)
                .any(|part| part.eq_ignore_ascii_case(b"x-request-id"))
        };
        self.phase == Phase::Head && unbegun && bytes.starts_with(b"HTTP/1.1 4") && !ours()
    }

    fn refuse(&mut self, bytes: &[u8]) {
        self.own = match &bytes[9..12] {
            b"414" => own_answer("414 URI Too Long", Code::UriTooLong, "The URL is too long"),
            b"431" => {
                let status = "431 Request Header Fields Too Large";
                own_answer(
                    status,
                    Code::HeadersTooLarge,
                    "There are too many headers, or they are too large",
                )
            }
            _ => own_answer(
                "400 Bad Request",
                Code::HttpInvalid,
                "This is not an HTTP request",
            ),
        };
    }

    /// Sends an error response for input that is not a request. The client may already be gone.
    fn refuse_now(&mut self, cx: &mut Context<'_>, status: &str, code: Code, reason: &str) {
        let answer = own_answer(status, code, reason);
        let _ = Pin::new(&mut self.stream).poll_write(cx, &answer);
        let _ = Pin::new(&mut self.stream).poll_flush(cx);
    }

    /// The result of a write, or a timeout if the client has stopped reading.
    fn unless_stalled(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match self.write_stall.is_over(cx, &written) {
            true => {
                self.stream.cut();
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            false => written,
        }
    }

    /// Sends the rest of our own response.
    fn poll_own(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.own.is_empty() {
            let sent = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.own))?;
            self.own.drain(..sent);
        }
        Poll::Ready(Ok(()))
    }
}

/// An error response to input that is not a request.
fn own_answer(status: &str, code: Code, reason: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"errors":[{{"reason":"{reason}","code":"{}"}}]}}"#,
        code.word()
    );
    let mut answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    for (name, value) in answering::headers_without_request().iter() {
        answer += &format!("{name}: {}\r\n", value.to_str().unwrap_or_default());
    }
    answer += &format!("content-length: {}\r\n\r\n{body}", body.len());
    answer.into_bytes()
}

impl<S: AsyncRead + AsyncWrite + Cut + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        wire.look();
        let before = buffer.filled().len();
        match wire.read_some(cx, buffer) {
            // Report the end of the stream, as if the client had closed it.
            Poll::Pending if wire.is_too_late(cx) && wire.phase == Phase::Idle => Poll::Ready(Ok(())),
            Poll::Pending if wire.is_too_late(cx) => {
                if wire.phase == Phase::Head {
                    let reason = "The request's head did not arrive in time";
                    wire.refuse_now(cx, "408 Request Timeout", Code::HeaderTimeout, reason);
                }
                if wire.phase == Phase::Multiplexed && wire.begun > 0 {
                    wire.stream.cut();
                }
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Pending => Poll::Pending,
            Poll::Ready(read) => {
                read?;
                if wire.hear(&buffer.filled()[before..]) {
                    return Poll::Ready(Ok(()));
                }
                let reason = "The lines of a request's head end with CR and LF";
                wire.refuse_now(cx, "400 Bad Request", Code::HttpInvalid, reason);
                Poll::Ready(Err(io::ErrorKind::InvalidData.into()))
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Cut + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        if wire.is_refusal(bytes) {
            wire.refuse(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut wire.stream).poll_write(cx, bytes);
        wire.unless_stalled(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wire = self.get_mut();
        let first = parts.iter().find(|part| !part.is_empty());
        if let Some(first) = first.filter(|first| wire.is_refusal(first)) {
            wire.refuse(first);
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        let written = Pin::new(&mut wire.stream).poll_write_vectored(cx, parts);
        wire.unless_stalled(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        ready!(wire.poll_own(cx))?;
        Pin::new(&mut wire.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let wire = self.get_mut();
        ready!(wire.poll_own(cx))?;
        Pin::new(&mut wire.stream).poll_shutdown(cx)
    }
}
