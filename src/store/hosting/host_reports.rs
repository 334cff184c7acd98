//! The `host_report` table: the last report of each agent.

use crate::model::agent_runs::AgentRuns;
use crate::model::host_warning::{HostWarning, WarningCode};
use crate::model::id::HostId;
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

pub struct NewReport<'a> {
    pub applied_revision: i64,
    pub agent_version: &'a str,
    pub underlay_mtu: Option<i64>,
    pub warnings: &'a [HostWarning],
    /// The generation of keys with which the host sends to all other hosts.
    pub key_generation: Option<i64>,
    pub runs: &'a AgentRuns,
}

pub fn set(tx: &mut WriteTx, host: HostId, report: &NewReport) -> Result<(), StoreError> {
    let now = tx.now();
    let texts: Vec<_> = report
        .warnings
        .iter()
        .map(|warning| warning.text.as_str())
        .collect();
    let codes: Vec<_> = report.warnings.iter().map(code_line).collect();
    let is_isolated = report.warnings.iter().any(|warning| warning.code.isolates_host());
    tx.execute(
        "INSERT INTO host_report
             (host, last_seen, applied_revision, agent_version, underlay_mtu, warnings, key_generation, warning_codes,
              is_isolated, agent_runs, run_returned)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
         ON CONFLICT (host) DO UPDATE SET last_seen = excluded.last_seen, applied_revision = excluded.applied_revision,
             agent_version = excluded.agent_version, underlay_mtu = excluded.underlay_mtu, warnings = excluded.warnings,
             key_generation = excluded.key_generation, warning_codes = excluded.warning_codes,
             is_isolated = excluded.is_isolated, agent_runs = excluded.agent_runs, run_returned = excluded.run_returned",
        args![
            host,
            now,
            report.applied_revision,
            report.agent_version,
            report.underlay_mtu,
            texts.join("\n"),
            report.key_generation,
            codes.join("\n"),
            is_isolated,
            report.runs.runs.join("\n"),
            report.runs.returned
        ],
    )?;
    Ok(())
}

/// The values of the last report that the next one may not replace.
#[derive(Default)]
pub struct LastReport {
    pub underlay_mtu: Option<i64>,
    pub key_generation: Option<i64>,
    pub runs: AgentRuns,
}

pub fn last(tx: &mut ReadTx, host: HostId) -> Result<LastReport, StoreError> {
    let sql =
        "SELECT underlay_mtu, key_generation, agent_runs, run_returned FROM host_report WHERE host = $1";
    let Some(mut row) = tx.find(sql, args![host])? else {
        return Ok(LastReport::default());
    };
    let (underlay_mtu, key_generation) = (row.take()?, row.take()?);
    let runs: String = row.take()?;
    Ok(LastReport {
        underlay_mtu,
        key_generation,
        runs: AgentRuns {
            runs: runs.lines().map(str::to_owned).collect(),
            returned: row.take()?,
        },
    })
}

/// Forgets the processes of agents, because their credential is no longer valid.
pub fn forget_runs(tx: &mut WriteTx, host: HostId) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE host_report SET agent_runs = '', run_returned = NULL WHERE host = $1",
        args![host],
    )?;
    Ok(())
}

/// The smallest MTU that the hosts of a region have reported.
pub fn smallest_mtu(tx: &mut ReadTx, region: &str) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT min(r.underlay_mtu) FROM host h JOIN host_report r ON r.host = h.id
        JOIN host_credential c ON c.host = h.id WHERE h.region = $1";
    tx.one(sql, args![region])?.take()
}

/// The code of a warning and its IDs.
fn code_line(warning: &HostWarning) -> String {
    let ids = warning.ids.iter().map(|id| format!(" {id}"));
    warning.code.word().to_owned() + &ids.collect::<String>()
}

/// The warnings of the columns `warnings` and `warning_codes`. Reports from before migration 32 have no codes.
pub(super) fn read_warnings(texts: &str, codes: &str) -> Vec<HostWarning> {
    let mut codes = codes.lines();
    let warning = |text: &str| {
        let mut words = codes.next().unwrap_or_default().split(' ');
        HostWarning {
            code: WarningCode::parse(words.next().unwrap_or_default()),
            ids: words.filter_map(|id| id.parse().ok()).collect(),
            text: text.to_owned(),
        }
    };
    texts.lines().map(warning).collect()
}
