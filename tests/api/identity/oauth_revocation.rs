//! When OAuth grants end, and which tokens end with them.

use garth::model::id::TokenId;
use garth::rules;
use hyper::Method;
use serde_json::{Value, json};

use crate::browser::{Browser, Client, VERIFIER, field, text};
use crate::harness::{Reply, TestApp, User};

/// A client with a token for a user.
struct Program {
    access: String,
    refresh: String,
}

impl Program {
    fn of(issued: &Reply) -> Self {
        Self {
            access: field(issued, "access_token"),
            refresh: field(issued, "refresh_token"),
        }
    }

    /// Whether the access token is valid, and whether the refresh token is valid.
    async fn valid_tokens(&self, app: &TestApp, client: &Client) -> (bool, bool) {
        let access = app.with_token(&self.access).get("/profile").await.status == 200;
        let fields = [("grant_type", "refresh_token"), ("refresh_token", &self.refresh)];
        (access, app.token(client, &fields).await.status == 200)
    }
}

async fn set_up(app: &TestApp) -> (User<'_>, Client) {
    let ada = app.user("ada").await;
    app.set_password("ada").await;
    let client = app.client(&ada, false).await;
    (ada, client)
}

async fn authorize(app: &TestApp, client: &Client) -> Program {
    let code = Browser::new(app).get_code(&client.query("*"), "ada").await;
    Program::of(&app.token(client, &[("code", &code)]).await)
}

/// Whether a logged-in user is redirected without a consent page.
async fn skips_consent(browser: &mut Browser<'_>, query: &str) -> bool {
    browser.open_authorization_page(query).await.status == 303
}

#[tokio::test]
async fn a_new_redirect_uri_or_secret_revokes_all_grants_of_a_client() {
    for (method, change) in [
        (
            Method::PUT,
            json!({"redirect_uri": "https://elsewhere.example/cb"}),
        ),
        (Method::POST, json!({})),
    ] {
        let app = TestApp::new().await;
        let (ada, mut client) = set_up(&app).await;
        let mut browser = Browser::new(&app);
        let code = browser.get_code(&client.query("*"), "ada").await;
        let program = Program::of(&app.token(&client, &[("code", &code)]).await);
        assert!(skips_consent(&mut browser, &client.query("*")).await);
        let pending_code = browser.open_authorization_page(&client.query("*")).await;
        let pending_code = crate::browser::parameter(pending_code.header("location"), "code").unwrap();
        let path = format!("/account/oauth-clients/{}", client.id);
        let same = json!({"label": "Renamed", "redirect_uri": crate::browser::CALLBACK});
        assert_eq!(ada.put(&path, same).await.status, 200);
        assert!(
            skips_consent(&mut browser, &client.query("*")).await,
            "a new label does not end the grant"
        );

        if method == Method::PUT {
            assert_eq!(ada.put(&path, change).await.status, 200);
        } else {
            let reset = ada.post(&format!("{path}/reset-secret"), change).await;
            client.secret = field(&reset, "secret");
        }

        assert!(!skips_consent(&mut browser, &client.query("*")).await, "{method}");
        assert_eq!(
            program.valid_tokens(&app, &client).await,
            (false, false),
            "{method}"
        );
        let late = app.token(&client, &[("code", &pending_code)]).await;
        assert_eq!(late.errors(), ["code code_invalid"]);
        assert_eq!(ada.count("/profile/apps").await, 0);
    }
}

#[tokio::test]
async fn revoking_an_access_token_revokes_its_grant() {
    let app = TestApp::new().await;
    let (ada, client) = set_up(&app).await;
    let (program, other) = (authorize(&app, &client).await, authorize(&app, &client).await);
    let id = app
        .store
        .read(|tx| rules::tokens::list(tx, "ada"))
        .await
        .unwrap()
        .into_iter()
        .find(|token| token.label == "Dashboard")
        .expect("the object is listed")
        .id;

    app.revoke(TokenId(id.0)).await;

    assert_eq!(program.valid_tokens(&app, &client).await, (false, false));
    assert_eq!(ada.count("/profile/apps").await, 1);
    assert_eq!(
        other.valid_tokens(&app, &client).await,
        (true, true),
        "the other grant remains"
    );
}

#[tokio::test]
async fn a_new_password_revokes_oauth_grants_but_no_personal_tokens() {
    let app = TestApp::new().await;
    let (ada, client) = set_up(&app).await;
    let program = authorize(&app, &client).await;
    app.user("bob").await;

    app.set_password("bob").await;
    assert_eq!(
        ada.count("/profile/apps").await,
        1,
        "the password of another user does not matter"
    );
    app.set_password("ada").await;

    assert_eq!(program.valid_tokens(&app, &client).await, (false, false));
    assert_eq!(ada.count("/profile/apps").await, 0);
    assert_eq!(ada.get("/profile").await.status, 200);
}

async fn create_token(user: &User<'_>, body: Value) -> String {
    field(&user.post("/profile/tokens", body).await, "token")
}

