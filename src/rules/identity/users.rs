//! Users of an account. Only unrestricted users can manage users (decision 0017).

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::id::AccountId;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::user::{Email, Membership, NewUser, User, Username};
use crate::rules::account_mails;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::event_changes;
use crate::rules::events;
use crate::rules::form::Form;
use crate::rules::last_admin;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

/// Creates a user of an account, or a member of staff.
pub fn create(tx: &mut WriteTx, new: &NewUser) -> Result<User> {
    if let Some(account) = new.membership.account() {
        store::accounts::find(tx, account)?.ok_or(Error::NotFound)?;
        if is_reserved(tx, &new.username) {
            return Err(Error::on("username", username_taken()));
        }
    }
    if store::users::exists(tx, &new.username)? {
        return Err(Error::on("username", username_taken()));
    }
    store::users::insert(tx, new)?;
    load(tx, new.username.as_str())
}

pub fn load(tx: &mut ReadTx, username: &str) -> Result<User> {
    store::users::find(tx, username)?.ok_or(Error::NotFound)
}

pub fn page(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<User>> {
    caller.require_unrestricted()?;
    let query = list.read(tx.policy(), &store::users::FIELDS)?;
    Ok(store::users::list(tx, caller.account, &query)?)
}

/// Creates a user of the caller's account, restricted by default, and sends an invitation.
pub fn add(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<User> {
    caller.require_unrestricted()?;
    let new = read_new(tx, caller.account, request)?;
    let user = create(tx, &new)?;
    events::record_account(tx, caller, Action::UserCreate, Some(&Entity::user(&user)))?;
    account_mails::invite(tx, &user)?;
    Ok(user)
}

/// Reads the fields of a new user of an account, who is restricted by default.
pub fn read_new(tx: &mut ReadTx, account: AccountId, request: &Request) -> Result<NewUser> {
    let mut form = request.form()?;
    let username = form.required("username", Username::parse);
    let email = form.required("email", Email::parse);
    let restricted = form.boolean("restricted").unwrap_or(true);
    refuse_taken_username(tx, &mut form, username.as_ref(), None)?;
    form.finish(|| {
        Some(NewUser {
            membership: Membership::Account(account),
            username: username?,
            email: email?,
            restricted,
            password: None,
        })
    })
}

/// Sends another invitation to a user of the caller's account who has no password yet.
pub fn invite_again(tx: &mut WriteTx, caller: &Caller, username: &str) -> Result<User> {
    let user = view(tx, caller, username)?;
    account_mails::invite_again(tx, &user)?;
    Ok(user)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, username: &str) -> Result<User> {
    caller.require_unrestricted()?;
    store::users::find_in(tx, caller.account, username)?.ok_or(Error::NotFound)
}

pub fn update(tx: &mut WriteTx, caller: &Caller, username: &str, request: &Request) -> Result<User> {
    let mut user = view(tx, caller, username)?;
    request.check_if_match_or_stable(&user, &user.without_login())?;
    let mut form = request.form()?;
    let username = form.optional("username", Username::parse);
    let email = form.optional("email", Email::parse);
    let restricted = form.boolean("restricted");
    refuse_taken_username(tx, &mut form, username.as_ref(), Some(&user))?;
    if restricted == Some(true) && !user.restricted {
        // The caller is unrestricted and remains so. Hence the account always has an unrestricted user.
        if user.id == caller.user() {
            let text = "You cannot restrict yourself; another unrestricted user can";
            form.refuse("restricted", Reason::new(Code::UserSelf, text));
        }
    }
    form.finish(|| Some(()))?;

    let before = user.clone();
    user.username = username.unwrap_or(user.username);
    user.email = email.unwrap_or(user.email);
    if let Some(restricted) = restricted {
        set_restricted(tx, &mut user, restricted)?;
    }
    store::users::update(tx, &user)?;
    let changes = event_changes::of_user(&before, &user);
    let entity = Entity::user(&user);
    events::record_account_update(tx, caller, Action::UserUpdate, Some(&entity), &changes)?;
    load(tx, user.username.as_str())
}

/// Deletes a user. Tokens and sessions end immediately; tickets and their history remain.
pub fn delete(tx: &mut WriteTx, caller: &Caller, username: &str, request: &Request) -> Result<()> {
    let user = view(tx, caller, username)?;
    request.check_if_match_or_stable(&user, &user.without_login())?;
    request.require_valid_body()?;
    require_other_user(caller, &user)?;
    store::users::delete(tx, user.id)?;
    events::record_account(tx, caller, Action::UserDelete, Some(&Entity::user(&user)))
}

/// Fails if the user is the caller, because users cannot delete themselves.
pub fn require_other_user(caller: &Caller, user: &User) -> Result<()> {
    if user.id != caller.user() {
        return Ok(());
    }
    let text = "You cannot delete yourself; another unrestricted user can";
    let reason = Reason::new(Code::UserSelf, text);
    Err(Error::whole(reason))
}

/// All users, for the provider.
pub fn list_all(tx: &mut ReadTx) -> Result<Vec<User>> {
    Ok(store::users::list_all(tx)?)
}

/// Deletes any user except the last admin, for the provider.
pub fn remove(tx: &mut WriteTx, username: &str) -> Result<()> {
    let user = load(tx, username)?;
    last_admin::require_other_admin(tx, &user)?;
    Ok(store::users::delete(tx, user.id)?)
}

/// Restricts or unrestricts any user, for the provider.
pub fn restrict(tx: &mut WriteTx, username: &str, restricted: bool) -> Result<User> {
    let mut user = load(tx, username)?;
    if user.account.is_none() {
        let reason = Reason::new(Code::GrantInvalid, "Staff users cannot have grants");
        return Err(Error::on("user", reason));
    }
    set_restricted(tx, &mut user, restricted)?;
    store::users::update(tx, &user)?;
    load(tx, username)
}

/// Sets whether a user is restricted. A change deletes the user's grants: an unrestricted user needs none,
/// and a newly restricted user starts without grants.
fn set_restricted(tx: &mut WriteTx, user: &mut User, restricted: bool) -> Result<()> {
    if user.restricted != restricted {
        user.restricted = restricted;
        store::grants::clear(tx, user.id)?;
    }
    Ok(())
}

/// Adds an error if another user has the name, or if it is reserved.
pub fn refuse_taken_username(
    tx: &mut ReadTx,
    form: &mut Form,
    username: Option<&Username>,
    except: Option<&User>,
) -> Result<()> {
    let Some(username) = username else { return Ok(()) };
    let holder = store::users::find(tx, username.as_str())?;
    let is_taken = holder.is_some_and(|holder| except.is_none_or(|user| user.id != holder.id));
    if is_taken || is_reserved(tx, username) {
        form.refuse("username", username_taken());
    }
    Ok(())
}

/// Whether a username is the provider's name. Tenants see this name instead of the usernames of staff, so no
/// tenant can have it.
fn is_reserved(tx: &ReadTx, username: &Username) -> bool {
    let provider = &tx.policy().support.provider;
    username.as_str().eq_ignore_ascii_case(provider)
}

fn username_taken() -> Reason {
    Reason::new(Code::UsernameTaken, "Username is taken")
}
