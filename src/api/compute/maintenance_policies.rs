//! JSON views of maintenance policies.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::upkeep::MaintenancePolicy;
use crate::web::answer;

#[derive(Serialize)]
struct MaintenancePolicyView {
    slug: &'static str,
    label: &'static str,
    description: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    notification_period_sec: i64,
    is_default: bool,
}

impl MaintenancePolicyView {
    fn new(policy: &MaintenancePolicy) -> Self {
        let (label, description, kind, hours) = match policy {
            MaintenancePolicy::Migrate => (
                "Migrate",
                "Migrates the Linode to a new host while it remains fully operational. Recommended for \
                 maximizing availability.",
                "migrate",
                3,
            ),
            MaintenancePolicy::PowerOffOn => (
                "Power Off / Power On",
                "Powers off the Linode at the start of the maintenance event and reboots it once the \
                 maintenance finishes. Recommended for maximizing performance.",
                "power_off_on",
                7 * 24,
            ),
        };
        Self {
            slug: policy.word(),
            label,
            description,
            kind,
            notification_period_sec: hours * 3600,
            is_default: *policy == MaintenancePolicy::default(),
        }
    }
}

pub fn page(policies: &Paged<MaintenancePolicy>, _: &ViewContext) -> Response {
    answer::page(policies, MaintenancePolicyView::new)
}
