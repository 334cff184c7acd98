//! Accepts connections of mail servers, and shuts down gracefully.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::connection::{Connection, Timeouts};
use super::reply;
use super::socket::{LmtpSocket, Stream};
use crate::uploads::Uploads;

/// The delay after a failed accept, for example because too many files are open.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);

/// The limits on clients.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Each connection uses the memory of one message at most, and that of its parts while it is parsed.
    pub connections: usize,
    pub timeouts: Timeouts,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 20,
            timeouts: Timeouts::default(),
        }
    }
}

/// Accepts connections until `stopping` becomes true, and then until the messages that are arriving are delivered.
pub async fn serve(
    socket: LmtpSocket,
    uploads: Uploads,
    limits: Limits,
    mut stopping: watch::Receiver<bool>,
) {
    let server_name = match &uploads.store.policy().mail {
        Some(mail) => mail.reply_address.domain().to_owned(),
        None => "localhost".to_owned(),
    };
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = socket.accept() => accepted,
            _ = stopping.wait_for(|stopping| *stopping) => break,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok(stream) if connections.len() >= limits.connections => {
                tokio::spawn(refuse(stream));
            }
            Ok(stream) => {
                let connection = Connection {
                    stream,
                    uploads: uploads.clone(),
                    server_name: server_name.clone(),
                    timeouts: limits.timeouts,
                    stopping: stopping.clone(),
                };
                connections.spawn(connection.run());
            }
            Err(cause) => {
                tracing::warn!(error = %cause, "accept failed");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
    drop(socket);
    while connections.join_next().await.is_some() {}
}

async fn refuse(mut stream: Box<dyn Stream>) {
    let line = reply::TOO_MANY_CONNECTIONS.line();
    let _ = timeout(REFUSAL_TIMEOUT, stream.write_all(line.as_bytes())).await;
}
