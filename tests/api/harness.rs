//! A server per test, and users who send requests to it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use garth::api;
use garth::cli::{Settings, policy_of};
use garth::console;
use garth::files::Files;
use garth::model::grant::Global;
use garth::model::id::{AccountId, TokenId, VpcId};
use garth::model::policy::Policy;
use garth::model::scope::Scopes;
use garth::model::time::Time;
use garth::model::token::{NewToken, TokenKind};
use garth::model::user::{Email, NewUser, Username};
use garth::rules::{self, Error, grants::Grant};
use garth::store::context::{Clock, RandomSource};
use garth::store::{Store, StoreContext};
use garth::web::{App, Options, server};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::engine::{Engine, Home};
use crate::openapi;
use crate::stored_files::{StoredFiles, attachments_url};

/// The start time of every test.
pub const BEGINNING: &str = "2024-06-01T12:00:00";

pub struct TestApp {
    pub address: SocketAddr,
    pub store: Store,
    /// The default account of users.
    pub account: AccountId,
    /// The content of the attachment storage.
    pub stored_files: StoredFiles,
    client: Client<HttpConnector, UnsyncBoxBody<Bytes, Infallible>>,
    stop: watch::Sender<bool>,
    home: Home,
    /// Whether the test has made changes that violate invariants of the store.
    is_damaged: AtomicBool,
}

impl TestApp {
    pub async fn new() -> Self {
        Self::with(|_, _| {}).await
    }

    /// A server with a changed policy and changed options.
    pub async fn with(change: impl FnOnce(&mut Policy, &mut Options)) -> Self {
        Self::on(Engine::chosen(), change).await
    }

    pub async fn on(engine: Engine, change: impl FnOnce(&mut Policy, &mut Options)) -> Self {
        let mut options = Options::default();
        let mut context = context();
        change(&mut context.policy, &mut options);
        let (store, home) = engine.open(context);
        let email = Email::parse("owner@example.com").expect("an address");
        let account = store
            .write(move |tx| rules::accounts::create(tx, "Example", &email))
            .await;
        let account = account.expect("an account can be created").id;
        Self::over(store, home, account, options).await
    }

    /// A server on an existing store.
    pub async fn over(store: Store, home: Home, account: AccountId, options: Options) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopping) = watch::channel(false);
        let url = attachments_url(&home.name());
        let files = Files::open(url.as_deref(), &home.folder).expect("the attachment storage");
        let app = App::new(store.clone(), files, options, stopping.clone());
        let router = api::router(&app).merge(console::router(&app));
        tokio::spawn(server::serve(listener, app, router, stopping));
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self {
            address,
            store,
            account,
            stored_files: StoredFiles::new(url, &home.folder),
            client,
            stop,
            home,
            is_damaged: AtomicBool::new(false),
        }
    }

    /// Omits the check of the store at the end of the test.
    pub fn omit_check(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        &self.home.folder
    }

    /// A user of the test's account, unrestricted unless `require_permission` is called.
    pub fn user<'a>(&'a self, name: &'a str) -> UserBuilder<'a> {
        UserBuilder {
            app: self,
            name,
            account: Some(self.account),
            restricted: false,
            grants: Vec::new(),
            scopes: "*",
            seconds: None,
        }
    }

    pub async fn another_account(&self) -> AccountId {
        let email = Email::parse("other@example.com").expect("an address");
        let created = self
            .store
            .write(move |tx| rules::accounts::create(tx, "Other", &email))
            .await;
        created.expect("an account can be created").id
    }

    /// A client without a token.
    pub fn stranger(&self) -> User<'_> {
        User {
            app: self,
            token: None,
            token_id: TokenId(0),
        }
    }

    pub fn with_token(&self, token: &str) -> User<'_> {
        User {
            app: self,
            token: Some(token.to_owned()),
            token_id: TokenId(0),
        }
    }

    pub async fn grant(&self, name: &str, grant: Grant) {
        let name = name.to_owned();
        let given = self
            .store
            .write(move |tx| rules::grants::give(tx, &name, &[grant]))
            .await;
        given.expect("the grant can be given");
    }

    pub async fn revoke(&self, token: TokenId) {
        let revoked = self.store.write(move |tx| rules::tokens::revoke(tx, token)).await;
        revoked.expect("the token can be revoked");
    }

    pub fn advance(&self, seconds: i64) {
        self.store.context().clock.advance(seconds);
    }

    /// Sets the system clock without advancing the monotonic clock.
    pub fn set_clock_by(&self, seconds: i64) {
        self.store.context().clock.set_by(seconds);
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if !std::thread::panicking() && !self.is_damaged.load(Ordering::Relaxed) {
            crate::check::assert_sound(&self.store);
        }
    }
}

