//! Waking those who wait for an account's events: a commit rings, nobody polls.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use crate::model::id::AccountId;

/// No account, but all of them: something has changed that concerns every reader.
pub const EVERYONE: AccountId = AccountId(-1);
/// No account, but the desk: something has happened to a ticket, whosever it is.
pub const DESK: AccountId = AccountId(-2);

#[derive(Default)]
pub struct Bell {
    ropes: Mutex<HashMap<AccountId, watch::Sender<()>>>,
}

impl Bell {
    /// Something that changes whenever an event of the account was committed from now on.
    pub fn listen(&self, account: AccountId) -> watch::Receiver<()> {
        let mut ropes = self.ropes.lock().unwrap_or_else(PoisonError::into_inner);
        let rope = ropes.entry(account).or_insert_with(|| watch::channel(()).0);
        rope.subscribe()
    }

    pub fn ring(&self, accounts: impl IntoIterator<Item = AccountId>) {
        let mut ropes = self.ropes.lock().unwrap_or_else(PoisonError::into_inner);
        for account in accounts {
            if account == EVERYONE {
                ropes.retain(|_, rope| rope.send(()).is_ok());
                return;
            }
            let gone = ropes.get(&account).is_some_and(|rope| rope.send(()).is_err());
            if gone {
                ropes.remove(&account);
            }
        }
    }

    /// For a change made elsewhere, when it is not known whose it was.
    pub fn ring_all(&self) {
        let mut ropes = self.ropes.lock().unwrap_or_else(PoisonError::into_inner);
        ropes.retain(|_, rope| rope.send(()).is_ok());
    }
}
