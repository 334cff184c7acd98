//! The OAuth authorization endpoint: validates requests and issues codes (decision 0018).
//!
//! The redirect URI is checked first: the browser is never redirected to an unregistered URI. Other errors
//! are returned to the client by redirect.

use crate::model::oauth::{Challenge, OauthClient, RedirectUri};
use crate::model::policy::Oauth;
use crate::model::reason::{Code, Reason};
use crate::model::scope::Scopes;
use crate::model::token::{TokenHash, hex};
use crate::model::user::User;
use crate::rules::caller::require_user_access;
use crate::rules::error::Result;
use crate::rules::{oauth_clients, oauth_tokens, sessions};
use crate::store::{self, ReadTx, WriteTx};

/// The lifetime of an authorization code, in seconds.
const CODE_TTL_SECONDS: i64 = 60;

/// The parameters of an authorization request, not validated.
#[derive(Clone, Debug, Default)]
pub struct AuthorizationRequest {
    client_id: Option<String>,
    redirect_uri: Option<String>,
    response_type: Option<String>,
    scope: Option<String>,
    state: Option<String>,
    challenge: Option<String>,
    challenge_method: Option<String>,
    /// The names of parameters that were sent several times with different values.
    repeated: Vec<String>,
}

impl AuthorizationRequest {
    /// Reads the supported parameters. A parameter with an empty value counts as missing.
    pub fn read(pairs: &[(String, String)]) -> Self {
        let mut request = AuthorizationRequest::default();
        for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
            let parameter = match name.as_str() {
                "client_id" => &mut request.client_id,
                "redirect_uri" => &mut request.redirect_uri,
                "response_type" => &mut request.response_type,
                // Some published clients send `scope`, others send `scopes`.
                "scope" | "scopes" => &mut request.scope,
                "state" => &mut request.state,
                "code_challenge" => &mut request.challenge,
                "code_challenge_method" => &mut request.challenge_method,
                _ => continue,
            };
            if parameter
                .replace(value.clone())
                .is_some_and(|previous| previous != *value)
            {
                request.repeated.push(name.clone());
            }
        }
        request
    }

    fn is_repeated(&self, name: &str) -> bool {
        self.repeated.iter().any(|repeated| repeated == name)
    }
}

