//! Tokens: create, list, update and revoke. Decision 0017 describes the limits of tokens.

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::id::TokenId;
use crate::model::outgoing_mail::NoticeKind;
use crate::model::page::Paged;
use crate::model::proof::Proof;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::scope::Scopes;
use crate::model::text::Line;
use crate::model::time::Time;
use crate::model::token::{NewToken, Token, TokenKind, TokenText};
use crate::rules::caller::{Caller, Principal};
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::submission::Submission;
use crate::rules::{account_mails, events, users};
use crate::store::{self, ReadTx, WriteTx};

type TokenLabel = Line<100>;

/// Creates a token, with a random text unless `chosen_text` is set. Only this response shows the text.
pub fn create(
    tx: &mut WriteTx,
    new: &NewToken,
    chosen_text: Option<&TokenText>,
) -> Result<(Token, TokenText)> {
    let text = chosen_text
        .cloned()
        .unwrap_or_else(|| TokenText::from_bytes(tx.random()));
    let token = store::tokens::insert(tx, new, &text)?;
    Ok((token, text))
}

pub fn list(tx: &mut ReadTx, username: &str) -> Result<Vec<Token>> {
    let user = users::load(tx, username)?;
    Ok(store::tokens::list(tx, user.id)?)
}

/// Revokes a token. An access token is revoked together with its authorization, because the client could get
/// another access token with the refresh token.
pub fn revoke(tx: &mut WriteTx, id: TokenId) -> Result<()> {
    let origin = store::oauth_grants::origin(tx, id)?;
    if let Some(grant) = origin
        .filter(|origin| origin.is_access)
        .and_then(|origin| origin.grant)
    {
        store::tokens::revoke(tx, id)?;
        return Ok(store::oauth_grants::revoke_with_personal_tokens(tx, grant)?);
    }
    match store::tokens::revoke(tx, id)? {
        true => Ok(()),
        false => Err(Error::NotFound),
    }
}

/// The caller's own personal tokens.
pub fn page(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Token>> {
    let query = list.read(tx.policy(), &store::tokens::FIELDS)?;
    Ok(store::tokens::page(tx, caller.user(), &query)?)
}

/// Creates a personal token for the caller, with at most the scopes of the current token. A token that is
/// created with a personal token expires no later than that token. A token that is created with an OAuth
/// token can expire later, but is revoked with the client's authorization.
pub fn create_own(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<(Token, TokenText)> {
    let (new, grant) = read_own(tx, caller, request)?;
    insert_own(tx, caller, &new, grant)
}

/// Creates a token from a form that was rendered when `newest` was the caller's newest token. Creates nothing
/// if an identical token was created after that.
pub fn create_own_once(
    tx: &mut WriteTx,
    caller: &Caller,
    request: &Request,
    newest: i64,
) -> Result<Submission<(Token, TokenText), ()>> {
    let (new, grant) = read_own(tx, caller, request)?;
    if store::tokens::has_duplicate(tx, &new, newest)? {
        return Ok(Submission::Duplicate(()));
    }
    insert_own(tx, caller, &new, grant).map(Submission::Created)
}

/// The ID of the caller's newest token; 0 if there is none.
pub fn newest(tx: &mut ReadTx, caller: &Caller) -> Result<i64> {
    Ok(store::tokens::newest(tx, caller.user())?)
}

/// The requested token, and the authorization of the OAuth token that creates it.
fn read_own(tx: &mut ReadTx, caller: &Caller, request: &Request) -> Result<(NewToken, Option<i64>)> {
    let held = &caller.identity().scopes;
    let now = tx.now();
    // A browser session is not limited by a token.
    let origin = match caller.identity().proof {
        Proof::Token(token) => Some(store::oauth_grants::origin(tx, token)?.ok_or(Error::Unauthenticated)?),
        Proof::Session | Proof::Mail | Proof::Terminal => None,
    };
    let is_personal = origin.is_some_and(|origin| !origin.is_access);
    let latest_expiry = caller.identity().expiry.filter(|_| is_personal);
    let mut form = request.form()?;
    let label = form.optional("label", TokenLabel::parse);
    let scopes = form.optional("scopes", |raw| parse_scopes_within(raw, held));
    let expiry = form.optional("expiry", |raw| parse_expiry(raw, now, latest_expiry));
    form.finish(|| Some(()))?;

    let new = NewToken {
        user: caller.user(),
        kind: TokenKind::Personal,
        label: label.map_or(String::new(), |label| label.as_str().to_owned()),
        scopes: scopes.unwrap_or_else(|| held.clone()),
        expiry: expiry.or(latest_expiry),
    };
    Ok((new, origin.and_then(|origin| origin.grant)))
}

fn insert_own(
    tx: &mut WriteTx,
    caller: &Caller,
    new: &NewToken,
    grant: Option<i64>,
) -> Result<(Token, TokenText)> {
    let (token, text) = create(tx, new, None)?;
    if let Some(grant) = grant {
        store::oauth_grants::link_token(tx, grant, text.hash())?;
    }
    events::record_account(tx, caller, Action::TokenCreate, Some(&Entity::token(&token)))?;
    account_mails::notify(tx, caller.user(), NoticeKind::TokenCreated, &token.label)?;
    Ok((token, text))
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: TokenId) -> Result<Token> {
    store::tokens::find(tx, caller.user(), id)?.ok_or(Error::NotFound)
}

pub fn update(tx: &mut WriteTx, caller: &Caller, id: TokenId, request: &Request) -> Result<Token> {
    let mut token = view(tx, caller, id)?;
    request.check_if_match(&token)?;
    let mut form = request.form()?;
    let label = form.optional("label", TokenLabel::parse);
    form.finish(|| Some(()))?;

    token.label = label.map_or(token.label, |label| label.as_str().to_owned());
    store::tokens::set_label(tx, id, &token.label)?;
    events::record_account(tx, caller, Action::TokenUpdate, Some(&Entity::token(&token)))?;
    Ok(token)
}

/// Revokes one of the caller's own tokens, possibly the current one.
pub fn delete(tx: &mut WriteTx, caller: &Caller, id: TokenId, request: &Request) -> Result<()> {
    let token = view(tx, caller, id)?;
    request.check_if_match(&token)?;
    request.require_valid_body()?;
    revoke(tx, id)?;
    events::record_account(tx, caller, Action::TokenDelete, Some(&Entity::token(&token)))
}

/// Parses scopes that must be within `held`; `*` means all of `held`.
fn parse_scopes_within(raw: &str, held: &Scopes) -> Result<Scopes, Reasons> {
    match Scopes::parse(raw)? {
        Scopes::Everything => Ok(held.clone()),
        scopes if scopes.are_within(held) => Ok(scopes),
        _ => {
            let text = format!(
                "The new token cannot have scopes that the current token lacks: {}",
                held.words().join(" ")
            );
            Err(vec![Reason::new(Code::TokenScopeExceeded, text)])
        }
    }
}

fn parse_expiry(raw: &str, now: Time, latest: Option<Time>) -> Result<Time, Reasons> {
    match (Time::parse(raw).map(Time::to_second), latest) {
        (Some(time), Some(latest)) if time > latest => {
            let text = format!("Must not be after {latest}, when the current token expires");
            Err(vec![Reason::new(Code::ExpiryInvalid, text)])
        }
        (Some(time), _) if time > now => Ok(time),
        _ => {
            let text = "Must be a date and time in the future, such as 2030-12-31T00:00:00";
            Err(vec![Reason::new(Code::ExpiryInvalid, text)])
        }
    }
}
