//! The `server_secret` table: secrets that all nodes share.

use super::error::StoreError;
use super::tx::WriteTx;
use super::value::args;
use crate::model::token::{Secret, TokenText};

/// The secret with this name. Creates it if it does not exist.
pub fn find_or_insert(tx: &mut WriteTx, name: &str) -> Result<Secret, StoreError> {
    let (fresh, now) = (TokenText::from_bytes(tx.random()), tx.now());
    tx.execute(
        "INSERT INTO server_secret (name, value, created) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING",
        args![name, fresh.reveal(), now],
    )?;
    let sql = "SELECT value FROM server_secret WHERE name = $1";
    tx.one(sql, args![name])?.take().map(Secret::new)
}
