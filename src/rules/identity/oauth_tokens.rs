//! The OAuth token and revocation endpoints.
//!
//! A refusal is an `Outcome` here, not an error, because an error would roll the transaction back. If a code
//! or refresh token is used a second time, the request is refused, but the revocation of the authorization
//! must be committed. Decision 0018 lists which event revokes which tokens.

use crate::model::id::UserId;
use crate::model::oauth::OauthClient;
use crate::model::oauth_grant::OauthGrant;
use crate::model::reason::Code;
use crate::model::scope::Scopes;
use crate::model::token::{NewToken, Secret, TokenHash, TokenKind, TokenText};
use crate::rules::caller::require_user_access;
use crate::rules::error::{Error, Result};
use crate::rules::oauth_clients;
use crate::store::{self, ReadTx, StoreError, WriteTx};

/// The lifetime of an access token, in seconds.
pub const ACCESS_TOKEN_TTL_SECONDS: i64 = 7200;
const REFRESH_TOKEN_TTL_SECONDS: i64 = 30 * 24 * 3600;

/// The parameters of a token request.
#[derive(Clone, Debug, Default)]
pub struct TokenRequest {
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    pub grant_type: Option<String>,
    pub code: Option<Secret>,
    pub code_verifier: Option<Secret>,
    pub redirect_uri: Option<String>,
    pub refresh_token: Option<Secret>,
    pub scope: Option<String>,
}

/// The parameters of a revocation request.
#[derive(Clone, Debug, Default)]
pub struct RevocationRequest {
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    pub token: Option<Secret>,
}

pub enum Outcome<T> {
    Done(T),
    Refused(Refusal),
}

#[derive(Debug)]
pub struct IssuedTokens {
    pub access: TokenText,
    pub refresh: TokenText,
    pub scopes: Scopes,
}

const NO_ACCESS: &str = "The user is disabled, or the account of the user is suspended or closed";

/// Why a request was refused.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    pub fault: Fault,
    pub field: Option<&'static str>,
    pub code: Code,
    pub text: &'static str,
}

/// The error codes of RFC 6749.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    InvalidScope,
    UnsupportedGrantType,
}

impl Fault {
    pub const fn word(self) -> &'static str {
        match self {
            Fault::InvalidRequest => "invalid_request",
            Fault::InvalidClient => "invalid_client",
            Fault::InvalidGrant => "invalid_grant",
            Fault::InvalidScope => "invalid_scope",
            Fault::UnsupportedGrantType => "unsupported_grant_type",
        }
    }
}

/// Issues tokens for a code or a refresh token.
pub fn issue(tx: &mut WriteTx, request: &TokenRequest) -> Result<Outcome<IssuedTokens>> {
    into_outcome(try_issue(tx, request))
}

/// Revokes an access or refresh token together with its authorization. An unknown token, or a token of
/// another client, is ignored without an error.
pub fn revoke(tx: &mut WriteTx, request: &RevocationRequest) -> Result<Outcome<()>> {
    into_outcome(try_revoke(tx, request))
}

/// Creates an access token for an authorization.
pub fn create_access_token(
    tx: &mut WriteTx,
    grant: i64,
    user: UserId,
    label: &str,
    scopes: &Scopes,
) -> Result<TokenText> {
    let access = TokenText::from_bytes(tx.random());
    let new = NewToken {
        user,
        kind: TokenKind::Oauth,
        label: label.to_owned(),
        scopes: scopes.clone(),
        expiry: Some(tx.now().plus_seconds(ACCESS_TOKEN_TTL_SECONDS)),
    };
    store::tokens::insert(tx, &new, &access)?;
    store::oauth_grants::link_token(tx, grant, access.hash())?;
    Ok(access)
}

/// Deletes expired codes and tokens, and revoked authorizations without codes and tokens.
pub fn sweep(tx: &mut WriteTx) -> Result<()> {
    Ok(store::oauth_grants::sweep(tx)?)
}

/// Why no token was issued or revoked: the request was refused, or an error occurred.
enum Failure {
    Refused(Refusal),
    Failed(Error),
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Failure::Refused(refusal)
    }
}

