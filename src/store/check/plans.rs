//! Invariants of instances and the plans of the provider: those of the settings and the stored ones.

use super::invariant::{Findings, Invariant};
use crate::model::plan::Plan;
use crate::model::stored_catalog::StoredCatalog;
use crate::store::catalog;
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::args;

/// The invariants of stored plans, which do not depend on the settings.
pub const STORED: &[Invariant] = &[Invariant::query(
    "stored plans have no negative sizes and prices",
    "SELECT 'catalog_plan ' || id, 'has a negative size or price' FROM catalog_plan
     WHERE memory < 0 OR disk < 0 OR transfer < 0 OR vcpus < 0 OR gpus < 0 OR network_out < 0 OR hourly < 0
         OR monthly < 0
     ORDER BY id",
)];

pub const INVARIANTS: &[Invariant] = &[
    Invariant::function("instances have a plan that exists", check_plans),
    Invariant::function(
        "the disks of an instance fit the storage of its plan",
        check_disks,
    ),
];

/// The plans of the settings and of this store. The policy may have been read before the store had its rows.
fn plans(tx: &mut ReadTx) -> Result<Vec<Plan>, StoreError> {
    let stored = match catalog::load_if_present(tx) {
        // Another invariant reports a row with an invalid value.
        Err(StoreError::Corrupt { .. }) => StoredCatalog::default(),
        loaded => loaded?,
    };
    Ok(tx.policy().with_stored(&stored).plans)
}

fn check_plans(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let plans = plans(tx)?;
    tx.for_each("SELECT id, plan FROM instance ORDER BY id", args![], |row| {
        let (instance, plan): (i64, String) = (row.take()?, row.take()?);
        if !plans.iter().any(|known| known.id == plan) {
            findings.add(
                format!("instance {instance}"),
                format!(
                    "has the plan {plan}, which does not exist: check with the settings file of the server, add the \
                     plan to [[types]], or add it with `garth plan add`"
                ),
            );
        }
        Ok(())
    })
}

fn check_disks(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let plans = plans(tx)?;
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
