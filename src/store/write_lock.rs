//! Locks that make writes run one at a time, on all nodes.

use crate::model::id::AccountId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteLock {
    /// Held by the write that creates the first account of a store.
    Bootstrap,
    /// Held by a write that changes this account.
    Account(AccountId),
}
