//! JSON views of accounts for the provider's administration.

use std::collections::BTreeMap;

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::declared::AccountExport;
use crate::model::account::Account;
use crate::model::page::Paged;
use crate::model::policy::Quota;
use crate::model::time::Time;
use crate::rules::provider_accounts::{AccountDetails, AccountUsage, quota};
use crate::web::{answer, downloads};

#[derive(Serialize)]
struct ProviderAccountView<'a> {
    id: i64,
    company: &'a str,
    email: &'a str,
    status: &'static str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    quotas: QuotasView,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageView<'a>>,
}

#[derive(Serialize)]
struct QuotasView {
    vpcs_per_region: QuotaView,
    subnets_per_vpc: QuotaView,
    attachment_bytes: QuotaView,
}

#[derive(Serialize)]
struct QuotaView {
    limit: i64,
    default: i64,
    #[serde(rename = "override")]
    account_limit: Option<i64>,
}

#[derive(Serialize)]
struct UsageView<'a> {
    users: i64,
    vpcs: i64,
    vpcs_per_region: BTreeMap<&'a str, i64>,
    subnets: i64,
    most_subnets_per_vpc: i64,
    instances: i64,
    tickets: i64,
    tickets_open: i64,
    attachment_bytes: i64,
}

impl<'a> ProviderAccountView<'a> {
    fn new(account: &'a Account, defaults: Quota) -> Self {
        let (set, limits) = (account.quota, quota(account, defaults));
        let quota_view = |limit, default, account_limit| QuotaView {
            limit,
            default,
            account_limit,
        };
        Self {
            id: account.id.0,
            company: &account.company,
            email: &account.email,
            status: account.status.word(),
            created: account.created,
            quotas: QuotasView {
                vpcs_per_region: quota_view(
                    limits.vpcs_per_region,
                    defaults.vpcs_per_region,
                    set.vpcs_per_region,
                ),
                subnets_per_vpc: quota_view(
                    limits.subnets_per_vpc,
                    defaults.subnets_per_vpc,
                    set.subnets_per_vpc,
                ),
                attachment_bytes: quota_view(
                    limits.attachment_bytes,
                    defaults.attachment_bytes,
                    set.attachment_bytes,
                ),
            },
            usage: None,
        }
    }
}

impl<'a> UsageView<'a> {
    fn new(usage: &'a AccountUsage) -> Self {
        let vpcs = usage.vpcs.iter().map(|(region, count)| (region.as_str(), *count));
        Self {
            users: usage.users,
            vpcs: usage.vpcs.iter().map(|(_, count)| count).sum(),
            vpcs_per_region: vpcs.collect(),
            subnets: usage.subnets,
            most_subnets_per_vpc: usage.most_subnets,
            instances: usage.instances,
            tickets: usage.tickets,
            tickets_open: usage.open_tickets,
            attachment_bytes: usage.attachment_bytes,
        }
    }
}

pub fn one(details: &AccountDetails, context: &ViewContext) -> Response {
    let view = ProviderAccountView {
        usage: Some(UsageView::new(&details.usage)),
        ..ProviderAccountView::new(&details.account, context.policy.quota)
    };
    answer::one(details, &view)
}

pub fn page(accounts: &Paged<Account>, context: &ViewContext) -> Response {
    answer::page(accounts, |account| {
        ProviderAccountView::new(account, context.policy.quota)
    })
}

/// The data of an account as a file.
pub fn export(export: &AccountExport, _: &ViewContext) -> Response {
    downloads::json_file(&export.file_name(), export.to_json())
}
