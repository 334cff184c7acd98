//! The pages for log-in, consent and passwords, and error pages.
//!
//! The pages need no JavaScript. URLs within the OAuth pages are relative, because the OAuth pages are also served
//! under a path prefix.

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};

use crate::model::oauth::{OauthClient, RedirectUri};
use crate::model::scope::Scopes;
use crate::model::token::TokenHash;
use crate::rules::oauth::Authorization;
use crate::web::brand;

/// The base style, which these pages share with the console.
pub const BASE_STYLE: &str = include_str!("base.css");
pub static STYLE: LazyLock<String> = LazyLock::new(|| format!("{BASE_STYLE}{}", include_str!("pages.css")));

/// The destination of the browser after log-in.
#[derive(Clone, Copy)]
pub enum LogInTarget<'a> {
    Application(&'a Authorization),
    Console,
}

/// The username and the alert that the log-in page shows.
#[derive(Default)]
pub struct LogInNotes<'a> {
    pub username: &'a str,
    pub alert: Option<String>,
    /// Whether the page has a link to the page for a forgotten password.
    pub offers_reset: bool,
}

pub fn log_in(
    status: StatusCode,
    target: LogInTarget,
    query: &str,
    csrf_token: &str,
    notes: &LogInNotes,
) -> Response {
    let (style, reset, redirect_uri) = match target {
        LogInTarget::Application(authorization) => (
            "style.css",
            "../forgot/password",
            Some(&authorization.redirect_uri),
        ),
        LogInTarget::Console => ("oauth/style.css", "forgot/password", None),
    };
    let body = html! {
        h1 { "Log in" }
        @if let LogInTarget::Application(authorization) = target { p { "to continue to " strong { (authorization.client.label.quoted()) } } }
        (alert(notes.alert.as_deref()))
        form method="post" action="login" {
            input type="hidden" name="form_token" value=(csrf_token);
            input type="hidden" name="return_to" value=(query);
            label for="username" { "Username" }
            input #username name="username" autocomplete="username" autocapitalize="none" spellcheck="false"
                required value=(notes.username) autofocus[notes.username.is_empty()]
                aria-describedby=[notes.alert.as_ref().map(|_| "alert")];
            label for="password" { "Password" }
            input #password name="password" type="password" autocomplete="current-password" required
                autofocus[!notes.username.is_empty()] aria-describedby=[notes.alert.as_ref().map(|_| "alert")];
            button type="submit" { "Log in" }
        }
        @if notes.offers_reset { p { a href=(reset) { (FORGOT_PASSWORD_TITLE) } } }
    };
    page(status, "Log in", style, redirect_uri, &body)
}

pub fn consent(authorization: &Authorization, username: &str, query: &str, csrf_token: &str) -> Response {
    let Authorization {
        client,
        redirect_uri,
        scopes,
        ..
    } = authorization;
    let label = client.label.quoted();
    let title = format!("Allow {label} to access your account?");
    let body = html! {
        h1 { (title) }
        (origin_note(client))
        p { "You are logged in as " strong { (username) } ". The application is requesting permission to:" }
        (scope_list(scopes))
        p .quiet { "You will be redirected to " (redirect_uri.origin()) ". The application never has more access than you do." }
        form method="post" action="authorize" {
            input type="hidden" name="form_token" value=(csrf_token);
            input type="hidden" name="return_to" value=(query);
            button type="submit" name="decision" value="allow" { "Allow" }
            button .other type="submit" name="decision" value="deny" { "Deny" }
        }
        p .quiet { "Not you? " (log_out("../logout")) }
    };
    page(StatusCode::OK, &title, "style.css", Some(redirect_uri), &body)
}

pub const FORGOT_PASSWORD_TITLE: &str = "Forgot your password?";

/// The form with which a user requests a link for a new password.
pub fn forgot_password(csrf_token: &str) -> Response {
    let body = html! {
        h1 { (FORGOT_PASSWORD_TITLE) }
        p { "Enter your username or your e-mail address. You get a mail with a link to choose a new password." }
        form method="post" action="password" {
            input type="hidden" name="form_token" value=(csrf_token);
            label for="username" { "Username or e-mail address" }
            input #username name="username" autocomplete="username" autocapitalize="none" spellcheck="false" required
                autofocus maxlength="254";
            button type="submit" { "Send link" }
        }
        p { a href="/login" { "Log in" } }
    };
    page(
        StatusCode::OK,
        FORGOT_PASSWORD_TITLE,
        "../oauth/style.css",
        None,
        &body,
    )
}

pub fn choose_password(status: StatusCode, username: &str, error: Option<&str>) -> Response {
    let described = error.map(|_| "alert");
    let body = html! {
        h1 { "Choose a password" }
        (alert(error))
        form method="post" {
            label for="username" { "Username" }
            input #username name="username" autocomplete="username" readonly value=(username);
            label for="password" { "New password" }
            input #password name="password" type="password" autocomplete="new-password" required minlength="11"
                autofocus aria-describedby=[described];
            label for="again" { "Confirm new password" }
            input #again name="again" type="password" autocomplete="new-password" required minlength="11";
            p .quiet { "At least 11 characters. A phrase of several words is easier to remember." }
            button type="submit" { "Set password" }
        }
    };
    page(status, "Choose a password", "../style.css", None, &body)
}

