//! The layout of all pages: the document, breadcrumbs and notices, and common elements such as times, numbers
//! and lists.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::assets::{HTMX, SCRIPT, STYLE};
use super::bar::bar;
use super::error_page::ErrorPage;
use super::forms::FormState;
use super::markdown;
use super::visit::Visit;
use crate::model::announcement::{Announcement, Severity};
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::time::Time;
use crate::web::operation::Audience;
use crate::web::pages::redirect;
use crate::web::{brand, cookies, pages};

/// The content security policy: only scripts, styles and images of this server, and no inline scripts or
/// styles.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
/// The policy of a page that shows a mail in a frame, which inherits the policy. Mails have style attributes.
const STYLE_ATTRIBUTES_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     style-src-attr 'unsafe-inline'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; \
     base-uri 'none'";
/// The policy of a page that shows images that are not stored.
const DATA_IMAGES_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const HTMX_CONFIG: &str = r#"{"allowEval":false,"includeIndicatorStyles":false,"selfRequestsOnly":true,"historyCacheSize":0,"refreshOnHistoryMiss":true,"ignoreTitle":true,"responseHandling":[{"code":"204","swap":false},{"code":"[23]..|400","swap":true},{"code":"[45]..","swap":false,"error":true}]}"#;

/// The notices that a page shows after an action, by their key.
const NOTICES: &[(&str, &str)] = &[
    ("vpc-created", "VPC created."),
    ("vpc-changed", "VPC updated."),
    ("vpc-deleted", "VPC deleted."),
    ("subnet-created", "Subnet added."),
    ("subnet-changed", "Subnet updated."),
    ("subnet-deleted", "Subnet deleted."),
    ("instance-created", "Instance created."),
    ("instance-changed", "Instance updated."),
    ("instance-deleted", "Instance deleted."),
    ("instance-boot", "Boot started."),
    ("instance-reboot", "Reboot started."),
    ("instance-shutdown", "Shutdown started."),
    ("config-created", "Config added."),
    ("config-changed", "Config updated."),
    ("config-deleted", "Config deleted."),
    ("interface-attached", "Instance attached to the subnet."),
    ("interface-detached", "Interface detached."),
    (
        "ticket-opened",
        "Ticket opened. Replies from your provider appear on this page and in your activity.",
    ),
    ("ticket-closed", "Ticket closed."),
    (
        "ticket-opened-before",
        "You already opened this ticket. It was not opened again.",
    ),
    ("reply-sent", "Reply sent."),
    ("reply-sent-closed", "Reply sent, and ticket closed."),
    ("sent-already", "You already sent this. It was not sent again."),
    ("file-attached", "File attached."),
    ("files-attached", "Files attached."),
    ("ticket-merged", "Tickets merged. This ticket continues both."),
    ("bulk-boot", "Boot started for the selected instances."),
    ("bulk-reboot", "Reboot started for the selected instances."),
    ("bulk-shutdown", "Shutdown started for the selected instances."),
    ("bulk-close", "The selected tickets were closed."),
    ("bulk-tag", "The selected tickets were tagged."),
    ("bulk-delete", "The selected objects were deleted."),
    ("events-seen", "All events marked as seen."),
    ("ticket-assigned", "Ticket assigned."),
    ("ticket-claimed", "Ticket assigned to you."),
    ("ticket-released", "Ticket unassigned."),
    ("ticket-reopened", "Ticket reopened."),
    ("ticket-changed", "Ticket updated."),
    ("note-saved", "Internal note saved. Only staff can see it."),
    (
        "ticket-opened-for-customer",
        "Ticket opened. The customer sees it in the console.",
    ),
    ("canned-reply-saved", "Canned reply saved."),
    ("canned-reply-deleted", "Canned reply deleted."),
    ("view-saved", "View saved."),
    ("view-deleted", "View deleted."),
    ("host-draining", "Draining has started."),
    ("host-undrained", "The host is available for instances again."),
    ("host-removed", "Host removed."),
    ("announcement-saved", "Announcement saved."),
    ("announcement-deleted", "Announcement deleted."),
    ("region-saved", "Region saved."),
    ("region-retired", "Region retired. It accepts no new objects."),
    ("region-reactivated", "Region reactivated."),
    ("plan-saved", "Plan saved."),
    ("plan-retired", "Plan retired. New instances cannot have it."),
    ("plan-reactivated", "Plan reactivated."),
    ("branding-saved", "Branding saved."),
    ("branding-reset", "Branding reset to defaults."),
    ("mail-templates-saved", "Mail templates saved."),
    ("mail-templates-reset", "Mail templates reset to defaults."),
    ("mails-chosen", "Choice saved."),
    ("address-allowed", "The address gets mails again."),
    ("job-retried", "The job is due now."),
    ("job-canceled", "Job canceled."),
    (
        "account-created",
        "Account created. Generate a password link for its user.",
    ),
    ("account-created-empty", "Account created. Add its first user."),
    ("account-changed", "Account updated."),
    (
        "account-suspended",
        "Account suspended. Its users have no access.",
    ),
    ("account-reactivated", "Account reactivated."),
    ("account-closed", "Account closed."),
    ("profile-changed", "Profile updated."),
    (
        "password-changed",
        "Password changed. Your other sessions have been logged out.",
    ),
    ("token-changed", "Token renamed."),
    ("token-revoked", "Token revoked. It no longer gives access."),
    ("app-revoked", "Application access revoked."),
    (
        "user-created",
        "User created. Generate a password link for the user.",
    ),
    (
        "user-created-invited",
        "User created. A mail with a link to set a password is being sent.",
    ),
    (
        "user-created-not-invited",
        "User created. No mail is sent, because the users of the account have got 50 invitations within 24 hours. \
         Generate a link for the user instead.",
    ),
    (
        "account-created-invited",
        "Account created. A mail with a link to set a password is being sent to its user.",
    ),
    (
        "user-invited",
        "A mail with a link to set a password is being sent.",
    ),
    ("user-changed", "User updated."),
    ("user-deleted", "User deleted."),
    ("grants-changed", "Grants updated."),
    ("client-changed", "OAuth client updated."),
    (
        "client-deleted",
        "OAuth client deleted. Its access has been revoked.",
    ),
];

