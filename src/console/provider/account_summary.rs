//! The parts of an account that several pages of the provider show.

use maud::{Markup, html};

use crate::console::error_page::PageResult;
use crate::console::layout::redirect_with_error;
use crate::model::account::Account;
use crate::model::account::status::AccountStatus;
use crate::model::id::AccountId;
use crate::rules::error::Error;

/// The label and the URL of the list of accounts, which is the first page of the administration.
pub const LIST: (&str, &str) = ("Accounts", "/provider");

pub fn url(id: AccountId) -> String {
    format!("/provider/accounts/{id}")
}

pub fn status_tag(status: AccountStatus) -> Markup {
    html! {
        @match status {
            AccountStatus::Active => span .tag.on { "Active" },
            AccountStatus::Suspended => span .tag.bad { "Suspended" },
            AccountStatus::Closed => span .tag { "Closed" },
        }
    }
}

/// The company of an account, or its e-mail address if it has no company.
pub fn name(account: &Account) -> &str {
    match account.company.as_str() {
        "" => &account.email,
        company => company,
    }
}

/// Shows the reason of a refusal on another page.
pub fn refused(url: &str, error: Error) -> PageResult {
    match error {
        Error::Refused(errors) => {
            let reasons: Vec<_> = errors.iter().map(|error| error.reason.as_str()).collect();
            Ok(redirect_with_error(url, &reasons.join(". ")))
        }
        other => Err(other.into()),
    }
}
