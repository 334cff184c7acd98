//! The session check of every page.
//!
//! Every form that changes something must send back a proof that it came from a page of this
//! session; that is checked here, before a handler sees the request.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error_page::ErrorPage;
use super::forms::Sent;
use super::navigation::{local, log_in_at};
use super::page::Page;
use super::visit::{MANY_UNSEEN, Visit, side_of};
use super::{layout, live};
use crate::model::id::EventId;
use crate::model::proof::Identity;
use crate::rules::agent::Staff;
use crate::rules::caller::{Caller, Principal};
use crate::rules::{self, Error};
use crate::store::{ReadTx, StoreError};
use crate::web::answering::RequestInfo;
use crate::web::cookies::FORM_TOKEN;
use crate::web::error::{self, Cause, accepts_html, path_not_found, status_of};
use crate::web::fields::pairs;
use crate::web::limits::Key;
use crate::web::operation::Audience;
use crate::web::origin::Peer;
use crate::web::pages::go_to;
use crate::web::{App, body, cookies, load};

/// The purpose of the proof in the forms of the console.
const CONSOLE: &str = "console";
/// Where htmx asks from, and where it is told to go.
const HTMX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
const HTMX_CURRENT: HeaderName = HeaderName::from_static("hx-current-url");
const HTMX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

pub async fn check(
    State((app, page)): State<(App, &'static Page)>,
    request: Request,
    next: Next,
) -> Response {
    let mut info = RequestInfo::page(page.id);
    let (parts, content) = request.into_parts();
    let visit = match page.who {
        Audience::Public => Ok(None),
        Audience::Tenants | Audience::Staff => visit(&app, &parts).await,
    };
    let (mut response, visit) = match visit {
        Err(response) => (*response, None),
        Ok(visit) => {
            info.identity = visit.as_ref().map(|(identity, _)| identity.clone());
            let response = match admit(&app, page, visit.as_ref(), Request::from_parts(parts, content)).await
            {
                Ok(request) => next.run(request).await,
                Err(wrong) => wrong.into_response(),
            };
            (response, visit.map(|(_, visit)| visit))
        }
    };
    if let Some(wrong) = response.extensions_mut().remove::<ErrorPage>() {
        response = layout::error_page(visit.as_ref(), &wrong);
        if let Some(cause) = wrong.cause {
            response.extensions_mut().insert(Cause(cause));
        }
    }
    if visit.is_some_and(|visit| visit.done.is_some() || visit.refused.is_some()) {
        cookies::clear(response.headers_mut(), cookies::FLASH);
    }
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != "application/json") {
        response.extensions_mut().insert(info);
        let vary = HeaderValue::from_static("Cookie, HX-Request");
        response.headers_mut().insert(header::VARY, vary);
    }
    response
}

/// Who is logged in; else the way to log in.
async fn visit(app: &App, request: &Parts) -> Result<Option<(Arc<Identity>, Visit)>, Box<Response>> {
    let session = cookies::read(&request.headers, cookies::SESSION);
    let Some(session) = session else {
        return Err(Box::new(must_log_in(request)));
    };
    if load::is_overloaded() {
        return Err(Box::new(
            ErrorPage::from(Error::Store(StoreError::Full)).into_response(),
        ));
    }
    let hash = session.hash();
    let known = app
        .store()
        .read(move |tx| {
            let identity = rules::sessions::identify(tx, hash)?;
            let bell = bell(tx, &identity)?;
            Ok((identity, bell))
        })
        .await;
    match known {
        Ok((identity, bell)) => {
            let query = pairs(request.uri.query().unwrap_or_default().as_bytes());
            let news = cookies::flash(&request.headers).filter(|_| is_shown(request));
            let visit = Visit {
                username: identity.username.as_str().to_owned(),
                side: side_of(&identity),
                path: request.uri.path().to_owned(),
                done: query
                    .into_iter()
                    .find_map(|(key, word)| (key == "done" && news.as_ref() == Some(&word)).then_some(word)),
                refused: news
                    .as_ref()
                    .and_then(|news| news.strip_prefix(layout::REFUSED).map(str::to_owned)),
                proof: cookies::proof(CONSOLE, &session).hex(),
                unseen: bell.map_or(0, |(unseen, _)| unseen),
                live: bell.map(|(_, last)| live::address(last)),
            };
            Ok(Some((identity, visit)))
        }
        Err(Error::Unauthenticated) => Err(Box::new(must_log_in(request))),
        Err(other) => Err(Box::new(ErrorPage::from(other).into_response())),
    }
}

/// Whether a browser is about to show the answer. What a script asks for, it may show or not.
fn is_shown(request: &Parts) -> bool {
    let mode = request.headers.get("sec-fetch-mode");
    mode.is_none_or(|mode| mode == "navigate") && !request.headers.contains_key(HTMX_REQUEST)
}

