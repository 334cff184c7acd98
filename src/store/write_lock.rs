//! What a write can hold against other writes, on all nodes.

use crate::model::id::AccountId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteLock {
    /// Making the first account of a store.
    Bootstrap,
    /// Changing one account.
    Account(AccountId),
}
