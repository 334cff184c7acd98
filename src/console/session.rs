//! Who is before the screen: the session check of every page, logging in, and what is shown
//! instead of a page when something is in the way.
//!
//! Every form that changes something must send back a proof that it came from a page of this
//! session; that is checked here, before a handler sees the request.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawQuery, Request, State};
use axum::http::request::Parts;
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::forms::Sent;
use super::{NAVIGATION, PAGES, Page, Who, layout, live};
use crate::model::id::EventId;
use crate::model::proof::Identity;
use crate::rules::agent::Staff;
use crate::rules::caller::{Asker, Caller};
use crate::rules::error::BodyFault;
use crate::rules::{self, Error};
use crate::store::{ReadTx, StoreError};
use crate::web::answering::Noted;
use crate::web::cookies::{LOG_IN, form_proof};
use crate::web::error::{self, Cause, unknown_path, wants_page};
use crate::web::fields::{Fields, Written, pairs};
use crate::web::limits::Key;
use crate::web::login_attempts::{Attempted, Guess, attempt, client_address};
use crate::web::origin::Peer;
use crate::web::pages::go_to;
use crate::web::pages::{self, Bound, FROM_ANYWHERE, LogInNotes, LogInPage};
use crate::web::{App, body, cookies, load};

/// The purpose of the proof in the forms of the console.
const CONSOLE: &str = "console";
/// The field in which a form sends its proof.
pub const FORM_TOKEN: &str = "form_token";
/// Where htmx asks from, and where it is told to go.
const HTMX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
const HTMX_CURRENT: HeaderName = HeaderName::from_static("hx-current-url");
const HTMX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

/// More unseen events than this are not counted.
pub const MANY_UNSEEN: i64 = 100;

/// What a handler of a page answers.
pub type Answer = Result<Response, Wrong>;

/// Somebody who is logged in, looking at one of our pages.
#[derive(Clone)]
pub struct Visit {
    pub username: String,
    pub side: Who,
    pub path: String,
    /// The word of what was done just now: in the address for people to see, and in a cookie so that nobody else's
    /// link says so, and a page that is loaded again does not.
    pub done: Option<String>,
    /// Why something was not done just now.
    pub refused: Option<String>,
    /// What forms on the page send back.
    pub proof: String,
    /// How many events have happened that the user has not seen, up to `MANY_UNSEEN`.
    pub unseen: i64,
    /// Where the page hears of what happens after it was drawn.
    pub live: Option<String>,
}

impl FromRequestParts<App> for Visit {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let visit = parts.extensions.get::<Visit>().cloned();
        Ok(visit.expect("the check lets nobody through to a page who is not logged in"))
    }
}

/// What is in the way of a page. The check draws it, with the bar at the top if somebody is logged in.
#[derive(Clone, Debug)]
pub struct Wrong {
    pub status: StatusCode,
    pub title: &'static str,
    pub text: String,
    cause: Option<String>,
}

impl Wrong {
    fn new(status: StatusCode, title: &'static str, text: impl Into<String>) -> Self {
        Self {
            status,
            title,
            text: text.into(),
            cause: None,
        }
    }

    pub fn not_found() -> Self {
        let text = "There is nothing at this address, or nothing that you may see.";
        Self::new(StatusCode::NOT_FOUND, "Not found", text)
    }

