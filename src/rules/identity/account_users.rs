//! The users of an account, as the provider manages them (decision 0034).

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::event_change::Changes;
use crate::model::id::AccountId;
use crate::model::input::Input;
use crate::model::outgoing_mail::OutgoingMail;
use crate::model::page::Paged;
use crate::model::token::TokenText;
use crate::model::user::{NewUser, User};
use crate::rules::agent::Agent;
use crate::rules::conditions::Condition;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::password_links::INVITATION_TTL_SECONDS;
use crate::rules::request::Request;
use crate::rules::{account_mails, accounts, event_changes, events, passwords, users};
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, account: AccountId, list: &ListRequest) -> Result<Paged<User>> {
    accounts::load(tx, account)?;
    let query = list.read(tx.policy(), &store::users::FIELDS)?;
    Ok(store::users::list(tx, account, &query)?)
}

/// Whether the account has a user who can manage its users.
pub fn has_unrestricted(tx: &mut ReadTx, account: AccountId) -> Result<bool> {
    let unrestricted = ListRequest::first(1).only(Condition::equal("restricted", Input::Bool(false)));
    Ok(list(tx, account, &unrestricted)?.results > 0)
}

/// Creates a user of an account that is not closed, restricted by default, and sends an invitation.
pub fn create(tx: &mut WriteTx, staff: &Agent, account: AccountId, request: &Request) -> Result<User> {
    accounts::load_open(tx, account)?;
    let new = users::read_new(tx, account, request)?;
    add(tx, staff, account, &new)
}

/// Adds a new user to an account, with the event and the invitation.
pub fn add(tx: &mut WriteTx, staff: &Agent, account: AccountId, new: &NewUser) -> Result<User> {
    let user = users::create(tx, new)?;
    record(
        tx,
        Some(staff),
        account,
        Action::UserCreate,
        &user,
        &Changes::default(),
    )?;
    account_mails::invite(tx, &user)?;
    Ok(user)
}

/// Creates a user for a command on the server: of an account that is not closed, with the event, or of the staff.
pub fn create_by_command(tx: &mut WriteTx, new: &NewUser) -> Result<User> {
    let Some(account) = new.membership.account() else {
        return users::create(tx, new);
    };
    accounts::load_open(tx, account)?;
    let user = users::create(tx, new)?;
    record(tx, None, account, Action::UserCreate, &user, &Changes::default())?;
    Ok(user)
}

/// Changes a user for a command on the server. Records the event if the user belongs to an account. `grants` are the
/// changes of grants that `change` makes.
pub fn change_by_command(
    tx: &mut WriteTx,
    username: &str,
    grants: &Changes,
    change: impl FnOnce(&mut WriteTx) -> Result<User>,
) -> Result<User> {
    let before = users::load(tx, username)?;
    let after = change(tx)?;
    let mut changes = event_changes::of_user(&before, &after);
    changes.add("disabled", before.disabled, after.disabled);
    changes.fields.extend(grants.fields.iter().cloned());
    if let Some(account) = after.account.filter(|_| !changes.is_empty()) {
        record(tx, None, account, Action::UserUpdate, &after, &changes)?;
    }
    Ok(after)
}

/// Deletes a user for a command on the server, with the event.
pub fn delete_by_command(tx: &mut WriteTx, username: &str) -> Result<()> {
    let user = users::load(tx, username)?;
    users::remove(tx, username)?;
    match user.account {
        Some(account) => record(tx, None, account, Action::UserDelete, &user, &Changes::default()),
        None => Ok(()),
    }
}

/// Disables or enables a user of the account.
pub fn update(
    tx: &mut WriteTx,
    staff: &Agent,
    account: AccountId,
    username: &str,
    request: &Request,
) -> Result<User> {
    let user = load(tx, account, username)?;
    request.check_if_match_or_stable(&user, &user.without_login())?;
    let mut form = request.form()?;
    let disabled = form.boolean("disabled");
    form.finish(|| Some(()))?;
    if let Some(disabled) = disabled.filter(|disabled| *disabled != user.disabled) {
        store::staff::set_disabled(tx, &user, disabled)?;
        let changes = event_changes::of_field("disabled", user.disabled, disabled);
        record(tx, Some(staff), account, Action::UserUpdate, &user, &changes)?;
    }
    load(tx, account, username)
}

/// Creates a single-use link with which the user sets a password.
pub fn make_link(tx: &mut WriteTx, staff: &Agent, account: AccountId, username: &str) -> Result<TokenText> {
    let user = load(tx, account, username)?;
    let changes = event_changes::of_field("password link", "", "created");
    record(tx, Some(staff), account, Action::UserUpdate, &user, &changes)?;
    passwords::make_link(tx, username, INVITATION_TTL_SECONDS)
}

/// Sends another invitation to a user who has no password yet.
pub fn invite_again(tx: &mut WriteTx, account: AccountId, username: &str) -> Result<()> {
    let user = load(tx, account, username)?;
    account_mails::invite_again(tx, &user)
}

/// The mails about a user: invitations, links for a new password and security notices. They have no content.
pub fn mails(
    tx: &mut ReadTx,
    account: AccountId,
    username: &str,
    list: &ListRequest,
) -> Result<Paged<OutgoingMail>> {
    let user = load(tx, account, username)?;
    let query = list.read(tx.policy(), &store::outgoing_mails::FIELDS)?;
    Ok(store::outgoing_mails::list_about_user(tx, user.id, &query)?)
}

/// Records an event about a user of the account. `staff` is `None` for a command on the server.
fn record(
    tx: &mut WriteTx,
    staff: Option<&Agent>,
    account: AccountId,
    action: Action,
    user: &User,
    changes: &Changes,
) -> Result<()> {
    let entity = Entity::user(user);
    let author = staff.map(|agent| agent.user);
    events::record_by_provider(tx, author, account, action, Some(&entity), changes)
}

fn load(tx: &mut ReadTx, account: AccountId, username: &str) -> Result<User> {
    store::users::find_in(tx, account, username)?.ok_or(Error::NotFound)
}
