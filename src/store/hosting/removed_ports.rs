//! The `removed_port` table: the last counters of ports that were removed.

use super::traffic;
use crate::model::id::{HostId, InterfaceId};
use crate::model::traffic::Traffic;
use crate::store::error::StoreError;
use crate::store::tx::WriteTx;
use crate::store::value::args;

/// Records the counters of the ports with this value in `column`, which are about to be deleted.
pub(super) fn add(tx: &mut WriteTx, column: &'static str, id: i64) -> Result<(), StoreError> {
    let counters = traffic::COLUMNS;
    let sql = format!(
        "INSERT INTO removed_port (interface, host, {counters})
         SELECT p.interface, p.host, {counters} FROM port p WHERE p.{column} = $1
         ON CONFLICT (interface, host) DO UPDATE SET received_bytes = excluded.received_bytes,
             received_packets = excluded.received_packets, sent_bytes = excluded.sent_bytes,
             sent_packets = excluded.sent_packets, dropped_packets = excluded.dropped_packets"
    );
    tx.execute(&sql, args![id])?;
    Ok(())
}

/// The counters with which a new port of an interface on a host begins.
pub(super) fn take(tx: &mut WriteTx, interface: InterfaceId, host: HostId) -> Result<Traffic, StoreError> {
    let sql = format!(
        "DELETE FROM removed_port WHERE interface = $1 AND host = $2 RETURNING {}",
        traffic::COLUMNS
    );
    let row = tx.find(&sql, args![interface, host])?;
    row.map_or(Ok(Traffic::default()), |mut row| traffic::read(&mut row))
}

/// Deletes the counters of an interface that is being deleted.
pub fn delete_of_interface(tx: &mut WriteTx, interface: InterfaceId) -> Result<(), StoreError> {
    tx.execute("DELETE FROM removed_port WHERE interface = $1", args![interface])?;
    Ok(())
}
