//! The session check of every page.
//!
//! A form with the method POST must submit a token that proves that it comes from a page of this session. The
//! token is checked here, before the handler runs.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error_page::ErrorPage;
use super::forms::{FormData, FormFiles, SmallFiles};
use super::navigation::{local_page, log_in_url};
use super::page::Page;
use super::visit::{MAX_UNSEEN_COUNT, Visit, audience_of};
use super::{layout, live};
use crate::model::id::EventId;
use crate::model::proof::Identity;
use crate::rules::agent::Staff;
use crate::rules::caller::{Caller, Principal, Requirements};
use crate::rules::{self, Error};
use crate::store::{ReadTx, StoreError};
use crate::web::answering::RequestInfo;
use crate::web::cookies::FORM_TOKEN;
use crate::web::error::{self, Cause, accepts_html, path_not_found, status_of};
use crate::web::fields::{self, pairs};
use crate::web::limits::Key;
use crate::web::operation::Audience;
use crate::web::origin::{Peer, issuer};
use crate::web::pages::redirect;
use crate::web::{App, body, cookies, load, upload};

/// The purpose of the form tokens that the console derives from a session.
const CONSOLE: &str = "console";
/// The maximum size of a form with small files. Files that exceed their own limit get a better error up to this size.
const MAX_SMALL_FORM_BYTES: usize = 4 * 1024 * 1024;
/// A header of all requests by htmx.
const HTMX_REQUEST: HeaderName = HeaderName::from_static("hx-request");
/// The header in which htmx sends the URL of the current page.
const HTMX_CURRENT_URL: HeaderName = HeaderName::from_static("hx-current-url");
/// A response header that makes htmx redirect the browser.
const HTMX_REDIRECT: HeaderName = HeaderName::from_static("hx-redirect");

