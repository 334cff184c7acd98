//! The caller's account on the wire.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use super::{App, answer};
use crate::rules::caller::Caller;
use crate::rules::{self, Result};

#[derive(Serialize)]
struct QuotasView {
    vpcs_per_region: VpcsPerRegionView,
    subnets_per_vpc: LimitView,
}

#[derive(Serialize)]
struct VpcsPerRegionView {
    limit: i64,
    used: BTreeMap<String, i64>,
}

#[derive(Serialize)]
struct LimitView {
    limit: i64,
}

pub async fn quotas(State(app): State<App>, caller: Caller) -> Result<Response> {
    let used = app.read(caller, rules::accounts::quota_use).await?;
    let view = QuotasView {
        vpcs_per_region: VpcsPerRegionView {
            limit: used.quota.vpcs_per_region,
            used: used.vpcs.iter().cloned().collect(),
        },
        subnets_per_vpc: LimitView {
            limit: used.quota.subnets_per_vpc,
        },
    };
    Ok(answer::one(&used, &view))
}