/// How many events a tenant has not seen, and the newest there is. It is read before anything on the page,
/// so that whatever comes after it is told.
fn bell(tx: &mut ReadTx, identity: &Arc<Identity>) -> Result<Option<(i64, EventId)>, Error> {
    if identity.account.is_none() {
        return Ok(None);
    }
    let caller = Caller::admit(identity.clone(), None)?;
    let last = rules::events::end(tx, &caller)?;
    Ok(Some((rules::events::unseen(tx, &caller, MANY_UNSEEN)?, last)))
}

/// A page that was asked for comes after logging in; a form that was sent cannot be sent again by us.
fn must_log_in(request: &Parts) -> Response {
    let headers = &request.headers;
    if headers.contains_key(HTMX_REQUEST) {
        let from = headers.get(HTMX_CURRENT).and_then(|url| url.to_str().ok());
        let from = from.and_then(|url| url.parse::<Uri>().ok());
        let back = from.and_then(|uri| local(uri.path_and_query()?.as_str()));
        let mut response = status_of(&Error::Unauthenticated).into_response();
        if let Ok(place) = HeaderValue::try_from(log_in_at(back.as_deref())) {
            response.headers_mut().insert(HTMX_REDIRECT, place);
        }
        return response;
    }
    if !matches!(request.method, Method::GET | Method::HEAD) {
        let text = "Your session has ended, and nothing was changed. Log in again in another tab, then come back here with \
                    your browser's back button: what you typed is still there to be copied.";
        return ErrorPage::saying(&Error::Unauthenticated, "Logged out", text).into_response();
    }
    let back = request.uri.path_and_query().and_then(|path| local(path.as_str()));
    go_to(&log_in_at(back.as_deref()))
}

/// Side, rate, and for what changes something the proof of its form.
async fn admit(
    app: &App,
    page: &'static Page,
    visit: Option<&(Arc<Identity>, Visit)>,
    mut request: Request,
) -> Result<Request, ErrorPage> {
    let key = match visit {
        Some((identity, _)) => Some(Key::User(identity.user)),
        None => {
            let peer = request.extensions().get::<Peer>();
            peer.map(|peer| Key::address(peer.0.ip()))
        }
    };
    if let (Some(limits), Some(key)) = (app.limits(), key) {
        let clock = &app.store().world().clock;
        let verdict = limits.count(key, page.id, page.class, clock);
        if verdict.is_some_and(|verdict| verdict.refused) {
            let text = "Too many requests. Wait a minute, then try again.";
            return Err(ErrorPage::saying(&Error::TooMany { wait: 60 }, "Slow down", text));
        }
    }
    let Some((identity, visit)) = visit else {
        return Ok(request);
    };
    if page.method == Method::POST {
        request = proven(app, visit, request).await?;
    }
    let extensions = request.extensions_mut();
    match page.who {
        Audience::Staff => drop(extensions.insert(Staff::admit(identity.clone(), None)?)),
        _ => drop(extensions.insert(Caller::admit(identity.clone(), None)?)),
    }
    extensions.insert(visit.clone());
    Ok(request)
}

/// Reads a form and checks its proof. A form with files in it is left to its handler to read, and
/// so has its proof in the address.
async fn proven(app: &App, visit: &Visit, request: Request) -> Result<Request, ErrorPage> {
    let (mut parts, content) = request.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let has_files = kind.starts_with("multipart/form-data");
    let (sent, content) = match has_files {
        true => (pairs(parts.uri.query().unwrap_or_default().as_bytes()), content),
        false => {
            let bytes = body::bytes(&parts.headers, content, app.options().body_timeout).await;
            (pairs(&bytes.map_err(Error::Body)?), axum::body::Body::empty())
        }
    };
    let sent = Sent::new(sent);
    if !same(&visit.proof, sent.text(FORM_TOKEN)) {
        let text = "This form did not come from the page it belongs to, in this session, and nothing was changed. Go back, \
                    load the page anew and try again.";
        return Err(ErrorPage::saying(&Error::Forbidden, "Please try again", text));
    }
    parts.extensions.insert(sent);
    Ok(Request::from_parts(parts, content))
}

/// Compares in a time that does not depend on where they differ.
fn same(proof: &str, sent: &str) -> bool {
    let differing = proof
        .bytes()
        .zip(sent.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    proof.len() == sent.len() && std::hint::black_box(differing) == 0
}

/// For an address that is asked in another way than it takes. A browser that is to show where a form went, is shown the
/// page with the form.
pub fn method_not_allowed(method: &Method, headers: &HeaderMap, uri: &Uri, allowed: &str) -> Response {
    if *method != Method::GET || !accepts_html(headers) {
        return error::method_not_allowed(method, allowed);
    }
    let above = uri.path().rsplit_once('/').map(|(above, _)| above);
    go_to(above.filter(|above| !above.is_empty()).unwrap_or("/"))
}

/// For an address at which nothing is. Whoever is logged in has the bar to go on with.
pub async fn nothing_here(State(app): State<App>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let nothing = path_not_found(&parts.headers, &parts.uri);
    let kind = nothing.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind == "application/json") {
        return nothing;
    }
    match visit(&app, &parts).await {
        Ok(Some((_, visit))) => layout::error_page(Some(&visit), &ErrorPage::not_found()),
        _ => nothing,
    }
}
