//! The console: sessions, form tokens, assets, log-in and log-out.

mod account;
mod address_map;
mod announcements;
mod bulk;
mod conflicts;
mod desk;
mod desk_customers;
mod desk_files;
mod desk_merges;
mod desk_replies;
mod desk_tools;
mod events;
mod grants;
mod home;
mod hostile_texts;
mod hosts;
mod instances;
mod interfaces;
mod ipv6;
mod large_lists;
mod live;
mod mails;
mod new_ticket;
mod provider;
mod search;
mod subnets;
mod thumbnails;
mod tickets;
mod tokens;
mod users;
mod vpcs;

use garth::console::PAGES;
use garth::files::Files;
use garth::model::token::TokenHash;
use garth::rules::caller::{Caller, Principal, Requirements};
use garth::rules::lists::ListRequest;
use garth::rules::{self, Error};
use garth::web::operation::Audience;
use garth::web::{App, Options};
use hyper::Method;
use tokio::sync::watch;

use crate::browser::{Browser, PASSWORD, hidden_field, text};
use crate::harness::{Reply, TestApp};

const SESSION: &str = "__Host-garth-session";

impl Browser<'_> {
    /// Logs in at the console.
    pub async fn log_in_at_console(&mut self, username: &str) {
        let page = self.get("/login").await;
        let fields = [
            ("form_token", hidden_field(&page, "form_token")),
            ("return_to", hidden_field(&page, "return_to")),
            ("username", username.to_owned()),
            ("password", PASSWORD.to_owned()),
        ];
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let sent_on = self.post("/login", &fields).await;
        assert_eq!(
            (sent_on.status.as_u16(), sent_on.header("location")),
            (303, "/"),
            "{sent_on}"
        );
    }

    /// Submits a form of the console, with the form token of its page.
    pub async fn submit(&mut self, page: &Reply, path: &str, fields: &[(&str, &str)]) -> Reply {
        let token = hidden_field(page, "form_token");
        let mut all = vec![("form_token", token.as_str())];
        all.extend_from_slice(fields);
        self.post(path, &all).await
    }
}

/// A server with the unrestricted user `ada`, who has a password.
pub async fn app_with_ada() -> TestApp {
    let app = TestApp::new().await;
    app.user("ada").await;
    app.set_password("ada").await;
    app
}

/// A browser in which this user, who has a password, is logged in.
pub async fn browser<'a>(app: &'a TestApp, username: &str) -> Browser<'a> {
    let mut browser = Browser::new(app);
    browser.log_in_at_console(username).await;
    browser
}

/// Like `browser`, for a user without a password. Sets the password first.
pub async fn logged_in<'a>(app: &'a TestApp, username: &str) -> Browser<'a> {
    app.set_password(username).await;
    browser(app, username).await
}

pub fn assert_contains(page: &Reply, expected: &str) {
    assert!(text(page).contains(expected), "{expected} is not in {page}");
}

pub fn assert_lacks(page: &Reply, unwanted: &str) {
    assert!(!text(page).contains(unwanted), "{unwanted} is in {page}");
}

/// Asserts that the response is a redirect to this path.
pub fn assert_redirects_to(page: &Reply, place: &str) {
    assert_eq!(
        (page.status.as_u16(), page.header("location")),
        (303, place),
        "{page}"
    );
}

/// The targets of all links on a page.
pub fn links(page: &Reply) -> Vec<String> {
    let html = text(page);
    let found = html.split("href=\"").skip(1);
    found
        .filter_map(|rest| rest.split('"').next().map(|link| link.replace("&amp;", "&")))
        .collect()
}

/// Asserts that exactly one element has this ID.
pub fn assert_has_anchor(page: &Reply, name: &str) {
    let count = text(page).matches(&format!(" id=\"{name}\"")).count();
    assert_eq!(count, 1, "{name} is {count} times on {page}");
}

