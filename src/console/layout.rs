//! What all pages have in common: the bar at the top, the way here, notices, times, numbers.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use super::assets::{HTMX, OWN, STYLE};
use super::bar::bar;
use super::error_page::ErrorPage;
use super::forms::Typed;
use super::visit::Visit;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::operation::Audience;
use crate::web::pages::go_to;
use crate::web::{cookies, pages};

/// No script but ours, no style but ours, nothing from anywhere else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HTMX_CONFIG: &str = r#"{"allowEval":false,"includeIndicatorStyles":false,"selfRequestsOnly":true,"historyCacheSize":0,"refreshOnHistoryMiss":true,"responseHandling":[{"code":"204","swap":false},{"code":"[23]..|400","swap":true},{"code":"[45]..","swap":false,"error":true}]}"#;

/// What is said after something was done, by its word.
const DONE: &[(&str, &str)] = &[
    ("vpc-created", "The VPC was created."),
    ("vpc-changed", "The VPC was changed."),
    ("vpc-deleted", "The VPC was deleted."),
    ("subnet-created", "The subnet was added."),
    ("subnet-changed", "The subnet was changed."),
    ("subnet-deleted", "The subnet was deleted."),
    (
        "ticket-opened",
        "The ticket is open. You are told here when it is answered.",
    ),
    ("ticket-closed", "The ticket is closed."),
    (
        "ticket-opened-before",
        "This ticket was open already: it was not opened twice.",
    ),
    ("reply-sent", "Your reply was sent."),
    (
        "sent-already",
        "You had sent this already. It was not sent again.",
    ),
    ("file-attached", "The file was attached."),
    ("events-seen", "Everything is marked as seen."),
    ("ticket-claimed", "The ticket is yours."),
    ("ticket-released", "You gave the ticket back."),
    ("ticket-reopened", "The ticket is open again."),
    ("ticket-changed", "The ticket was changed."),
    ("note-saved", "Your note was saved. Only staff see it."),
    (
        "customer-told",
        "The ticket is open, and the customer has been told.",
    ),
    ("canned-reply-saved", "The canned reply was saved."),
    ("canned-reply-deleted", "The canned reply was deleted."),
    ("profile-changed", "Your profile was changed."),
    (
        "password-changed",
        "Your password was changed. Everywhere else you are logged out.",
    ),
    ("token-changed", "The token has its new label."),
    (
        "token-revoked",
        "The token was revoked. It opens nothing any more.",
    ),
    ("app-revoked", "The application's access was taken back."),
    ("user-created", "The user was created."),
    ("user-changed", "The user was changed."),
    ("user-deleted", "The user was deleted."),
    ("grants-changed", "The grants were changed."),
    ("client-changed", "The client was changed."),
    (
        "client-deleted",
        "The client was deleted, with all access it had.",
    ),
];

/// What news begins with that tells why something was not done.
pub const REFUSED: char = '!';

impl Visit {
    /// A whole page. `way` leads to it: the label and address of each page above it.
    pub fn page(&self, title: &str, way: &[(&str, &str)], body: &Markup) -> Response {
        self.page_with(StatusCode::OK, title, way, body)
    }

    /// A page with a form: with the status that goes with what is wrong in the form.
    pub fn form_page(&self, typed: &Typed, title: &str, way: &[(&str, &str)], body: &Markup) -> Response {
        self.page_with(typed.status(), title, way, body)
    }

    /// A page that says that what was asked for cannot be done a second time.
    pub fn conflict_page(&self, title: &str, way: &[(&str, &str)], body: &Markup) -> Response {
        self.page_with(StatusCode::CONFLICT, title, way, body)
    }

    fn page_with(&self, status: StatusCode, title: &str, way: &[(&str, &str)], body: &Markup) -> Response {
        let body = html! {
            @if !way.is_empty() {
                nav .way aria-label="Breadcrumbs" {
                    ol { @for (label, address) in way { li { a href=(address) { (label) } } } }
                }
            }
            @if let Some(text) = self.notice() { p .notice role="status" { (text) } }
            (body)
        };
        whole(status, title, Some(self), &body)
    }

    fn notice(&self) -> Option<&'static str> {
        let done = self.done.as_deref()?;
        DONE.iter().find(|(word, _)| *word == done).map(|(_, text)| *text)
    }
}

/// Sends the browser on after something was done.
pub fn done(address: &str, word: &str) -> Response {
    let mut response = go_to(&format!("{address}?done={word}"));
    cookies::set_flash(response.headers_mut(), word);
    response
}

/// Sends the browser back when something was not done, from an address that is not to be seen.
pub fn refused(address: &str, why: &str) -> Response {
    const MOST: usize = 500;
    let why: String = why.chars().take(MOST).collect();
    let mut response = go_to(address);
    cookies::set_flash(response.headers_mut(), &format!("{REFUSED}{why}"));
    response
}

/// For a script that has nothing to show.
pub fn nothing() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// A part of a page, for htmx.
pub fn fragment(body: &Markup) -> Response {
    answer(StatusCode::OK, body.clone().into_string())
}

/// What is shown instead of a page.
pub fn error_page(visit: Option<&Visit>, error: &ErrorPage) -> Response {
    if visit.is_none() {
        return pages::note(error.status, error.title, &error.text, pages::FROM_ANYWHERE);
    }
    let body = html! {
        div .empty {
            h1 { (error.title) }
            p { (error.text) }
            p { a .button href="/" { "Back to the start" } }
        }
    };
    whole(error.status, error.title, visit, &body)
}

