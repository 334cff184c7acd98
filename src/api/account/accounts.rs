//! The caller's account on the wire.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::model::account::DeskAccount;
use crate::model::id::AccountId;
use crate::model::region::Region;
use crate::model::time::Time;
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, answer};

#[derive(Serialize)]
struct QuotasView {
    vpcs_per_region: VpcsPerRegionView,
    subnets_per_vpc: LimitView,
    attachment_bytes: UsedView,
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

#[derive(Serialize)]
struct UsedView {
    limit: i64,
    used: i64,
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
        attachment_bytes: UsedView {
            limit: used.quota.attachment_bytes,
            used: used.attachment_bytes,
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

#[derive(Serialize)]
struct AccountView<'a> {
    company: &'a str,
    email: &'a str,
    first_name: &'static str,
    last_name: &'static str,
    address_1: &'static str,
    address_2: &'static str,
    city: &'static str,
    state: &'static str,
    zip: &'static str,
    country: &'static str,
    phone: &'static str,
    balance: i64,
    balance_uninvoiced: i64,
    tax_id: &'static str,
    billing_source: &'static str,
    credit_card: CardView,
    #[serde(serialize_with = "answer::time")]
    active_since: Time,
    capabilities: [&'static str; 3],
    active_promotions: [(); 0],
    euuid: String,
}

#[derive(Serialize)]
struct CardView {
    last_four: Option<&'static str>,
    expiry: Option<&'static str>,
}

/// What Garth knows of an account; it sends no bills, so the rest of the public shape is empty.
pub async fn view(State(app): State<App>, caller: Caller) -> Result<Response> {
    let account = app.read(caller, rules::accounts::view).await?;
    let view = AccountView {
        company: &account.company,
        email: &account.email,
        first_name: "",
        last_name: "",
        address_1: "",
        address_2: "",
        city: "",
        state: "",
        zip: "",
        country: "",
        phone: "",
        balance: 0,
        balance_uninvoiced: 0,
        tax_id: "",
        billing_source: "linode",
        credit_card: CardView {
            last_four: None,
            expiry: None,
        },
        active_since: account.created,
        capabilities: ["Linodes", "VPCs", "Vlans"],
        active_promotions: [],
        euuid: account.euuid(),
    };
    Ok(answer::one(&account, &view))
}

#[derive(Hash, Serialize)]
struct SettingsView {
    managed: bool,
    longview_subscription: Option<&'static str>,
    network_helper: bool,
    backups_enabled: bool,
    object_storage: &'static str,
}

pub async fn settings(State(app): State<App>, caller: Caller) -> Result<Response> {
    app.read(caller, |_, _| Ok(())).await?;
    let view = SettingsView {
        managed: false,
        longview_subscription: None,
        network_helper: true,
        backups_enabled: false,
        object_storage: "disabled",
    };
    Ok(answer::one(&view, &view))
}

#[derive(Hash, Serialize)]
struct AvailabilityView<'a> {
    region: &'a str,
    unavailable: [&'static str; 0],
}

impl<'a> AvailabilityView<'a> {
    fn new(region: &'a Region) -> Self {
        let region = region.id.as_str();
        Self {
            region,
            unavailable: [],
        }
    }
}

pub async fn availability(State(app): State<App>, caller: Caller, list: ListRequest) -> Result<Response> {
    let regions = app
        .read(caller, move |tx, _| {
            rules::regions::list_named(tx.policy(), &list)
        })
        .await?;
    Ok(answer::page(&regions, AvailabilityView::new))
}

pub async fn region_availability(
    State(app): State<App>,
    caller: Caller,
    At(region): At<String>,
) -> Result<Response> {
    let region = app
        .read(caller, move |tx, _| rules::regions::view(tx.policy(), &region))
        .await?;
    let view = AvailabilityView::new(&region);
    Ok(answer::one(&view, &view))
}
