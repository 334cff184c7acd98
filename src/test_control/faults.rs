//! Faults by rule: which requests fail, how often, and how.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::fault_path;
use super::input;
use super::random_fraction::random_fraction;
use crate::api::operations::OPERATIONS;
use crate::model::id::AccountId;
use crate::model::reason::Code;
use crate::rules::{self, Error};
use crate::web::paths;

/// The seed of the random choices of rules with a probability.
const SEED: u64 = 0;
/// The longest delay, in milliseconds: ten minutes.
const MAX_DELAY_MS: i64 = 600_000;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// A rule. The first rule that matches a request applies.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    /// Identifies the rule. The ID in a request is ignored, so that a client can send a list back.
    #[serde(default)]
    id: u64,
    #[serde(default, rename = "match", deserialize_with = "object")]
    condition: Condition,
    /// The number of requests to which the rule still applies; `None` for all.
    times: Option<i64>,
    /// The probability that the rule applies to a request that matches; `None` for 1.
    probability: Option<f64>,
    #[serde(deserialize_with = "object")]
    action: Action,
    /// The number of requests that have matched.
    #[serde(skip)]
    matched: u64,
    /// The position of the rule when it was added, on which its random choices depend.
    #[serde(skip)]
    position: usize,
}

/// Reads an object. Without this function, serde also accepts a list of the values of the fields.
fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
    let fields = Map::<String, Value>::deserialize(deserializer)?;
    T::deserialize(Value::Object(fields)).map_err(D::Error::custom)
}

/// The requests to which a rule applies. All fields that are set must match.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct Condition {
    method: Option<String>,
    /// A path without `/v4`, in which `*` stands for one segment.
    path: Option<String>,
    /// The ID of an operation in `openapi.yaml`.
    operation: Option<String>,
    /// The ID of the account of the token.
    account: Option<i64>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Action {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drop: Option<DropTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncate: Option<i64>,
}

/// When a connection is dropped, relative to the work of the request.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum DropTime {
    Before,
    After,
}

/// A fault that a request gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The delay before the work.
    pub delay: Duration,
    /// The rule that chose the fault; `None` for chaos.
    pub rule: Option<u64>,
    pub effect: Option<Effect>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The response has this status, and the request has no effect.
    Status(StatusCode),
    /// The connection is closed, and the request has no effect.
    DropBefore,
    /// The connection is closed after the commit.
    DropAfter,
    /// The connection is closed after this number of bytes of the body.
    Truncate(u64),
}

/// A request, as rules see it.
pub struct Received<'a> {
    pub method: &'a Method,
    /// The canonical path, without `/v4`.
    pub path: &'a str,
    pub operation: Option<&'static str>,
    pub account: Option<AccountId>,
}

#[derive(Default)]
pub struct Faults {
    rules: Vec<FaultRule>,
    last_id: u64,
    /// The IDs of all rules, for requests that a rule delays.
    ids: watch::Sender<BTreeSet<u64>>,
}

impl Faults {
    pub fn rules(&self) -> &[FaultRule] {
        &self.rules
    }

    /// The IDs of the rules, now and in the future.
    pub fn watch_rules(&self) -> watch::Receiver<BTreeSet<u64>> {
        self.ids.subscribe()
    }

    /// Adds a rule after the others.
    pub fn add(&mut self, mut rule: FaultRule) -> rules::Result<()> {
        rule.validate("")?;
        self.push(rule);
        self.notify();
        Ok(())
    }

    /// Replaces all rules. Refuses all of them if one is invalid.
    pub fn replace(&mut self, mut rules: Vec<FaultRule>) -> rules::Result<()> {
        for (index, rule) in rules.iter_mut().enumerate() {
            rule.validate(&format!("[{index}]."))?;
        }
        self.rules.clear();
        for rule in rules {
            self.push(rule);
        }
        self.notify();
        Ok(())
    }

    /// Deletes a rule. Returns false if it does not exist.
    pub fn delete(&mut self, id: u64) -> bool {
        let count = self.rules.len();
        self.rules.retain(|rule| rule.id != id);
        self.notify();
        self.rules.len() < count
    }

    pub fn clear(&mut self) {
        self.rules.clear();
        self.notify();
    }

    fn push(&mut self, mut rule: FaultRule) {
        self.last_id += 1;
        rule.id = self.last_id;
        rule.position = self.rules.len();
        self.rules.push(rule);
    }

    fn notify(&self) {
        self.ids
            .send_replace(self.rules.iter().map(|rule| rule.id).collect());
    }

