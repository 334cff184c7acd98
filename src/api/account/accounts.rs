//! JSON views of accounts.

use std::collections::BTreeMap;

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::account::Account;
use crate::model::account::DeskAccount;
use crate::model::account::settings::AccountSettings;
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::region::Region;
use crate::model::time::Time;
use crate::rules::accounts::{QuotaUse, Transfer};
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

pub fn quotas(used: &QuotaUse, _: &ViewContext) -> Response {
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
    first_name: &'a str,
    last_name: &'a str,
    address_1: &'a str,
    address_2: &'a str,
    city: &'a str,
    state: &'a str,
    zip: &'a str,
    country: &'a str,
    phone: &'a str,
    balance: i64,
    balance_uninvoiced: i64,
    tax_id: &'a str,
    billing_source: &'static str,
    credit_card: CardView,
    #[serde(serialize_with = "answer::time")]
    active_since: Time,
    capabilities: Vec<&'static str>,
    active_promotions: [(); 0],
    euuid: String,
}

#[derive(Serialize)]
struct CardView {
    last_four: Option<&'static str>,
    expiry: Option<&'static str>,
}

/// Garth has no billing, so the fields about billing are empty or 0.
pub fn one(account: &Account, context: &ViewContext) -> Response {
    let contact = &account.contact;
    let view = AccountView {
        company: &account.company,
        email: &account.email,
        first_name: contact.first_name.as_str(),
        last_name: contact.last_name.as_str(),
        address_1: contact.address_1.as_str(),
        address_2: contact.address_2.as_str(),
        city: contact.city.as_str(),
        state: contact.state.as_str(),
        zip: contact.zip.as_str(),
        country: contact.country.as_str(),
        phone: contact.phone.as_str(),
        balance: 0,
        balance_uninvoiced: 0,
        tax_id: contact.tax_id.as_str(),
        billing_source: "linode",
        credit_card: CardView {
            last_four: None,
            expiry: None,
        },
        active_since: account.created,
        capabilities: capabilities(context.policy),
        active_promotions: [],
        euuid: account.euuid(),
    };
    answer::one(account, &view)
}

fn capabilities(policy: &Policy) -> Vec<&'static str> {
    let ipv6 = policy
        .ipv6
        .pool
        .map(|_| [Region::DUAL_STACK, Region::LARGE_PREFIXES]);
    let all = [Region::LINODES, Region::VPCS, "Vlans"];
    all.into_iter().chain(ipv6.into_iter().flatten()).collect()
}

#[derive(Serialize)]
struct SettingsView {
    managed: bool,
    longview_subscription: Option<&'static str>,
    network_helper: bool,
    backups_enabled: bool,
    object_storage: &'static str,
    interfaces_for_new_linodes: &'static str,
    maintenance_policy: &'static str,
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

#[derive(Serialize)]
struct TransferView {
    billable: i64,
    quota: i64,
    used: i64,
    region_transfers: [(); 0],
}

pub fn transfer(transfer: &Transfer, _: &ViewContext) -> Response {
    let view = TransferView {
        billable: 0,
        quota: transfer.quota,
        used: transfer.used,
        region_transfers: [],
    };
    answer::one(transfer, &view)
}

pub fn desk_one(account: &DeskAccount, _: &ViewContext) -> Response {
    answer::one(account, &DeskAccountView::new(account))
}

pub fn desk_page(accounts: &Paged<DeskAccount>, _: &ViewContext) -> Response {
    answer::page(accounts, DeskAccountView::new)
}

pub fn availability(region: &Region, _: &ViewContext) -> Response {
    let view = AvailabilityView::new(region);
    answer::one(&view, &view)
}

pub fn availability_page(regions: &Paged<Region>, _: &ViewContext) -> Response {
    answer::page(regions, AvailabilityView::new)
}

/// Services that Garth does not have are shown as disabled.
pub fn settings(settings: &AccountSettings, _: &ViewContext) -> Response {
    let view = SettingsView {
        managed: false,
        longview_subscription: None,
        network_helper: settings.network_helper,
        backups_enabled: false,
        object_storage: AccountSettings::OBJECT_STORAGE,
        interfaces_for_new_linodes: AccountSettings::INTERFACES_FOR_NEW_LINODES,
        maintenance_policy: settings.maintenance_policy.word(),
    };
    answer::one(settings, &view)
}
