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
use crate::rules::error::Result;
use crate::rules::{oauth_tokens, sessions};
use crate::store::{self, ReadTx, WriteTx};

/// The lifetime of an authorization code, in seconds.
const CODE_LASTS: i64 = 60;

/// The parameters of an authorization request, not validated.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    client_id: Option<String>,
    redirect_uri: Option<String>,
    response_type: Option<String>,
    scope: Option<String>,
    state: Option<String>,
    challenge: Option<String>,
    challenge_method: Option<String>,
    repeated: Vec<String>,
}

impl Ask {
    /// Reads the known parameters; one with an empty value counts as missing.
    pub fn read(pairs: &[(String, String)]) -> Self {
        let mut ask = Ask::default();
        for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
            let place = match name.as_str() {
                "client_id" => &mut ask.client_id,
                "redirect_uri" => &mut ask.redirect_uri,
                "response_type" => &mut ask.response_type,
                // Published clients send one or the other.
                "scope" | "scopes" => &mut ask.scope,
                "state" => &mut ask.state,
                "code_challenge" => &mut ask.challenge,
                "code_challenge_method" => &mut ask.challenge_method,
                _ => continue,
            };
            if place
                .replace(value.clone())
                .is_some_and(|before| before != *value)
            {
                ask.repeated.push(name.clone());
            }
        }
        ask
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
    wants: Wants,
    state: Option<String>,
    challenge: Option<Challenge>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    Code,
    /// An access token in the URL fragment (implicit flow).
    Token,
}

/// The next step of an authorization request.
pub enum Next {
    /// Show an error page without a redirect.
    Refuse(Reason),
    /// Redirect to the client at this URL.
    Back(String),
    /// Show the log-in form.
    LogIn(Box<Authorization>),
    /// Show the consent page.
    Consent(Box<Authorization>, Box<User>),
    /// The user has authorized these scopes before: issue without a consent page.
    Known,
}

/// Validates a request and determines the next step.
pub fn consider(tx: &mut ReadTx, ask: &Ask, session: Option<TokenHash>) -> Result<Next> {
    let user = logged_in(tx, session)?;
    let authorization = match read(tx, ask, user.as_ref())? {
        Ok(authorization) => authorization,
        Err(next) => return Ok(next),
    };
    let Some(user) = user else {
        return Ok(Next::LogIn(Box::new(authorization)));
    };
    if is_known(tx, &authorization, &user)? {
        return Ok(Next::Known);
    }
    Ok(Next::Consent(Box::new(authorization), Box::new(user)))
}

/// Issues a code or token that the user has authorized before.
pub fn give_again(tx: &mut WriteTx, ask: &Ask, session: Option<TokenHash>) -> Result<Next> {
    match consider(tx, ask, session)? {
        Next::Known => decide(tx, ask, session, true),
        changed => Ok(changed),
    }
}

/// Carries out the user's decision.
pub fn decide(tx: &mut WriteTx, ask: &Ask, session: Option<TokenHash>, allows: bool) -> Result<Next> {
    let user = logged_in(tx, session)?;
    let authorization = match read(tx, ask, user.as_ref())? {
        Ok(authorization) => authorization,
        Err(next) => return Ok(next),
    };
    let Some(user) = user else {
        return Ok(Next::LogIn(Box::new(authorization)));
    };
    Ok(Next::Back(match allows {
        true => give(tx, &authorization, &user)?,
        false => {
            let refused = Wrong("access_denied", "The user did not allow it");
            authorization.back().error(refused)
        }
    }))
}

fn logged_in(tx: &mut ReadTx, session: Option<TokenHash>) -> Result<Option<User>> {
    match session {
        Some(session) => sessions::who(tx, session),
        None => Ok(None),
    }
}

fn is_known(tx: &mut ReadTx, wanted: &Authorization, user: &User) -> Result<bool> {
    // On a loopback address any local program can pose as a public client (RFC 8252, 8.6).
    if wanted.client.public && wanted.redirect_uri.is_loopback() {
        return Ok(false);
    }
    let granted = store::oauth_grants::live_of_user(tx, user.id)?;
    Ok(granted
        .iter()
        .any(|grant| grant.client == wanted.client.id && wanted.scopes.are_within(&grant.scopes)))
}

fn give(tx: &mut WriteTx, authorization: &Authorization, user: &User) -> Result<String> {
    let Authorization { client, scopes, .. } = authorization;
    let grant = store::oauth_grants::insert(tx, &client.id, user.id, scopes)?;
    store::oauth_grants::replace_idle(tx, grant, &client.id, user.id, scopes)?;
    let back = authorization.back();
    if authorization.wants == Wants::Token {
        let access = oauth_tokens::make_access(tx, grant, user.id, client.label.as_str(), scopes)?;
        let written = scopes.to_string();
        return Ok(back.with(&[
            ("access_token", access.reveal()),
            ("token_type", "bearer"),
            ("expires_in", &oauth_tokens::ACCESS_LASTS.to_string()),
            ("scope", &written),
            ("scopes", &written),
        ]));
    }
    // Starts with a letter: one published client parses digits as a number.
    let code = format!("c{}", hex(&tx.random()[12..]));
    let expiry = tx.now().plus_seconds(CODE_LASTS);
    let challenge = authorization.challenge.as_ref().map(Challenge::as_str);
    let (hash, uri) = (TokenHash::of(&code), authorization.redirect_uri.as_str());
    store::oauth_grants::insert_code(tx, hash, grant, uri, challenge, expiry)?;
    Ok(back.with(&[("code", &code)]))
}