/// A valid authorization request.
#[derive(Clone, Debug)]
pub struct Authorization {
    pub client: OauthClient,
    pub redirect_uri: RedirectUri,
    pub scopes: Scopes,
    response_type: ResponseType,
    state: Option<String>,
    challenge: Option<Challenge>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponseType {
    Code,
    /// An access token in the URL fragment (implicit flow).
    Token,
}

/// The next step of an authorization request.
pub enum Next {
    /// Show an error page without a redirect.
    Refuse(Reason),
    /// Redirect to the client at this URL.
    Redirect(String),
    /// Show the log-in form.
    LogIn(Box<Authorization>),
    /// Show the consent page.
    Consent(Box<Authorization>, Box<User>),
    /// The user has authorized these scopes before: issue a code or token without a consent page.
    AlreadyAuthorized,
}

/// Validates a request and determines the next step.
pub fn next_step(
    tx: &mut ReadTx,
    request: &AuthorizationRequest,
    session: Option<TokenHash>,
) -> Result<Next> {
    let user = session_user(tx, session)?;
    let authorization = match validate(tx, request, user.as_ref())? {
        Ok(authorization) => authorization,
        Err(next) => return Ok(next),
    };
    let Some(user) = user else {
        return Ok(Next::LogIn(Box::new(authorization)));
    };
    if has_consent(tx, &authorization, &user)? {
        return Ok(Next::AlreadyAuthorized);
    }
    Ok(Next::Consent(Box::new(authorization), Box::new(user)))
}

/// Issues a code or token without a consent page, because the user has consented before.
pub fn issue_with_earlier_consent(
    tx: &mut WriteTx,
    request: &AuthorizationRequest,
    session: Option<TokenHash>,
) -> Result<Next> {
    match next_step(tx, request, session)? {
        Next::AlreadyAuthorized => decide(tx, request, session, true),
        other_step => Ok(other_step),
    }
}

/// Redirects to the client after the user's decision: with a code or token, or with an error.
pub fn decide(
    tx: &mut WriteTx,
    request: &AuthorizationRequest,
    session: Option<TokenHash>,
    is_allowed: bool,
) -> Result<Next> {
    let user = session_user(tx, session)?;
    let authorization = match validate(tx, request, user.as_ref())? {
        Ok(authorization) => authorization,
        Err(next) => return Ok(next),
    };
    let Some(user) = user else {
        return Ok(Next::LogIn(Box::new(authorization)));
    };
    Ok(Next::Redirect(match is_allowed {
        true => issue(tx, &authorization, &user)?,
        false => {
            let refused = OauthError("access_denied", "The user denied the request");
            authorization.redirect().error(refused)
        }
    }))
}

fn session_user(tx: &mut ReadTx, session: Option<TokenHash>) -> Result<Option<User>> {
    let Some(session) = session else {
        return Ok(None);
    };
    let user = sessions::user_of(tx, session)?;
    if let Some(user) = &user {
        require_user_access(tx, user.id)?;
    }
    Ok(user)
}

fn has_consent(tx: &mut ReadTx, authorization: &Authorization, user: &User) -> Result<bool> {
    // On a loopback address any local program can pose as a public client (RFC 8252, 8.6).
    if authorization.client.public && authorization.redirect_uri.is_loopback() {
        return Ok(false);
    }
    let granted = store::oauth_grants::live_for_client(tx, user.id, &authorization.client.id)?;
    Ok(granted
        .iter()
        .any(|grant| authorization.scopes.are_within(&grant.scopes)))
}

fn issue(tx: &mut WriteTx, authorization: &Authorization, user: &User) -> Result<String> {
    let Authorization { client, scopes, .. } = authorization;
    let grant = store::oauth_grants::insert(tx, &client.id, user.id, scopes)?;
    store::oauth_grants::replace_idle(tx, grant, &client.id, user.id, scopes)?;
    let redirect = authorization.redirect();
    if authorization.response_type == ResponseType::Token {
        let access = oauth_tokens::create_access_token(tx, grant, user.id, client.label.as_str(), scopes)?;
        let scope_text = scopes.to_string();
        return Ok(redirect.with(&[
            ("access_token", access.reveal()),
            ("token_type", "bearer"),
            ("expires_in", &oauth_tokens::ACCESS_TOKEN_TTL_SECONDS.to_string()),
            ("scope", &scope_text),
            ("scopes", &scope_text),
        ]));
    }
    // The code starts with a letter, because a published client parses digits as a number.
    let code = format!("c{}", hex(&tx.random()[12..]));
    let expiry = tx.now().plus_seconds(CODE_TTL_SECONDS);
    let challenge = authorization.challenge.as_ref().map(Challenge::as_str);
    let (hash, uri) = (TokenHash::of(&code), authorization.redirect_uri.as_str());
    store::oauth_grants::insert_code(tx, hash, grant, uri, challenge, expiry)?;
    Ok(redirect.with(&[("code", &code)]))
}

/// Validates a request. The inner error is the next step for an invalid request.
fn validate(
    tx: &mut ReadTx,
    request: &AuthorizationRequest,
    user: Option<&User>,
) -> Result<Result<Authorization, Next>> {
    let refuse = |code, text: &str| Ok(Err(Next::Refuse(Reason::new(code, text))));
    let client = match &request.client_id {
        Some(id) if !request.is_repeated("client_id") => oauth_clients::find_usable(tx, id)?,
        _ => None,
    };
    let Some(client) = client else {
        return refuse(Code::ClientInvalid, "Missing or unknown client_id");
    };
    let redirect_uri = match &request.redirect_uri {
        None => Some(client.redirect_uri.clone()),
        Some(_) if request.is_repeated("redirect_uri") => None,
        Some(raw) => RedirectUri::parse(raw).ok(),
    };
    let Some(redirect_uri) = redirect_uri.filter(|uri| client.may_redirect_to(uri)) else {
        let text = "The redirect_uri is not registered for this application";
        return refuse(Code::RedirectUriInvalid, text);
    };
    // A staff token can read all accounts, so a customer's application must not get a staff token. This error
    // is not sent by redirect: the customer would learn that a member of staff followed the link.
    if client.account.is_some() && user.is_some_and(User::is_staff) {
        let text = "This application belongs to a customer. Staff can authorize only the provider's own applications";
        return refuse(Code::WrongSide, text);
    }
    let response_type = match request.response_type.as_deref() {
        Some("token") => ResponseType::Token,
        _ => ResponseType::Code,
    };
    let redirect = Redirect {
        to: &redirect_uri,
        state: request.state.as_deref(),
        in_fragment: response_type == ResponseType::Token,
    };
    match validate_parameters(request, &client, response_type, tx.policy().oauth) {
        // A link to this server must not redirect a visitor without a session to a URI that a customer has
        // registered.
        Err(OauthError(_, text)) if client.account.is_some() && user.is_none() => refuse(
            Code::FormInvalid,
            &format!("Invalid authorization request: {text}"),
        ),
        Err(error) => Ok(Err(Next::Redirect(redirect.error(error)))),
        Ok((scopes, challenge)) => Ok(Ok(Authorization {
            client,
            scopes,
            response_type,
            challenge,
            state: request.state.clone(),
            redirect_uri,
        })),
    }
}

/// An error code of RFC 6749 and its description.
struct OauthError(&'static str, &'static str);

fn validate_parameters(
    request: &AuthorizationRequest,
    client: &OauthClient,
    response_type: ResponseType,
    policy: Oauth,
) -> Result<(Scopes, Option<Challenge>), OauthError> {
    let invalid = |text| OauthError("invalid_request", text);
    if !request.repeated.is_empty() {
        return Err(invalid("Duplicate parameter"));
    }
    match (request.response_type.as_deref(), response_type) {
        (None, _) => return Err(invalid("response_type is required")),
        (Some("code"), _) => {}
        (Some(_), ResponseType::Token) if policy.implicit && client.public => {}
        (Some(_), ResponseType::Token) if policy.implicit => {
            return Err(OauthError(
                "unauthorized_client",
                "Only a public client can use response_type=token",
            ));
        }
        _ => {
            return Err(OauthError(
                "unsupported_response_type",
                "response_type must be code",
            ));
        }
    }
    let challenge = match (&request.challenge, request.challenge_method.as_deref()) {
        (None, None) => None,
        (Some(raw), Some("S256")) => {
            let challenge = Challenge::parse(raw);
            Some(challenge.ok_or(invalid("code_challenge must be 43 characters of base64url"))?)
        }
        _ => {
            return Err(invalid(
                "code_challenge_method must be S256, and code_challenge is required",
            ));
        }
    };
    if response_type == ResponseType::Code && challenge.is_none() {
        if client.public {
            return Err(invalid("A public client must send code_challenge"));
        }
        if policy.require_pkce {
            return Err(invalid("code_challenge is required"));
        }
    }
    if response_type == ResponseType::Code && client.public && request.state.is_none() {
        return Err(invalid("A public client must send state"));
    }
    let raw = request.scope.as_deref().unwrap_or_default();
    let unknown = |_| {
        OauthError(
            "invalid_scope",
            "Unknown scope; must be known scopes separated by spaces or commas, or *",
        )
    };
    Ok((Scopes::parse(raw).map_err(unknown)?, challenge))
}

impl Authorization {
    fn redirect(&self) -> Redirect<'_> {
        Redirect {
            to: &self.redirect_uri,
            state: self.state.as_deref(),
            in_fragment: self.response_type == ResponseType::Token,
        }
    }
}

/// Builds redirects to the client.
struct Redirect<'a> {
    to: &'a RedirectUri,
    state: Option<&'a str>,
    in_fragment: bool,
}

impl Redirect<'_> {
    fn error(&self, OauthError(error, text): OauthError) -> String {
        self.with(&[("error", error), ("error_description", text)])
    }

    /// The redirect URI with its own query, these parameters and the state.
    fn with(&self, pairs: &[(&str, &str)]) -> String {
        let to = self.to.as_str();
        let separator = match (self.in_fragment, to.contains('?')) {
            (true, _) => '#',
            (false, false) => '?',
            (false, true) => '&',
        };
        let mut parameters = form_urlencoded::Serializer::new(String::new());
        parameters.extend_pairs(pairs);
        if let Some(state) = self.state {
            parameters.append_pair("state", state);
        }
        format!("{to}{separator}{}", parameters.finish())
    }
}
