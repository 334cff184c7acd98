//! The ranges that are allowed for subnets by default.

use crate::model::cidr::{Cidr, PRIVATE};
use crate::model::policy::Policy;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DefaultRanges {
    pub allowed: Vec<Cidr>,
    pub forbidden: Vec<Cidr>,
}

/// The private ranges without the ranges that the provider has reserved.
pub fn view(policy: &Policy) -> DefaultRanges {
    DefaultRanges {
        allowed: without_forbidden(&policy.forbidden_ranges),
        forbidden: policy.forbidden_ranges.clone(),
    }
}

/// The private ranges without these ranges.
pub fn without_forbidden(forbidden: &[Cidr]) -> Vec<Cidr> {
    let private = PRIVATE.into_iter();
    private.flat_map(|range| without(range, forbidden)).collect()
}

/// `range` without `forbidden`: the largest remaining networks that are large enough for a subnet.
fn without(range: Cidr, forbidden: &[Cidr]) -> Vec<Cidr> {
    if forbidden.iter().any(|taken| taken.contains(range)) || range.prefix() > Cidr::MAX_SUBNET_PREFIX {
        return Vec::new();
    }
    if !forbidden.iter().any(|taken| taken.overlaps(range)) {
        return vec![range];
    }
    let parts = range.split(range.prefix() + 1);
    parts.flat_map(|part| without(part, forbidden)).collect()
}
