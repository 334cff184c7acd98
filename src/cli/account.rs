//! `garth account …`

mod details;
mod events;
mod networks;
mod quota;

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::arguments::{self, parse_with};
use super::output::Output;
use super::store_args::StoreArgs;
use crate::declared;
use crate::model::account::Account;
use crate::model::id::AccountId;
use crate::model::text::OptionalLine;
use crate::model::user::Email;
use crate::rules::{accounts, provider_accounts};

#[derive(Subcommand)]
pub enum Command {
    /// Create an account
    Create {
        /// E-mail address of the account's owner
        #[arg(long, value_parser = parse_with(Email::parse))]
        email: Email,
        /// Name of the company
        #[arg(long, default_value = "", value_parser = parse_with(OptionalLine::<128>::parse))]
        company: OptionalLine<128>,
    },
    /// List all accounts
    List,
    /// Show an account and its usage
    Show {
        /// ID of the account
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
    /// List the VPCs of an account with their subnets
    Vpcs(Objects),
    /// List the instances of an account with their addresses
    Instances(Objects),
    /// List the events of an account, newest first
    ///
    /// An event of staff shows the username of its author. The users of the account see the provider's name instead.
    Events(Objects),
    /// Change an account's e-mail address or company
    Set(Set),
    /// Suspend an account
    ///
    /// The tokens and sessions of its users are refused. Its instances and networks continue to run.
    Suspend {
        /// ID of the account
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
    /// Reactivate a suspended account
    Reactivate {
        /// ID of the account
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
    /// Close an account permanently
    ///
    /// The account must have no instances and no VPCs. Its users lose access. Its tickets and events remain.
    Close {
        /// ID of the account
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
    /// Print the data of an account as JSON: its networks, instances, users, and tickets with replies
    ///
    /// For the customer, before the account is closed. The document of garth apply (garth export) is a part of it. There
    /// are no secrets and no internal notes in it, and no content of attachments.
    Export {
        /// ID of the account
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
    /// Show an account's quotas and their usage, or change them
    Quota(quota::Quota),
}

#[derive(Args)]
pub struct Objects {
    /// ID of the account
    #[arg(value_parser = arguments::id)]
    id: i64,
    /// Page number (100 per page)
    #[arg(long, default_value_t = 1)]
    page: u32,
}

#[derive(Args)]
#[command(group(clap::ArgGroup::new("changes").args(["email", "company"]).required(true).multiple(true)))]
pub struct Set {
    /// ID of the account
    #[arg(value_parser = arguments::id)]
    id: i64,
    /// E-mail address of the account's owner
    #[arg(long)]
    email: Option<String>,
    /// Name of the company
    #[arg(long)]
    company: Option<String>,
}

#[derive(Serialize)]
struct AccountView {
    id: i64,
    company: String,
    email: String,
    status: &'static str,
    created: String,
    /// `null` for the provider's default, like the other quotas.
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
            status: account.status.word(),
            created: account.created.to_string(),
            vpcs_per_region: account.quota.vpcs_per_region,
            subnets_per_vpc: account.quota.subnets_per_vpc,
            attachment_bytes: account.quota.attachment_bytes,
        }
    }
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::Create { email, company } => {
            let account = store
                .write(move |tx| accounts::create(tx, company.as_str(), &email))
                .await?;
            let sentence = format!("created account {}", account.id);
            output.one(&AccountView::from(account), &sentence)
        }
        Command::List => {
            let accounts = store.read(accounts::list).await?;
            let views: Vec<_> = accounts.into_iter().map(AccountView::from).collect();
            output.many(&views, &["ID", "COMPANY", "EMAIL", "STATUS", "CREATED"], |view| {
                vec![
                    view.id.to_string(),
                    view.company.clone(),
                    view.email.clone(),
                    view.status.to_owned(),
                    view.created.clone(),
                ]
            })
        }
        Command::Show { id } => details::show(&store, output, id).await,
        Command::Vpcs(Objects { id, page }) => networks::vpcs(&store, output, id, page).await,
        Command::Instances(Objects { id, page }) => networks::instances(&store, output, id, page).await,
        Command::Events(Objects { id, page }) => events::list(&store, output, id, page).await,
        Command::Set(Set { id, email, company }) => {
            let fields = [("email", email), ("company", company)];
            details::change(&store, output, id, &fields, provider_accounts::update, "changed").await
        }
        Command::Suspend { id } => {
            details::change(&store, output, id, &[], provider_accounts::suspend, "suspended").await
        }
        Command::Reactivate { id } => {
            details::change(
                &store,
                output,
                id,
                &[],
                provider_accounts::reactivate,
                "reactivated",
            )
            .await
        }
        Command::Close { id } => {
            details::change(&store, output, id, &[], provider_accounts::close, "closed").await
        }
        Command::Export { id } => {
            let exported = store
                .read(move |tx| declared::export_account(tx, AccountId(id)))
                .await;
            let export = exported.with_context(|| format!("account {id}"))?;
            output.bytes(export.to_json().as_bytes())
        }
        Command::Quota(options) => quota::run(&store, output, &options).await,
    }
}
