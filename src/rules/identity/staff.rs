//! The provider's staff and their roles (decision 0034).

use crate::model::page::Paged;
use crate::model::staff_role::StaffRole;
use crate::model::token::TokenText;
use crate::model::user::{Email, Membership, NewUser, User, Username};
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::password_links::INVITATION_TTL_SECONDS;
use crate::rules::request::Request;
use crate::rules::{account_mails, last_admin, passwords, users};
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<User>> {
    let query = list.read(tx.policy(), &store::staff::FIELDS)?;
    Ok(store::staff::list(tx, &query)?)
}

/// A member of staff. Users of accounts are not found.
pub fn view(tx: &mut ReadTx, username: &str) -> Result<User> {
    let user = users::load(tx, username)?;
    match user.is_staff() {
        true => Ok(user),
        false => Err(Error::NotFound),
    }
}

/// Creates a member of staff, and sends an invitation.
pub fn create(tx: &mut WriteTx, request: &Request) -> Result<User> {
    let mut form = request.form()?;
    let username = form.required("username", Username::parse);
    let email = form.required("email", Email::parse);
    let role = form.required("role", StaffRole::parse);
    users::refuse_taken_username(tx, &mut form, username.as_ref(), None)?;
    let new = form.finish(|| {
        Some(NewUser {
            membership: Membership::Staff(role?),
            username: username?,
            email: email?,
            restricted: false,
            password: None,
        })
    })?;
    let user = users::create(tx, &new)?;
    account_mails::invite(tx, &user)?;
    Ok(user)
}

/// Changes the e-mail address, the role, or whether the user is disabled.
pub fn update(tx: &mut WriteTx, username: &str, request: &Request) -> Result<User> {
    let mut user = view(tx, username)?;
    request.check_if_match_or_stable(&user, &user.without_login())?;
    let mut form = request.form()?;
    let email = form.optional("email", Email::parse);
    let role = form.optional("role", StaffRole::parse);
    let disabled = form.boolean("disabled");
    refuse_last_admin(tx, &mut form, &user, role, disabled)?;
    form.finish(|| Some(()))?;

    if let Some(email) = email {
        user.email = email;
        store::users::update(tx, &user)?;
    }
    if let Some(role) = role {
        store::staff::set_role(tx, &user, role)?;
    }
    if let Some(disabled) = disabled {
        store::staff::set_disabled(tx, &user, disabled)?;
    }
    view(tx, username)
}

pub fn delete(tx: &mut WriteTx, username: &str, request: &Request) -> Result<()> {
    let user = view(tx, username)?;
    request.check_if_match_or_stable(&user, &user.without_login())?;
    request.require_valid_body()?;
    last_admin::require_other_admin(tx, &user)?;
    Ok(store::users::delete(tx, user.id)?)
}

/// Creates a single-use link with which the user sets a password.
pub fn make_link(tx: &mut WriteTx, username: &str) -> Result<TokenText> {
    view(tx, username)?;
    passwords::make_link(tx, username, INVITATION_TTL_SECONDS)
}

/// Sends another invitation to a member of staff who has no password yet.
pub fn invite_again(tx: &mut WriteTx, username: &str) -> Result<()> {
    let user = view(tx, username)?;
    account_mails::invite_again(tx, &user)
}

/// Sets the role of a member of staff, for commands.
pub fn set_role(tx: &mut WriteTx, username: &str, role: StaffRole) -> Result<User> {
    let user = users::load(tx, username)?;
    if !user.is_staff() {
        return Err(Error::WrongAudience);
    }
    if role != StaffRole::Admin {
        last_admin::require_other_admin(tx, &user)?;
    }
    store::staff::set_role(tx, &user, role)?;
    view(tx, username)
}

/// Disables or enables any user, for commands.
pub fn set_disabled(tx: &mut WriteTx, username: &str, disabled: bool) -> Result<User> {
    let user = users::load(tx, username)?;
    if disabled {
        last_admin::require_other_admin(tx, &user)?;
    }
    store::staff::set_disabled(tx, &user, disabled)?;
    users::load(tx, username)
}

fn refuse_last_admin(
    tx: &mut ReadTx,
    form: &mut Form,
    user: &User,
    role: Option<StaffRole>,
    disabled: Option<bool>,
) -> Result<()> {
    let demotes = role.is_some_and(|role| role != StaffRole::Admin);
    let field = match (demotes, disabled) {
        (true, _) => "role",
        (false, Some(true)) => "disabled",
        _ => return Ok(()),
    };
    if last_admin::is_last(tx, user)? {
        form.refuse(field, last_admin::reason(user));
    }
    Ok(())
}
