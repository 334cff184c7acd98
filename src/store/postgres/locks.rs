//! The keys of the advisory locks between nodes. All programs that use the database share its advisory locks: the
//! prefix keeps these keys apart from theirs.

use crate::store::write_lock::WriteLock;

/// `ga` for Garth.
const PREFIX: i64 = 0x6761 << 48;
const KIND: i64 = 1 << 44;

/// Held during migrations.
pub const MIGRATION: i64 = PREFIX;

/// The key of a write lock. A write holds it until its commit; so does a transaction that has inserted an event.
pub fn of_write(lock: WriteLock) -> i64 {
    // Account IDs start at 1.
    let number = match lock {
        WriteLock::Bootstrap => 0,
        WriteLock::Account(account) => account.0,
    };
    PREFIX + KIND + number
}