    /// The fault of the first rule that applies to a request.
    pub fn choose(&mut self, request: &Received) -> Option<Fault> {
        self.rules.iter_mut().find_map(|rule| rule.apply(request))
    }
}

impl FaultRule {
    /// Checks a rule, and converts its path to the canonical path. The fields of errors begin with `place`.
    fn validate(&mut self, place: &str) -> rules::Result<()> {
        let refuse = |field: &str, reason: &str| {
            let field = format!("{place}{field}");
            Err::<(), Error>(input::refuse(field, Code::ChoiceInvalid, reason))
        };
        let condition = &mut self.condition;
        let is_known = |method: &String| METHODS.iter().any(|known| known.eq_ignore_ascii_case(method));
        if !condition.method.as_ref().is_none_or(is_known) {
            return refuse(
                "match.method",
                "Must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS",
            );
        }
        if let Some(path) = &mut condition.path {
            if !path.starts_with('/') || path.starts_with("/v4") {
                return refuse("match.path", "Must begin with /, without /v4");
            }
            if let Some(canonical) = paths::canonical(&format!("/v4{path}"), "") {
                *path = without_version(&canonical).to_owned();
            }
            if let Some(reason) = fault_path::refusal(path) {
                return refuse("match.path", reason);
            }
        }
        let is_operation = |id: &String| OPERATIONS.iter().any(|operation| operation.id == id);
        if condition.operation.as_ref().is_some_and(|id| !is_operation(id)) {
            return refuse("match.operation", "Must be an operationId of openapi.yaml");
        }
        if self.probability.is_some_and(|p| !(0.0..=1.0).contains(&p)) {
            return refuse("probability", "Must be 0 to 1");
        }
        if self.times.is_some_and(|times| times < 0) {
            return refuse("times", "Must be 0 or more");
        }
        let action = &self.action;
        if action.truncate.is_some_and(|bytes| bytes < 0) {
            return refuse("action.truncate", "Must be 0 or more");
        }
        if action.status.is_some_and(|status| !(400..=599).contains(&status)) {
            return refuse("action.status", "Must be 400 to 599");
        }
        if action
            .delay_ms
            .is_some_and(|delay| !(0..=MAX_DELAY_MS).contains(&delay))
        {
            return refuse("action.delay_ms", "Must be 0 to 600000");
        }
        let effects = [
            action.status.is_some(),
            action.drop.is_some(),
            action.truncate.is_some(),
        ];
        match effects.iter().filter(|is_set| **is_set).count() {
            0 if action.delay_ms.is_none() => {
                refuse("action", "Must have status, drop, delay_ms or truncate")
            }
            0 | 1 => Ok(()),
            _ => refuse("action", "Must have only one of status, drop and truncate"),
        }
    }

    /// The fault, if the rule applies to the request. Counts the request.
    fn apply(&mut self, request: &Received) -> Option<Fault> {
        if self.times == Some(0) || !self.condition.matches(request) {
            return None;
        }
        self.matched += 1;
        let chance = random_fraction(SEED, &format!("rule {}", self.position), self.matched);
        if chance >= self.probability.unwrap_or(1.0) {
            return None;
        }
        self.times = self.times.map(|times| times - 1);
        Some(Fault {
            rule: Some(self.id),
            ..self.action.fault()
        })
    }
}

impl Condition {
    fn matches(&self, request: &Received) -> bool {
        let is_method = |method: &String| method.eq_ignore_ascii_case(request.method.as_str());
        self.method.as_ref().is_none_or(is_method)
            && self
                .path
                .as_ref()
                .is_none_or(|path| fault_path::matches(path, request.path))
            && (self.operation.is_none() || self.operation.as_deref() == request.operation)
            && (self.account.is_none() || self.account == request.account.map(|account| account.0))
    }
}

impl Action {
    fn fault(&self) -> Fault {
        let status = self
            .status
            .and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok());
        let dropped = self.drop.map(|time| match time {
            DropTime::Before => Effect::DropBefore,
            DropTime::After => Effect::DropAfter,
        });
        Fault {
            rule: None,
            delay: Duration::from_millis(self.delay_ms.unwrap_or(0).unsigned_abs()),
            effect: status
                .map(Effect::Status)
                .or(dropped)
                .or(self.truncate.map(|bytes| Effect::Truncate(bytes.unsigned_abs()))),
        }
    }
}

/// A path without `/v4`.
pub fn without_version(path: &str) -> &str {
    match path.strip_prefix("/v4") {
        Some("") => "/",
        Some(rest) if rest.starts_with('/') => rest,
        _ => path,
    }
}
