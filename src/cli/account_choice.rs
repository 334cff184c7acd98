//! The account that a command works on.

use anyhow::bail;
use clap::Args;

use super::arguments;
use super::store_args::OpenStore;
use crate::model::account::Account;
use crate::model::account::status::AccountStatus;
use crate::model::id::AccountId;
use crate::rules::accounts;

#[derive(Args, Clone, Copy)]
pub struct AccountChoice {
    /// ID of the account; not needed if there is only one
    #[arg(long, value_name = "ID", value_parser = arguments::id)]
    account: Option<i64>,
}

impl AccountChoice {
    /// The account with the ID, or the only account. Closed accounts do not count.
    pub async fn find(self, store: &OpenStore) -> anyhow::Result<AccountId> {
        if let Some(id) = self.account {
            return Ok(AccountId(id));
        }
        let mut open = store.read(accounts::list).await?;
        open.retain(|account| account.status != AccountStatus::Closed);
        match &open[..] {
            [only] => Ok(only.id),
            [] => bail!("there is no account: create one with `garth account create`"),
            _ => {
                let lines: Vec<_> = open.iter().map(describe).collect();
                bail!(
                    "there are several accounts: choose one with --account\n{}",
                    lines.join("\n")
                )
            }
        }
    }
}

fn describe(account: &Account) -> String {
    let details = [account.company.as_str(), account.email.as_str()];
    let details: Vec<_> = details.into_iter().filter(|text| !text.is_empty()).collect();
    format!("  --account {}  {}", account.id, details.join(", "))
}
