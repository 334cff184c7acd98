//! JSON views of VLANs.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::model::vlan::Vlan;
use crate::web::answer;

#[derive(Serialize)]
struct VlanView<'a> {
    label: &'a str,
    region: &'a str,
    linodes: Vec<i64>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
}

impl<'a> VlanView<'a> {
    fn new(vlan: &'a Vlan) -> Self {
        Self {
            label: &vlan.label,
            region: &vlan.region,
            linodes: vlan.instances.iter().map(|instance| instance.0).collect(),
            created: vlan.created,
        }
    }
}

pub fn page(vlans: &Paged<Vlan>, _: &ViewContext) -> Response {
    answer::page(vlans, VlanView::new)
}
