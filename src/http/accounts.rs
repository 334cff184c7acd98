//! The caller's account on the wire.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use super::extract::At;
use super::{App, answer};
use crate::model::account::DeskAccount;
use crate::model::id::AccountId;
use crate::model::time::Time;
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
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

#[derive(Serialize)]
struct DeskAccountView<'a> {
    id: i64,
    company: &'a str,
    email: &'a str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    tickets_open: i64,
    tickets: i64,
    users: i64,
}

impl<'a> DeskAccountView<'a> {
    fn new(account: &'a DeskAccount) -> Self {
        Self {
            id: account.id.0,
            company: &account.company,
            email: &account.email,
            created: account.created,
            tickets_open: account.tickets_open,
            tickets: account.tickets,
            users: account.users,
        }
    }
}

pub async fn desk_list(State(app): State<App>, staff: Staff, list: ListRequest) -> Result<Response> {
    let accounts = app
        .read(staff, move |tx, _| rules::accounts::desk_list(tx, &list))
        .await?;
    Ok(answer::page(&accounts, DeskAccountView::new))
}

pub async fn desk_view(State(app): State<App>, staff: Staff, At(id): At<AccountId>) -> Result<Response> {
    let account = app
        .read(staff, move |tx, _| rules::accounts::desk_view(tx, id))
        .await?;
    Ok(answer::one(&account, &DeskAccountView::new(&account)))
}