/// The page for an internal error.
pub fn internal_error(request_id: &str) -> Response {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    let text = format!(
        "An internal error occurred. If you contact your provider, include the request ID {request_id}."
    );
    message(status, "Something went wrong", &text, ROOT_STYLE)
}

/// The URL of the style sheet, for pages that are served only at the root.
pub const ROOT_STYLE: &str = "/oauth/style.css";

/// A page with a message. `style` is the URL of the style sheet.
pub fn message(status: StatusCode, title: &str, text: &str, style: &str) -> Response {
    let body = html! {
        h1 { (title) }
        p { (text) }
    };
    page(status, title, style, None, &body)
}

/// The page that replaces a password form if the connection is not secure. `local_url` is the URL of the server for a
/// browser on the same machine.
pub fn insecure(status: StatusCode, local_url: &str) -> Response {
    let body = html! {
        h1 { "Secure connection required" }
        p {
            "You opened this page over plain HTTP from another host. Others on the network could read your password, and your \
             browser would not store the session. You cannot log in here."
        }
        p { "Use an address that starts with " code { "https://" } "." }
        p { "If you run this server, do one of the following:" }
        ul {
            li { "Configure a certificate: " code { "garth serve --tls-cert cert.pem --tls-key key.pem" } }
            li {
                "Run it behind a TLS proxy, and list the proxy in " code { "--trusted-proxies" } "."
            }
            li { "For testing, open it on the same machine: " code { (local_url) } }
        }
        p .quiet { "See \"Set up TLS\" in docs/operating.md." }
    };
    page(status, "Secure connection required", ROOT_STYLE, None, &body)
}

/// A page with a message and a link to the log-in page.
pub fn message_with_log_in(title: &str, text: &str, style: &str) -> Response {
    let body = html! {
        h1 { (title) }
        p { (text) }
        p { a href="/login" { "Log in" } }
    };
    page(StatusCode::OK, title, style, None, &body)
}

/// The page of the link in mails. Its form is sent to the URL of the link.
pub fn unsubscribe() -> Response {
    let body = html! {
        h1 { "Mails about tickets" }
        p { "Stop all mails about tickets to your address, or start them again." }
        form method="post" {
            button type="submit" name="mails" value="stop" { "Stop mails" }
            button .other type="submit" name="mails" value="start" { "Start mails" }
        }
    };
    page(StatusCode::OK, "Mails about tickets", ROOT_STYLE, None, &body)
}

/// The page that requests confirmation before log-out, in case the user followed a link on another site.
pub fn confirm_log_out() -> Response {
    let body = html! {
        h1 { "Log out?" }
        p { "You followed a link to this page. If you do not want to log out, close this page or go back." }
        p { (log_out("logout")) }
    };
    page(StatusCode::OK, "Log out?", "oauth/style.css", None, &body)
}

/// A link that logs out. Its referrer is the origin, which shows that the link is on a page of this server.
fn log_out(url: &str) -> Markup {
    html! { a href=(url) referrerpolicy="origin" { "Log out" } }
}

/// Replaces a JSON error with a page. Returns other responses unchanged.
pub fn from_error_response(response: Response, path: &str) -> Response {
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let (title, text) = match status {
        StatusCode::REQUEST_TIMEOUT => (
            "Request timed out",
            "The server did not receive the complete request in time. Try again.",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => (
            "Request too large",
            "The request is larger than this page accepts.",
        ),
        StatusCode::TOO_MANY_REQUESTS => (
            "Too many requests",
            "There were too many requests from your network. Wait a minute, then try again.",
        ),
        StatusCode::SERVICE_UNAVAILABLE => (
            "Service unavailable",
            "The service is overloaded. Wait a moment, then try again.",
        ),
        status if status.is_server_error() => (
            "Something went wrong",
            "An internal error occurred. Try again later. If it persists, contact your provider.",
        ),
        _ => (
            "Invalid request",
            "The server could not process the request. Go back and try again.",
        ),
    };
    let style = match path {
        "/logout" => "oauth/style.css",
        "/forgot/password" => "../oauth/style.css",
        path if path.starts_with("/oauth/password/") => "../style.css",
        _ => "style.css",
    };
    let (parts, _) = response.into_parts();
    let mut page = message(status, title, text, style);
    *page.extensions_mut() = parts.extensions;
    if let Some(wait) = parts.headers.get(header::RETRY_AFTER) {
        page.headers_mut().insert(header::RETRY_AFTER, wait.clone());
    }
    page
}

fn page(
    status: StatusCode,
    title: &str,
    style: &str,
    redirect_uri: Option<&RedirectUri>,
    body: &Markup,
) -> Response {
    let brand = brand::current();
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – " (brand.name()) }
                link rel="stylesheet" href=(style);
                (brand::head(&brand))
            }
            body {
                header { (brand::logo(&brand).unwrap_or_else(logo)) (brand.name()) }
                main { (body) }
                @if let Some(footer) = brand::footer(&brand) { footer { (footer) } }
            }
        }
    };
    let mut response = Response::new(Body::from(document.into_string()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, html);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let policy = HeaderValue::try_from(policy(redirect_uri)).expect("an origin is plain ASCII");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    // The URL of a page may contain a secret.
    let referrer = HeaderName::from_static("referrer-policy");
    headers.insert(referrer, HeaderValue::from_static("no-referrer"));
    response
}