fn read(tx: &mut ReadTx, ask: &Ask, user: Option<&User>) -> Result<Result<Authorization, Next>> {
    let refuse = |code, text: &str| Ok(Err(Next::Refuse(Reason::new(code, text))));
    let client = match &ask.client_id {
        Some(id) if !ask.is_repeated("client_id") => store::oauth_clients::find(tx, id)?,
        _ => None,
    };
    let Some(client) = client.filter(OauthClient::is_active) else {
        return refuse(Code::ClientInvalid, "There is no such application here");
    };
    let redirect_uri = match &ask.redirect_uri {
        None => Some(client.redirect_uri.clone()),
        Some(_) if ask.is_repeated("redirect_uri") => None,
        Some(raw) => RedirectUri::parse(raw).ok(),
    };
    let Some(redirect_uri) = redirect_uri.filter(|wanted| client.may_redirect_to(wanted)) else {
        let text = "The application wants you sent to an address that it has not registered";
        return refuse(Code::RedirectUriInvalid, text);
    };
    // A staff token can read all accounts. No redirect either: the URI belongs to a customer, who would learn
    // that a member of staff followed the link.
    if client.account.is_some() && user.is_some_and(User::is_staff) {
        let text = "This application belongs to a customer. Staff can authorize only the provider's own applications";
        return refuse(Code::WrongSide, text);
    }
    let wants = match ask.response_type.as_deref() {
        Some("token") => Wants::Token,
        _ => Wants::Code,
    };
    let back = Back {
        to: &redirect_uri,
        state: ask.state.as_deref(),
        in_fragment: wants == Wants::Token,
    };
    match read_rest(ask, &client, wants, tx.policy().oauth) {
        // A link to this server must not redirect a visitor without a session to a URI that a customer has
        // registered.
        Err(Wrong(_, text)) if client.account.is_some() && user.is_none() => refuse(
            Code::FormInvalid,
            &format!("The application asked wrongly: {text}"),
        ),
        Err(wrong) => Ok(Err(Next::Back(back.error(wrong)))),
        Ok((scopes, challenge)) => Ok(Ok(Authorization {
            client,
            scopes,
            wants,
            challenge,
            state: ask.state.clone(),
            redirect_uri,
        })),
    }
}

/// An error code of RFC 6749 and its description.
struct Wrong(&'static str, &'static str);

fn read_rest(
    ask: &Ask,
    client: &OauthClient,
    wants: Wants,
    policy: Oauth,
) -> Result<(Scopes, Option<Challenge>), Wrong> {
    let invalid = |text| Wrong("invalid_request", text);
    if !ask.repeated.is_empty() {
        return Err(invalid("A parameter is there twice"));
    }
    match (ask.response_type.as_deref(), wants) {
        (None, _) => return Err(invalid("response_type is required")),
        (Some("code"), _) => {}
        (Some(_), Wants::Token) if policy.implicit && client.public => {}
        (Some(_), Wants::Token) if policy.implicit => {
            return Err(Wrong(
                "unauthorized_client",
                "Only a public client may ask for a token",
            ));
        }
        _ => return Err(Wrong("unsupported_response_type", "response_type must be code")),
    }
    let challenge = match (&ask.challenge, ask.challenge_method.as_deref()) {
        (None, None) => None,
        (Some(raw), Some("S256")) => {
            let challenge = Challenge::parse(raw);
            Some(challenge.ok_or(invalid("code_challenge must be 43 characters of base64url"))?)
        }
        _ => {
            return Err(invalid(
                "code_challenge_method must be S256, with a code_challenge",
            ));
        }
    };
    if wants == Wants::Code && challenge.is_none() {
        if client.public {
            return Err(invalid("A public client must send a code_challenge"));
        }
        if policy.require_pkce {
            return Err(invalid("A client must send a code_challenge"));
        }
    }
    if wants == Wants::Code && client.public && ask.state.is_none() {
        return Err(invalid("A public client must send a state"));
    }
    let raw = ask.scope.as_deref().unwrap_or_default();
    let unknown = |_| Wrong("invalid_scope", "scope must name scopes that there are, or be *");
    Ok((Scopes::parse(raw).map_err(unknown)?, challenge))
}

impl Authorization {
    fn back(&self) -> Back<'_> {
        Back {
            to: &self.redirect_uri,
            state: self.state.as_deref(),
            in_fragment: self.wants == Wants::Token,
        }
    }
}

/// Builds redirects to the client.
struct Back<'a> {
    to: &'a RedirectUri,
    state: Option<&'a str>,
    in_fragment: bool,
}

impl Back<'_> {
    fn error(&self, Wrong(error, text): Wrong) -> String {
        self.with(&[("error", error), ("error_description", text)])
    }

    /// The redirect URI with these parameters and the state; its own query is kept.
    fn with(&self, pairs: &[(&str, &str)]) -> String {
        let to = self.to.as_str();
        let mark = match (self.in_fragment, to.contains('?')) {
            (true, _) => '#',
            (false, false) => '?',
            (false, true) => '&',
        };
        let mut written = form_urlencoded::Serializer::new(String::new());
        written.extend_pairs(pairs);
        if let Some(state) = self.state {
            written.append_pair("state", state);
        }
        format!("{to}{mark}{}", written.finish())
    }
}
