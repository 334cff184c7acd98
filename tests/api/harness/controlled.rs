//! A server with test control.

use garth::cli::{Settings, changed_policy};
use garth::files::Files;
use garth::jobs::{JobContext, Runner};
use garth::model::id::AccountId;
use garth::model::token::TokenText;
use garth::rules::accounts::{FirstToken, bootstrap};
use garth::store::context::Clock;
use garth::store::table_snapshot::TableSnapshot;
use garth::store::{StoreContext, VirtualClock};
use garth::test_control::{self, Chaos, Setup};
use garth::web::Options;
use http_body_util::BodyExt;
use hyper::Method;
use serde_json::Value;

use super::{TestApp, User, attachments_url, context};
use crate::engine::Engine;

/// The token of the first user, `admin`.
const FIRST_TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

impl TestApp {
    pub async fn with_test_control() -> Self {
        Self::controlled(Options::default(), None).await
    }

    /// A server with test control, and perhaps chaos.
    pub async fn controlled(options: Options, chaos: Option<Chaos>) -> Self {
        let context = StoreContext {
            clock: Clock::Virtual(VirtualClock::default()),
            ..context()
        };
        let (store, home) = Engine::chosen().open(context);
        let empty = store.read_once(TableSnapshot::read).await.expect("rows");
        let token = FirstToken::Given(TokenText::parse(FIRST_TOKEN).expect("a token"));
        let first = store.write(move |tx| bootstrap(tx, &token)).await;
        assert!(first.expect("the first account can be created").is_some());
        let url = attachments_url(&home.name());
        let jobs = JobContext {
            store: store.clone(),
            files: Files::open(url.as_deref(), &home.folder).expect("the attachment storage"),
            scrub_days: 30,
            is_only_server: home.database().is_none(),
            mail: None,
        };
        let runner = Runner::prepare(jobs.clone()).await.expect("jobs");
        let setup = Setup {
            jobs,
            options: options.clone(),
            chaos,
            empty: Some(empty),
            change_policy: Box::new(|changes| changed_policy(&Settings::default(), changes)),
        };
        let (app, stop, serving) = Self::bind(&store, &home, options).await;
        let started = test_control::start(setup, runner, stop.subscribe()).await;
        let (router, _) = started.expect("test control starts");
        let address = serving.start(app, router, stop.subscribe());
        Self::assemble(store, home, AccountId(1), address, stop)
    }

    /// The user `admin` of the first start.
    pub fn admin(&self) -> User<'_> {
        self.with_token(FIRST_TOKEN)
    }

    /// Sends a request to test control. Returns the status and the body.
    pub async fn control(&self, method: Method, path: &str, body: Value) -> (u16, Value) {
        let anonymous = self.anonymous();
        let call = anonymous.call(method, &format!("//_test{path}"));
        let response = match body {
            Value::Null => call.send().await,
            body => call.json(&body).send().await,
        };
        assert_eq!(response.headers()["content-type"], "application/json");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (status, serde_json::from_slice(&body).expect("JSON"))
    }

    /// Sends a request to test control, which must succeed.
    pub async fn controls(&self, method: Method, path: &str, body: Value) -> Value {
        let (status, body) = self.control(method, path, body).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }
}
