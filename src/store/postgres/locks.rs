//! The keys of the advisory locks between nodes. All programs that use a database share its advisory locks, so Garth's
//! keys have a prefix that separates them from the keys of other programs.

use crate::store::write_lock::WriteLock;

/// `ga` for Garth.
const PREFIX: i64 = 0x6761 << 48;
/// Separates the keys of write locks from `MIGRATION`.
const WRITE_LOCK: i64 = 1 << 44;

/// The key of the lock that a node holds during migrations.
pub const MIGRATION: i64 = PREFIX;
/// The key of the lock that `garth restore` holds.
pub const RESTORE: i64 = PREFIX + 1;

/// The key of a write lock. A write holds its lock until its commit. A transaction that inserts an event holds the lock
/// of the event's account until its commit.
pub fn of_write(lock: WriteLock) -> i64 {
    // Account IDs start at 1, so 0 is free.
    let number = match lock {
        WriteLock::Bootstrap => 0,
        WriteLock::Account(account) => account.0,
    };
    PREFIX + WRITE_LOCK + number
}
