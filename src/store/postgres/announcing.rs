//! Between the bells of the nodes: what one has committed rings on the others.
//!
//! Each node has one connection for this alone. It gathers the accounts that commits have touched and tells
//! of them in one go, because a commit that notifies waits for every other that does. Nothing is lost when
//! this connection is down, or the node dies before it has told: whoever waits also looks now and then.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{StreamExt, poll_fn};
use tokio::runtime::Builder;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use tokio_postgres::{AsyncMessage, Client};

use super::address::{Address, Wire};
use super::failure::Failure;
use crate::model::id::AccountId;
use crate::store::bell::{Bell, Topic};

/// A connection that has been silent for so long is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(5);
const RECONNECT: Duration = Duration::from_millis(300);
/// For how long to gather after something was told, so that many commits a second cost few announcements.
const REST: Duration = Duration::from_millis(10);
/// So many topics fit into one message.
const MESSAGE: usize = 300;

/// Whose events are to be told of.
#[derive(Default)]
pub struct Announcements {
    waiting: Mutex<BTreeSet<Topic>>,
    added: Notify,
    closed: AtomicBool,
}

impl Announcements {
    pub fn add(&self, mut touched: BTreeSet<Topic>) {
        // The commit itself has told of it.
        touched.remove(&Topic::Everyone);
        if !touched.is_empty() {
            self.set().append(&mut touched);
            self.added.notify_one();
        }
    }

    /// Ends the thread that announces.
    pub fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.added.notify_one();
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    fn take(&self) -> BTreeSet<Topic> {
        std::mem::take(&mut *self.set())
    }

    fn set(&self) -> std::sync::MutexGuard<'_, BTreeSet<Topic>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Announces and listens until the store is closed. To be run on a thread of its own.
pub fn run(address: &Address, bell: &Arc<Bell>, announcements: &Announcements) {
    let runtime = match Builder::new_current_thread().enable_io().enable_time().build() {
        Ok(runtime) => runtime,
        Err(cause) => return tracing::error!(%cause, "node notifications not started"),
    };
    runtime.block_on(async {
        let mut was_down = false;
        while !announcements.is_closed() {
            if let Err(failure) = attend(address, bell, announcements, &mut was_down).await {
                if !was_down {
                    tracing::warn!(cause = failure.text, "node notifications unavailable");
                }
                was_down = true;
                sleep(RECONNECT).await;
            }
        }
    });
}

/// Announces and listens for as long as one connection lasts.
async fn attend(
    address: &Address,
    bell: &Arc<Bell>,
    announcements: &Announcements,
    was_down: &mut bool,
) -> Result<(), Failure> {
    let (client, wire) = within(address.connect()).await?;
    let (hear, mut heard) = mpsc::channel(1);
    // Tells this node's own announcements from those of others.
    let own = format!("{:p}-{}", announcements, std::process::id());
    tokio::spawn(listen(wire, bell.clone(), own.clone(), hear));
    within(run_words(&client, "LISTEN garth_bell")).await?;
    if std::mem::take(was_down) {
        tracing::info!("node notifications restored");
    }
    // What happened while nobody listened is not told again.
    bell.ring_all();
    loop {
        let touched: Vec<_> = announcements.take().into_iter().collect();
        for topics in touched.chunks(MESSAGE) {
            let topics: Vec<String> = topics.iter().map(|topic| encode(*topic)).collect();
            let words = format!("NOTIFY garth_bell, '{own}:{}'", topics.join(","));
            within(run_words(&client, &words)).await?;
        }
        if announcements.is_closed() {
            return Ok(());
        }
        if !touched.is_empty() {
            sleep(REST).await;
        }
        tokio::select! {
            () = announcements.added.notified() => {}
            _ = heard.recv() => return Err(Failure::too_slow()),
            () = sleep(SILENCE) => within(run_words(&client, "SELECT 1")).await?,
        }
    }
}

async fn run_words(client: &Client, words: &str) -> Result<(), Failure> {
    client.batch_execute(words).await.map_err(|e| Failure::new(&e))
}

async fn within<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let ended = timeout(SILENCE, work).await;
    ended.unwrap_or_else(|_| Err(Failure::too_slow()))
}

/// Rings for what other nodes announce. `_over` is dropped when the connection ends.
async fn listen(mut wire: Wire, bell: Arc<Bell>, own: String, _over: mpsc::Sender<()>) {
    let mut messages = poll_fn(|context| wire.poll_message(context));
    while let Some(Ok(message)) = messages.next().await {
        let AsyncMessage::Notification(told) = message else {
            continue;
        };
        match told.payload().split_once(':') {
            Some((node, _)) if node == own => {}
            Some((_, topics)) => bell.ring(topics.split(',').filter_map(decode)),
            None => bell.ring_all(),
        }
    }
}

/// A topic as nodes write it in announcements.
fn encode(topic: Topic) -> String {
    match topic {
        Topic::Everyone => "everyone".to_owned(),
        Topic::Desk => "desk".to_owned(),
        Topic::Jobs => "jobs".to_owned(),
        Topic::Account(account) => account.to_string(),
    }
}

/// The topic, unless only a newer Garth knows it.
fn decode(word: &str) -> Option<Topic> {
    match word {
        "everyone" => Some(Topic::Everyone),
        "desk" => Some(Topic::Desk),
        "jobs" => Some(Topic::Jobs),
        account => account.parse().ok().map(|id| Topic::Account(AccountId(id))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_the_same_after_an_announcement_and_unknown_ones_are_ignored() {
        for topic in [
            Topic::Everyone,
            Topic::Desk,
            Topic::Jobs,
            Topic::Account(AccountId(7)),
        ] {
            assert_eq!(decode(&encode(topic)), Some(topic));
        }
        assert_eq!(decode("weather"), None);
    }
}
