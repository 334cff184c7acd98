//! OAuth clients of accounts and of the provider.

use crate::model::account::status::AccountStatus;
use crate::model::event::Action;
use crate::model::id::AccountId;
use crate::model::oauth::{ClientLabel, OauthClient, RedirectUri};
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::token::{TokenText, hex};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::submission::Submission;
use crate::rules::{accounts, events};
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<OauthClient>> {
    require_read_access(caller)?;
    let query = list.read(tx.policy(), &store::oauth_clients::FIELDS)?;
    Ok(store::oauth_clients::list(tx, caller.account, &query)?)
}

/// Creates a client. Only this response shows its secret.
pub fn create(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<(OauthClient, TokenText)> {
    let new = read_new_client(caller, request)?;
    register_own(tx, caller, &new)
}

/// Creates a client from a form that was rendered when `newest` was the account's newest client. Creates
/// nothing if an identical client was created after that.
pub fn create_once(
    tx: &mut WriteTx,
    caller: &Caller,
    request: &Request,
    newest: i64,
) -> Result<Submission<(OauthClient, TokenText), ()>> {
    let new = read_new_client(caller, request)?;
    let fields = (&new.label, &new.redirect_uri, new.public);
    if store::oauth_clients::has_duplicate(tx, caller.account, fields, newest)? {
        return Ok(Submission::Duplicate(()));
    }
    register_own(tx, caller, &new).map(Submission::Created)
}

/// The number of the account's newest client; 0 if there is none.
pub fn newest(tx: &mut ReadTx, caller: &Caller) -> Result<i64> {
    caller.require_unrestricted()?;
    Ok(store::oauth_clients::newest(tx, caller.account)?)
}

/// A client that is active and belongs to the provider or to an active account.
pub fn find_usable(tx: &mut ReadTx, id: &str) -> Result<Option<OauthClient>> {
    let client = store::oauth_clients::find(tx, id)?.filter(OauthClient::is_active);
    let account = client.as_ref().and_then(|client| client.account);
    let is_usable = match account {
        Some(account) => accounts::load(tx, account)?.status == AccountStatus::Active,
        None => true,
    };
    Ok(client.filter(|_| is_usable))
}

fn read_new_client(caller: &Caller, request: &Request) -> Result<NewClient> {
    caller.require_unrestricted()?;
    let mut form = request.form()?;
    let label = form.required("label", ClientLabel::parse);
    let redirect_uri = form.required("redirect_uri", RedirectUri::register);
    let public = form.boolean("public").unwrap_or(false);
    let (label, redirect_uri) = form.finish(|| Some((label?, redirect_uri?)))?;
    Ok(NewClient {
        id: None,
        account: Some(caller.account),
        label,
        redirect_uri,
        public,
    })
}

fn register_own(tx: &mut WriteTx, caller: &Caller, new: &NewClient) -> Result<(OauthClient, TokenText)> {
    let registered = register(tx, new)?;
    events::record_account(tx, caller, Action::OauthClientCreate, None)?;
    Ok(registered)
}

/// A client to create.
#[derive(Clone, Debug)]
pub struct NewClient {
    /// 20 hexadecimal digits; `None` generates an ID.
    pub id: Option<String>,
    /// `None` for a client of the provider.
    pub account: Option<AccountId>,
    pub label: ClientLabel,
    pub redirect_uri: RedirectUri,
    pub public: bool,
}

/// Creates a client of an account or of the provider.
pub fn register(tx: &mut WriteTx, new: &NewClient) -> Result<(OauthClient, TokenText)> {
    if let Some(account) = new.account {
        store::accounts::find(tx, account)?.ok_or(Error::NotFound)?;
    }
    let secret = TokenText::from_bytes(tx.random());
    let client = OauthClient {
        id: new.id.clone().unwrap_or_else(|| hex(&tx.random()[22..])),
        account: new.account,
        label: new.label.clone(),
        redirect_uri: new.redirect_uri.clone(),
        secret: secret.hash().hex(),
        public: new.public,
        status: "active".to_owned(),
        created: tx.now(),
    };
    if store::oauth_clients::find(tx, &client.id)?.is_some() {
        let reason = Reason::new(Code::ClientInvalid, "A client with this ID already exists");
        return Err(Error::on("id", reason));
    }
    store::oauth_clients::insert(tx, &client)?;
    Ok((client, secret))
}

/// All clients.
pub fn list_all(tx: &mut ReadTx) -> Result<Vec<OauthClient>> {
    Ok(store::oauth_clients::list_all(tx)?)
}

/// Whether a URL has the same origin as the redirect URI of an active client.
pub fn has_client_at(tx: &mut ReadTx, url: &str) -> Result<bool> {
    let has_origin = |client: OauthClient| client.is_active() && client.redirect_uri.has_same_origin(url);
    Ok(store::oauth_clients::list_all(tx)?.into_iter().any(has_origin))
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: &str) -> Result<OauthClient> {
    let client = load_own(tx, caller, id)?;
    require_read_access(caller)?;
    Ok(client)
}

pub fn update(tx: &mut WriteTx, caller: &Caller, id: &str, request: &Request) -> Result<OauthClient> {
    let mut client = load_to_change(tx, caller, id)?;
    request.check_if_match(&client)?;
    let mut form = request.form()?;
    let label = form.optional("label", ClientLabel::parse);
    let redirect_uri = form.optional("redirect_uri", |raw| match raw == client.redirect_uri.as_str() {
        // An unchanged URI is accepted, even if a new client could not register it (plain http).
        true => Ok(client.redirect_uri.clone()),
        false => RedirectUri::register(raw),
    });
    form.finish(|| Some(()))?;

    client.label = label.unwrap_or(client.label);
    if let Some(redirect_uri) = redirect_uri.filter(|new_uri| *new_uri != client.redirect_uri) {
        // Users authorized the client with its old redirect URI, so they must consent again.
        store::oauth_grants::revoke_of_client(tx, id)?;
        client.redirect_uri = redirect_uri;
    }
    store::oauth_clients::update(tx, &client)?;
    events::record_account(tx, caller, Action::OauthClientUpdate, None)?;
    Ok(client)
}

/// Deletes a client and revokes its authorizations.
pub fn delete(tx: &mut WriteTx, caller: &Caller, id: &str, request: &Request) -> Result<()> {
    let client = load_to_change(tx, caller, id)?;
    request.check_if_match(&client)?;
    request.require_valid_body()?;
    remove(tx, id)?;
    events::record_account(tx, caller, Action::OauthClientDelete, None)
}

/// Deletes any client, for the provider.
pub fn remove(tx: &mut WriteTx, id: &str) -> Result<()> {
    store::oauth_clients::find(tx, id)?.ok_or(Error::NotFound)?;
    store::oauth_grants::revoke_of_client(tx, id)?;
    Ok(store::oauth_clients::delete(tx, id)?)
}

/// Replaces a client's secret and revokes its authorizations.
pub fn reset_secret(
    tx: &mut WriteTx,
    caller: &Caller,
    id: &str,
    request: &Request,
) -> Result<(OauthClient, TokenText)> {
    let client = load_to_change(tx, caller, id)?;
    request.check_if_match(&client)?;
    request.require_valid_body()?;
    let renewed = renew_secret(tx, id)?;
    events::record_account(tx, caller, Action::OauthClientSecretReset, None)?;
    Ok(renewed)
}

/// Replaces the secret of any client, for the provider.
pub fn renew_secret(tx: &mut WriteTx, id: &str) -> Result<(OauthClient, TokenText)> {
    let mut client = store::oauth_clients::find(tx, id)?.ok_or(Error::NotFound)?;
    let secret = TokenText::from_bytes(tx.random());
    client.secret = secret.hash().hex();
    store::oauth_grants::revoke_of_client(tx, id)?;
    store::oauth_clients::update(tx, &client)?;
    Ok((client, secret))
}

/// Loads a client to change it. A client can affect every user who authorizes it, so only unrestricted users
/// can do this.
pub fn load_to_change(tx: &mut ReadTx, caller: &Caller, id: &str) -> Result<OauthClient> {
    let client = load_own(tx, caller, id)?;
    caller.require_unrestricted()?;
    Ok(client)
}

fn load_own(tx: &mut ReadTx, caller: &Caller, id: &str) -> Result<OauthClient> {
    let found = store::oauth_clients::find(tx, id)?;
    let is_own = |client: &OauthClient| client.account == Some(caller.account);
    found.filter(is_own).ok_or(Error::NotFound)
}

fn require_read_access(caller: &Caller) -> Result<()> {
    match caller.account_access() {
        Some(_) => Ok(()),
        None => Err(Error::Forbidden),
    }
}
