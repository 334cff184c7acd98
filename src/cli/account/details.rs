//! `garth account show`, and the commands that change an account.

use std::collections::BTreeMap;

use anyhow::Context;
use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::store_args::OpenStore;
use crate::model::id::AccountId;
use crate::model::input::Input;
use crate::rules::Result;
use crate::rules::agent::Agent;
use crate::rules::provider_accounts::{self, AccountDetails};
use crate::rules::request::Request;
use crate::store::WriteTx;

#[derive(Serialize)]
struct DetailsView {
    id: i64,
    company: String,
    email: String,
    status: &'static str,
    created: String,
    usage: UsageView,
}

#[derive(Serialize)]
struct UsageView {
    users: i64,
    vpcs: i64,
    vpcs_per_region: BTreeMap<String, i64>,
    subnets: i64,
    most_subnets_per_vpc: i64,
    instances: i64,
    tickets: i64,
    tickets_open: i64,
    attachment_bytes: i64,
}

impl From<AccountDetails> for DetailsView {
    fn from(AccountDetails { account, usage }: AccountDetails) -> Self {
        Self {
            id: account.id.0,
            company: account.company,
            email: account.email,
            status: account.status.word(),
            created: account.created.to_string(),
            usage: UsageView {
                users: usage.users,
                vpcs: usage.vpcs.iter().map(|(_, count)| count).sum(),
                vpcs_per_region: usage.vpcs.into_iter().collect(),
                subnets: usage.subnets,
                most_subnets_per_vpc: usage.most_subnets,
                instances: usage.instances,
                tickets: usage.tickets,
                tickets_open: usage.open_tickets,
                attachment_bytes: usage.attachment_bytes,
            },
        }
    }
}

impl DetailsView {
    fn rows(&self) -> Vec<Vec<String>> {
        let usage = &self.usage;
        let number = |number: i64| number.to_string();
        let rows = [
            ("id", number(self.id)),
            ("company", self.company.clone()),
            ("email", self.email.clone()),
            ("status", self.status.to_owned()),
            ("created", self.created.clone()),
            ("users", number(usage.users)),
            ("vpcs", number(usage.vpcs)),
            ("subnets", number(usage.subnets)),
            ("instances", number(usage.instances)),
            ("tickets", number(usage.tickets)),
            ("open tickets", number(usage.tickets_open)),
            ("attachment bytes", number(usage.attachment_bytes)),
        ];
        rows.map(|(name, value)| vec![name.to_owned(), value]).to_vec()
    }
}

pub async fn show(store: &OpenStore, output: Output, id: i64) -> anyhow::Result<()> {
    let found = store
        .read(move |tx| provider_accounts::view(tx, AccountId(id)))
        .await;
    let view = DetailsView::from(found.with_context(|| format!("account {id}"))?);
    match output.json {
        true => output.text(&serde_json::to_string_pretty(&view)?),
        false => output.many(&view.rows(), &["FIELD", "VALUE"], Vec::clone),
    }
}

/// Runs a rule that changes an account, with the options that are set as fields.
pub async fn change(
    store: &OpenStore,
    output: Output,
    id: i64,
    fields: &[(&str, Option<String>)],
    rule: fn(&mut WriteTx, Option<&Agent>, AccountId, &Request) -> Result<AccountDetails>,
    action: &str,
) -> anyhow::Result<()> {
    let set = fields.iter().filter_map(|(name, value)| {
        let value = value.clone()?;
        Some(((*name).to_owned(), Input::Text(value)))
    });
    let request = Request::with_fields(set);
    let changed = store
        .write(move |tx| rule(tx, None, AccountId(id), &request))
        .await;
    let view = DetailsView::from(changed.with_context(|| format!("account {id}"))?);
    output.one(&view, &format!("{action} account {id}"))
}