/// A path of the table, with IDs that do not exist.
pub fn example(path: &str) -> String {
    let segment = |segment: &str| if segment.starts_with('{') { "999" } else { segment }.to_owned();
    path.split('/').map(segment).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn every_page_requires_a_session() {
    let app = app_with_ada().await;
    let mut anonymous = Browser::new(&app);
    let mut count = 0;
    for page in PAGES.iter().filter(|page| page.audience != Audience::Public) {
        let path = example(page.path);
        let reply = match page.method {
            Method::GET => anonymous.get(&path).await,
            _ => anonymous.post(&path, &[("form_token", "x")]).await,
        };
        let expected = if page.method == Method::GET { 303 } else { 401 };
        assert_eq!(reply.status.as_u16(), expected, "{} {path}", page.id);
        if page.method == Method::GET {
            let to = crate::browser::parameter(reply.header("location"), "to");
            assert_eq!(to.as_deref(), Some(path.as_str()), "{}", page.id);
        }
        assert!(anonymous.cookies.is_empty(), "{}", page.id);
        count += 1;
    }
    assert!(count > 3, "the table is almost empty");
}

#[tokio::test]
async fn every_form_requires_a_token_of_the_session() {
    let app = app_with_ada().await;
    app.user("bob").await;
    app.set_password("bob").await;
    let (mut ada, mut bob) = (Browser::new(&app), Browser::new(&app));
    ada.log_in_at_console("ada").await;
    bob.log_in_at_console("bob").await;
    let vpc = app.user("eve").await.create_vpc("core", &[]).await;
    let form = format!("/vpcs/{vpc}/edit");
    let of_bob = hidden_field(&bob.get(&form).await, "form_token");
    for page in PAGES
        .iter()
        .filter(|page| page.audience == Audience::Tenants && page.method == Method::POST)
    {
        for token in ["", "x", of_bob.as_str()] {
            let reply = ada.post(&example(page.path), &[("form_token", token)]).await;
            assert_eq!(reply.status, 403, "{} with {token:?}", page.id);
            assert!(text(&reply).contains("nothing was changed"), "{reply}");
        }
        // With its token, the form reaches the rule.
        let own = hidden_field(&ada.get(&form).await, "form_token");
        let reply = ada.post(&example(page.path), &[("form_token", &own)]).await;
        assert!(
            [400, 404].contains(&reply.status.as_u16()),
            "{}: {reply}",
            page.id
        );
    }
}

#[tokio::test]
async fn pages_have_a_strict_content_security_policy_and_are_not_cached() {
    let app = app_with_ada().await;
    let mut ada = Browser::new(&app);
    ada.log_in_at_console("ada").await;
    let page = ada.get("/vpcs").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(
        page.header("content-security-policy"),
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    );
    assert!(
        !page
            .headers
            .keys()
            .any(|name| name.as_str().starts_with("access-control-")),
        "CORS headers: {:?}",
        page.headers
    );
    let html = text(&page);
    for expected in [
        "<html lang=\"en\"",
        "<main",
        "<h1>",
        "href=\"#main\"",
        "aria-current=\"page\"",
        "allowEval&quot;:false",
    ] {
        assert!(html.contains(expected), "{expected} is not in {html}");
    }
    for bad in [
        "style=\"",
        "onclick",
        "<script>",
        "javascript:",
        "http://",
        "https://",
    ] {
        assert!(!html.contains(bad), "{bad} is in {html}");
    }
    // The assets of the page exist and can be cached without limit.
    let assets: Vec<_> = html
        .split('"')
        .filter(|part| part.starts_with("/console/"))
        .collect();
    assert_eq!(assets.len(), 3, "{assets:?}");
    for asset in assets {
        let reply = ada.get(asset).await;
        assert_eq!(reply.status, 200, "{asset}");
        assert!(reply.header("cache-control").contains("immutable"), "{asset}");
        assert!(reply.header("content-type").starts_with("text/"), "{asset}");
    }
    assert_eq!(ada.get("/console/console-000000000000.js").await.status, 404);
}

#[tokio::test]
async fn htmx_matches_the_hash_in_the_readme() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/console/assets");
    let htmx = std::fs::read_to_string(format!("{folder}/htmx.min.js")).unwrap();
    let readme = std::fs::read_to_string(format!("{folder}/README.md")).unwrap();
    assert!(readme.contains(&TokenHash::of(&htmx).hex()));
    assert!(htmx.contains("version:\"2.0.11\"") && readme.contains("htmx 2.0.11"));
}

#[tokio::test]
async fn log_in_returns_to_the_requested_page_and_never_to_another_site() {
    let app = app_with_ada().await;
    let expected = [
        ("/vpcs?q=x&region=us-east", "/vpcs?q=x&region=us-east"),
        ("//evil.example/vpcs", "/"),
        ("https://evil.example/vpcs", "/"),
        ("/\\evil.example", "/"),
        ("/oauth/authorize", "/"),
        ("", "/"),
    ];
    for (to, destination) in expected {
        let mut ada = Browser::new(&app);
        let page = ada.get("/login").await;
        let token = hidden_field(&page, "form_token");
        let fields = [
            ("form_token", token.as_str()),
            ("return_to", to),
            ("username", "ada"),
            ("password", PASSWORD),
        ];
        let sent_on = ada.post("/login", &fields).await;
        assert_eq!(
            (sent_on.status.as_u16(), sent_on.header("location")),
            (303, destination),
            "{to}"
        );
        // The log-in page has the same return URL.
        let query = crate::browser::form(&[("to", to)]);
        let page = Browser::new(&app).get(&format!("/login?{query}")).await;
        assert_eq!(
            hidden_field(&page, "return_to"),
            destination.trim_end_matches('/'),
            "{to}"
        );
    }
}

