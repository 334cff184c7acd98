//! The numbers of the locks that nodes take against each other. A database knows them for itself alone, so
//! they concern nobody else's but those who use the same numbers: hence the prefix.

use crate::store::write_lock::WriteLock;

/// `ga` for Garth.
const PREFIX: i64 = 0x6761 << 48;
const KIND: i64 = 1 << 44;

/// Held while the tables are brought to their shape.
pub const MIGRATION: i64 = PREFIX;

/// Held by a write until it is committed, and by one that has taken the ID of an event.
pub fn of_write(lock: WriteLock) -> i64 {
    // The IDs of accounts begin at 1.
    let number = match lock {
        WriteLock::Bootstrap => 0,
        WriteLock::Account(account) => account.0,
    };
    PREFIX + KIND + number
}
