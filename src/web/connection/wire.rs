//! A connection that does not wait for ever.
//!
//! A client that begins a request and does not finish its head in time is told so and cut off;
//! one that sends nothing at all has the same time, one that stays silent between requests has
//! longer, and then both are let go, and so is one that does not take its answer
//! (`write_stall.rs`, `sending.rs`). Timing a request's content is not done here: those who read it
//! know what is too long. What the protocol's own reader refuses before it is a request is put into
//! our error shape on its way out.

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

/// How long a connection may be silent between two requests.
const IDLE: Duration = Duration::from_secs(75);
const HTTP2: &[u8] = b"PRI * HTTP/2";
/// How much is read at once. Whoever reads more makes room for more, and keeps it on every connection.
const SOME: usize = 32 * 1024;

/// What the two ends of a connection tell each other: the wire, and those who answer requests.
#[derive(Default)]
pub struct Talk {
    begun: AtomicUsize,
    open: AtomicUsize,
    multiplexed: AtomicBool,
    pub sending: Sending,
}

impl Talk {
    /// Whether several requests are answered at once.
    pub fn is_multiplexed(&self) -> bool {
        self.multiplexed.load(Ordering::Relaxed)
    }

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

/// A connection that can be closed without waiting for the client to take what was sent to it.
pub trait Cut {
    /// Lets the system forget what is still on its way as soon as the connection is dropped.
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

/// `S` is a plain connection, or one through TLS.
pub struct Wire<S> {
    stream: S,
    talk: Arc<Talk>,
    phase: Phase,
    /// How many requests had begun when the phase was last looked at.
    begun: usize,
    /// The first bytes of the connection, as long as they may be HTTP/2's.
    opening: Vec<u8>,
    header_timeout: Duration,
    /// How long the other side may take now, and until when, once it has let us wait.
    patience: Duration,
    until: Option<Instant>,
    /// Wakes us then, or earlier: it is set anew when it has woken us, not with every request.
    alarm: Pin<Box<Sleep>>,
    /// Our own words, on their way out in place of the protocol's.
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
            // A new connection owes its first request; only after that it may be idle.
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

    /// Takes note of what was read; false if it cannot be the head of a request.
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

    /// The client has kept us waiting: true if it is to be cut off.
    fn is_too_late(&mut self, cx: &mut Context<'_>) -> bool {
        match self.phase {
            Phase::Idle | Phase::Head => self.is_past(cx),
            Phase::Multiplexed if self.begun == 0 => self.is_past(cx),
            Phase::Multiplexed => self.is_stalled(cx),
            Phase::Busy => false,
        }
    }

    /// Whether one of the answers on their way has not gone on for too long.
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

    /// Whether these are the protocol's own words about a head it could not take. No request came of
    /// it, so nobody but us can say it in JSON.
    fn is_refusal(&self, bytes: &[u8]) -> bool {
        let unbegun = self.talk.begun.load(Ordering::SeqCst) == self.begun;
        // Every answer of ours has a request's id.
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

    /// Answers at once what will never become a request. The client may be gone already.
    fn refuse_now(&mut self, cx: &mut Context<'_>, status: &str, code: Code, reason: &str) {
        let answer = own_answer(status, code, reason);
        let _ = Pin::new(&mut self.stream).poll_write(cx, &answer);
        let _ = Pin::new(&mut self.stream).poll_flush(cx);
    }

    /// What came of a write, unless the client has not taken anything for too long.
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

    /// Sends what is left of our own words.
    fn poll_own(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.own.is_empty() {
            let sent = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.own))?;
            self.own.drain(..sent);
        }
        Poll::Ready(Ok(()))
    }
}

/// An answer to what never became a request.
fn own_answer(status: &str, code: Code, reason: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"errors":[{{"reason":"{reason}","code":"{}"}}]}}"#,
        code.word()
    );
    let mut answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    for (name, value) in answering::headers_without_a_request().iter() {
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
            // The end of the stream, as if the client had closed it.
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