#[tokio::test]
async fn wrong_passwords_are_throttled_at_the_console() {
    let app = app_with_ada().await;
    let mut ada = Browser::new(&app);
    let page = ada.get("/login?to=/vpcs").await;
    let token = hidden_field(&page, "form_token");
    let fields = [
        ("form_token", token.as_str()),
        ("return_to", "/vpcs"),
        ("username", "ada"),
        ("password", "wrong one"),
    ];
    for _ in 0..5 {
        let again = ada.post("/login", &fields).await;
        assert_eq!(again.status, 401);
        assert_eq!(hidden_field(&again, "return_to"), "/vpcs");
        assert!(
            text(&again).contains("value=\"ada\""),
            "the username is filled in: {again}"
        );
    }
    let locked = ada.post("/login", &fields).await;
    assert_eq!(locked.status, 429);
    assert!(!ada.cookies.contains_key(SESSION));
    // A form without a valid token is not counted as an attempt.
    let from_elsewhere = Browser::new(&app).post("/login", &fields).await;
    assert_eq!(from_elsewhere.status, 403);
}

#[tokio::test]
async fn a_session_is_not_a_token_and_ends_with_log_out() {
    let app = app_with_ada().await;
    let mut ada = Browser::new(&app);
    ada.log_in_at_console("ada").await;
    assert_eq!(ada.get("/vpcs").await.status, 200);
    let session = ada.cookies[SESSION].clone();
    // A session is not a token, neither before nor after a change that invalidates cached identities.
    assert_eq!(app.with_token(&session).get("/vpcs").await.status, 401);
    app.user("eve").await;
    assert_eq!(ada.get("/vpcs").await.status, 200);
    assert_eq!(app.with_token(&session).get("/vpcs").await.status, 401);

    let mut thief = Browser::new(&app);
    thief.cookies = ada.cookies.clone();
    assert_eq!(ada.get("/logout").await.status, 200);
    assert_eq!(thief.get("/vpcs").await.status, 303);
    // A session expires after twelve hours.
    ada.log_in_at_console("ada").await;
    app.advance(12 * 3600);
    assert_eq!(ada.get("/vpcs").await.status, 303);
}

#[tokio::test]
async fn programs_get_json_and_browsers_get_pages() {
    let app = app_with_ada().await;
    let anonymous = app.anonymous();
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    let home = anonymous.call(Method::GET, "//").header("accept", html).await;
    assert_eq!((home.status.as_u16(), home.header("location")), (303, "/login"));
    let api = anonymous
        .call(Method::GET, "/nowhere")
        .header("accept", html)
        .await;
    assert_eq!(
        (api.status.as_u16(), api.header("content-type")),
        (404, "application/json")
    );
    let page = anonymous
        .call(Method::GET, "//nowhere")
        .header("accept", html)
        .await;
    assert_eq!(
        (page.status.as_u16(), page.header("content-type")),
        (404, "text/html; charset=utf-8")
    );
    let other = anonymous.call(Method::PUT, "//vpcs").await;
    assert_eq!(
        (other.status.as_u16(), other.header("allow")),
        (405, "GET, HEAD, OPTIONS")
    );
}

#[tokio::test]
async fn a_notice_is_shown_once_and_only_to_its_browser() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    let notice = "Profile updated.";
    assert_lacks(&ada.get("/account?done=profile-changed").await, notice);
    let page = ada.get("/account").await;
    let fields = [("email", "ada@new.example"), ("timezone", "GMT")];
    let done = ada.submit(&page, "/account", &fields).await;
    assert_redirects_to(&done, "/account?done=profile-changed");
    assert_lacks(&ada.get("/account").await, notice);
    let page = ada.get("/account?done=profile-changed").await;
    assert_contains(&page, notice);
    assert_lacks(&ada.get("/account?done=profile-changed").await, notice);
}

#[tokio::test]
async fn a_log_out_link_from_elsewhere_needs_confirmation() {
    let app = app_with_ada().await;
    let owner = app.user("owner").await;
    app.client(&owner, false).await;
    let anonymous = app.anonymous();
    let out = async |site: &str, from: &str, ends: bool| {
        let mut ada = browser(&app, "ada").await;
        let cookie = format!("{SESSION}={}", ada.cookies[SESSION]);
        let mut call = anonymous
            .call(Method::GET, "//logout")
            .header("cookie", &cookie)
            .header("host", "garth.example");
        for (name, value) in [("sec-fetch-site", site), ("referer", from)] {
            if !value.is_empty() {
                call = call.header(name, value);
            }
        }
        let page = call.await;
        assert_eq!(page.status, 200, "{site} {from}");
        let needs_confirmation = text(&page).contains("Log out?") && text(&page).contains("href=\"logout\"");
        assert_eq!(needs_confirmation, !ends, "{site} {from}: {page}");
        let still = ada.get("/vpcs").await.status == 200;
        assert_eq!(still, !ends, "{site} {from}");
    };
    // No confirmation for a typed URL, a program, pages of this server, and pages of a registered client.
    out("none", "", true).await;
    out("", "", true).await;
    out("same-origin", "http://garth.example/vpcs", true).await;
    out("cross-site", "https://app.example/", true).await;
    out("same-site", "https://app.example/x", true).await;
    // Links in user texts have no referrer, and other sites are not trusted.
    out("same-origin", "", false).await;
    out("cross-site", "", false).await;
    out("cross-site", "https://evil.example/", false).await;
    out("cross-site", "https://app.example.evil.example/", false).await;
    // A user who is not logged in gets the log-out page.
    let page = anonymous
        .call(Method::GET, "//logout")
        .header("sec-fetch-site", "cross-site")
        .await;
    assert!(text(&page).contains("You are logged out"), "{page}");
}