impl From<StoreError> for Failure {
    fn from(cause: StoreError) -> Self {
        Failure::Failed(cause.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Failed(error)
    }
}

fn into_outcome<T>(result: Result<T, Failure>) -> Result<Outcome<T>> {
    match result {
        Ok(done) => Ok(Outcome::Done(done)),
        Err(Failure::Refused(refusal)) => Ok(Outcome::Refused(refusal)),
        Err(Failure::Failed(error)) => Err(error),
    }
}

fn try_issue(tx: &mut WriteTx, request: &TokenRequest) -> Result<IssuedTokens, Failure> {
    let client = authenticate(
        tx,
        request.client_id.as_deref(),
        request.client_secret.as_ref(),
        SecretRequirement::Required,
    )?;
    match (request.grant_type.as_deref(), &request.code) {
        (Some("authorization_code"), None) => Err(required("code").into()),
        // A published client omits `grant_type`.
        (Some("authorization_code") | None, Some(code)) => exchange_code(tx, request, &client, code),
        (Some("refresh_token"), _) => match &request.refresh_token {
            Some(token) => exchange_refresh_token(tx, request, &client, token),
            None => Err(required("refresh_token").into()),
        },
        (None, None) => Err(required("grant_type").into()),
        (Some(_), _) => {
            let text = "grant_type must be authorization_code or refresh_token";
            let fault = Fault::UnsupportedGrantType;
            Err(refused(fault, "grant_type", Code::GrantTypeInvalid, text).into())
        }
    }
}

fn exchange_code(
    tx: &mut WriteTx,
    request: &TokenRequest,
    client: &OauthClient,
    code: &Secret,
) -> Result<IssuedTokens, Failure> {
    let invalid = |text| refused(Fault::InvalidGrant, "code", Code::CodeInvalid, text);
    let hash = TokenHash::of(code.reveal());
    let unknown = invalid("Unknown or expired authorization code");
    let code = store::oauth_grants::find_code(tx, hash)?.ok_or(unknown)?;
    let grant = grant_of(tx, code.grant, client)?.ok_or(unknown)?;
    if code.used {
        // The code was used twice, so one of the two clients is an attacker.
        store::oauth_grants::revoke_with_personal_tokens(tx, grant.id)?;
        return Err(invalid("Authorization code already used; its tokens have been revoked").into());
    }
    if grant.revoked || code.expiry <= tx.now() {
        return Err(unknown.into());
    }
    if request
        .redirect_uri
        .as_ref()
        .is_some_and(|uri| *uri != code.redirect_uri)
    {
        let text = "redirect_uri must be the same as in the authorization request";
        return Err(refused(
            Fault::InvalidGrant,
            "redirect_uri",
            Code::RedirectUriInvalid,
            text,
        )
        .into());
    }
    let is_verified = match (&code.challenge, &request.code_verifier) {
        (None, None) => true,
        (Some(challenge), Some(verifier)) => challenge.matches(verifier.reveal()),
        // If there is a verifier but no challenge, an attacker could have removed the challenge from the
        // authorization request.
        _ => false,
    };
    if !is_verified {
        let text = "code_verifier must match the code_challenge of the authorization request";
        return Err(refused(
            Fault::InvalidGrant,
            "code_verifier",
            Code::CodeVerifierInvalid,
            text,
        )
        .into());
    }
    require_access(tx, &grant, invalid(NO_ACCESS))?;
    store::oauth_grants::use_code(tx, hash)?;
    issue_for_grant(tx, &grant, grant.scopes.clone())
}

fn exchange_refresh_token(
    tx: &mut WriteTx,
    request: &TokenRequest,
    client: &OauthClient,
    token: &Secret,
) -> Result<IssuedTokens, Failure> {
    let invalid = |text| {
        refused(
            Fault::InvalidGrant,
            "refresh_token",
            Code::RefreshTokenInvalid,
            text,
        )
    };
    let hash = TokenHash::of(token.reveal());
    let unknown = invalid("Unknown or expired refresh token");
    let refresh = store::oauth_grants::find_refresh(tx, hash)?.ok_or(unknown)?;
    let grant = grant_of(tx, refresh.grant, client)?.ok_or(unknown)?;
    if refresh.used {
        store::oauth_grants::revoke_with_personal_tokens(tx, grant.id)?;
        return Err(invalid("Refresh token already used; its tokens have been revoked").into());
    }
    if grant.revoked || refresh.expiry <= tx.now() {
        return Err(unknown.into());
    }
    let scopes = match request.scope.as_deref().map(Scopes::parse) {
        None => grant.scopes.clone(),
        Some(Ok(scopes)) if scopes.are_within(&grant.scopes) => scopes,
        Some(_) => {
            let text = "scope must not exceed the scopes that the user has authorized";
            return Err(refused(Fault::InvalidScope, "scope", Code::ScopesInvalid, text).into());
        }
    };
    require_access(tx, &grant, invalid(NO_ACCESS))?;
    store::oauth_grants::use_refresh(tx, hash)?;
    store::oauth_grants::revoke_access_tokens(tx, grant.id)?;
    issue_for_grant(tx, &grant, scopes)
}

/// Refuses tokens for a user without access. The code or refresh token is not used, so that it is valid when the user has
/// access again.
fn require_access(tx: &mut ReadTx, grant: &OauthGrant, refusal: Refusal) -> Result<(), Failure> {
    match require_user_access(tx, grant.user) {
        Err(Error::NoAccess(_)) => Err(refusal.into()),
        checked => Ok(checked?),
    }
}

fn issue_for_grant(tx: &mut WriteTx, grant: &OauthGrant, scopes: Scopes) -> Result<IssuedTokens, Failure> {
    let access = create_access_token(tx, grant.id, grant.user, &grant.client_label, &scopes)?;
    let refresh = TokenText::from_bytes(tx.random());
    let expiry = tx.now().plus_seconds(REFRESH_TOKEN_TTL_SECONDS);
    store::oauth_grants::insert_refresh(tx, refresh.hash(), grant.id, expiry)?;
    Ok(IssuedTokens {
        access,
        refresh,
        scopes,
    })
}

fn try_revoke(tx: &mut WriteTx, request: &RevocationRequest) -> Result<(), Failure> {
    let client = authenticate(
        tx,
        request.client_id.as_deref(),
        request.client_secret.as_ref(),
        SecretRequirement::Optional,
    )?;
    let token = request.token.as_ref().ok_or(required("token"))?;
    let hash = TokenHash::of(token.reveal());
    let grant = match store::oauth_grants::of_token(tx, hash)? {
        Some(grant) => Some(grant),
        None => store::oauth_grants::find_refresh(tx, hash)?.map(|refresh| refresh.grant),
    };
    if let Some(grant) = grant
        && let Some(grant) = grant_of(tx, grant, &client)?
    {
        // Clients revoke their token when the user logs out. Personal tokens that the user created with the
        // client remain valid.
        store::oauth_grants::revoke(tx, grant.id)?;
    }
    Ok(())
}

/// Whether a client that is not public must send its secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SecretRequirement {
    Required,
    /// For a revocation: a client that has the token can revoke it.
    Optional,
}

