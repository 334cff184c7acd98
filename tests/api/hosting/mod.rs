//! Hosts, their agents, and instances on them.

mod agents;
mod drain;
mod encryption;
mod hosts;
mod placement;
mod traces;
mod traffic;

use garth::model::job::JobKind;
use garth::rules::jobs;
use http_body_util::BodyExt;
use hyper::Method;
use hyper::body::Incoming;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::account::stream::STREAM_TIMEOUT;
use crate::harness::{Reply, TestApp, User};

/// A host in us-east whose agent has joined.
pub struct Agent<'a> {
    pub user: User<'a>,
    pub id: i64,
}

/// Adds a host with the address `172.31.0.NUMBER`, and lets its agent join and report.
pub async fn add_host<'a>(staff: &User<'a>, number: i64, capacity: i64) -> Agent<'a> {
    let body = json!({"label": format!("rack-{number}"), "region": "us-east", "capacity": capacity,
        "underlay_address": format!("172.31.0.{number}")});
    let created = staff.post("/hosts", body).await;
    assert_eq!(created.status, 200, "{created}");
    let id = created.json()["id"].as_i64().expect("an id");
    let agent = Agent {
        user: staff.app.with_token(&join(staff, id).await),
        id,
    };
    agent.report(json!([])).await;
    agent
}

/// Lets an agent join; returns its credential.
async fn join(staff: &User<'_>, host: i64) -> String {
    let token = staff.post(&format!("/hosts/{host}/join-token"), json!({})).await;
    assert_eq!(token.status, 200, "{token}");
    let joined = staff
        .app
        .anonymous()
        .post("/agent/join", json!({"token": token.json()["token"]}))
        .await;
    assert_eq!(joined.status, 200, "{joined}");
    joined.json()["credential"]
        .as_str()
        .expect("a credential")
        .to_owned()
}

impl Agent<'_> {
    /// The complete desired state.
    pub async fn state(&self) -> Value {
        StateStream::open(&self.user, "/agent/state")
            .await
            .next()
            .await
            .expect("a snapshot")
    }

    pub async fn report_with(&self, fields: Value) -> Reply {
        let mut body = json!({"protocol": 1, "applied_revision": 1_000_000, "agent_version": "0.2.0"});
        for (name, value) in fields.as_object().expect("an object") {
            body[name] = value.clone();
        }
        self.user.post("/agent/status", body).await
    }

    async fn report(&self, ports: Value) {
        let reply = self.report_with(json!({"ports": ports})).await;
        assert_eq!(reply.status, 200, "{reply}");
    }

    /// Reports a key of a generation: 32 bytes in base64 that begin with a letter.
    pub async fn report_key(&self, generation: u32, letter: char) {
        let key = public_key(letter);
        let keys = json!([{"generation": generation, "public_key": key}]);
        let reply = self.report_with(json!({"encryption": {"keys": keys}})).await;
        assert_eq!(reply.status, 200, "{reply}");
    }

    /// Reports that all ports of the desired state are up, as a real agent does.
    pub async fn apply(&self) {
        let state = self.state().await;
        let vpcs = state["vpcs"].as_array().expect("VPCs").iter();
        let ports = vpcs.flat_map(|vpc| vpc["ports"].as_array().expect("ports").clone());
        let up = |port: Value| json!({"interface_id": port["interface_id"], "status": "up"});
        self.report(ports.map(up).collect()).await;
    }
}

/// A stream of JSON documents, one per line.
struct StateStream {
    body: Incoming,
    text: String,
}

impl StateStream {
    async fn open(user: &User<'_>, path: &str) -> Self {
        let response = user.call(Method::GET, path).send().await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/x-ndjson");
        Self {
            body: response.into_body(),
            text: String::new(),
        }
    }

    /// The next message; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.text.split_once('\n') {
                let message = serde_json::from_str(line).expect("JSON");
                self.text = rest.to_owned();
                return Some(message);
            }
            let frame = timeout(STREAM_TIMEOUT, self.body.frame())
                .await
                .expect("a message in time")?;
            let data = frame.expect("the stream stays open").into_data().expect("data");
            self.text += std::str::from_utf8(&data).expect("text");
        }
    }

    /// The next messages, until one has a new revision.
    async fn change(&mut self, before: u64) -> Vec<Value> {
        let mut found = Vec::new();
        loop {
            let message = self.next().await.expect("a message");
            let is_last = message["revision"].as_u64() > Some(before);
            found.push(message);
            if is_last {
                return found;
            }
        }
    }
}

/// A public key that begins with a letter.
pub fn public_key(letter: char) -> String {
    format!("{letter}{}=", "A".repeat(42))
}

/// A running instance with an interface in a subnet, in us-east.
pub async fn create_instance(user: &User<'_>, subnet: i64) -> Reply {
    let interfaces = json!([{"purpose": "vpc", "subnet_id": subnet}]);
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces, "booted": true});
    user.post("/linode/instances", body).await
}

/// Runs the due jobs of these kinds.
pub async fn run_jobs(app: &TestApp, kinds: &'static [JobKind]) {
    let claimed = app
        .store
        .write(move |tx| jobs::claim(tx, kinds, "node", 100))
        .await;
    for job in claimed.expect("jobs are claimed") {
        let run = app.store.write(move |tx| jobs::run(tx, &job)).await;
        assert!(run.expect("the job succeeds"));
    }
}

pub async fn status_of(user: &User<'_>, instance: i64) -> String {
    let reply = user.get(&format!("/linode/instances/{instance}")).await;
    reply.json()["status"].as_str().expect("a status").to_owned()
}
