//! A connection with timeouts for each phase of a request.
//!
//! A client that starts a request but does not send all its headers in time gets a 408 response and is disconnected. A
//! new connection has the same time to start its first request. An idle keep-alive connection has a longer timeout.
//! Clients that do not read their response are also disconnected (`write_stall.rs`, `sending.rs`). The code that reads
//! a body has its own timeout. This module also replaces error responses of the HTTP parser with JSON.

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

/// The maximum time between two requests on a connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2";
/// The maximum size of one read. A larger read would grow hyper's buffer, which does not shrink while the connection is
/// open.
const MAX_READ_BYTES: usize = 32 * 1024;

/// The state that a connection shares with the tasks that handle its requests.
#[derive(Default)]
pub struct ConnectionState {
    requests_begun: AtomicUsize,
    open_requests: AtomicUsize,
    multiplexed: AtomicBool,
    pub sending: Sending,
}

impl ConnectionState {
    /// Whether the connection is HTTP/2.
    pub fn is_multiplexed(&self) -> bool {
        self.multiplexed.load(Ordering::Relaxed)
    }

    /// Records that the headers of a request have arrived. The request counts as open until the guard is dropped.
    pub fn begin(self: &Arc<Self>) -> RequestGuard {
        self.requests_begun.fetch_add(1, Ordering::SeqCst);
        self.open_requests.fetch_add(1, Ordering::SeqCst);
        RequestGuard(self.clone())
    }
}

pub struct RequestGuard(Arc<ConnectionState>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.open_requests.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Between two requests.
    Idle,
    /// Part of the request line and headers has arrived.
    Head,
    /// The server is reading a request or sending its response.
    Busy,
    /// HTTP/2, which detects dead connections itself.
    Multiplexed,
}

/// A connection that can be closed without sending the buffered data.
pub trait Abort {
    /// Makes the operating system discard unsent data when the connection is dropped.
    fn discard_unsent(&self);
}

impl Abort for TcpStream {
    fn discard_unsent(&self) {
        let _ = self.set_zero_linger();
    }
}

impl Abort for TlsStream<TcpStream> {
    fn discard_unsent(&self) {
        self.get_ref().0.discard_unsent();
    }
}

/// `S` is a TCP or a TLS stream.
pub struct TimedConnection<S> {
    stream: S,
    state: Arc<ConnectionState>,
    phase: Phase,
    /// The number of requests begun when the phase was last updated.
    requests_begun: usize,
    /// The first bytes of the connection, to compare them with the HTTP/2 preface.
    opening: Vec<u8>,
    header_timeout: Duration,
    /// The timeout of the current phase. The deadline is set when the connection first waits in this phase.
    timeout: Duration,
    deadline: Option<Instant>,
    /// Wakes the task at the deadline or earlier. To save work, it is reset only when it fires, not with every request.
    timer: Pin<Box<Sleep>>,
    /// The unsent remainder of Garth's error response, which replaces the response of the HTTP parser.
    own_response: Vec<u8>,
    head_lines: HeadLines,
    write_stall: WriteStall,
}

impl<S: AsyncRead + AsyncWrite + Abort + Unpin> TimedConnection<S> {
    pub fn new(stream: S, state: Arc<ConnectionState>, header_timeout: Duration) -> Self {
        Self {
            stream,
            state,
            phase: Phase::Idle,
            requests_begun: 0,
            opening: Vec::new(),
            header_timeout,
            // The first request must arrive within the header timeout. Later requests have the idle timeout.
            timeout: header_timeout,
            deadline: None,
            timer: Box::pin(sleep(header_timeout)),
            own_response: Vec::new(),
            head_lines: HeadLines::default(),
            write_stall: WriteStall::default(),
        }
    }

    fn read_bounded(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let stream = Pin::new(&mut self.stream);
        if buffer.remaining() <= MAX_READ_BYTES {
            return stream.poll_read(cx, buffer);
        }
        let mut bounded = ReadBuf::new(buffer.initialize_unfilled_to(MAX_READ_BYTES));
        ready!(stream.poll_read(cx, &mut bounded))?;
        let read = bounded.filled().len();
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }

