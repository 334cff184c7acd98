//! Notifies the subscribers of a topic after a commit.
//!
//! Notifications from other processes arrive here, too. They can be lost, so subscribers also poll.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::model::id::{AccountId, HostId};

/// A kind of change that tasks subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// A change that concerns all subscribers, such as a revoked token.
    Everyone,
    /// A change of any ticket.
    Desk,
    /// A scheduled job.
    Jobs,
    /// A change of the provider's brand.
    Branding,
    /// A change of the provider's regions or plans.
    Catalog,
    /// A change of the desired state or of the credential of this host.
    Host(HostId),
    /// An event of this account.
    Account(AccountId),
}

#[derive(Default)]
pub struct Notifier {
    subscribers: Mutex<HashMap<Topic, watch::Sender<()>>>,
}

impl Notifier {
    /// Subscribes to a topic. Each later notification of the topic marks the receiver as changed.
    pub fn subscribe(&self, topic: Topic) -> watch::Receiver<()> {
        let mut subscribers = self.subscribers();
        let sender = subscribers.entry(topic).or_insert_with(|| watch::channel(()).0);
        sender.subscribe()
    }

    /// Notifies the subscribers of the topics. `Topic::Everyone` notifies all subscribers.
    pub fn notify(&self, topics: impl IntoIterator<Item = Topic>) {
        let mut subscribers = self.subscribers();
        for topic in topics {
            if topic == Topic::Everyone {
                subscribers.retain(|_, sender| sender.send(()).is_ok());
                return;
            }
            let closed = subscribers
                .get(&topic)
                .is_some_and(|sender| sender.send(()).is_err());
            if closed {
                subscribers.remove(&topic);
            }
        }
    }

    /// Notifies all subscribers of a change whose topic is unknown.
    pub fn notify_all(&self) {
        self.subscribers().retain(|_, sender| sender.send(()).is_ok());
    }

    fn subscribers(&self) -> MutexGuard<'_, HashMap<Topic, watch::Sender<()>>> {
        self.subscribers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