/// Authenticates the client. A public client needs no secret. If a client sends a secret, the secret must be
/// correct.
fn authenticate(
    tx: &mut ReadTx,
    id: Option<&str>,
    secret: Option<&Secret>,
    requirement: SecretRequirement,
) -> Result<OauthClient, Failure> {
    let id = id.ok_or(required("client_id"))?;
    let client = oauth_clients::find_usable(tx, id)?;
    let authenticated = client.filter(|client| match secret {
        Some(secret) => TokenHash::of(secret.reveal()).matches_stored(&client.secret),
        None => client.public || requirement == SecretRequirement::Optional,
    });
    authenticated.ok_or(Failure::Refused(Refusal {
        fault: Fault::InvalidClient,
        field: None,
        code: Code::ClientInvalid,
        text: "Unknown client or invalid client secret",
    }))
}

/// The authorization, if it is for this client.
fn grant_of(tx: &mut ReadTx, id: i64, client: &OauthClient) -> Result<Option<OauthGrant>, Failure> {
    let grant = store::oauth_grants::find(tx, id)?;
    Ok(grant.filter(|grant| grant.client == client.id))
}

fn required(field: &'static str) -> Refusal {
    let text = match field {
        "client_id" => "client_id is required",
        "code" => "code is required",
        "refresh_token" => "refresh_token is required",
        "token" => "token is required",
        _ => "grant_type is required",
    };
    refused(Fault::InvalidRequest, field, Code::Required, text)
}

fn refused(fault: Fault, field: &'static str, code: Code, text: &'static str) -> Refusal {
    Refusal {
        fault,
        field: Some(field),
        code,
        text,
    }
}
