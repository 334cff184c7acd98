//! The JSON of address ranges, and the keys that only newer clients of the public service know.

use crate::model::cidr::Cidr6;
use crate::model::family::V6;
use crate::model::policy::Policy;
pub use crate::web::answer::RangeView;

/// The value of the key `ipv6`: a list with one range, or null. `None` omits the key, because a VPC without IPv6 has it
/// only for newer clients.
pub fn ipv6(range: Option<Cidr6>, policy: &Policy) -> Option<Option<[RangeView<V6>; 1]>> {
    let view = range.map(|range| [RangeView::new(range)]);
    (view.is_some() || policy.wire_extras).then_some(view)
}
