//! The numbers of the locks that nodes take against each other. A database knows them for itself alone, so
//! they concern nobody else's but those who use the same numbers: hence the prefix.

use crate::model::id::AccountId;
use crate::store::tx::Chore;

/// `ga` for Garth.
const PREFIX: i64 = 0x6761 << 48;
const KIND: i64 = 1 << 44;

/// Held while the tables are brought to their shape.
pub const MIGRATION: i64 = PREFIX;

/// Held by whoever has taken the id of an event, until it is committed.
pub fn of_account(account: AccountId) -> i64 {
    PREFIX + KIND + account.0
}

pub fn of_chore(chore: Chore) -> i64 {
    let number = match chore {
        Chore::DueWork => 1,
        Chore::Sweep => 2,
        Chore::Scrub => 3,
    };
    PREFIX + 2 * KIND + number
}
