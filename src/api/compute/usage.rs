//! Transfer, statistics and backups of an instance, and empty lists of the objects that are attached to the
//! instance.

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::{ViewContext, done, empty_page, list_at, view_at};
use crate::model::instance::Instance;
use crate::model::traffic::Traffic;
use crate::rules;
use crate::rules::usage::Usage;
use crate::web::answer;
use crate::web::operation::{Operation, get};

const TRANSFER: &str = "/compute/instances/{computeId}/transfer";
const MONTHLY_TRANSFER: &str = "/compute/instances/{computeId}/transfer/{year}/{month}";
const STATS: &str = "/compute/instances/{computeId}/stats";
const MONTHLY_STATS: &str = "/compute/instances/{computeId}/stats/{year}/{month}";
const BACKUPS: &str = "/compute/instances/{computeId}/backups";
const VOLUMES: &str = "/compute/instances/{computeId}/volumes";
const FIREWALLS: &str = "/compute/instances/{computeId}/firewalls";
const NODEBALANCERS: &str = "/compute/instances/{computeId}/nodebalancers";

pub fn operations() -> Vec<Operation> {
    vec![
        get(
            "getInstanceTransfer",
            TRANSFER,
            view_at(rules::usage::transfer, transfer),
        )
        .on_instance(),
        get(
            "getInstanceMonthlyTransfer",
            MONTHLY_TRANSFER,
            view_at(rules::usage::monthly_transfer, monthly_transfer),
        )
        .on_instance(),
        get("getInstanceStats", STATS, view_at(rules::usage::stats, done)).on_instance(),
        get(
            "getInstanceMonthlyStats",
            MONTHLY_STATS,
            view_at(rules::usage::monthly_stats, done),
        )
        .on_instance(),
        get("getBackups", BACKUPS, view_at(rules::usage::view, backups)).on_instance(),
        get(
            "getInstanceVolumes",
            VOLUMES,
            list_at(rules::usage::attached, empty_page),
        )
        .on_instance()
        .list(),
        get(
            "getInstanceFirewalls",
            FIREWALLS,
            list_at(rules::usage::attached, empty_page),
        )
        .on_instance()
        .list(),
        get(
            "getInstanceNodebalancers",
            NODEBALANCERS,
            list_at(rules::usage::attached, empty_page),
        )
        .on_instance()
        .list(),
    ]
}

#[derive(Serialize)]
struct TransferView {
    used: i64,
    quota: i64,
    billable: i64,
}

fn transfer(usage: &Usage, context: &ViewContext) -> Response {
    let id = &usage.instance.plan;
    let plan = context.policy.plans.iter().find(|plan| plan.id == *id);
    let view = TransferView {
        used: usage.traffic.total_bytes(),
        quota: plan.map_or(0, |plan| plan.transfer),
        billable: 0,
    };
    answer::json(StatusCode::OK, &view)
}

#[derive(Serialize)]
struct MonthlyTransferView {
    bytes_in: i64,
    bytes_out: i64,
    bytes_total: i64,
}

fn monthly_transfer(traffic: &Traffic, _: &ViewContext) -> Response {
    let view = MonthlyTransferView {
        bytes_in: traffic.received_bytes,
        bytes_out: traffic.sent_bytes,
        bytes_total: traffic.total_bytes(),
    };
    answer::json(StatusCode::OK, &view)
}

#[derive(Default, Serialize)]
struct BackupsView {
    automatic: [(); 0],
    snapshot: SnapshotView,
}

#[derive(Default, Serialize)]
struct SnapshotView {
    current: Option<()>,
    in_progress: Option<()>,
}

fn backups(_: &Instance, _: &ViewContext) -> Response {
    answer::json(StatusCode::OK, &BackupsView::default())
}
