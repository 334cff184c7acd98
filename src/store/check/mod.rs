//! The invariants of a store. `garth check` checks all of them on one snapshot.
//!
//! Most invariants have a query that finds the objects that violate the invariant. The others have a function
//! that compares tables.

mod account;
mod compute;
mod identity;
mod invariant;
mod network;
mod references;
mod schema;
mod support;
mod tallies;
mod values;

pub use invariant::{Finding, Invariant};

/// All invariants, in the order in which they are checked.
pub fn invariants() -> impl Iterator<Item = &'static Invariant> {
    let domains: [&'static [Invariant]; 9] = [
        schema::INVARIANTS,
        values::INVARIANTS,
        references::INVARIANTS,
        network::INVARIANTS,
        compute::INVARIANTS,
        support::INVARIANTS,
        identity::INVARIANTS,
        account::INVARIANTS,
        tallies::INVARIANTS,
    ];
    domains.into_iter().flatten()
}