/// The prefix of a notice cookie that has an error message instead of a key.
pub const REFUSAL_PREFIX: char = '!';

impl Visit {
    /// A page. Each breadcrumb is the label and the URL of a parent page.
    pub fn page(&self, title: &str, breadcrumbs: &[(&str, &str)], body: &Markup) -> Response {
        self.page_with_status(StatusCode::OK, title, breadcrumbs, body)
    }

    /// A page with a form. If the form has an error, the response has the status of that error.
    pub fn form_page(
        &self,
        form_state: &FormState,
        title: &str,
        breadcrumbs: &[(&str, &str)],
        body: &Markup,
    ) -> Response {
        self.page_with_status(form_state.status(), title, breadcrumbs, body)
    }

    /// A page for a request that was already processed.
    pub fn conflict_page(&self, title: &str, breadcrumbs: &[(&str, &str)], body: &Markup) -> Response {
        self.page_with_status(StatusCode::CONFLICT, title, breadcrumbs, body)
    }

    fn page_with_status(
        &self,
        status: StatusCode,
        title: &str,
        breadcrumbs: &[(&str, &str)],
        body: &Markup,
    ) -> Response {
        let before = html! {
            @for announcement in &self.announcements { (announcement_banner(announcement)) }
            @if let Some(text) = self.notice_text() { p .notice role="status" { (text) } }
            @if !breadcrumbs.is_empty() {
                nav .way aria-label="Breadcrumbs" {
                    ol { @for (label, address) in breadcrumbs { li { a href=(address) { (label) } } } }
                }
            }
        };
        document(status, title, Some(self), &[&before, body])
    }

    fn notice_text(&self) -> Option<&'static str> {
        let notice = self.notice.as_deref()?;
        NOTICES
            .iter()
            .find(|(key, _)| *key == notice)
            .map(|(_, text)| *text)
    }
}

/// An announcement of the provider, above the content of the page.
fn announcement_banner(announcement: &Announcement) -> Markup {
    let class = match announcement.severity {
        Severity::Minor => "info",
        Severity::Major => "warning",
        Severity::Critical => "alert",
    };
    html! {
        section .announcement .(class) aria-label={ "Announcement: " (announcement.title.as_str()) } {
            p { strong { (announcement.title.as_str()) } }
            div .md { (markdown::render(announcement.text.as_str())) }
        }
    }
}