#[tokio::test]
async fn revoking_a_client_revokes_personal_tokens_created_with_it() {
    let app = TestApp::new().await;
    let (ada, client) = set_up(&app).await;
    let program = authorize(&app, &client).await;
    let created = create_token(&app.with_token(&program.access), json!({})).await;
    let grandchild = create_token(&app.with_token(&created), json!({})).await;
    let own = create_token(&ada, json!({})).await;
    let works = async |token: &str| app.with_token(token).get("/profile").await.status == 200;
    let all = async || (works(&created).await, works(&grandchild).await, works(&own).await);

    // The client's own token is refreshed and then ends; personal tokens created with it remain.
    assert_eq!(program.valid_tokens(&app, &client).await, (true, true));
    assert_eq!(all().await, (true, true, true));
    app.advance(8000);
    assert_eq!(all().await, (true, true, true));
    let id = ada.get("/profile/apps").await.ids()[0];
    ada.delete(&format!("/profile/apps/{id}")).await;

    assert_eq!(all().await, (false, false, true));
}

#[tokio::test]
async fn personal_tokens_of_a_client_end_on_refresh_token_reuse_but_not_on_log_out() {
    let app = TestApp::new().await;
    let (_, client) = set_up(&app).await;
    let works = async |token: &str| app.with_token(token).get("/profile").await.status == 200;
    let logged_out = authorize(&app, &client).await;
    let created = create_token(&app.with_token(&logged_out.access), json!({})).await;
    // A client cannot revoke a personal token.
    for token in [&created, &logged_out.access] {
        let fields = [("client_id", client.id.as_str()), ("token", token)];
        assert_eq!(app.form("/oauth/revoke", &fields).await.status, 200);
        let is_revoked = token == &logged_out.access;
        assert_eq!(
            (works(&logged_out.access).await, works(&created).await),
            (!is_revoked, true)
        );
    }
    let stolen = authorize(&app, &client).await;
    let created = create_token(&app.with_token(&stolen.access), json!({})).await;
    assert_eq!(stolen.valid_tokens(&app, &client).await, (true, true));

    assert!(
        !stolen.valid_tokens(&app, &client).await.1,
        "the refresh token was used a second time"
    );

    assert!(!works(&created).await);
}

#[tokio::test]
async fn a_renewed_grant_still_owns_earlier_personal_tokens() {
    let app = TestApp::new().await;
    let (ada, client) = set_up(&app).await;
    let program = authorize(&app, &client).await;
    let created = create_token(&app.with_token(&program.access), json!({})).await;
    app.advance(31 * 24 * 3600);
    assert_eq!(
        ada.count("/profile/apps").await,
        0,
        "no token of the grant is valid"
    );
    authorize(&app, &client).await;

    let id = ada.get("/profile/apps").await.ids()[0];
    ada.delete(&format!("/profile/apps/{id}")).await;

    assert_eq!(app.with_token(&created).get("/profile").await.status, 401);
}

#[tokio::test]
async fn a_token_expires_no_later_than_the_token_that_creates_it() {
    let app = TestApp::new().await;
    let short = app.user("ada").expiring_in(3600).await;
    let own = short.get("/profile/tokens").await.data()[0]["expiry"].clone();
    let make = async |expiry: Value| short.post("/profile/tokens", json!({"expiry": expiry})).await;
    for (requested, expected) in [
        (Value::Null, own.clone()),
        (own.clone(), own.clone()),
        (json!("2024-06-01T12:30:00"), json!("2024-06-01T12:30:00")),
    ] {
        assert_eq!(
            make(requested.clone()).await.json()["expiry"],
            expected,
            "{requested}"
        );
    }
    let refused = make(json!("2024-06-01T14:00:00")).await;
    assert_eq!(refused.errors(), ["expiry expiry_invalid"]);
    assert!(refused.reason().contains(own.as_str().unwrap()), "{refused}");
}

#[tokio::test]
async fn an_unused_code_is_not_listed_as_an_app() {
    let app = TestApp::new().await;
    let (ada, client) = set_up(&app).await;
    let mut browser = Browser::new(&app);
    browser.get_code(&client.query("*"), "ada").await;
    assert_eq!(ada.count("/profile/apps").await, 0);
    assert_eq!(ada.get("/profile/apps/1").await.status, 404);
    assert!(
        !skips_consent(&mut browser, &client.query("*")).await,
        "a grant that is not listed does not count"
    );
}