    fn busy(cause: String) -> Self {
        let text = "The service is busy or not available at the moment. Try again in a few seconds.";
        Self {
            cause: Some(cause),
            ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "Please try again", text)
        }
    }
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        let cannot_be = "This cannot be";
        match error {
            Error::Unauthenticated => Self::new(
                StatusCode::UNAUTHORIZED,
                "Logged out",
                "Your session has ended. Log in again.",
            ),
            Error::Forbidden | Error::ScopeMissing { .. } => {
                let text = "You may see this, but you were not granted to do that. Ask whoever manages your account.";
                Self::new(StatusCode::FORBIDDEN, "Not allowed", text)
            }
            Error::WrongSide => {
                let text = "This page belongs to the other side: accounts have their own pages, and so has the desk.";
                Self::new(StatusCode::FORBIDDEN, "Not for you", text)
            }
            Error::NotFound => Self::not_found(),
            Error::TooMany { wait } => {
                let text = format!("Too many requests. Wait {wait} seconds, then try again.");
                Self::new(StatusCode::TOO_MANY_REQUESTS, "Slow down", text)
            }
            Error::Stale => {
                let text =
                    "It has changed since you opened the page. Go back, load the page anew and compare.";
                Self::new(StatusCode::PRECONDITION_FAILED, "It has changed", text)
            }
            Error::Body(BodyFault::TooLarge { .. } | BodyFault::FileTooLarge { .. }) => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                cannot_be,
                "That is too much to take.",
            ),
            Error::Body(_) => {
                let text = "What your browser sent could not be read. Go back and try again.";
                Self::new(StatusCode::BAD_REQUEST, cannot_be, text)
            }
            Error::Refused(complaints) => {
                let reasons: Vec<_> = complaints.into_iter().map(|complaint| complaint.reason).collect();
                Self::new(StatusCode::BAD_REQUEST, cannot_be, reasons.join("; "))
            }
            Error::Files(_) => Self::busy("files".to_owned()),
            Error::Store(cause @ (StoreError::Full | StoreError::Unavailable(_) | StoreError::Stopped)) => {
                Self::busy(cause.to_string())
            }
            Error::Store(cause) => Self {
                cause: Some(cause.to_string()),
                ..Self::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "This did not work",
                    String::new(),
                )
            },
        }
    }
}

