//! `garth account quota`: shows and changes an account's quotas.

use std::collections::BTreeMap;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use crate::cli::arguments;
use crate::cli::output::Output;
use crate::cli::store_args::OpenStore;
use crate::model::account::{MAX_ATTACHMENT_QUOTA, MAX_OBJECT_QUOTA, QuotaChange, QuotaValue};
use crate::model::id::AccountId;
use crate::rules::accounts::{self, QuotaReport};
use crate::rules::provider_accounts;

#[derive(Args)]
pub struct Quota {
    /// ID of the account
    #[arg(value_parser = arguments::id)]
    id: i64,
    /// Maximum number of VPCs per region, or "default" for the provider's default
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = object_quota)]
    vpcs_per_region: Option<QuotaValue>,
    /// Maximum number of subnets per VPC, or "default" for the provider's default
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = object_quota)]
    subnets_per_vpc: Option<QuotaValue>,
    /// Maximum total size of the account's attachments in bytes, or "default" for the provider's default
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, value_parser = attachment_quota)]
    attachment_bytes: Option<QuotaValue>,
}

fn object_quota(raw: &str) -> Result<QuotaValue, String> {
    quota_value(raw, MAX_OBJECT_QUOTA)
}

fn attachment_quota(raw: &str) -> Result<QuotaValue, String> {
    quota_value(raw, MAX_ATTACHMENT_QUOTA)
}

fn quota_value(raw: &str, max: i64) -> Result<QuotaValue, String> {
    match raw {
        "default" => Ok(QuotaValue::Default),
        raw => arguments::integer(0..=max)(raw)
            .map(QuotaValue::Limit)
            .map_err(|error| format!("{error}, or \"default\"")),
    }
}

pub async fn run(store: &OpenStore, output: Output, options: &Quota) -> anyhow::Result<()> {
    let id = options.id;
    let change = QuotaChange {
        vpcs_per_region: options.vpcs_per_region,
        subnets_per_vpc: options.subnets_per_vpc,
        attachment_bytes: options.attachment_bytes,
    };
    if change != QuotaChange::default() {
        let changed = store
            .write(move |tx| provider_accounts::set_quotas(tx, AccountId(id), change))
            .await;
        changed.with_context(|| format!("account {id}"))?;
    }
    let report = store
        .read(move |tx| accounts::quota_report(tx, AccountId(id)))
        .await;
    let view = QuotasView::new(id, report.with_context(|| format!("account {id}"))?);
    match output.json {
        true => output.text(&serde_json::to_string_pretty(&view)?),
        false => output.many(&view.rows(), &["QUOTA", "USED", "LIMIT", "DEFAULT"], Vec::clone),
    }
}

#[derive(Serialize)]
struct QuotasView {
    account_id: i64,
    vpcs_per_region: QuotaView<BTreeMap<String, i64>>,
    subnets_per_vpc: QuotaView<i64>,
    attachment_bytes: QuotaView<i64>,
}

#[derive(Serialize)]
struct QuotaView<U> {
    /// The effective limit: the account's own limit, or the default.
    limit: i64,
    default: i64,
    /// The account's own limit, if one is set.
    #[serde(rename = "override")]
    account_limit: Option<i64>,
    used: U,
}

impl QuotasView {
    fn new(account_id: i64, report: QuotaReport) -> Self {
        let QuotaReport {
            usage,
            most_subnets,
            set,
            default,
        } = report;
        Self {
            account_id,
            vpcs_per_region: QuotaView {
                limit: usage.quota.vpcs_per_region,
                default: default.vpcs_per_region,
                account_limit: set.vpcs_per_region,
                used: usage.vpcs.into_iter().collect(),
            },
            subnets_per_vpc: QuotaView {
                limit: usage.quota.subnets_per_vpc,
                default: default.subnets_per_vpc,
                account_limit: set.subnets_per_vpc,
                used: most_subnets,
            },
            attachment_bytes: QuotaView {
                limit: usage.quota.attachment_bytes,
                default: default.attachment_bytes,
                account_limit: set.attachment_bytes,
                used: usage.attachment_bytes,
            },
        }
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let vpcs = &self.vpcs_per_region;
        let mut rows: Vec<_> = vpcs
            .used
            .iter()
            .map(|(region, used)| vpcs.row(&format!("vpcs_per_region ({region})"), *used))
            .collect();
        if rows.is_empty() {
            rows.push(vpcs.row("vpcs_per_region", 0));
        }
        let (subnets, bytes) = (&self.subnets_per_vpc, &self.attachment_bytes);
        rows.push(subnets.row("subnets_per_vpc", subnets.used));
        rows.push(bytes.row("attachment_bytes", bytes.used));
        rows
    }
}

impl<U> QuotaView<U> {
    fn row(&self, name: &str, used: i64) -> Vec<String> {
        let numbers = [used, self.limit, self.default];
        let mut row = vec![name.to_owned()];
        row.extend(numbers.iter().map(i64::to_string));
        row
    }
}