    fn update_phase(&mut self) {
        let requests_begun = self.state.requests_begun.load(Ordering::SeqCst);
        let busy = self.state.open_requests.load(Ordering::SeqCst) > 0;
        match self.phase {
            Phase::Multiplexed => {}
            _ if busy => self.phase = Phase::Busy,
            Phase::Busy => self.enter(Phase::Idle, IDLE_TIMEOUT),
            Phase::Head if requests_begun != self.requests_begun => self.enter(Phase::Idle, IDLE_TIMEOUT),
            Phase::Head | Phase::Idle => {}
        }
        self.requests_begun = requests_begun;
    }

    fn enter(&mut self, phase: Phase, timeout: Duration) {
        self.phase = phase;
        self.timeout = timeout;
        self.deadline = None;
    }

    /// Updates the phase after a read. Returns false if a header line in the new bytes does not end with
    /// CRLF.
    fn inspect(&mut self, new: &[u8]) -> bool {
        if self.phase == Phase::Idle && !new.is_empty() {
            self.enter(Phase::Head, self.header_timeout);
            self.head_lines = HeadLines::default();
        }
        if self.requests_begun == 0 && self.phase == Phase::Head && self.opening.len() < HTTP2_PREFACE.len() {
            self.opening
                .extend(&new[..new.len().min(HTTP2_PREFACE.len() - self.opening.len())]);
            if self.opening == HTTP2_PREFACE {
                self.phase = Phase::Multiplexed;
                self.state.multiplexed.store(true, Ordering::Relaxed);
            }
        }
        self.phase != Phase::Head || self.head_lines.are_valid(new)
    }

    /// Whether the client has exceeded its timeout and must be disconnected.
    fn is_timed_out(&mut self, cx: &mut Context<'_>) -> bool {
        match self.phase {
            Phase::Idle | Phase::Head => self.is_past_deadline(cx),
            Phase::Multiplexed if self.requests_begun == 0 => self.is_past_deadline(cx),
            Phase::Multiplexed => self.is_stalled(cx),
            Phase::Busy => false,
        }
    }

    /// Whether one of the responses has made no progress for too long.
    fn is_stalled(&mut self, cx: &mut Context<'_>) -> bool {
        while let Some(timeout) = self.state.sending.remaining_time() {
            if timeout.is_zero() {
                return true;
            }
            let deadline = Instant::now() + timeout;
            if self.timer.is_elapsed() || self.timer.deadline() > deadline {
                self.timer.as_mut().reset(deadline);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return false;
            }
        }
        false
    }