#[tokio::test]
async fn a_loopback_client_needs_consent_each_time() {
    let app = TestApp::new().await;
    let (ada, _) = set_up(&app).await;
    for (public, silent) in [(true, false), (false, true)] {
        let body = json!({"label": "Tool", "redirect_uri": "http://127.0.0.1/cb", "public": public});
        let created = ada.post("/account/oauth-clients", body).await;
        let client = Client {
            id: field(&created, "id"),
            secret: field(&created, "secret"),
        };
        let mut browser = Browser::new(&app);
        let query = client.public_query("*").replace(
            "https%3A%2F%2Fapp.example%2Foauth%2Fcallback",
            "http%3A%2F%2F127.0.0.1%3A4000%2Fcb",
        );
        let code = browser.get_code(&query, "ada").await;
        let issued = app
            .token(&client, &[("code", &code), ("code_verifier", VERIFIER)])
            .await;
        assert_eq!(issued.status, 200, "{issued}");
        assert_eq!(
            skips_consent(&mut browser, &query).await,
            silent,
            "public: {public}"
        );
    }
}

#[tokio::test]
async fn a_head_request_issues_no_code() {
    let app = TestApp::new().await;
    let (_, client) = set_up(&app).await;
    let mut browser = Browser::new(&app);
    let code = browser.get_code(&client.query("*"), "ada").await;
    app.token(&client, &[("code", &code)]).await;
    let cookies: Vec<_> = browser
        .cookies
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let path = format!("//oauth/authorize?{}", client.query("*"));
    let anonymous = app.anonymous();
    let looked = anonymous
        .call(Method::HEAD, &path)
        .header("cookie", &cookies.join("; "))
        .await;
    assert_eq!((looked.status.as_u16(), looked.header("location")), (200, ""));
    assert!(skips_consent(&mut browser, &client.query("*")).await);
}

#[tokio::test]
async fn invalid_requests_do_not_redirect_visitors_to_a_customers_uri() {
    let app = TestApp::new().await;
    let (_, client) = set_up(&app).await;
    let wrong = client.query("everything");
    let mut browser = Browser::new(&app);
    let page = browser.open_authorization_page(&wrong).await;
    assert_eq!((page.status.as_u16(), page.header("location")), (400, ""));
    assert!(text(&page).contains("Invalid request"), "{page}");
    assert!(text(&page).contains("Unknown scope"), "{page}");
    browser.log_in(&client.query("*"), "ada").await;
    assert_eq!(browser.open_authorization_page(&wrong).await.status, 303);
    // The provider's own clients are trusted.
    let own = rules::oauth_clients::NewClient {
        id: Some("0123456789abcdef0123".to_owned()),
        account: None,
        label: garth::model::oauth::ClientLabel::parse("Web app").unwrap(),
        redirect_uri: garth::model::oauth::RedirectUri::parse(crate::browser::CALLBACK).unwrap(),
        public: false,
    };
    app.store
        .write(move |tx| rules::oauth_clients::register(tx, &own))
        .await
        .unwrap();
    let wrong = wrong.replace(&client.id, "0123456789abcdef0123");
    assert_eq!(
        Browser::new(&app).open_authorization_page(&wrong).await.status,
        303
    );
}

#[tokio::test]
async fn repeated_log_ins_are_one_authorized_application() {
    let app = TestApp::new().await;
    let (ada, client) = set_up(&app).await;
    let first = authorize(&app, &client).await;
    let row = ada.get("/profile/apps").await.data()[0].clone();
    app.advance(60);
    let second = authorize(&app, &client).await;
    let code = Browser::new(&app)
        .get_code(&client.query("vpc:read_only"), "ada")
        .await;
    let narrow = Program::of(&app.token(&client, &[("code", &code)]).await);

    let rows = ada.get("/profile/apps").await.data();

    assert_eq!(rows.len(), 2, "one for each client and scopes: {rows:?}");
    let same = rows
        .iter()
        .find(|found| found["scopes"] == row["scopes"])
        .unwrap();
    assert_eq!((&same["id"], &same["created"]), (&row["id"], &row["created"]));
    assert!(
        same["expiry"].as_str() > row["expiry"].as_str(),
        "the entry has the later expiry"
    );
    assert_eq!(
        ada.get(&format!("/profile/apps/{}", row["id"])).await.json(),
        *same
    );
    // A log-out ends one of the log-ins.
    let revoke = [("client_id", client.id.as_str()), ("token", &first.access)];
    assert_eq!(app.form("/oauth/revoke", &revoke).await.status, 200);
    assert_eq!(first.valid_tokens(&app, &client).await, (false, false));
    assert_eq!(ada.count("/profile/apps").await, 2);
    assert_eq!(app.with_token(&second.access).get("/profile").await.status, 200);
    // Revoking the application ends all of them.
    let third = authorize(&app, &client).await;
    let rows = ada.get("/profile/apps").await.data();
    let all = rows
        .iter()
        .find(|found| found["scopes"] == row["scopes"])
        .unwrap();
    let path = format!("/profile/apps/{}", all["id"]);
    assert_eq!(ada.delete(&path).await.status, 200);
    assert_eq!(second.valid_tokens(&app, &client).await, (false, false));
    assert_eq!(third.valid_tokens(&app, &client).await, (false, false));
    assert_eq!(app.with_token(&narrow.access).get("/vpcs").await.status, 200);
    assert_eq!(ada.count("/profile/apps").await, 1);
}