impl IntoResponse for Wrong {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

pub async fn check(
    State((app, page)): State<(App, &'static Page)>,
    request: Request,
    next: Next,
) -> Response {
    let mut noted = Noted::page(page.id);
    let (parts, content) = request.into_parts();
    let visit = match page.who {
        Who::Everybody => Ok(None),
        Who::Tenants | Who::Staff => visit(&app, &parts).await,
    };
    let (mut response, visit) = match visit {
        Err(response) => (*response, None),
        Ok(visit) => {
            noted.identity = visit.as_ref().map(|(identity, _)| identity.clone());
            let response = match admit(&app, page, visit.as_ref(), Request::from_parts(parts, content)).await
            {
                Ok(request) => next.run(request).await,
                Err(wrong) => wrong.into_response(),
            };
            (response, visit.map(|(_, visit)| visit))
        }
    };
    if let Some(wrong) = response.extensions_mut().remove::<Wrong>() {
        response = layout::wrong(visit.as_ref(), &wrong);
        if let Some(cause) = wrong.cause {
            response.extensions_mut().insert(Cause(cause));
        }
    }
    if visit.is_some_and(|visit| visit.done.is_some() || visit.refused.is_some()) {
        cookies::clear(response.headers_mut(), cookies::NEWS);
    }
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != "application/json") {
        response.extensions_mut().insert(noted);
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
    if load::is_too_much() {
        return Err(Box::new(
            Wrong::from(Error::Store(StoreError::Full)).into_response(),
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
            let news = cookies::news(&request.headers).filter(|_| is_shown(request));
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
        Err(other) => Err(Box::new(Wrong::from(other).into_response())),
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

fn side_of(identity: &Identity) -> Who {
    match identity.account {
        Some(_) => Who::Tenants,
        None => Who::Staff,
    }
}

/// A page that was asked for comes after logging in; a form that was sent cannot be sent again by us.
fn must_log_in(request: &Parts) -> Response {
    let headers = &request.headers;
    if headers.contains_key(HTMX_REQUEST) {
        let from = headers.get(HTMX_CURRENT).and_then(|url| url.to_str().ok());
        let from = from.and_then(|url| url.parse::<Uri>().ok());
        let back = from.and_then(|uri| local(uri.path_and_query()?.as_str()));
        let mut response = StatusCode::UNAUTHORIZED.into_response();
        if let Ok(place) = HeaderValue::try_from(log_in_at(back.as_deref())) {
            response.headers_mut().insert(HTMX_REDIRECT, place);
        }
        return response;
    }
    if !matches!(request.method, Method::GET | Method::HEAD) {
        let text = "Your session has ended, and nothing was changed. Log in again in another tab, then come back here with \
                    your browser's back button: what you typed is still there to be copied.";
        return Wrong::new(StatusCode::UNAUTHORIZED, "Logged out", text).into_response();
    }
    let back = request.uri.path_and_query().and_then(|path| local(path.as_str()));
    go_to(StatusCode::SEE_OTHER, &log_in_at(back.as_deref()))
}

fn log_in_at(back: Option<&str>) -> String {
    match back {
        None => "/login".to_owned(),
        Some(back) => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            format!("/login?{}", query.append_pair("to", back).finish())
        }
    }
}

/// A way back after logging in: a path of one of our own pages, and nothing else.
fn local(raw: &str) -> Option<String> {
    let plain = raw.starts_with('/') && !raw.starts_with("//") && !raw.contains('\\');
    let path = PathAndQuery::try_from(raw).ok().filter(|_| plain)?;
    let first = |path: &'_ str| path.split('/').nth(1).unwrap_or_default().to_owned();
    let ours = |page: &&Page| page.who != Who::Everybody && first(page.path) == first(path.path());
    (path.as_str() == raw && PAGES.iter().find(ours).is_some()).then(|| raw.to_owned())
}

/// Side, rate, and for what changes something the proof of its form.
async fn admit(
    app: &App,
    page: &'static Page,
    visit: Option<&(Arc<Identity>, Visit)>,
    mut request: Request,
) -> Result<Request, Wrong> {
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
            return Err(Wrong::new(StatusCode::TOO_MANY_REQUESTS, "Slow down", text));
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
        Who::Staff => drop(extensions.insert(Staff::admit(identity.clone(), None)?)),
        _ => drop(extensions.insert(Caller::admit(identity.clone(), None)?)),
    }
    extensions.insert(visit.clone());
    Ok(request)
}

/// Reads a form and checks its proof. A form with files in it is left to its handler to read, and
/// so has its proof in the address.
async fn proven(app: &App, visit: &Visit, request: Request) -> Result<Request, Wrong> {
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
        return Err(Wrong::new(StatusCode::FORBIDDEN, "Please try again", text));
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
pub fn other_method(method: &Method, headers: &HeaderMap, uri: &Uri, allowed: &str) -> Response {
    if *method != Method::GET || !wants_page(headers) {
        return error::other_method(method, allowed);
    }
    let above = uri.path().rsplit_once('/').map(|(above, _)| above);
    go_to(
        StatusCode::SEE_OTHER,
        above.filter(|above| !above.is_empty()).unwrap_or("/"),
    )
}

/// For an address at which nothing is. Whoever is logged in has the bar to go on with.
pub async fn nothing_here(State(app): State<App>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let nothing = unknown_path(&parts.headers, &parts.uri);
    let kind = nothing.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind == "application/json") {
        return nothing;
    }
    match visit(&app, &parts).await {
        Ok(Some((_, visit))) => layout::wrong(Some(&visit), &Wrong::not_found()),
        _ => nothing,
    }
}

/// The side of whoever is logged in.
async fn who(app: &App, headers: &HeaderMap) -> Result<Option<Who>, Wrong> {
    let Some(session) = cookies::read(headers, cookies::SESSION) else {
        return Ok(None);
    };
    let hash = session.hash();
    let identity = app
        .store()
        .read(move |tx| rules::sessions::identify(tx, hash))
        .await;
    match identity {
        Ok(identity) => Ok(Some(side_of(&identity))),
        Err(Error::Unauthenticated) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

fn landing(side: Who) -> Response {
    match NAVIGATION.iter().find(|(who, _, _)| *who == side) {
        Some((_, _, path)) => go_to(StatusCode::SEE_OTHER, path),
        None => {
            let text =
                "You are logged in. There are no pages for you here yet; programs you allow can act for you.";
            pages::note(StatusCode::OK, "Logged in", text, FROM_ANYWHERE)
        }
    }
}

pub async fn log_in_page(State(app): State<App>, headers: HeaderMap, RawQuery(query): RawQuery) -> Answer {
    let query = pairs(query.unwrap_or_default().as_bytes());
    let to = query
        .into_iter()
        .find_map(|(key, to)| (key == "to").then_some(to));
    let to = to.and_then(|to| local(&to));
    if let Some(side) = who(&app, &headers).await? {
        return Ok(to.map_or_else(|| landing(side), |to| go_to(StatusCode::SEE_OTHER, &to)));
    }
    let (proof, fresh) = form_proof(&app, &headers);
    let (to, notes) = (to.unwrap_or_default(), LogInNotes::default());
    let mut page = pages::log_in(StatusCode::OK, Bound::Console, &to, &proof.hex(), &notes);
    if let Some(fresh) = fresh {
        cookies::set(page.headers_mut(), cookies::FORM, &fresh);
    }
    Ok(page)
}

pub async fn log_in(State(app): State<App>, request: Request) -> Answer {
    let (headers, address) = (request.headers().clone(), client_address(request.extensions()));
    let fields = Fields::read(&app, request, Written::UrlEncoded).await?;
    let sent = fields.text(FORM_TOKEN).unwrap_or_default();
    let cookie = cookies::read(&headers, cookies::FORM);
    let proof = cookie.map(|cookie| cookies::proof(LOG_IN, &cookie));
    let Some(proof) = proof.filter(|proof| proof.is_kept_as(sent)) else {
        let text = "This form did not come from the page it belongs to, in this browser. Go back, load the page anew and \
                    try again. Cookies must be allowed, and the address must begin with https://.";
        return Err(Wrong::new(StatusCode::FORBIDDEN, "Please try again", text));
    };
    let (Some(username), Some(password)) = (fields.text("username"), fields.secret("password")) else {
        let text = "Something is missing in what your browser sent. Go back and try again.";
        return Err(Wrong::new(StatusCode::BAD_REQUEST, "This cannot be", text));
    };
    let to = fields.text("return_to").and_then(local);
    let page = LogInPage {
        bound: Bound::Console,
        return_to: to.as_deref().unwrap_or_default(),
        proof,
        username,
    };
    let guess = Guess::new(&headers, address, username, password);
    match attempt(&app, guess).await? {
        Attempted::Locked { wait } => Ok(page.again(StatusCode::TOO_MANY_REQUESTS, wait)),
        Attempted::Wrong { wait } => Ok(page.again(StatusCode::UNAUTHORIZED, wait)),
        Attempted::Right(logged_in) => {
            let mut response = go_to(StatusCode::SEE_OTHER, to.as_deref().unwrap_or("/"));
            logged_in.set_cookies(response.headers_mut());
            Ok(response)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_a_path_of_ours_or_none() {
        for bad in [
            "",
            "vpcs",
            "//evil.example/vpcs",
            "/\\evil.example",
            "/vpcs\\..\\x",
            "https://evil.example/vpcs",
            "/login",
            "/logout",
            "/v4/vpcs",
            "/oauth/authorize",
            "/console/x",
            "/",
            "/vpcs\r\nSet-Cookie: x=y",
            "/vpcs#x",
        ] {
            assert_eq!(local(bad), None, "{bad:?}");
        }
        for good in ["/vpcs", "/vpcs/1/subnets/2?in=10.0.0.0/24", "/vpcs?q=%2F%2Fx"] {
            assert_eq!(local(good).as_deref(), Some(good));
        }
    }
}
