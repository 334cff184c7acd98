//! Notifications between nodes, with `LISTEN` and `NOTIFY`.
//!
//! Each node has one connection for notifications. The node collects the topics of several commits and sends
//! them together, because PostgreSQL serializes the commits of transactions that notify. A notification is
//! lost if the connection is down, or if the node dies before it sends the notification. Subscribers still
//! find the events, because they also poll.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{StreamExt, poll_fn};
use tokio::runtime::Builder;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client};

use super::address::{Address, Wire};
use super::failure::Failure;
use crate::model::id::{AccountId, HostId};
use crate::store::notifier::{Notifier, Topic};

/// The notification channel. It has the same name in version 0.1, so that nodes of both versions can notify each other.
pub const CHANNEL: &str = "garth_bell";
/// The interval of the keepalive query on an idle connection, and the timeout of each statement.
const KEEPALIVE: Duration = Duration::from_secs(5);
const RECONNECT_DELAY: Duration = Duration::from_millis(300);
/// The pause after sending. The topics of all commits during the pause are sent together.
const BATCH_DELAY: Duration = Duration::from_millis(10);
/// This limit keeps the payload below PostgreSQL's limit of 8000 bytes.
const MAX_TOPICS_PER_MESSAGE: usize = 300;

/// The topics that this node has not yet sent to the other nodes.
#[derive(Default)]
pub struct NodeNotifications {
    pending: Mutex<BTreeSet<Topic>>,
    added: Notify,
    closed: AtomicBool,
}

impl NodeNotifications {
    pub fn add(&self, mut topics: BTreeSet<Topic>) {
        // The transaction itself has already sent this topic.
        topics.remove(&Topic::Everyone);
        if !topics.is_empty() {
            self.pending().append(&mut topics);
            self.added.notify_one();
        }
    }

    /// Ends the thread that sends and receives notifications.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.added.notify_one();
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    fn take_pending(&self) -> BTreeSet<Topic> {
        std::mem::take(&mut *self.pending())
    }

    fn pending(&self) -> MutexGuard<'_, BTreeSet<Topic>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends and receives notifications until the store is closed. Runs on its own thread.
pub fn run(address: &Address, notifier: &Arc<Notifier>, node_notifications: &NodeNotifications) {
    let runtime = match Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => runtime,
        Err(cause) => return tracing::error!(error = %cause, "node notifications not started"),
    };
    runtime.block_on(async {
        let mut was_down = false;
        while !node_notifications.is_closed() {
            if let Err(failure) = run_connection(address, notifier, node_notifications, &mut was_down).await {
                if !was_down {
                    tracing::warn!(error = failure.text, "node notifications unavailable");
                }
                was_down = true;
                sleep(RECONNECT_DELAY).await;
            }
        }
    });
}

/// Sends and receives notifications until the connection ends.
async fn run_connection(
    address: &Address,
    notifier: &Arc<Notifier>,
    node_notifications: &NodeNotifications,
    was_down: &mut bool,
) -> Result<(), Failure> {
    let (client, wire) = with_timeout(address.connect()).await?;
    let (closing, mut closed) = mpsc::channel(1);
    // Identifies this node in its notifications.
    let node = format!("{:p}-{}", node_notifications, std::process::id());
    tokio::spawn(receive(wire, notifier.clone(), node.clone(), closing));
    with_timeout(execute(&client, &format!("LISTEN {CHANNEL}"))).await?;
    if std::mem::take(was_down) {
        tracing::info!("node notifications restored");
    }
    // This node has missed all notifications that were sent before LISTEN, so every subscriber must check for
    // changes.
    notifier.notify_all();
    loop {
        let pending: Vec<_> = node_notifications.take_pending().into_iter().collect();
        for topics in pending.chunks(MAX_TOPICS_PER_MESSAGE) {
            let topics: Vec<String> = topics.iter().map(|topic| encode(*topic)).collect();
            let sql = format!("NOTIFY {CHANNEL}, '{node}:{}'", topics.join(","));
            with_timeout(execute(&client, &sql)).await?;
        }
        if node_notifications.is_closed() {
            return Ok(());
        }
        if !pending.is_empty() {
            sleep(BATCH_DELAY).await;
        }
        tokio::select! {
            () = node_notifications.added.notified() => {}
            _ = closed.recv() => return Err(Failure::timed_out()),
            () = sleep(KEEPALIVE) => with_timeout(execute(&client, "SELECT 1")).await?,
        }
    }
}

async fn execute(client: &Client, sql: &str) -> Result<(), Failure> {
    client.batch_execute(sql).await.map_err(|e| Failure::new(&e))
}

async fn with_timeout<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let result = timeout(KEEPALIVE, work).await;
    result.unwrap_or_else(|_| Err(Failure::timed_out()))
}

/// Passes the notifications of other nodes to the notifier. Drops `_closing` when the connection ends.
async fn receive(mut wire: Wire, notifier: Arc<Notifier>, this_node: String, _closing: mpsc::Sender<()>) {
    let mut messages = poll_fn(|context| wire.poll_message(context));
    while let Some(Ok(message)) = messages.next().await {
        let AsyncMessage::Notification(notification) = message else {
            continue;
        };
        match notification.payload().split_once(':') {
            Some((node, _)) if node == this_node => {}
            Some((_, topics)) => notifier.notify(topics.split(',').filter_map(decode)),
            None => notifier.notify_all(),
        }
    }
}

/// The text of a topic in a notification.
fn encode(topic: Topic) -> String {
    match topic {
        Topic::Everyone => "everyone".to_owned(),
        Topic::Desk => "desk".to_owned(),
        Topic::Jobs => "jobs".to_owned(),
        Topic::Branding => "branding".to_owned(),
        Topic::Catalog => "catalog".to_owned(),
        Topic::Host(host) => format!("host {host}"),
        Topic::Account(account) => account.to_string(),
    }
}

/// Decodes the text of a topic; `None` for a topic that only a newer Garth supports.
fn decode(text: &str) -> Option<Topic> {
    match text {
        "everyone" => Some(Topic::Everyone),
        "desk" => Some(Topic::Desk),
        "jobs" => Some(Topic::Jobs),
        "branding" => Some(Topic::Branding),
        "catalog" => Some(Topic::Catalog),
        other => match other.strip_prefix("host ") {
            Some(host) => host.parse().ok().map(|id| Topic::Host(HostId(id))),
            None => other.parse().ok().map(|id| Topic::Account(AccountId(id))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decode_reverses_encode_and_ignores_unknown_topics() {
        for topic in [
            Topic::Everyone,
            Topic::Desk,
            Topic::Jobs,
            Topic::Branding,
            Topic::Catalog,
            Topic::Host(HostId(7)),
            Topic::Account(AccountId(7)),
        ] {
            assert_eq!(decode(&encode(topic)), Some(topic));
        }
        assert_eq!(decode("weather"), None);
    }
}
