//! `garth account …`

use anyhow::Context;
use clap::Subcommand;
use serde::Serialize;

use super::output::Output;
use super::place::{Place, parse_with};
use crate::model::account::{Account, QuotaOverride};
use crate::model::id::AccountId;
use crate::model::user::Email;
use crate::rules::accounts;

#[derive(Subcommand)]
pub enum Command {
    /// Make an account
    Create {
        /// Where its owner is written to
        #[arg(long, value_parser = parse_with(Email::parse))]
        email: Email,
        /// The company's name
        #[arg(long, default_value = "")]
        company: String,
    },
    /// List all accounts
    List,
    /// Set what an account may have; without options, show what was set for it
    Quota {
        /// The account's id
        id: i64,
        /// VPCs in one region
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
        vpcs_per_region: Option<i64>,
        /// Subnets in one VPC
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(0..))]
        subnets_per_vpc: Option<i64>,
        /// Bytes of all attachments of its tickets
        #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(i64).range(0..))]
        attachment_bytes: Option<i64>,
    },
}

#[derive(Serialize)]
struct AccountView {
    id: i64,
    company: String,
    email: String,
    created: String,
    /// `null` is the provider's own number.
    vpcs_per_region: Option<i64>,
    subnets_per_vpc: Option<i64>,
    attachment_bytes: Option<i64>,
}

impl From<Account> for AccountView {
    fn from(account: Account) -> Self {
        Self {
            id: account.id.0,
            company: account.company,
            email: account.email,
            created: account.created.to_string(),
            vpcs_per_region: account.quota.vpcs_per_region,
            subnets_per_vpc: account.quota.subnets_per_vpc,
            attachment_bytes: account.quota.attachment_bytes,
        }
    }
}

pub async fn run(place: &Place, output: Output, command: Command) -> anyhow::Result<()> {
    let store = place.open()?;
    match command {
        Command::Create { email, company } => {
            let account = store
                .write(move |tx| accounts::create(tx, &company, &email))
                .await?;
            let sentence = format!("made account {}", account.id);
            output.one(&AccountView::from(account), &sentence)
        }
        Command::List => {
            let accounts = store.read(accounts::list).await?;
            let views: Vec<_> = accounts.into_iter().map(AccountView::from).collect();
            output.many(&views, &["ID", "COMPANY", "EMAIL", "CREATED"], |view| {
                vec![
                    view.id.to_string(),
                    view.company.clone(),
                    view.email.clone(),
                    view.created.clone(),
                ]
            })
        }
        Command::Quota {
            id,
            vpcs_per_region,
            subnets_per_vpc,
            attachment_bytes,
        } => {
            let change = QuotaOverride {
                vpcs_per_region,
                subnets_per_vpc,
                attachment_bytes,
            };
            let changed = store
                .write(move |tx| accounts::set_quota(tx, AccountId(id), change))
                .await;
            let account = changed.with_context(|| format!("account {id}"))?;
            let number =
                |set: Option<i64>| set.map_or("the provider's default".to_owned(), |n| n.to_string());
            let sentence = format!(
                "account {id}: VPCs per region: {}; subnets per VPC: {}; bytes of attachments: {}",
                number(account.quota.vpcs_per_region),
                number(account.quota.subnets_per_vpc),
                number(account.quota.attachment_bytes)
            );
            output.one(&AccountView::from(account), &sentence)
        }
    }
}