fn whole(status: StatusCode, title: &str, visit: Option<&Visit>, body: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="htmx-config" content=(HTMX_CONFIG);
                title { (title) " – Garth" }
                link rel="stylesheet" href=(STYLE.path);
                link rel="icon" href="/favicon.ico" type="image/svg+xml";
                script src=(HTMX.path) defer {}
                script src=(OWN.path) defer {}
            }
            body data-desk[visit.is_some_and(|visit| visit.side == Audience::Staff)] data-user=[visit.map(|visit| &visit.username)] data-live=[visit.and_then(|visit| visit.live.as_ref())] {
                a .skip href="#main" { "Skip to content" }
                @if let Some(visit) = visit { (bar(visit)) }
                main #main tabindex="-1" { (body) }
                footer {
                    a href="/docs" { "API reference" }
                }
            }
        }
    };
    answer(status, page.into_string())
}

fn answer(status: StatusCode, html: String) -> Response {
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    let fixed = |text: &'static str| HeaderValue::from_static(text);
    headers.insert(header::CONTENT_TYPE, fixed("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, fixed("no-store"));
    headers.insert(header::CONTENT_SECURITY_POLICY, fixed(POLICY));
    headers.insert(HeaderName::from_static("referrer-policy"), fixed("same-origin"));
    response
}

/// A time: UTC as it comes, in the reader's own zone once our script has run, exact on hover.
pub fn time(at: Time) -> Markup {
    let exact = at.to_string();
    let (day, clock) = exact.split_once('T').unwrap_or((&exact, ""));
    let minute = clock.get(..5).unwrap_or(clock);
    html! {
        time datetime={ (exact) "Z" } title={ (day) " " (clock) " UTC" } { (day) " " (minute) " UTC" }
    }
}

/// How long ago something was: `5 min`, `3 h`, `12 d`; exact on hover.
pub fn age(since: Time, now: Time) -> Markup {
    let seconds = (now.seconds() - since.seconds()).max(0);
    let shown = match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    };
    let exact = since.to_string();
    html! { time datetime=(format!("{exact}Z")) title=(format!("{} UTC", exact.replace('T', " "))) data-told { (shown) } }
}

/// How large something is: `12 bytes`, `3.4 KiB`.
pub fn size(bytes: i64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        ..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => tenths(bytes, 1_024, "KiB"),
        1_048_576..1_073_741_824 => tenths(bytes, 1_048_576, "MiB"),
        // In mebibytes, so that no number of bytes is too large to be multiplied.
        _ => tenths(bytes / 1_048_576, 1_024, "GiB"),
    }
}

fn tenths(bytes: i64, unit: i64, name: &str) -> String {
    match (bytes * 10 + unit / 2) / unit {
        tenths if tenths % 10 == 0 => format!("{} {name}", tenths / 10),
        tenths => format!("{}.{} {name}", tenths / 10, tenths % 10),
    }
}

/// A number with its thousands apart: 16,777,212.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut written = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

/// `1 subnet`, `2 subnets`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{} {word}", number(count as u64))
}

/// What stands where a list would be that has nothing in it.
pub fn empty(title: &str, text: &str, action: Option<(&str, &str)>) -> Markup {
    html! {
        div .empty {
            h2 { (title) }
            p { (text) }
            @if let Some((label, address)) = action { p { a .button.main href=(address) { (label) } } }
        }
    }
}

/// The address of one page of a list.
pub fn page_of(address: &str, page: i64) -> String {
    let joined = if address.contains('?') { '&' } else { '?' };
    match page {
        1 => address.to_owned(),
        page => format!("{address}{joined}page={page}"),
    }
}

/// The way through the pages of a list; `address` is the list's, with its query but for the page.
pub fn pager<T>(paged: &Paged<T>, address: &str) -> Markup {
    let (at, pages) = (paged.page.number, paged.pages());
    let to = |page: i64| page_of(address, page);
    html! {
        @if pages > 1 {
            nav .pager aria-label="Pages" {
                @if at > 1 { a .button href=(to(at - 1)) rel="prev" { "← Previous" } }
                span { "Page " (at) " of " (pages) }
                @if at < pages { a .button href=(to(at + 1)) rel="next" { "Next →" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_thousands_apart() {
        let written = [0, 999, 1_000, 16_777_212].map(number);
        assert_eq!(written, ["0", "999", "1,000", "16,777,212"]);
        assert_eq!(counted(1, "subnet", "subnets"), "1 subnet");
    }

    #[test]
    fn sizes_and_ages_are_short() {
        let written = [0, 1_023, 1_024, 1_600, 5_242_880, 10 << 30, i64::MAX].map(size);
        assert_eq!(
            written[..6],
            ["0 bytes", "1023 bytes", "1 KiB", "1.6 KiB", "5 MiB", "10 GiB"]
        );
        let now = Time::from_seconds(1_000_000);
        let ago = |seconds: i64| age(now.plus_seconds(-seconds), now).into_string();
        for (seconds, shown) in [
            (59, ">now<"),
            (60, ">1 min<"),
            (7_200, ">2 h<"),
            (172_800, ">2 d<"),
        ] {
            assert!(ago(seconds).contains(shown), "{}", ago(seconds));
        }
    }

    #[test]
    fn a_time_is_utc_until_the_script_has_run_and_exact_on_hover() {
        let at = Time::parse("2024-06-01T12:00:05").unwrap();
        assert_eq!(
            time(at).into_string(),
            "<time datetime=\"2024-06-01T12:00:05Z\" title=\"2024-06-01 12:00:05 UTC\">2024-06-01 12:00 UTC</time>"
        );
    }
}
