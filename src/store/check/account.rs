//! Invariants of accounts, revisions and events.

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::query(
        "the brand has one row, with complete images",
        "SELECT 'branding ' || id, 'has another ID than 1, or an incomplete image'
         FROM branding WHERE id <> 1
             OR (logo IS NULL) <> (logo_format IS NULL) OR (logo IS NULL) <> (logo_hash IS NULL)
             OR (favicon IS NULL) <> (favicon_format IS NULL) OR (favicon IS NULL) <> (favicon_hash IS NULL)
         ORDER BY id",
    ),
    Invariant::query(
        "quotas are not negative",
        "SELECT 'account ' || id, 'has a negative quota' FROM account
         WHERE vpcs_per_region < 0 OR subnets_per_vpc < 0 OR attachment_bytes < 0 ORDER BY id",
    ),
    Invariant::query(
        "every account has a revision",
        "SELECT 'account ' || a.id, 'has no revision' FROM account a
         WHERE NOT EXISTS (SELECT 1 FROM account_revision r WHERE r.account = a.id) ORDER BY a.id",
    ),
    Invariant::query(
        "logged changes belong to revisions that exist",
        "SELECT 'account ' || c.account, 'has a logged change of revision ' || max(c.revision) || ', but its revision is '
                 || r.revision
         FROM change_log c JOIN account_revision r ON r.account = c.account
         WHERE c.revision > r.revision OR c.revision <= r.log_start GROUP BY c.account, r.revision ORDER BY c.account",
    ),
    // A difference of up to an hour is not an error, because the system's clock may have been set back.
    Invariant::query(
        "events are in the order of their IDs",
        "SELECT 'event ' || id, 'is more than an hour older than the event before it' FROM (
             SELECT id, created, lag(created) OVER (PARTITION BY account ORDER BY id) AS before FROM event) AS ordered
         WHERE created < before - 3600000000 ORDER BY id",
    ),
    Invariant::function(
        "objects created within the retention of events have a creation event",
        check_creations,
    ),
];

/// If the retention of an object's creation event ends within this number of seconds, the check skips the
/// object. The event may already be deleted.
const EARLY_SECONDS: i64 = 3_600;

/// The kinds of objects with a creation event: the table, the name in findings, the kind in events and the action.
const CREATIONS: &[(&str, &str, &str, &str)] = &[
    ("vpc", "VPC", "vpc", "vpc_create"),
    ("instance", "instance", "linode", "linode_create"),
    ("ticket", "ticket", "ticket", "ticket_create"),
];

fn check_creations(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let days = tx.policy().event_days;
    let since = tx.now().plus_seconds(EARLY_SECONDS - days.saturating_mul(86_400));
    for (table, name, kind, action) in CREATIONS {
        let created = if *table == "ticket" { "opened" } else { "created" };
        let sql = format!(
            "SELECT '{name} ' || o.id, 'has no event {action}' FROM {table} o WHERE o.{created} > $1
             AND NOT EXISTS (SELECT 1 FROM event e WHERE e.account = o.account AND e.entity_kind = '{kind}'
                 AND e.entity_id = o.id AND e.action = '{action}') ORDER BY o.id"
        );
        findings.add_rows(tx, &sql, args![since])?;
    }
    Ok(())
}
