//! Invariants of instances and the plans in the settings of the server.

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::function("instances have a plan of the settings", check_plans),
    Invariant::function(
        "the disks of an instance fit the storage of its plan",
        check_disks,
    ),
];

fn check_plans(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let plans = &tx.policy().plans;
    tx.for_each("SELECT id, plan FROM instance ORDER BY id", args![], |row| {
        let (instance, plan): (i64, String) = (row.take()?, row.take()?);
        if !plans.iter().any(|known| known.id == plan) {
            findings.add(
                format!("instance {instance}"),
                format!(
                    "has the plan {plan}, which is not in the settings: check with the settings file of the server, or \
                     add the plan to [[types]]"
                ),
            );
        }
        Ok(())
    })
}

fn check_disks(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let plans = &tx.policy().plans;
    let sql =
        "SELECT i.id, i.plan, CAST(sum(d.size) AS BIGINT) FROM instance i JOIN disk d ON d.instance = i.id
        GROUP BY i.id, i.plan ORDER BY i.id";
    tx.for_each(sql, args![], |row| {
        let (instance, plan, used): (i64, String, i64) = (row.take()?, row.take()?, row.take()?);
        // The first invariant reports an unknown plan.
        let Some(plan) = plans.iter().find(|known| known.id == plan) else {
            return Ok(());
        };
        if used > plan.disk {
            let problem = format!(
                "has disks of {used} MB, but the plan {} has {} MB",
                plan.id, plan.disk
            );
            findings.add(format!("instance {instance}"), problem);
        }
        Ok(())
    })
}
