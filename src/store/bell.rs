//! Waking those who wait for an account's events: a commit rings. Polling only covers rings that were lost.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use crate::model::id::AccountId;

/// What a commit can notify its subscribers of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// A change that concerns every subscriber, such as a revoked token.
    Everyone,
    /// A change of any ticket.
    Desk,
    /// A job that was scheduled.
    Jobs,
    /// An event of this account.
    Account(AccountId),
}

#[derive(Default)]
pub struct Bell {
    ropes: Mutex<HashMap<Topic, watch::Sender<()>>>,
}

impl Bell {
    /// Subscribes to a topic: the receiver changes with every commit that touches it from now on.
    pub fn listen(&self, topic: Topic) -> watch::Receiver<()> {
        let mut ropes = self.ropes.lock().unwrap_or_else(PoisonError::into_inner);
        let rope = ropes.entry(topic).or_insert_with(|| watch::channel(()).0);
        rope.subscribe()
    }

    pub fn ring(&self, topics: impl IntoIterator<Item = Topic>) {
        let mut ropes = self.ropes.lock().unwrap_or_else(PoisonError::into_inner);
        for topic in topics {
            if topic == Topic::Everyone {
                ropes.retain(|_, rope| rope.send(()).is_ok());
                return;
            }
            let gone = ropes.get(&topic).is_some_and(|rope| rope.send(()).is_err());
            if gone {
                ropes.remove(&topic);
            }
        }
    }

    /// For a change made elsewhere, when it is not known whose it was.
    pub fn ring_all(&self) {
        let mut ropes = self.ropes.lock().unwrap_or_else(PoisonError::into_inner);
        ropes.retain(|_, rope| rope.send(()).is_ok());
    }
}
