//! The tables `host_join_token` and `host_credential`: the secrets of hosts, stored as hashes.

use crate::model::id::HostId;
use crate::model::time::Time;
use crate::model::token::TokenHash;
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

/// Replaces the join token of a host.
pub fn set_join_token(
    tx: &mut WriteTx,
    host: HostId,
    hash: &TokenHash,
    expiry: Time,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO host_join_token (host, hash, expiry) VALUES ($1, $2, $3)
         ON CONFLICT (host) DO UPDATE SET hash = excluded.hash, expiry = excluded.expiry",
        args![host, hash.hex(), expiry],
    )?;
    Ok(())
}

/// Deletes a join token, if it has not expired. Returns its host.
pub fn take_join_token(tx: &mut WriteTx, hash: &TokenHash) -> Result<Option<HostId>, StoreError> {
    let now = tx.now();
    let sql = "DELETE FROM host_join_token WHERE hash = $1 AND expiry > $2 RETURNING host";
    let row = tx.find(sql, args![hash.hex(), now])?;
    row.map(|mut row| row.take()).transpose()
}

/// Replaces the credential of a host.
pub fn set_credential(tx: &mut WriteTx, host: HostId, hash: &TokenHash) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO host_credential (host, hash, created) VALUES ($1, $2, $3)
         ON CONFLICT (host) DO UPDATE SET hash = excluded.hash, created = excluded.created",
        args![host, hash.hex(), now],
    )?;
    Ok(())
}

/// Deletes the credential of a host. Returns false if it has none.
pub fn revoke(tx: &mut WriteTx, host: HostId) -> Result<bool, StoreError> {
    let deleted = tx.execute("DELETE FROM host_credential WHERE host = $1", args![host])?;
    Ok(deleted > 0)
}

/// The host of a credential.
pub fn host_of(tx: &mut ReadTx, hash: &TokenHash) -> Result<Option<HostId>, StoreError> {
    let row = tx.find(
        "SELECT host FROM host_credential WHERE hash = $1",
        args![hash.hex()],
    )?;
    row.map(|mut row| row.take()).transpose()
}
