//! The invariants of a store, for `garth check`, which checks all of them on one snapshot.
//!
//! Most invariants are queries that find the objects that violate them. The others are functions that compare tables.

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