/// A fixed clock, and a random source that counts up.
pub fn context() -> StoreContext {
    StoreContext {
        clock: Clock::fixed(Time::parse(BEGINNING).expect("a time")),
        random: RandomSource::Counting(AtomicU64::new(1)),
        policy: policy_of(&Settings::default()).expect("the defaults are valid"),
    }
}

pub struct UserBuilder<'a> {
    app: &'a TestApp,
    name: &'a str,
    account: Option<AccountId>,
    restricted: bool,
    grants: Vec<Grant>,
    scopes: &'a str,
    seconds: Option<i64>,
}

impl<'a> UserBuilder<'a> {
    pub fn of(mut self, account: AccountId) -> Self {
        self.account = Some(account);
        self
    }

    pub fn staff(mut self) -> Self {
        self.account = None;
        self
    }

    pub fn restricted(mut self) -> Self {
        self.restricted = true;
        self
    }

    /// Restricts the user and adds this grant.
    pub fn may(mut self, grant: Grant) -> Self {
        self.grants.push(grant);
        self.restricted()
    }

    pub fn scopes(mut self, scopes: &'a str) -> Self {
        self.scopes = scopes;
        self
    }

    pub fn expiring_in(mut self, seconds: i64) -> Self {
        self.seconds = Some(seconds);
        self
    }
}

impl<'a> IntoFuture for UserBuilder<'a> {
    type Output = User<'a>;
    type IntoFuture = Pin<Box<dyn Future<Output = User<'a>> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let username = Username::parse(self.name).expect("a username");
            let email = Email::parse(&format!("{}@example.com", self.name)).expect("an address");
            let new = NewUser {
                account: self.account,
                username,
                email,
                restricted: self.restricted,
                password: None,
            };
            let scopes = Scopes::parse(self.scopes).expect("scopes");
            let (grants, seconds) = (self.grants, self.seconds);
            let created = self.app.store.write(move |tx| {
                let user = rules::users::create(tx, &new)?;
                if !grants.is_empty() {
                    rules::grants::give(tx, user.username.as_str(), &grants)?;
                }
                let token = NewToken {
                    user: user.id,
                    kind: TokenKind::Personal,
                    label: String::new(),
                    scopes: scopes.clone(),
                    expiry: seconds.map(|seconds| tx.now().plus_seconds(seconds)),
                };
                let (token, text) = rules::tokens::create(tx, &token, None)?;
                Ok::<_, Error>((token.id, text.reveal().to_owned()))
            });
            let (token_id, token) = created.await.expect("a user can be created");
            User {
                app: self.app,
                token: Some(token),
                token_id,
            }
        })
    }
}

#[derive(Clone)]
pub struct User<'a> {
    pub app: &'a TestApp,
    pub token: Option<String>,
    pub token_id: TokenId,
}

impl User<'_> {
    pub fn call(&self, method: Method, path: &str) -> Call<'_> {
        let mut headers = Vec::new();
        if let Some(token) = &self.token {
            headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        }
        Call {
            user: self,
            method,
            path: path.to_owned(),
            headers,
            body: Bytes::new(),
            chunked: false,
        }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path).json(&body).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PUT, path).json(&body).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path).await
    }

    pub async fn filter(&self, path: &str, filter: &str) -> Reply {
        self.call(Method::GET, path).header("x-filter", filter).await
    }

    /// Creates a VPC in us-east with subnets called `a`, `b`, …
    pub async fn creates_vpc(&self, label: &str, ranges: &[&str]) -> VpcId {
        let names = 'a'..='z';
        let subnet =
            |(name, range): (char, &&str)| serde_json::json!({"label": name.to_string(), "ipv4": range});
        let subnets: Vec<_> = names.zip(ranges).map(subnet).collect();
        let body = serde_json::json!({"label": label, "region": "us-east", "subnets": subnets});
        let reply = self.post("/vpcs", body).await;
        assert_eq!(reply.status, 200, "{reply}");
        VpcId(reply.json()["id"].as_i64().expect("an id"))
    }

    /// Creates an instance without an image, with one interface on a subnet.
    pub async fn creates_instance_on(&self, subnet: i64) -> Reply {
        let interfaces = serde_json::json!([{"purpose": "vpc", "subnet_id": subnet}]);
        let body = serde_json::json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
        self.post("/compute/instances", body).await
    }

    /// Opens a ticket without a subject; returns its ID.
    pub async fn opens_ticket(&self, summary: &str) -> i64 {
        let body = serde_json::json!({"summary": summary, "description": "Please look into it."});
        let reply = self.post("/support/tickets", body).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()["id"].as_i64().expect("an id")
    }

    pub async fn attaches(&self, ticket: i64, name: &str, bytes: impl AsRef<[u8]>) -> Reply {
        let path = format!("/support/tickets/{ticket}/attachments");
        self.call(Method::POST, &path).file(name, bytes).await
    }

    /// The account's events, oldest first: `vpc_create 1`.
    pub async fn events(&self) -> Vec<String> {
        let reply = self.get("/account/events?after=0&page_size=500").await;
        let event =
            |event: &Value| format!("{} {}", event["action"].as_str().unwrap(), event["entity"]["id"]);
        reply.data().iter().map(event).collect()
    }

    pub async fn count(&self, path: &str) -> i64 {
        self.get(path).await.json()["results"].as_i64().expect("a list")
    }
}

