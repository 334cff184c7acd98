//! The invariants of a store. `garth check` checks all of them on one snapshot.
//!
//! Most invariants have a query that finds the objects that violate the invariant. The others have a function
//! that compares tables.

mod account;
mod compute;
mod free_space;
mod hosting;
mod identity;
mod invariant;
mod ipv6;
mod network;
mod plans;
mod references;
mod schema;
mod search;
mod support;
mod tallies;
mod values;

pub use invariant::{Finding, Invariant};

use super::error::StoreError;
use super::tx::ReadTx;

/// Checks all invariants, and calls `progress` with the name of each. An invariant that cannot be checked, for example
/// because a page of the database is damaged, is a finding. If the transaction then cannot continue, it is the last one.
pub fn check_all(
    tx: &mut ReadTx,
    mut progress: impl FnMut(&'static str),
) -> Result<Vec<Finding>, StoreError> {
    tx.allow_long_statements();
    let mut findings = Vec::new();
    for invariant in invariants() {
        progress(invariant.name);
        match invariant.check(tx) {
            Ok(found) => findings.extend(found),
            Err(cause @ (StoreError::Database(_) | StoreError::Unexpected(_))) => {
                findings.push(Finding {
                    invariant: invariant.name,
                    object: "database".to_owned(),
                    problem: format!("cannot be checked: {cause}"),
                });
                if !tx.continues_after_failure() {
                    break;
                }
            }
            Err(cause) => return Err(cause),
        }
    }
    Ok(findings)
}

/// Whether the finding depends on the settings, and not only on the store.
pub fn depends_on_settings(finding: &Finding) -> bool {
    plans::INVARIANTS
        .iter()
        .any(|invariant| invariant.name == finding.invariant)
}

/// All invariants, in the order in which they are checked.
pub fn invariants() -> impl Iterator<Item = &'static Invariant> {
    let domains: [&'static [Invariant]; 14] = [
        schema::INVARIANTS,
        values::INVARIANTS,
        references::INVARIANTS,
        network::INVARIANTS,
        ipv6::INVARIANTS,
        compute::INVARIANTS,
        hosting::INVARIANTS,
        plans::STORED,
        plans::INVARIANTS,
        support::INVARIANTS,
        search::INVARIANTS,
        identity::INVARIANTS,
        account::INVARIANTS,
        tallies::INVARIANTS,
    ];
    domains.into_iter().flatten()
}
