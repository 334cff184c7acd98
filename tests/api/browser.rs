//! A browser without rendering: it stores cookies, fills in forms and follows redirects.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use garth::model::token::Secret;
use garth::rules;
use hyper::body::Incoming;
use hyper::{Method, Response};
use serde_json::Value;

use crate::harness::{Reply, TestApp};

pub const PASSWORD: &str = "correct horse battery staple";
/// The redirect URI of test clients.
pub const CALLBACK: &str = "https://app.example/oauth/callback";
/// From RFC 7636, appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

pub struct Browser<'a> {
    app: &'a TestApp,
    pub cookies: BTreeMap<String, String>,
    /// The `Accept` header, if any.
    pub accept: Option<&'static str>,
    /// The client address, if the server trusts the proxy headers.
    pub address: Option<String>,
}

impl<'a> Browser<'a> {
    pub fn new(app: &'a TestApp) -> Self {
        let cookies = BTreeMap::new();
        Self {
            app,
            cookies,
            accept: None,
            address: None,
        }
    }

    /// A browser at another address.
    pub fn at(app: &'a TestApp, address: &str) -> Self {
        let address = Some(address.to_owned());
        Self {
            address,
            ..Self::new(app)
        }
    }

    pub async fn get(&mut self, path: &str) -> Reply {
        self.send(Method::GET, path, None).await
    }

    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.send(Method::POST, path, Some(form(fields))).await
    }

    fn cookie(&self) -> String {
        let cookies = self.cookies.iter();
        let cookies: Vec<_> = cookies.map(|(name, value)| format!("{name}={value}")).collect();
        cookies.join("; ")
    }

    /// Uploads a file from a form, with additional headers as from a script.
    pub async fn upload(&mut self, path: &str, name: &str, bytes: &[u8], headers: &[(&str, &str)]) -> Reply {
        let anonymous = self.app.anonymous();
        let mut call = anonymous
            .call(Method::POST, &format!("/{path}"))
            .header("cookie", &self.cookie());
        for (name, value) in headers {
            call = call.header(name, value);
        }
        call.file(name, bytes).await
    }

    /// Sends a form with files.
    pub async fn send_with_files(
        &mut self,
        path: &str,
        fields: &[(&str, &str)],
        files: &[(&str, &[u8])],
    ) -> Reply {
        let fields = fields
            .iter()
            .map(|(name, value)| (format!("form-data; name=\"{name}\""), value.as_bytes()));
        let files = files.iter().map(|(name, bytes)| {
            let disposition = format!("form-data; name=\"file\"; filename=\"{name}\"");
            (disposition, *bytes)
        });
        let parts: Vec<_> = fields.chain(files).collect();
        let parts: Vec<(&str, &[u8])> = parts
            .iter()
            .map(|(head, bytes)| (head.as_str(), *bytes))
            .collect();
        self.send_parts(path, &parts).await
    }

    /// Sends a multipart form. Each part has a `Content-Disposition` and its content.
    pub async fn send_parts(&mut self, path: &str, parts: &[(&str, &[u8])]) -> Reply {
        let anonymous = self.app.anonymous();
        let call = anonymous.call(Method::POST, &format!("/{path}"));
        let reply = call.header("cookie", &self.cookie()).form(parts).await;
        self.store_cookies(&reply);
        reply
    }

    /// Follows a stream from the last event ID.
    pub async fn open_stream(&self, path: &str, last: Option<&str>) -> Response<Incoming> {
        let anonymous = self.app.anonymous();
        let mut call = anonymous
            .call(Method::GET, &format!("/{path}"))
            .header("cookie", &self.cookie());
        if let Some(last) = last {
            call = call.header("last-event-id", last);
        }
        call.send().await
    }

    async fn send(&mut self, method: Method, path: &str, form: Option<String>) -> Reply {
        let anonymous = self.app.anonymous();
        let mut call = anonymous.call(method, &format!("/{path}"));
        if !self.cookies.is_empty() {
            call = call.header("cookie", &self.cookie());
        }
        if let Some(accept) = self.accept {
            call = call.header("accept", accept);
        }
        if let Some(address) = &self.address {
            call = call.header("x-forwarded-for", address);
        }
        if let Some(form) = form {
            call = call
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form);
        }
        let reply = call.await;
        self.store_cookies(&reply);
        reply
    }

    pub fn store_cookies(&mut self, reply: &Reply) {
        for cookie in reply.headers.get_all("set-cookie") {
            let cookie = cookie.to_str().expect("plain text");
            let (pair, attributes) = cookie.split_once("; ").expect("a cookie has attributes");
            assert!(
                attributes.starts_with("Path=/; ")
                    && attributes.ends_with("; Secure; HttpOnly; SameSite=Lax"),
                "{cookie}"
            );
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            assert!(name.starts_with("__Host-"), "{cookie}");
            self.cookies.insert(name.to_owned(), value.to_owned());
            self.cookies.retain(|_, value| !value.is_empty());
        }
    }

    /// Opens the authorization page of a client.
    pub async fn open_authorization_page(&mut self, query: &str) -> Reply {
        self.get(&format!("/oauth/authorize?{query}")).await
    }

    /// Fills in the log-in page.
    pub async fn submit_login(&mut self, page: &Reply, username: &str, password: &str) -> Reply {
        let (token, return_to) = (hidden_field(page, "form_token"), hidden_field(page, "return_to"));
        let fields = [
            ("form_token", token.as_str()),
            ("return_to", &return_to),
            ("username", username),
            ("password", password),
        ];
        self.post("/oauth/login", &fields).await
    }

    /// Logs in on the authorization page and follows the redirect.
    pub async fn log_in(&mut self, query: &str, username: &str) -> Reply {
        let page = self.open_authorization_page(query).await;
        assert!(text(&page).contains("Log in"), "{page}");
        let sent_on = self.submit_login(&page, username, PASSWORD).await;
        assert_eq!(sent_on.status, 303, "{sent_on}");
        let to = sent_on.header("location").to_owned();
        assert!(to.starts_with("authorize?"), "{to}");
        self.get(&format!("/oauth/{to}")).await
    }

    /// Submits the consent page.
    pub async fn submit_consent(&mut self, page: &Reply, decision: &str) -> Reply {
        let (token, return_to) = (hidden_field(page, "form_token"), hidden_field(page, "return_to"));
        let fields = [
            ("form_token", token.as_str()),
            ("return_to", &return_to),
            ("decision", decision),
        ];
        self.post("/oauth/authorize", &fields).await
    }

    /// The authorization code after log-in and consent.
    pub async fn get_code(&mut self, query: &str, username: &str) -> String {
        let page = self.log_in(query, username).await;
        let back = match page.status.as_u16() {
            303 => page,
            _ => self.submit_consent(&page, "allow").await,
        };
        parameter(back.header("location"), "code")
            .unwrap_or_else(|| panic!("no code: {}", back.header("location")))
    }
}

