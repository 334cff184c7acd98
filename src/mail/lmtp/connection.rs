//! Runs a session on a connection: reads, writes, and limits the time that a client can take.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::desk;
use super::reply::{self, Reply};
use super::session::{Action, Session};
use crate::mail::delivery::{self, Delivery};
use crate::mail::inbound::MAX_MESSAGE_BYTES;
use crate::uploads::Uploads;

/// The size of a read. Larger ones make long messages faster, and use memory for each connection.
const READ_BYTES: usize = 64 * 1024;

/// How long a client can take.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For each command, and between two parts of a message.
    pub idle: Duration,
    /// For a whole message.
    pub message: Duration,
    /// For the rest of a message after the server begins to shut down.
    pub shutdown: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(300),
            message: Duration::from_secs(600),
            shutdown: Duration::from_secs(15),
        }
    }
}

/// A client, with the replies that are not sent yet.
pub struct Connection<S> {
    pub stream: S,
    pub uploads: Uploads,
    /// The name of the server in the greeting.
    pub server_name: String,
    pub timeouts: Timeouts,
    pub stopping: watch::Receiver<bool>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Runs until the client quits or disconnects, or a limit ends the connection.
    pub async fn run(mut self) {
        let mut replies = format!("220 {} LMTP server ready\r\n", self.server_name);
        if let Ok(last) = self.run_session(&mut replies).await {
            replies.push_str(&last.line());
            let _ = self.send(&mut replies).await;
            let _ = self.stream.shutdown().await;
        }
    }

    /// Returns the last reply. An error means that the client has disconnected.
    async fn run_session(&mut self, replies: &mut String) -> io::Result<Reply> {
        let mut session = Session::default();
        let mut deadlines = Deadlines::new(self.timeouts);
        let mut bytes = vec![0; READ_BYTES];
        loop {
            let has_acted = match self.run_actions(&mut session, replies).await? {
                Progress::End(last) => return Ok(last),
                Progress::Acted => true,
                Progress::Waiting => false,
            };
            self.send(replies).await?;
            let is_stopping = *self.stopping.borrow();
            if is_stopping && !session.is_receiving() {
                return Ok(reply::SHUTTING_DOWN);
            }
            deadlines.update(&session, has_acted, is_stopping);
            tokio::select! {
                read = self.stream.read(&mut bytes) => match read? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    length => session.push(&bytes[..length]),
                },
                () = sleep_until(deadlines.next()) => return Ok(reply::TIMED_OUT),
                _ = self.stopping.wait_for(|stopping| *stopping), if !is_stopping => {}
            }
        }
    }

    /// Runs the actions of the bytes that have arrived.
    async fn run_actions(&mut self, session: &mut Session, replies: &mut String) -> io::Result<Progress> {
        let mut progress = Progress::Waiting;
        while let Some(action) = session.next_action() {
            progress = Progress::Acted;
            match action {
                Action::Send(reply) => replies.push_str(&reply.line()),
                Action::SendExtensions => replies.push_str(&self.extensions()),
                Action::Refuse(reply, reason) => {
                    delivery::count(&self.uploads.store, Delivery::Refused(reason)).await;
                    replies.push_str(&reply.line());
                }
                Action::CheckRecipient(recipient) => {
                    let verdict = desk::check_recipient(&self.uploads, recipient).await;
                    replies.push_str(&session.answer_recipient(verdict).line());
                }
                Action::Deliver(envelope) => {
                    self.send(replies).await?;
                    for reply in desk::deliver(&self.uploads, envelope).await {
                        replies.push_str(&reply.line());
                    }
                    // Pipelined commands after the message are not run during a shutdown.
                    if *self.stopping.borrow() {
                        return Ok(Progress::End(reply::SHUTTING_DOWN));
                    }
                }
                Action::Close(reply) => return Ok(Progress::End(reply)),
            }
        }
        Ok(progress)
    }

    fn extensions(&self) -> String {
        format!(
            "250-{}\r\n250-PIPELINING\r\n250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n\
             250 SIZE {MAX_MESSAGE_BYTES}\r\n",
            self.server_name
        )
    }

    async fn send(&mut self, replies: &mut String) -> io::Result<()> {
        if replies.is_empty() {
            return Ok(());
        }
        timeout(self.timeouts.idle, self.stream.write_all(replies.as_bytes())).await??;
        replies.clear();
        Ok(())
    }
}

enum Progress {
    /// The session needs more bytes.
    Waiting,
    Acted,
    /// The session ends with this reply.
    End(Reply),
}

/// The times at which a connection ends.
struct Deadlines {
    timeouts: Timeouts,
    idle: Instant,
    /// While the client sends a message.
    message: Option<Instant>,
    shutdown: Option<Instant>,
}

impl Deadlines {
    fn new(timeouts: Timeouts) -> Self {
        Self {
            timeouts,
            idle: Instant::now() + timeouts.idle,
            message: None,
            shutdown: None,
        }
    }

    /// A client that sends a command byte by byte does not get more time.
    fn update(&mut self, session: &Session, has_acted: bool, is_stopping: bool) {
        let now = Instant::now();
        if has_acted || session.is_receiving() {
            self.idle = now + self.timeouts.idle;
        }
        if has_acted || !session.is_receiving() {
            self.message = None;
        }
        if session.is_receiving() {
            self.message.get_or_insert(now + self.timeouts.message);
        }
        if is_stopping {
            self.shutdown.get_or_insert(now + self.timeouts.shutdown);
        }
    }

    fn next(&self) -> Instant {
        let all = [Some(self.idle), self.message, self.shutdown];
        all.into_iter().flatten().min().unwrap_or(self.idle)
    }
}