/// Loads the logged-in user, checks the request, runs the handler, and renders an error as a page.
pub async fn check(
    State((app, page)): State<(App, &'static Page)>,
    request: Request,
    next: Next,
) -> Response {
    let mut info = RequestInfo::page(page.id);
    let (parts, content) = request.into_parts();
    let visit = match page.audience {
        Audience::Public => Ok(None),
        Audience::Tenants | Audience::Staff | Audience::Agents => load_visit(&app, &parts).await,
    };
    let (mut response, visit) = match visit {
        Err(response) => (*response, None),
        Ok(visit) => {
            info.identity = visit.as_ref().map(|(identity, _)| identity.clone());
            let response = match admit(&app, page, visit.as_ref(), Request::from_parts(parts, content)).await
            {
                Ok(request) => next.run(request).await,
                Err(error) => error.into_response(),
            };
            (response, visit.map(|(_, visit)| visit))
        }
    };
    if let Some(error) = response.extensions_mut().remove::<ErrorPage>() {
        response = layout::error_page(visit.as_ref(), &error);
        if let Some(cause) = error.cause {
            response.extensions_mut().insert(Cause(cause));
        }
    }
    if visit.is_some_and(|visit| visit.notice.is_some() || visit.refused.is_some()) {
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

/// Loads the logged-in user. The error is a response: without a session, a redirect to the log-in page or an
/// error page; if the session cannot be loaded, an error page.
async fn load_visit(app: &App, request: &Parts) -> Result<Option<(Arc<Identity>, Visit)>, Box<Response>> {
    let session = cookies::read(&request.headers, cookies::SESSION);
    let Some(session) = session else {
        return Err(Box::new(log_in_response(request)));
    };
    if load::sheds_request() {
        return Err(Box::new(
            ErrorPage::from(Error::Store(StoreError::Full)).into_response(),
        ));
    }
    let hash = session.hash();
    let loaded = app
        .store()
        .read(move |tx| {
            let identity = rules::sessions::identify(tx, hash)?;
            let unseen = unseen_events(tx, &identity)?;
            let announcements = match identity.account {
                Some(_) => rules::announcements::current(tx)?,
                None => Vec::new(),
            };
            Ok((identity, unseen, announcements))
        })
        .await;
    match loaded {
        Ok((identity, unseen, announcements)) => {
            let query = pairs(request.uri.query().unwrap_or_default().as_bytes());
            let flash = cookies::flash(&request.headers).filter(|_| is_navigation(request));
            let visit = Visit {
                username: identity.username.as_str().to_owned(),
                audience: audience_of(&identity),
                role: identity.role,
                path: request.uri.path().to_owned(),
                origin: issuer(app, request),
                notice: query.into_iter().find_map(|(key, notice)| {
                    (key == "done" && flash.as_ref() == Some(&notice)).then_some(notice)
                }),
                refused: flash
                    .as_ref()
                    .and_then(|flash| flash.strip_prefix(layout::REFUSAL_PREFIX).map(str::to_owned)),
                announcements,
                csrf_token: cookies::csrf_token(CONSOLE, &session).hex(),
                unseen: unseen.map_or(0, |(count, _)| count),
                stream_url: unseen.map(|(_, last)| live::events_url(last)),
            };
            Ok(Some((identity, visit)))
        }
        Err(Error::Unauthenticated) => Err(Box::new(log_in_response(request))),
        Err(other) => Err(Box::new(ErrorPage::from(other).into_response())),
    }
}

/// Whether the browser shows the response as a page. If a script sent the request, it can discard the
/// response.
fn is_navigation(request: &Parts) -> bool {
    let mode = request.headers.get("sec-fetch-mode");
    mode.is_none_or(|mode| mode == "navigate") && !request.headers.contains_key(HTMX_REQUEST)
}

/// The number of events that a tenant has not seen, and the newest event. They are read before the content of
/// the page, so that the event stream misses no events.
fn unseen_events(tx: &mut ReadTx, identity: &Arc<Identity>) -> Result<Option<(i64, EventId)>, Error> {
    if identity.account.is_none() {
        return Ok(None);
    }
    // `admit` refuses a user without access. The error page then has the navigation bar, and so the log-out.
    let Ok(caller) = Caller::admit(identity.clone(), Requirements::default()) else {
        return Ok(None);
    };
    let last = rules::events::newest_id(tx, &caller)?;
    Ok(Some((
        rules::events::unseen(tx, &caller, MAX_UNSEEN_COUNT)?,
        last,
    )))
}

/// The response without a session: a redirect to the log-in page, which then returns to the requested page.
/// For a submitted form, it is an error page instead, because a redirect would lose the input.
fn log_in_response(request: &Parts) -> Response {
    let headers = &request.headers;
    if headers.contains_key(HTMX_REQUEST) {
        let current_url = headers.get(HTMX_CURRENT_URL).and_then(|url| url.to_str().ok());
        let current_url = current_url.and_then(|url| url.parse::<Uri>().ok());
        let return_to = current_url.and_then(|uri| local_page(uri.path_and_query()?.as_str()));
        let mut response = status_of(&Error::Unauthenticated).into_response();
        if let Ok(url) = HeaderValue::try_from(log_in_url(return_to.as_deref())) {
            response.headers_mut().insert(HTMX_REDIRECT, url);
        }
        return response;
    }
    if !matches!(request.method, Method::GET | Method::HEAD) {
        let text = "Your session has ended, and nothing was changed. Log in from another tab, then use the Back button in \
                    this tab: your input is still there.";
        return ErrorPage::with_text(&Error::Unauthenticated, "Logged out", text).into_response();
    }
    let return_to = request
        .uri
        .path_and_query()
        .and_then(|path| local_page(path.as_str()));
    redirect(&log_in_url(return_to.as_deref()))
}

/// Checks the rate limit, the form token, and whether the page is for this user.
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
        let clock = &app.store().context().clock;
        let verdict = limits.count(key, page.id, page.class, clock);
        if verdict.is_some_and(|verdict| verdict.refused) {
            let text = "Wait a minute, then try again.";
            return Err(ErrorPage::with_text(
                &Error::TooMany { wait: 60 },
                "Too many requests",
                text,
            ));
        }
    }
    let Some((identity, visit)) = visit else {
        return Ok(request);
    };
    if page.method == Method::POST {
        request = check_form_token(app, page, visit, request).await?;
    }
    let needed = Requirements {
        scope: None,
        role: page.role,
    };
    let extensions = request.extensions_mut();
    match page.audience {
        Audience::Staff => drop(extensions.insert(Staff::admit(identity.clone(), needed)?)),
        _ => drop(extensions.insert(Caller::admit(identity.clone(), needed)?)),
    }
    extensions.insert(visit.clone());
    Ok(request)
}

/// Reads the form and checks its token. A form with files has its token in the URL if only the handler reads its body.
async fn check_form_token(
    app: &App,
    page: &Page,
    visit: &Visit,
    request: Request,
) -> Result<Request, ErrorPage> {
    let (mut parts, content) = request.into_parts();
    let kind = parts.headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let has_files = kind.starts_with("multipart/form-data");
    let (data, content) = match has_files {
        true if page.has_files => {
            let max_files = usize::try_from(app.store().policy().support.attachments_per_ticket);
            let is_admitted = |fields: &[(String, String)]| {
                let mut fields = fields.iter();
                fields.any(|(name, value)| name == FORM_TOKEN && constant_time_eq(&visit.csrf_token, value))
            };
            let max_files = max_files.unwrap_or_default();
            let form = upload::receive_form(app, &parts.headers, content, max_files, &is_admitted).await?;
            parts
                .extensions
                .insert(FormFiles::new(form.files, form.errors, form.names));
            (form.fields, axum::body::Body::empty())
        }
        true if page.has_small_files => {
            let form = fields::small_form(app, &parts.headers, content, MAX_SMALL_FORM_BYTES).await;
            let form = form.map_err(Error::Body)?;
            parts.extensions.insert(SmallFiles::new(form.files));
            (form.fields, axum::body::Body::empty())
        }
        true => (pairs(parts.uri.query().unwrap_or_default().as_bytes()), content),
        false => {
            let bytes = body::bytes(
                &parts.headers,
                content,
                body::MAX_BODY_BYTES,
                app.options().body_timeout,
            )
            .await;
            let fields = pairs(&bytes.map_err(Error::Body)?);
            parts.extensions.insert(FormFiles::only_names(&fields));
            (fields, axum::body::Body::empty())
        }
    };
    let data = FormData::new(data);
    if !constant_time_eq(&visit.csrf_token, data.text(FORM_TOKEN)) {
        let text = "The form could not be verified, and nothing was changed. Go back, reload the page and try again.";
        return Err(ErrorPage::with_text(
            &Error::Forbidden,
            "Form verification failed",
            text,
        ));
    }
    parts.extensions.insert(data);
    Ok(Request::from_parts(parts, content))
}

/// Compares two texts in a time that does not depend on the position of the first difference.
fn constant_time_eq(expected: &str, submitted: &str) -> bool {
    let differing = expected
        .bytes()
        .zip(submitted.bytes())
        .fold(0, |all, (a, b)| all | (a ^ b));
    expected.len() == submitted.len() && std::hint::black_box(differing) == 0
}

/// The response to a method that the path does not support. A browser that opens the target of a form with
/// GET is redirected to the parent path.
pub fn method_not_allowed(method: &Method, headers: &HeaderMap, uri: &Uri, allowed: &str) -> Response {
    if *method != Method::GET || !accepts_html(headers) {
        return error::method_not_allowed(method, allowed);
    }
    let parent = uri.path().rsplit_once('/').map(|(parent, _)| parent);
    redirect(parent.filter(|parent| !parent.is_empty()).unwrap_or("/"))
}

/// The response for an unknown path. It has the navigation bar if a user is logged in.
pub async fn not_found(State(app): State<App>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let response = path_not_found(&parts.method, &parts.headers, &parts.uri);
    let kind = response.headers().get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind == "application/json") {
        return response;
    }
    match load_visit(&app, &parts).await {
        Ok(Some((_, visit))) => layout::error_page(Some(&visit), &ErrorPage::not_found()),
        _ => response,
    }
}
