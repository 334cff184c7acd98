//! The JSON of address ranges, and the keys that only newer clients of the public service know.

use serde::{Serialize, Serializer};

use crate::model::cidr::{Cidr, Cidr6, Network};
use crate::model::family::{Family, V6};
use crate::model::policy::Policy;

/// An object with a range.
#[derive(Serialize)]
pub struct RangeView<F: Family> {
    #[serde(serialize_with = "text")]
    range: Network<F>,
}

impl<F: Family> RangeView<F> {
    pub fn new(range: Network<F>) -> Self {
        Self { range }
    }
}

fn text<F: Family, S: Serializer>(range: &Network<F>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(range)
}

/// The value of the key `ipv6`: a list with one range, or null. `None` omits the key, because a VPC without IPv6 has it
/// only for newer clients.
pub fn ipv6(range: Option<Cidr6>, policy: &Policy) -> Option<Option<[RangeView<V6>; 1]>> {
    let view = range.map(|range| [RangeView::new(range)]);
    (view.is_some() || policy.wire_extras).then_some(view)
}

/// The ranges in which the subnets of a VPC can be.
#[derive(Clone, Copy)]
pub struct DefaultRanges<'a>(pub &'a [Cidr]);

impl Serialize for DefaultRanges<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|range| RangeView::new(*range)))
    }
}
