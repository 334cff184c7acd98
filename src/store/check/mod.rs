//! The invariants of a store. `garth check` checks all of them on one snapshot.
//!
//! Most invariants have a query that finds the objects that violate the invariant. The others have a function
//! that compares tables.

mod account;
mod compute;
mod free_space;
mod identity;
mod invariant;
mod ipv6;
mod network;
mod references;
mod schema;
mod support;
mod tallies;
mod values;

pub use invariant::{Finding, Invariant};

use super::error::StoreError;
use super::tx::ReadTx;

/// Checks all invariants, and calls `progress` with the name of each. If the transaction fails, the failure is the last
/// finding, because no further invariant can be checked.
pub fn check_all(
    tx: &mut ReadTx,
    mut progress: impl FnMut(&'static str),
) -> Result<Vec<Finding>, StoreError> {
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
                break;
            }
            Err(cause) => return Err(cause),
        }
    }
    Ok(findings)
}

/// All invariants, in the order in which they are checked.
pub fn invariants() -> impl Iterator<Item = &'static Invariant> {
    let domains: [&'static [Invariant]; 10] = [
        schema::INVARIANTS,
        values::INVARIANTS,
        references::INVARIANTS,
        network::INVARIANTS,
        ipv6::INVARIANTS,
        compute::INVARIANTS,
        support::INVARIANTS,
        identity::INVARIANTS,
        account::INVARIANTS,
        tallies::INVARIANTS,
    ];
    domains.into_iter().flatten()
}
