//! What the pages of users have in common about invitations.

use crate::console::error_page::PageResult;
use crate::console::layout::{redirect_with_error, redirect_with_notice};
use crate::rules::{Error, Result};
use crate::web::App;

/// The notice after the creation of a user.
pub fn created_notice(app: &App) -> &'static str {
    match app.sends_mail() {
        true => "user-created-invited",
        false => "user-created",
    }
}

/// The notice after the creation of a user of an account, which can have reached its limit of invitations.
pub fn notice_of(app: &App, is_invited: bool) -> &'static str {
    match app.sends_mail() && !is_invited {
        true => "user-created-not-invited",
        false => created_notice(app),
    }
}

/// How a new user gets a password.
pub fn hint(app: &App) -> &'static str {
    match app.sends_mail() {
        true => "The user gets a mail with a link to set a password.",
        false => "On the next page, you can generate a link for the user to set a password.",
    }
}

/// Redirects to the page of a user, with the result of another invitation.
pub fn sent(url: &str, invited: Result<()>) -> PageResult {
    match invited {
        Ok(()) => Ok(redirect_with_notice(url, "user-invited")),
        Err(Error::Refused(errors)) => {
            let reasons: Vec<_> = errors.iter().map(|error| error.reason.as_str()).collect();
            Ok(redirect_with_error(url, &reasons.join(". ")))
        }
        Err(other) => Err(other.into()),
    }
}