#[tokio::test]
async fn an_unknown_path_has_the_navigation_bar_for_a_logged_in_user() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    ada.accept = Some("text/html");
    let page = ada.get("/nope").await;
    assert_eq!(page.status, 404);
    assert_contains(&page, "href=\"/vpcs\"");
    assert_contains(&page, "href=\"/logout\"");
    assert_contains(&page, "This page does not exist");
}

#[tokio::test]
async fn an_htmx_request_without_a_session_redirects_the_page() {
    let app = app_with_ada().await;
    let anonymous = app.anonymous();
    for (from, to) in [
        ("http://garth.example/vpcs/new", "/login?to=%2Fvpcs%2Fnew"),
        ("http://evil.example//x", "/login"),
    ] {
        let call = anonymous.call(Method::GET, "//vpcs").header("hx-request", "true");
        let reply = call.header("hx-current-url", from).await;
        assert_eq!((reply.status.as_u16(), reply.header("hx-redirect")), (401, to));
    }
}

#[tokio::test]
async fn staff_cannot_open_tenant_pages() {
    let app = TestApp::new().await;
    app.user("sam").staff().await;
    app.set_password("sam").await;
    let mut sam = Browser::new(&app);
    sam.log_in_at_console("sam").await;
    for page in PAGES
        .iter()
        .filter(|page| page.audience == Audience::Tenants && page.method == Method::GET)
    {
        let reply = sam.get(&example(page.path)).await;
        assert_eq!(reply.status, 403, "{}", page.id);
    }
}

#[tokio::test]
async fn a_session_that_ends_during_a_request_is_rejected_and_not_cached() {
    let app = app_with_ada().await;
    let mut ada = Browser::new(&app);
    ada.log_in_at_console("ada").await;
    let hash = TokenHash::of(&ada.cookies[SESSION]);
    let (_stop, stopping) = watch::channel(false);
    let files = Files::open(None, &app.folder().join("files")).expect("a place for files");
    let server = App::new(app.store.clone(), files, Options::default(), stopping);

    // The identity as the session check found it; then a change invalidates cached identities.
    let identity = app
        .store
        .read(move |tx| rules::sessions::identify(tx, hash))
        .await;
    let caller =
        Caller::admit(identity.expect("ada is logged in"), Requirements::default()).expect("a tenant");
    app.user("eve").await;
    let list = |caller: Caller| {
        server.read(caller, |tx, caller| {
            rules::vpcs::list(tx, caller, &ListRequest::default())
        })
    };
    assert!(list(caller.clone()).await.is_ok());
    let as_token = server.identify(hash).await;
    assert!(matches!(as_token, Err(Error::Unauthenticated)), "{as_token:?}");

    assert_eq!(ada.get("/logout").await.status, 200);
    let late = list(caller).await;
    assert!(matches!(late, Err(Error::Unauthenticated)), "{late:?}");
}

#[tokio::test]
async fn the_minimum_page_size_does_not_apply_to_the_console() {
    let app = TestApp::with(|policy, _| policy.page_size_min = 500).await;
    let ada = app.user("ada").await;
    app.user("grace").staff().await;
    ada.create_vpc("web", &["10.0.0.0/24"]).await;
    let ticket = ada.open_ticket("It is down").await;
    let (mut ada, mut grace) = (logged_in(&app, "ada").await, logged_in(&app, "grace").await);
    let (ada_page, grace_page) = (format!("/tickets/{ticket}"), format!("/desk/tickets/{ticket}"));
    for path in [
        "/vpcs",
        "/account/users",
        "/account/quotas",
        "/tickets",
        &ada_page,
    ] {
        assert_eq!(ada.get(path).await.status, 200, "{path}");
    }
    for path in ["/desk", &grace_page, "/desk/tickets/new", "/desk/canned-replies"] {
        assert_eq!(grace.get(path).await.status, 200, "{path}");
    }
}
