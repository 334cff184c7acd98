//! The locks that writes hold against other writes, on all nodes.

use crate::model::id::AccountId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteLock {
    /// Creates the first account of a store.
    Bootstrap,
    /// Changes one account.
    Account(AccountId),
}
