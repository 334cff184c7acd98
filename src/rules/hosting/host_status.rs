//! Reports of agents: the state of hosts, ports and booting instances is derived from them.

use std::collections::HashMap;

use crate::agent_protocol::{PortReport, PortStatus, StatusReport};
use crate::model::host_warning::{HostWarning, WarningCode};
use crate::model::port::{PortRecord, PortState, StoredPort};
use crate::model::traffic::{Month, Traffic};
use crate::rules::error::Result;
use crate::rules::host_principal::HostPrincipal;
use crate::rules::{encryption, hosts, power};
use crate::store::host_reports::NewReport;
use crate::store::{self, WriteTx};

const MAX_WARNINGS: usize = 20;
const MAX_WARNING_IDS: usize = 1000;
/// The maximum length of a stored reason or warning, in characters.
const MAX_REASON_CHARS: usize = 300;

pub fn record(tx: &mut WriteTx, principal: &HostPrincipal, report: &StatusReport) -> Result<()> {
    let host = hosts::view(tx, principal.host)?;
    let mtu_before = store::host_reports::smallest_mtu(tx, &host.region)?;
    let last = store::host_reports::last(tx, host.id)?;
    let now = tx.now();
    let mut runs = last.runs.clone();
    if let Some(run) = report.agent_run.as_ref().filter(|run| !run.is_empty()) {
        runs.add(&line(run), now);
    }
    // The reports are those of different machines, so that their values would change with each of them.
    let is_shared = runs.are_several(now);
    if is_shared && !last.runs.are_several(now) {
        tracing::warn!(host = %host.id, "several agents use the credential of a host");
    }
    let warnings = is_shared.then(credential_shared).into_iter();
    let reported = report.warnings.iter().map(stored_warning);
    let warnings = warnings.chain(reported.filter(|warning| !warning.text.is_empty()));
    let warnings: Vec<HostWarning> = warnings.take(MAX_WARNINGS).collect();
    let encryption = report.encryption.as_ref().filter(|_| !is_shared);
    let settled_generation = encryption.and_then(|encryption| encryption.settled_generation);
    let new = NewReport {
        applied_revision: number(report.applied_revision),
        agent_version: &line(&report.agent_version),
        underlay_mtu: match is_shared {
            true => last.underlay_mtu,
            false => report.underlay_mtu.map(i64::from),
        },
        warnings: &warnings,
        key_generation: match is_shared {
            true => last.key_generation,
            false => settled_generation.map(i64::from),
        },
        runs: &runs,
    };
    store::host_reports::set(tx, host.id, &new)?;
    encryption::record(tx, &host, encryption)?;
    if store::host_reports::smallest_mtu(tx, &host.region)? != mtu_before {
        store::host_revisions::underlay_changed(tx, &host.region)?;
    }

    let reports: HashMap<i64, &PortReport> = report
        .ports
        .iter()
        .map(|port| (port.interface_id, port))
        .collect();
    let month = Month::of(now);
    for port in store::ports::of_host(tx, host.id)? {
        let reported = reports.get(&port.interface.0);
        let change = reported.and_then(|reported| change(&port, new.applied_revision, reported, is_shared));
        if let Some(new) = change {
            store::ports::set_report(tx, port.interface, &new)?;
            let traffic = new.traffic.since(port.report.traffic);
            if traffic != Traffic::default() {
                store::traffic::add(tx, port.instance, month, &traffic)?;
            }
        }
    }
    for instance in store::ports::booted_instances(tx, host.id)? {
        power::complete_boot(tx, instance)?;
    }
    Ok(())
}

/// The new record of a port; `None` if it does not change. A report about an earlier revision can be about an earlier
/// port of the interface. The counters of several agents are not comparable.
fn change(
    port: &StoredPort,
    applied_revision: i64,
    report: &PortReport,
    is_shared: bool,
) -> Option<PortRecord> {
    if applied_revision < port.revision {
        return None;
    }
    let new = PortRecord {
        state: match report.status {
            PortStatus::Up => PortState::Up,
            PortStatus::Error | PortStatus::Unknown => PortState::Error,
        },
        reason: report.reason.as_deref().map(line),
        traffic: match is_shared {
            true => port.report.traffic,
            false => reported_traffic(report).or_last(port.report.traffic),
        },
    };
    (new != port.report).then_some(new)
}

fn reported_traffic(report: &PortReport) -> Traffic {
    let drops = report.drops;
    let dropped = [
        drops.mac,
        drops.ip,
        drops.arp,
        drops.neighbor_discovery,
        drops.dhcp,
        drops.router_advertisement,
        drops.protocol,
    ];
    let traffic = report.traffic;
    Traffic {
        received_bytes: number(traffic.received_bytes),
        received_packets: number(traffic.received_packets),
        sent_bytes: number(traffic.sent_bytes),
        sent_packets: number(traffic.sent_packets),
        dropped_packets: number(dropped.into_iter().fold(0, u64::saturating_add)),
    }
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn credential_shared() -> HostWarning {
    let text = "several agents use the credential of this host, because the folder of an agent was copied: stop all \
        agents but one, run garth agent purge on their machines, delete their folders, and join again";
    HostWarning::new(WarningCode::CredentialShared, text)
}

/// A warning of an agent, with limited length.
fn stored_warning(reported: &HostWarning) -> HostWarning {
    HostWarning {
        code: reported.code,
        ids: reported.ids.iter().copied().take(MAX_WARNING_IDS).collect(),
        text: line(&reported.text),
    }
}

/// The text as one line of limited length.
fn line(text: &str) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(MAX_REASON_CHARS).collect()
}
