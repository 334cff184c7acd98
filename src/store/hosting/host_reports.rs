//! The `host_report` table: the last report of each agent.

use crate::model::id::HostId;
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

pub struct NewReport<'a> {
    pub applied_revision: i64,
    pub agent_version: &'a str,
    pub underlay_mtu: Option<i64>,
    pub warnings: &'a [String],
    /// The generation of keys with which the host sends to all other hosts.
    pub key_generation: Option<i64>,
}

pub fn set(tx: &mut WriteTx, host: HostId, report: &NewReport) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO host_report
             (host, last_seen, applied_revision, agent_version, underlay_mtu, warnings, key_generation)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (host) DO UPDATE SET last_seen = excluded.last_seen, applied_revision = excluded.applied_revision,
             agent_version = excluded.agent_version, underlay_mtu = excluded.underlay_mtu, warnings = excluded.warnings,
             key_generation = excluded.key_generation",
        args![
            host,
            now,
            report.applied_revision,
            report.agent_version,
            report.underlay_mtu,
            report.warnings.join("\n"),
            report.key_generation
        ],
    )?;
    Ok(())
}

/// The smallest MTU that the hosts of a region have reported.
pub fn smallest_mtu(tx: &mut ReadTx, region: &str) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT min(r.underlay_mtu) FROM host h JOIN host_report r ON r.host = h.id
        JOIN host_credential c ON c.host = h.id WHERE h.region = $1";
    tx.one(sql, args![region])?.take()
}