/// Redirects to a page that shows a notice. The URL can have a fragment.
pub fn redirect_with_notice(url: &str, notice: &str) -> Response {
    let (page, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let separator = if page.contains('?') { '&' } else { '?' };
    let mut response = redirect(&format!("{page}{separator}done={notice}{fragment}"));
    cookies::set_flash(response.headers_mut(), notice);
    response
}

/// Redirects to a page that shows an error message. Used if the URL of the request must not remain in the
/// address bar.
pub fn redirect_with_error(url: &str, message: &str) -> Response {
    const MAX_MESSAGE_CHARS: usize = 500;
    let message: String = message.chars().take(MAX_MESSAGE_CHARS).collect();
    let mut response = redirect(url);
    cookies::set_flash(response.headers_mut(), &format!("{REFUSAL_PREFIX}{message}"));
    response
}

/// The response to a script that does not need any content.
pub fn no_content() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// A part of a page, for htmx.
pub fn fragment(body: &Markup) -> Response {
    html_response(StatusCode::OK, body.clone().into_string())
}

/// The page for an error. It has no navigation bar if no user is logged in.
pub fn error_page(visit: Option<&Visit>, error: &ErrorPage) -> Response {
    if visit.is_none() {
        return pages::message(error.status, error.title, &error.text, pages::ROOT_STYLE);
    }
    let body = html! {
        div .empty {
            h1 { (error.title) }
            p { (error.text) }
            @match &error.back {
                _ if error.has_no_access => (brand::support_links(&brand::current())),
                Some((label, url)) => p { a .button href=(url) { "Back to " (label) } },
                None => p { a .button href="/" { "Back to home" } },
            }
        }
    };
    document(error.status, error.title, visit, &[&body])
}

/// `content` is passed in parts, because the content of a list is long.
fn document(status: StatusCode, title: &str, visit: Option<&Visit>, content: &[&Markup]) -> Response {
    let brand = brand::current();
    let for_tenants = visit.is_some_and(|visit| visit.audience == Audience::Tenants);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="htmx-config" content=(HTMX_CONFIG);
                title { (title) " – " (brand.name()) }
                link rel="stylesheet" href=(STYLE.path);
                @if brand.favicon.is_none() { link rel="icon" href="/favicon.ico" type="image/svg+xml"; }
                (brand::head(&brand))
                script src=(HTMX.path) defer {}
                script src=(SCRIPT.path) defer {}
            }
            body data-desk[visit.is_some_and(|visit| visit.audience == Audience::Staff)] data-user=[visit.map(|visit| &visit.username)] data-live=[visit.and_then(|visit| visit.stream_url.as_ref())] {
                a .skip href="#main" { "Skip to content" }
                @if let Some(visit) = visit { (bar(visit)) }
                main #main tabindex="-1" { @for part in content { (part) } }
                footer {
                    a href="/docs" { "API reference" }
                    @if let Some(footer) = brand::footer(&brand).filter(|_| for_tenants) { (footer) }
                }
            }
        }
    };
    html_response(status, page.into_string())
}

fn html_response(status: StatusCode, html: String) -> Response {
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

/// Permits style attributes in a page, for a preview of a mail.
pub fn permit_style_attributes(response: Response) -> Response {
    with_policy(response, STYLE_ATTRIBUTES_POLICY)
}

/// Permits images in URLs of a page, for a preview of a brand.
pub fn permit_data_images(response: Response) -> Response {
    with_policy(response, DATA_IMAGES_POLICY)
}

fn with_policy(mut response: Response, policy: &'static str) -> Response {
    let policy = HeaderValue::from_static(policy);
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// A time in UTC, with seconds in the tooltip. The console's script converts every time that a page shows to the time
/// zone of the browser, and adds this time to the tooltip. Days that a user enters or a report counts are in UTC.
pub fn time(at: Time) -> Markup {
    time_shown(at, None)
}

/// Like `time`, but the script adds the name of the time zone. For pages next to a form with times in UTC.
pub fn time_with_zone(at: Time) -> Markup {
    time_shown(at, Some("zoned"))
}

fn time_shown(at: Time, shown: Option<&str>) -> Markup {
    let mut buffer = [0; Time::WIDTH];
    let exact = at.write(&mut buffer);
    let (day, clock) = exact.split_once('T').unwrap_or((exact, ""));
    let minute = clock.get(..5).unwrap_or(clock);
    // Lists show many times, which have no characters to escape.
    let [exact, day, clock, minute] = [exact, day, clock, minute].map(PreEscaped);
    html! {
        time datetime={ (exact) "Z" } title={ (day) " " (clock) " UTC" } data-shown=[shown] { (day) " " (minute) " UTC" }
    }
}

/// The time of the day in UTC, below a heading with the day (`.day`). The console's script converts both.
pub fn clock(at: Time) -> Markup {
    let exact = at.to_string();
    let (day, clock) = exact.split_once('T').unwrap_or((&exact, ""));
    let minute = clock.get(..5).unwrap_or(clock);
    html! {
        time datetime={ (exact) "Z" } title={ (day) " " (clock) " UTC" } data-shown="clock" { (minute) " UTC" }
    }
}

/// An age, such as `5 min`, `3 h` or `12 d`, with the exact time in the tooltip.
pub fn age(since: Time, now: Time) -> Markup {
    let seconds = (now.seconds() - since.seconds()).max(0);
    let shown = match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    };
    let exact = since.to_string();
    html! { time datetime=(format!("{exact}Z")) title=(format!("{} UTC", exact.replace('T', " "))) data-shown="age" { (shown) } }
}

/// A size, such as `12 bytes` or `3.4 KiB`.
pub fn size(bytes: i64) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        ..1_024 => format!("{bytes} bytes"),
        1_024..1_048_576 => tenths(bytes, 1_024, "KiB"),
        1_048_576..1_073_741_824 => tenths(bytes, 1_048_576, "MiB"),
        // Divide first, so that the multiplication in `tenths` cannot overflow.
        _ => tenths(bytes / 1_048_576, 1_024, "GiB"),
    }
}

