//! `garth account …`

mod quota;

use clap::Subcommand;
use serde::Serialize;

use super::arguments::parse_with;
use super::output::Output;
use super::store_args::StoreArgs;
use crate::model::account::Account;
use crate::model::user::Email;
use crate::rules::accounts;

#[derive(Subcommand)]
pub enum Command {
    /// Create an account
    Create {
        /// E-mail address of the account's owner
        #[arg(long, value_parser = parse_with(Email::parse))]
        email: Email,
        /// Name of the company
        #[arg(long, default_value = "")]
        company: String,
    },
    /// List all accounts
    List,
    /// Show an account's quotas and their usage, or change them
    Quota(quota::Quota),
}

#[derive(Serialize)]
struct AccountView {
    id: i64,
    company: String,
    email: String,
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
                .write(move |tx| accounts::create(tx, &company, &email))
                .await?;
            let sentence = format!("created account {}", account.id);
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
        Command::Quota(options) => quota::run(&store, output, &options).await,
    }
}
