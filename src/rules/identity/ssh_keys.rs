//! The caller's public SSH keys, and the users whose keys a new instance gets.

use std::collections::BTreeSet;

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::id::SshKeyId;
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::ssh_key::{KeyLabel, PublicKey, SshKey};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::events;
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

const MAX_KEYS_PER_USER: i64 = 100;
/// The maximum number of users whose keys an instance gets.
const MAX_AUTHORIZED_USERS: usize = 100;

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<SshKey>> {
    let query = list.read(tx.policy(), &store::ssh_keys::FIELDS)?;
    Ok(store::ssh_keys::list(tx, caller.user(), &query)?)
}

pub fn create(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<SshKey> {
    let mut form = request.form()?;
    let label = form.required("label", KeyLabel::parse);
    let key = form.required("ssh_key", PublicKey::parse);
    if store::ssh_keys::count(tx, caller.user())? >= MAX_KEYS_PER_USER {
        let text = format!("A user can have at most {MAX_KEYS_PER_USER} SSH keys; delete some first");
        form.refuse_whole(Reason::new(Code::QuotaExceeded, text));
    }
    let (label, key) = form.finish(|| label.zip(key))?;
    let id = store::ssh_keys::insert(tx, caller.user(), &label, &key)?;
    let key = view(tx, caller, id)?;
    record(tx, caller, Action::SshKeyAdd, &key)?;
    Ok(key)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: SshKeyId) -> Result<SshKey> {
    store::ssh_keys::find(tx, caller.user(), id)?.ok_or(Error::NotFound)
}

/// Changes the label.
pub fn update(tx: &mut WriteTx, caller: &Caller, id: SshKeyId, request: &Request) -> Result<SshKey> {
    let mut key = view(tx, caller, id)?;
    request.check_if_match(&key)?;
    let mut form = request.form()?;
    let label = form.optional("label", KeyLabel::parse);
    form.finish(|| Some(()))?;
    key.label = label.unwrap_or(key.label);
    store::ssh_keys::set_label(tx, &key)?;
    record(tx, caller, Action::SshKeyUpdate, &key)?;
    Ok(key)
}

pub fn delete(tx: &mut WriteTx, caller: &Caller, id: SshKeyId, request: &Request) -> Result<()> {
    let key = view(tx, caller, id)?;
    request.check_if_match(&key)?;
    request.require_valid_body()?;
    store::ssh_keys::delete(tx, &key)?;
    record(tx, caller, Action::SshKeyDelete, &key)
}

fn record(tx: &mut WriteTx, caller: &Caller, action: Action, key: &SshKey) -> Result<()> {
    events::record_account(tx, caller, action, Some(&Entity::ssh_key(key)))
}

/// The users whose keys a new instance gets, as sent in `authorized_users`.
#[derive(Debug)]
pub struct AuthorizedUsers(Vec<String>);

impl AuthorizedUsers {
    pub const FIELD: &'static str = "authorized_users";

    pub fn read(form: &mut Form) -> Self {
        let names = form.values(Self::FIELD, "a string", |item| match item {
            Input::Text(name) => Some(Ok(name.clone())),
            _ => None,
        });
        if form.count(Self::FIELD) > MAX_AUTHORIZED_USERS {
            let text = format!("Must have at most {MAX_AUTHORIZED_USERS} users");
            form.refuse(Self::FIELD, Reason::new(Code::TooLong, text));
        }
        let mut names = names.unwrap_or_default();
        names.truncate(MAX_AUTHORIZED_USERS);
        Self(names)
    }

    /// Refuses users that the account does not have.
    pub fn refuse_unknown(&self, tx: &mut ReadTx, caller: &Caller, form: &mut Form) -> Result<()> {
        let known = store::users::known_names(tx, caller.account, &self.0)?;
        let is_unknown = |name: &&String| !known.contains(&name.to_ascii_lowercase());
        let unknown: BTreeSet<&String> = self.0.iter().filter(is_unknown).collect();
        for name in unknown {
            let name: String = name.chars().take(64).collect();
            let text = format!("User {name:?} does not exist");
            form.refuse(Self::FIELD, Reason::new(Code::UserInvalid, text));
        }
        Ok(())
    }
}