fn tenths(bytes: i64, unit: i64, name: &str) -> String {
    match (bytes * 10 + unit / 2) / unit {
        tenths if tenths % 10 == 0 => format!("{} {name}", tenths / 10),
        tenths => format!("{}.{} {name}", tenths / 10, tenths % 10),
    }
}

/// A number with thousands separators: 16,777,212.
pub fn number(number: u64) -> String {
    let mut written = number.to_string();
    let mut at = written.len();
    while at > 3 {
        at -= 3;
        written.insert(at, ',');
    }
    written
}

/// `1 subnet`, `2 subnets`.
pub fn pluralize(count: usize, one: &str, many: &str) -> String {
    let word = if count == 1 { one } else { many };
    format!("{} {word}", number(count as u64))
}

/// The name of a region, with its ID. Without a name, only the ID.
pub fn region_name(policy: &Policy, id: &str) -> Markup {
    let region = policy.regions.iter().find(|region| region.id == id);
    // On a phone, each element of a cell is a column.
    html! {
        span {
            @if let Some(region) = region.filter(|region| region.label != id) { (region.label) " " }
            span .quiet.small { (id) }
        }
    }
}

/// The message that replaces an empty list. `action` is the label and the URL of a link.
pub fn empty_state(title: &str, text: &str, action: Option<(&str, &str)>) -> Markup {
    html! {
        div .empty {
            h2 { (title) }
            p { (text) }
            @if let Some((label, url)) = action { p { a .button.main href=(url) { (label) } } }
        }
    }
}

/// The URL of one page of a list.
pub fn page_url(url: &str, page: i64) -> String {
    page_url_of(url, "page", page)
}

/// Like `page_url`, for a page with several lists. `list` is the name of the parameter.
fn page_url_of(url: &str, list: &str, page: i64) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    match page {
        1 => url.to_owned(),
        page => format!("{url}{separator}{list}={page}"),
    }
}

/// The links to the previous and the next page of a list. `url` includes the query of the list, without
/// `page`.
pub fn pagination<T>(paged: &Paged<T>, url: &str) -> Markup {
    pagination_of(paged, url, "page", "Pages")
}

/// Like `pagination`, for a page with several lists. `list` is the name of the parameter, and `label` the accessible
/// name of the links.
pub fn pagination_of<T>(paged: &Paged<T>, url: &str, list: &str, label: &str) -> Markup {
    let (at, pages) = (paged.page.number, paged.pages());
    let to = |page: i64| page_url_of(url, list, page);
    html! {
        @if pages > 1 {
            nav .pager aria-label=(label) {
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
    fn numbers_have_thousands_separators() {
        let written = [0, 999, 1_000, 16_777_212].map(number);
        assert_eq!(written, ["0", "999", "1,000", "16,777,212"]);
        assert_eq!(pluralize(1, "subnet", "subnets"), "1 subnet");
    }

    #[test]
    fn sizes_and_ages_have_a_unit() {
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
    fn a_time_is_in_utc_with_seconds_in_the_tooltip() {
        let at = Time::parse("2024-06-01T12:00:05").unwrap();
        assert_eq!(
            time(at).into_string(),
            "<time datetime=\"2024-06-01T12:00:05Z\" title=\"2024-06-01 12:00:05 UTC\">2024-06-01 12:00 UTC</time>"
        );
        let zoned = time(at)
            .into_string()
            .replace("UTC\">", "UTC\" data-shown=\"zoned\">");
        assert_eq!(time_with_zone(at).into_string(), zoned);
    }
}