    fn is_past_deadline(&mut self, cx: &mut Context<'_>) -> bool {
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.timeout);
        if self.timer.deadline() > deadline {
            self.timer.as_mut().reset(deadline);
        }
        while self.timer.as_mut().poll(cx).is_ready() {
            if Instant::now() >= deadline {
                return true;
            }
            self.timer.as_mut().reset(deadline);
        }
        false
    }

    /// Whether the HTTP parser is writing an error response because it could not parse the headers. No request reaches
    /// `answering.rs` in this case, so the response must be replaced with JSON here.
    fn is_refusal(&self, bytes: &[u8]) -> bool {
        let no_new_request = self.state.requests_begun.load(Ordering::SeqCst) == self.requests_begun;
        // Garth's responses have a request ID. The parser's responses have none.
        let is_ours = || {
            bytes
                .windows(12)
                .any(|part| part.eq_ignore_ascii_case(b"x-request-id"))
        };
        self.phase == Phase::Head && no_new_request && bytes.starts_with(b"HTTP/1.1 4") && !is_ours()
    }

    fn replace_refusal(&mut self, bytes: &[u8]) {
        self.own_response = match &bytes[9..12] {
            b"414" => error_response("414 URI Too Long", Code::UriTooLong, "The URL is too long"),
            b"431" => {
                let status = "431 Request Header Fields Too Large";
                error_response(
                    status,
                    Code::HeadersTooLarge,
                    "Too many request headers, or headers too large",
                )
            }
            _ => error_response("400 Bad Request", Code::HttpInvalid, "Malformed HTTP request"),
        };
    }

    /// Sends an error response to input that is not a request. Ignores errors, because the client may have
    /// disconnected.
    fn send_error(&mut self, cx: &mut Context<'_>, status: &str, code: Code, reason: &str) {
        let response = error_response(status, code, reason);
        let _ = Pin::new(&mut self.stream).poll_write(cx, &response);
        let _ = Pin::new(&mut self.stream).poll_flush(cx);
    }

    /// Returns the result of a write, or a timeout error if the client has stopped reading.
    fn fail_if_stalled(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match self.write_stall.must_close(cx, &written) {
            true => {
                self.stream.discard_unsent();
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            false => written,
        }
    }

    /// Sends the remainder of Garth's error response.
    fn poll_own_response(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.own_response.is_empty() {
            let sent = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.own_response))?;
            self.own_response.drain(..sent);
        }
        Poll::Ready(Ok(()))
    }
}

/// An error response to input that is not a request.
fn error_response(status: &str, code: Code, reason: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"errors":[{{"reason":"{reason}","code":"{}"}}]}}"#,
        code.word()
    );
    let mut response = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    for (name, value) in answering::headers_without_request().iter() {
        response += &format!("{name}: {}\r\n", value.to_str().unwrap_or_default());
    }
    response += &format!("content-length: {}\r\n\r\n{body}", body.len());
    response.into_bytes()
}

impl<S: AsyncRead + AsyncWrite + Abort + Unpin> AsyncRead for TimedConnection<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let connection = self.get_mut();
        connection.update_phase();
        let before = buffer.filled().len();
        match connection.read_bounded(cx, buffer) {
            // Report the end of the stream, as if the client had closed it.
            Poll::Pending if connection.is_timed_out(cx) && connection.phase == Phase::Idle => {
                Poll::Ready(Ok(()))
            }
            Poll::Pending if connection.is_timed_out(cx) => {
                if connection.phase == Phase::Head {
                    let reason = "Timed out while reading the request headers";
                    connection.send_error(cx, "408 Request Timeout", Code::HeaderTimeout, reason);
                }
                if connection.phase == Phase::Multiplexed && connection.requests_begun > 0 {
                    connection.stream.discard_unsent();
                }
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Pending => Poll::Pending,
            Poll::Ready(read) => {
                read?;
                if connection.inspect(&buffer.filled()[before..]) {
                    return Poll::Ready(Ok(()));
                }
                let reason = "Header lines must end with CR and LF";
                connection.send_error(cx, "400 Bad Request", Code::HttpInvalid, reason);
                Poll::Ready(Err(io::ErrorKind::InvalidData.into()))
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Abort + Unpin> AsyncWrite for TimedConnection<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let connection = self.get_mut();
        if connection.is_refusal(bytes) {
            connection.replace_refusal(bytes);
            return Poll::Ready(Ok(bytes.len()));
        }
        let written = Pin::new(&mut connection.stream).poll_write(cx, bytes);
        connection.fail_if_stalled(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let connection = self.get_mut();
        let first = parts.iter().find(|part| !part.is_empty());
        if let Some(first) = first.filter(|first| connection.is_refusal(first)) {
            connection.replace_refusal(first);
            return Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()));
        }
        let written = Pin::new(&mut connection.stream).poll_write_vectored(cx, parts);
        connection.fail_if_stalled(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let connection = self.get_mut();
        ready!(connection.poll_own_response(cx))?;
        Pin::new(&mut connection.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let connection = self.get_mut();
        ready!(connection.poll_own_response(cx))?;
        Pin::new(&mut connection.stream).poll_shutdown(cx)
    }
}
