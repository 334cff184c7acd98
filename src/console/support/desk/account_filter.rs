//! The filter of the queue for accounts.

use crate::console::forms::FormData;
use crate::model::account::DeskAccount;
use crate::model::id::AccountId;
use crate::rules;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;

/// The account in the filter: its ID, also after its name (`Example #1`), or a part of its name or e-mail address.
pub enum AccountFilter {
    Id(i64),
    Name(String),
}

pub fn account_filter(search: &FormData) -> Option<AccountFilter> {
    match search.text("account").trim() {
        "" => None,
        text => {
            let id = text.rsplit_once('#').map_or(text, |(_, id)| id);
            Some(
                id.parse()
                    .map_or_else(|_| AccountFilter::Name(text.to_owned()), AccountFilter::Id),
            )
        }
    }
}

/// The account in the filter, as the form shows it.
pub fn account_text(search: &FormData, account: Option<&DeskAccount>) -> String {
    match (account_filter(search), account) {
        (Some(AccountFilter::Id(_)), Some(account)) if account.company.is_empty() => {
            format!("{} #{}", account.email, account.id)
        }
        (Some(AccountFilter::Id(_)), Some(account)) => format!("{} #{}", account.company, account.id),
        _ => search.text("account").to_owned(),
    }
}

/// The account with this ID; `None` if it does not exist.
pub fn find_account(tx: &mut ReadTx, id: AccountId) -> rules::Result<Option<DeskAccount>> {
    match rules::accounts::desk_view(tx, id) {
        Ok(account) => Ok(Some(account)),
        Err(rules::Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The first accounts with this name.
pub fn accounts_named(tx: &mut ReadTx, name: &str) -> rules::Result<Vec<DeskAccount>> {
    const MAX_ACCOUNTS: i64 = 50;
    let named = Condition::contained_in(["company", "email"], name);
    Ok(rules::accounts::desk_list(tx, &ListRequest::first(MAX_ACCOUNTS).only(named))?.items)
}

/// The condition that a ticket belongs to one of these accounts.
pub fn of_accounts(accounts: &[DeskAccount]) -> Condition {
    let of_account = |account: &DeskAccount| Condition::equal("account_id", account.id);
    // No ticket belongs to account 0.
    let none = Condition::equal("account_id", 0_i64);
    Condition::Any(accounts.iter().map(of_account).chain([none]).collect())
}