/// The logo. The icon shows the same image.
pub fn logo() -> Markup {
    html! {
        svg .mark viewBox="0 0 32 32" width="22" height="22" aria-hidden="true" {
            rect width="32" height="32" rx="7" {}
            path d="M7 25V11l9-5 9 5v14zM7 18h18M16 11v14" {}
        }
    }
}

/// The content security policy. Its `form-action` lists the origin of the redirect URI, because Chromium also applies
/// `form-action` to the redirect after a form.
fn policy(redirect_uri: Option<&RedirectUri>) -> String {
    let origin = redirect_uri.map(RedirectUri::origin);
    let origin = match origin {
        None => String::new(),
        // A policy cannot contain an IPv6 address, so it allows all hosts with this scheme.
        Some(origin) if origin.contains('[') => format!(" {}:", origin.split(':').next().unwrap_or("https")),
        Some(origin) => format!(" {origin}"),
    };
    format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'{origin}; frame-ancestors 'none'; base-uri 'none'"
    )
}

fn alert(text: Option<&str>) -> Markup {
    html! { @if let Some(text) = text { p #alert .alert role="alert" { (text) } } }
}

fn origin_note(client: &OauthClient) -> Markup {
    html! {
        @if client.account.is_some() {
            p .alert {
                strong { "This application was registered by a customer and has not been reviewed by your provider." }
                " Allow access only if you trust it."
            }
        }
    }
}

/// The requested scopes as a list.
fn scope_list(scopes: &Scopes) -> Markup {
    html! {
        ul {
            @for word in scopes.words() {
                li { (scope_text(&word)) }
            }
        }
    }
}

fn scope_text(scope: &str) -> String {
    let Some((family, level)) = scope.split_once(':') else {
        return "do everything that you can do".to_owned();
    };
    let verb = if level == "read_write" {
        "read and change"
    } else {
        "read"
    };
    let object = match family {
        "account" => "your account: tickets, users, tokens and settings",
        "desk" => "the support desk",
        "events" => "the account's events",
        "firewall" => "firewalls",
        "ips" => "IP addresses",
        "linodes" => "instances",
        "lke" => "Kubernetes clusters",
        "longview" => "Longview clients",
        "nodebalancers" => "load balancers",
        "object_storage" => "object storage",
        "vpc" => "VPCs and subnets",
        other => other,
    };
    format!("{verb} {object}")
}

/// The log-in page that is shown again after a failed attempt.
pub struct LogInPage<'a> {
    pub target: LogInTarget<'a>,
    pub return_to: &'a str,
    pub csrf_token: TokenHash,
    pub username: &'a str,
    pub offers_reset: bool,
}

impl LogInPage<'_> {
    pub fn after_failure(&self, status: StatusCode, wait: u64) -> Response {
        let incorrect = "Incorrect username or password.";
        let alert = match (status, wait) {
            (_, 0) => incorrect.to_owned(),
            (StatusCode::UNAUTHORIZED, wait) => {
                format!("{incorrect} Wait {wait} seconds before you try again.")
            }
            (_, wait) => format!("Too many failed attempts. Wait {wait} seconds, then try again."),
        };
        let notes = LogInNotes {
            username: self.username,
            alert: Some(alert),
            offers_reset: self.offers_reset,
        };
        let mut page = log_in(
            status,
            self.target,
            self.return_to,
            &self.csrf_token.hex(),
            &notes,
        );
        if wait > 0 {
            page.headers_mut()
                .insert(header::RETRY_AFTER, HeaderValue::from(wait));
        }
        page
    }
}

/// A redirect with the status 303.
pub fn redirect(url: &str) -> Response {
    match HeaderValue::try_from(url) {
        Ok(url) => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::SEE_OTHER;
            let headers = response.headers_mut();
            headers.insert(header::LOCATION, url);
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        // URLs are validated when they are stored, and added parameters are encoded, so this does not happen.
        Err(_) => incomplete(),
    }
}

/// The page for a form with missing fields.
pub fn incomplete() -> Response {
    let text = "Required fields are missing. Go back and try again.";
    message(StatusCode::BAD_REQUEST, "Invalid request", text, "style.css")
}
