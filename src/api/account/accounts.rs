//! JSON views of accounts.

use std::collections::BTreeMap;

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::Wire;
use crate::model::account::Account;
use crate::model::account::DeskAccount;
use crate::model::page::Paged;
use crate::model::region::Region;
use crate::model::time::Time;
use crate::rules::accounts::QuotaUse;
use crate::web::answer;

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

pub fn quotas(used: &QuotaUse, _: &Wire) -> Response {
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
    answer::one(used, &view)
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

/// Garth has no billing, so most fields of the public format are empty.
pub fn one(account: &Account, _: &Wire) -> Response {
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
    answer::one(account, &view)
}

#[derive(Hash, Serialize)]
struct SettingsView {
    managed: bool,
    longview_subscription: Option<&'static str>,
    network_helper: bool,
    backups_enabled: bool,
    object_storage: &'static str,
}

#[derive(Hash, Serialize)]
struct AvailabilityView<'a> {
    region: &'a str,
    available: &'a [String],
    unavailable: [&'static str; 0],
}

impl<'a> AvailabilityView<'a> {
    fn new(region: &'a Region) -> Self {
        Self {
            region: &region.id,
            available: &region.capabilities,
            unavailable: [],
        }
    }
}

pub fn desk_one(account: &DeskAccount, _: &Wire) -> Response {
    answer::one(account, &DeskAccountView::new(account))
}

pub fn desk_page(accounts: &Paged<DeskAccount>, _: &Wire) -> Response {
    answer::page(accounts, DeskAccountView::new)
}

pub fn availability(region: &Region, _: &Wire) -> Response {
    let view = AvailabilityView::new(region);
    answer::one(&view, &view)
}

pub fn availability_page(regions: &Paged<Region>, _: &Wire) -> Response {
    answer::page(regions, AvailabilityView::new)
}

pub fn settings(_: &(), _: &Wire) -> Response {
    let view = SettingsView {
        managed: false,
        longview_subscription: None,
        network_helper: true,
        backups_enabled: false,
        object_storage: "disabled",
    };
    answer::one(&view, &view)
}