/// A request to send.
pub struct Call<'a> {
    user: &'a User<'a>,
    method: Method,
    path: String,
    headers: Vec<(String, String)>,
    body: Bytes,
    chunked: bool,
}

impl<'a> Call<'a> {
    pub fn app(&self) -> &'a TestApp {
        self.user.app
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    /// A form with one file.
    pub fn file(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let disposition = format!("form-data; name=\"file\"; filename=\"{name}\"");
        self.form(&[(&disposition, bytes.as_ref())])
    }

    /// A form with these parts.
    pub fn form(self, parts: &[(&str, &[u8])]) -> Self {
        let mut body = Vec::new();
        for (disposition, bytes) in parts {
            let head = format!("--edge\r\nContent-Disposition: {disposition}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--edge--\r\n");
        self.header("content-type", "multipart/form-data; boundary=edge")
            .body(body)
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends no `Content-Length`.
    pub fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// The response with its body unread; nothing is checked.
    pub async fn send(&self) -> Response<Incoming> {
        let path = match self.path.starts_with("/v4") || self.path.starts_with("//") {
            true => self.path.replacen("//", "/", 1),
            false => format!("/v4{}", self.path),
        };
        let uri = format!("http://{}{path}", self.user.app.address);
        let mut request = Request::builder().method(self.method.clone()).uri(uri);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let body = match self.chunked {
            false => Full::new(self.body.clone()).boxed_unsync(),
            true => {
                let body = self.body.clone();
                let pieces = (0..body.len()).step_by(10_000);
                let piece = move |from: usize| body.slice(from..body.len().min(from + 10_000));
                let frames = pieces.map(move |from| Ok(Frame::data(piece(from))));
                StreamBody::new(futures_util::stream::iter(frames)).boxed_unsync()
            }
        };
        let request = request.body(body).expect("a request");
        self.user
            .app
            .client
            .request(request)
            .await
            .expect("the server responds")
    }
}

impl<'a> IntoFuture for Call<'a> {
    type Output = Reply;
    type IntoFuture = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let response = self.send().await;
            let (head, body) = response.into_parts();
            let body = body.collect().await.expect("the response is complete").to_bytes();
            let reply = Reply {
                status: head.status,
                headers: head.headers,
                body,
            };
            openapi::validate(&self.method, &self.path, &self.body, &reply);
            reply
        })
    }
}

pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self}"))
    }

    pub fn data(&self) -> Vec<Value> {
        self.json()["data"]
            .as_array()
            .unwrap_or_else(|| panic!("not a list: {self}"))
            .clone()
    }

    pub fn ids(&self) -> Vec<i64> {
        self.data()
            .iter()
            .map(|item| item["id"].as_i64().expect("an id"))
            .collect()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("plain text"))
    }

    /// Each error as `field code`, with `-` for no field.
    pub fn errors(&self) -> Vec<String> {
        let json = self.json();
        let errors = json["errors"]
            .as_array()
            .unwrap_or_else(|| panic!("no errors: {self}"));
        let line = |error: &Value| {
            let field = error["field"].as_str().unwrap_or("-");
            format!("{field} {}", error["code"].as_str().expect("a code"))
        };
        errors.iter().map(line).collect()
    }

    pub fn reason(&self) -> String {
        self.json()["errors"][0]["reason"]
            .as_str()
            .expect("a reason")
            .to_owned()
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.status)?;
        match serde_json::from_slice::<Value>(&self.body) {
            Ok(json) => f.write_str(&serde_json::to_string_pretty(&json).expect("JSON")),
            Err(_) => f.write_str(&String::from_utf8_lossy(&self.body)),
        }
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Counts equal items.
pub fn tally<T: std::hash::Hash + Eq>(things: impl IntoIterator<Item = T>) -> HashMap<T, usize> {
    let mut counts = HashMap::new();
    for thing in things {
        *counts.entry(thing).or_insert(0) += 1;
    }
    counts
}

pub fn add_vpcs() -> Grant {
    Grant::Global(Global::AddVpcs)
}
