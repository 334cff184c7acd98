//! The JSON of address ranges, and the keys that only newer clients of the public service know.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::model::cidr::{Cidr, Cidr6, Network};
use crate::model::family::{Family, V6};
use crate::model::policy::Policy;
use crate::web::answer;

/// An object with a range.
#[derive(Serialize)]
pub struct RangeView<F: Family> {
    #[serde(serialize_with = "answer::network")]
    range: Network<F>,
}

impl<F: Family> RangeView<F> {
    pub fn new(range: Network<F>) -> Self {
        Self { range }
    }
}

/// The value of the key `ipv6`: a list with one range, or null. `None` omits the key, because a VPC without IPv6 has it
/// only for newer clients.
pub fn ipv6(range: Option<Cidr6>, policy: &Policy) -> Option<Option<[RangeView<V6>; 1]>> {
    let view = range.map(|range| [RangeView::new(range)]);
    (view.is_some() || policy.wire_extras).then_some(view)
}

/// The JSON of ranges.
pub fn json(ranges: &[Cidr]) -> serde_json::Result<Box<RawValue>> {
    let views: Vec<_> = ranges.iter().map(|range| RangeView::new(*range)).collect();
    serde_json::value::to_raw_value(&views)
}
