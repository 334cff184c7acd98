//! Faults by rule: which requests fail, how often, and how.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde::{Deserialize, Serialize};

use super::input;
use super::random_fraction::random_fraction;
use crate::api::operations::OPERATIONS;
use crate::model::id::AccountId;
use crate::model::reason::Code;
use crate::rules::{Error, Result};
use crate::web::paths;

/// The seed of the random choices of rules with a probability.
const SEED: u64 = 0;
/// The longest delay, in milliseconds: ten minutes.
const MAX_DELAY_MS: u64 = 600_000;

/// A rule. The first rule that matches a request applies.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRule {
    #[serde(default, rename = "match")]
    condition: Condition,
    /// The number of requests to which the rule still applies; `None` for all.
    times: Option<u64>,
    /// The probability that the rule applies to a request that matches; `None` for 1.
    probability: Option<f64>,
    action: Action,
    /// The number of requests that have matched.
    #[serde(skip)]
    matched: u64,
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
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    drop: Option<DropTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncate: Option<u64>,
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
}

impl Faults {
    pub fn rules(&self) -> &[FaultRule] {
        &self.rules
    }

    /// Adds a rule after the others.
    pub fn add(&mut self, mut rule: FaultRule) -> Result<()> {
        rule.validate("")?;
        self.rules.push(rule);
        Ok(())
    }

    /// Replaces all rules. Refuses all of them if one is invalid.
    pub fn replace(&mut self, mut rules: Vec<FaultRule>) -> Result<()> {
        for (index, rule) in rules.iter_mut().enumerate() {
            rule.validate(&format!("[{index}]."))?;
        }
        self.rules = rules;
        Ok(())
    }

    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// The fault of the first rule that applies to a request.
    pub fn choose(&mut self, request: &Received) -> Option<Fault> {
        let mut rules = self.rules.iter_mut().enumerate();
        rules.find_map(|(index, rule)| rule.apply(index, request))
    }
}

impl FaultRule {
    /// Checks a rule, and converts its path to the canonical path. The fields of errors begin with `place`.
    fn validate(&mut self, place: &str) -> Result<()> {
        let refuse = |field: &str, reason: &str| {
            let field = format!("{place}{field}");
            Err::<(), Error>(input::refuse(field, Code::ChoiceInvalid, reason))
        };
        let condition = &mut self.condition;
        if let Some(path) = &mut condition.path {
            if !path.starts_with('/') || path.starts_with("/v4") {
                return refuse("match.path", "Must begin with /, without /v4");
            }
            if let Some(canonical) = paths::canonical(&format!("/v4{path}"), "") {
                *path = without_version(&canonical).to_owned();
            }
        }
        let is_operation = |id: &String| OPERATIONS.iter().any(|operation| operation.id == id);
        if condition.operation.as_ref().is_some_and(|id| !is_operation(id)) {
            return refuse("match.operation", "Must be an operationId of openapi.yaml");
        }
        if self.probability.is_some_and(|p| !(0.0..=1.0).contains(&p)) {
            return refuse("probability", "Must be 0 to 1");
        }
        let action = &self.action;
        if action.status.is_some_and(|status| !(400..=599).contains(&status)) {
            return refuse("action.status", "Must be 400 to 599");
        }
        if action.delay_ms.is_some_and(|delay| delay > MAX_DELAY_MS) {
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
    fn apply(&mut self, index: usize, request: &Received) -> Option<Fault> {
        if self.times == Some(0) || !self.condition.matches(request) {
            return None;
        }
        self.matched += 1;
        let chance = random_fraction(SEED, &format!("rule {index}"), self.matched);
        if chance >= self.probability.unwrap_or(1.0) {
            return None;
        }
        self.times = self.times.map(|times| times - 1);
        Some(self.action.fault())
    }
}

impl Condition {
    fn matches(&self, request: &Received) -> bool {
        let is_method = |method: &String| method.eq_ignore_ascii_case(request.method.as_str());
        self.method.as_ref().is_none_or(is_method)
            && self
                .path
                .as_ref()
                .is_none_or(|path| path_matches(path, request.path))
            && (self.operation.is_none() || self.operation.as_deref() == request.operation)
            && (self.account.is_none() || self.account == request.account.map(|account| account.0))
    }
}

impl Action {
    fn fault(&self) -> Fault {
        let status = self.status.and_then(|status| StatusCode::from_u16(status).ok());
        let dropped = self.drop.map(|time| match time {
            DropTime::Before => Effect::DropBefore,
            DropTime::After => Effect::DropAfter,
        });
        Fault {
            delay: Duration::from_millis(self.delay_ms.unwrap_or(0)),
            effect: status
                .map(Effect::Status)
                .or(dropped)
                .or(self.truncate.map(Effect::Truncate)),
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

/// Whether a path matches a pattern, in which `*` stands for one segment.
fn path_matches(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some("*"), Some(segment)) if !segment.is_empty() => {}
            (Some(expected), Some(segment)) if expected == segment => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::path_matches;

    #[test]
    fn a_star_stands_for_one_segment() {
        for (pattern, path, expected) in [
            ("/vpcs", "/vpcs", true),
            ("/vpcs", "/vpcs/1", false),
            ("/vpcs/*", "/vpcs/1", true),
            ("/vpcs/*", "/vpcs", false),
            ("/vpcs/*", "/vpcs/1/subnets", false),
            ("/vpcs/*/subnets", "/vpcs/1/subnets", true),
            ("/*", "/vpcs", true),
        ] {
            assert_eq!(path_matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}
