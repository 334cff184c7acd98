//! Access checks that run before a handler: token, scope, audience and rate limit, in this order (decision
//! 0003).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::model::proof::{Identity, Proof};
use crate::model::scope::Scopes;
use crate::model::token::TokenHash;
use crate::rules::agent::Staff;
use crate::rules::caller::{Caller, Principal};
use crate::rules::host_principal::is_credential;
use crate::rules::{Error, Result};
use crate::web::answering::{ANY_SCOPE, RequestInfo};
use crate::web::entity_tags::KnownTags;
use crate::web::error::{TokenInvalid, accepts_html};
use crate::web::limits::{Key, RateStatus};
use crate::web::operation::{Audience, Class, Operation};
use crate::web::origin::Peer;
use crate::web::{App, pages};

/// The middleware that runs the access checks.
pub async fn check(
    State((app, operation)): State<(App, &'static Operation)>,
    mut request: Request,
    next: Next,
) -> Response {
    let mut info = RequestInfo::of(operation);
    let accepts_html = operation.page && accepts_html(request.headers());
    let mut response = match admit(&app, operation, &mut request, &mut info).await {
        Ok(()) => {
            let known = known_tags(&request);
            let response = next.run(request).await;
            if response.extensions().get::<TokenInvalid>().is_some() {
                // The cached identity was outdated: the transaction found that the token is no longer valid.
                info.scopes = None;
            }
            not_modified_if_known(known, response)
        }
        Err(response) => *response,
    };
    if accepts_html {
        response = pages::from_error_response(response, operation.path);
    }
    if let Some(rate) = &info.rate {
        rate.add_headers(response.headers_mut());
    }
    response.extensions_mut().insert(info);
    response
}

/// Runs the access checks, and inserts the `Caller`, the `Staff` or the `HostPrincipal` into the request. If a check fails, the
/// error is the response.
async fn admit(
    app: &App,
    operation: &'static Operation,
    request: &mut Request,
    info: &mut RequestInfo,
) -> Result<(), Box<Response>> {
    let refuse = |error: Error| Box::new(error.into_response());
    let key = match operation.audience {
        Audience::Public => address_key(request),
        Audience::Agents => {
            let principal = match bearer(request.headers()) {
                Some(hash) => app.identify_host(hash).await,
                None => Err(Error::Unauthenticated),
            };
            let principal = match principal {
                Err(Error::Unauthenticated) => match bearer(request.headers()) {
                    // The token of a user is valid, but not for agents.
                    Some(hash) if app.identify(hash).await.is_ok() => Err(Error::WrongAudience),
                    _ => return Err(Box::new(count_bad_token(app, request, info))),
                },
                other => other,
            };
            request.extensions_mut().insert(principal.map_err(refuse)?);
            None
        }
        Audience::Tenants | Audience::Staff => {
            let identity = match bearer(request.headers()) {
                Some(hash) => app.identify(hash).await,
                None => Err(Error::Unauthenticated),
            };
            let identity = match identity {
                Err(Error::Unauthenticated) if is_host(app, request.headers()).await => {
                    return Err(refuse(Error::WrongAudience));
                }
                Err(Error::Unauthenticated) => return Err(Box::new(count_bad_token(app, request, info))),
                other => other.map_err(refuse)?,
            };
            info.scopes = match identity.scopes {
                Scopes::Everything => Some(ANY_SCOPE),
                _ => HeaderValue::try_from(identity.scopes.to_string()).ok(),
            };
            info.identity = Some(identity.clone());
            let key = match identity.proof {
                Proof::Token(token) => Key::Token(token),
                Proof::Session | Proof::Mail | Proof::Terminal => Key::User(identity.user),
            };
            let identity = current_identity(app, identity, (operation, key), info).await?;
            if operation.audience == Audience::Staff {
                let staff = Staff::admit(identity, operation.requirements()).map_err(refuse)?;
                request.extensions_mut().insert(staff);
            } else {
                let caller = Caller::admit(identity, operation.requirements()).map_err(refuse)?;
                request.extensions_mut().insert(caller);
            }
            Some(key).filter(|_| info.rate.is_none())
        }
    };
    match key {
        Some(key) => count(app, operation, key, info),
        None => Ok(()),
    }
}

/// Counts a request against the rate limit.
fn count(app: &App, operation: &Operation, key: Key, info: &mut RequestInfo) -> Result<(), Box<Response>> {
    let Some(limits) = app.limits() else {
        return Ok(());
    };
    let clock = &app.store().context().clock;
    info.rate = limits.count(key, operation.id, operation.class, clock);
    match info.rate.as_ref().filter(|rate| rate.refused) {
        Some(rate) => Err(Box::new(RateStatus::refusal(rate))),
        None => Ok(()),
    }
}

/// The identity of a request. A cached identity that would be refused for the role, as a disabled user or because of a
/// suspended account is read again, because the permission can be newer. Such a request counts against the rate limit.
async fn current_identity(
    app: &App,
    identity: Arc<Identity>,
    (operation, key): (&Operation, Key),
    info: &mut RequestInfo,
) -> Result<Arc<Identity>, Box<Response>> {
    let needed = operation.requirements();
    let refusal = match operation.audience {
        Audience::Staff => Staff::admit(identity.clone(), needed).err(),
        _ => Caller::admit(identity.clone(), needed).err(),
    };
    if !matches!(refusal, Some(Error::NoAccess(_) | Error::RoleMissing { .. })) {
        return Ok(identity);
    }
    count(app, operation, key, info)?;
    let current = app.identify_again(identity.hash).await;
    current.map_err(|error| Box::new(error.into_response()))
}

fn address_key(request: &Request) -> Option<Key> {
    let peer = request.extensions().get::<Peer>();
    peer.map(|peer| Key::address(peer.0.ip()))
}

/// Counts a request without a valid token against the rate limit of its client address. Until the address
/// exceeds the limit, the response is a plain 401 without rate-limit headers. (A request with a valid token
/// counts against the limit of that token.)
fn count_bad_token(app: &App, request: &Request, info: &mut RequestInfo) -> Response {
    if let (Some(limits), Some(key)) = (app.limits(), address_key(request)) {
        let clock = &app.store().context().clock;
        let rate = limits.count(key, "bad token", Class::Command, clock);
        if let Some(rate) = rate.filter(|rate| rate.refused) {
            let refusal = RateStatus::refusal(&rate);
            info.rate = Some(rate);
            return refusal;
        }
    }
    Error::Unauthenticated.into_response()
}

/// Whether the token is the credential of a host, which is for agents only.
async fn is_host(app: &App, headers: &HeaderMap) -> bool {
    match bearer_text(headers) {
        Some(text) if is_credential(text) => app.identify_host(TokenHash::of(text)).await.is_ok(),
        _ => false,
    }
}

/// The hash of the bearer token of a request.
pub fn bearer(headers: &HeaderMap) -> Option<TokenHash> {
    bearer_text(headers).map(TokenHash::of)
}

fn bearer_text(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (kind, token) = value.split_once(' ')?;
    let token = token.trim();
    (kind.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// The entity tags in `If-None-Match` of a GET or HEAD request.
fn known_tags(request: &Request) -> Option<KnownTags> {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    is_read.then(|| KnownTags::of(request.headers())).flatten()
}

fn not_modified_if_known(known: Option<KnownTags>, mut response: Response) -> Response {
    let tag = response
        .headers()
        .get(header::ETAG)
        .and_then(|tag| tag.to_str().ok());
    let (Some(known), Some(tag)) = (known, tag) else {
        return response;
    };
    if response.status() == StatusCode::OK && known.contain(tag) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        *response.body_mut() = axum::body::Body::empty();
        response.headers_mut().remove(header::CONTENT_TYPE);
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    response
}