impl TestApp {
    /// Sets the test password of a user.
    pub async fn set_password(&self, username: &str) {
        static HASH: LazyLock<String> = LazyLock::new(|| {
            rules::passwords::hash(&Secret::new(PASSWORD.to_owned())).expect("it is long enough")
        });
        let username = username.to_owned();
        let set = self
            .store
            .write(move |tx| rules::passwords::set(tx, &username, &HASH));
        set.await.expect("the user exists");
    }

    /// Registers a client of an account with `CALLBACK`.
    pub async fn client(&self, owner: &crate::harness::User<'_>, public: bool) -> Client {
        let body = serde_json::json!({"label": "Dashboard", "redirect_uri": CALLBACK, "public": public});
        let created = owner.post("/account/oauth-clients", body).await.json();
        let text = |key: &str| created[key].as_str().expect("a string").to_owned();
        Client {
            id: text("id"),
            secret: text("secret"),
        }
    }

    /// Registers a client of the provider with `CALLBACK`.
    pub async fn provider_client(&self, public: bool) -> Client {
        let new = rules::oauth_clients::NewClient {
            id: None,
            account: None,
            label: garth::model::oauth::ClientLabel::parse("Web app").expect("a label"),
            redirect_uri: garth::model::oauth::RedirectUri::parse(CALLBACK).expect("an address"),
            public,
        };
        let created = self
            .store
            .write(move |tx| rules::oauth_clients::register(tx, &new))
            .await;
        let (client, secret) = created.expect("a client can be created");
        Client {
            id: client.id,
            secret: secret.reveal().to_owned(),
        }
    }

    /// Sends a form, for example a token request.
    pub async fn form(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        Browser::new(self).post(path, fields).await
    }

    pub async fn token(&self, client: &Client, fields: &[(&str, &str)]) -> Reply {
        let mut all = vec![
            ("client_id", client.id.as_str()),
            ("client_secret", &client.secret),
        ];
        all.extend_from_slice(fields);
        self.form("/oauth/token", &all).await
    }
}

pub struct Client {
    pub id: String,
    pub secret: String,
}

impl Client {
    /// The authorization parameters of a confidential client.
    pub fn query(&self, scopes: &str) -> String {
        form(&[
            ("client_id", &self.id),
            ("response_type", "code"),
            ("scopes", scopes),
        ])
    }

    /// The authorization parameters of a public client.
    pub fn public_query(&self, scope: &str) -> String {
        form(&[
            ("client_id", &self.id),
            ("response_type", "code"),
            ("scope", scope),
            ("state", "xyz"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("redirect_uri", CALLBACK),
        ])
    }
}

pub fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

pub fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.to_vec()).expect("a page is text")
}

/// The value of a hidden field.
pub fn hidden_field(page: &Reply, name: &str) -> String {
    let html = text(page);
    let mark = format!("name=\"{name}\" value=\"");
    let rest = html
        .split_once(&mark)
        .unwrap_or_else(|| panic!("no {name} in {html}"))
        .1;
    let value = rest.split('"').next().expect("a value ends");
    value
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// A parameter in the query of a URL.
pub fn parameter(address: &str, name: &str) -> Option<String> {
    let query = address.split_once('?')?.1;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}

/// A text in a JSON response.
pub fn field(reply: &Reply, name: &str) -> String {
    match &reply.json()[name] {
        Value::String(text) => text.clone(),
        _ => panic!("no {name}: {reply}"),
    }
}
