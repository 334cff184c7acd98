//! Compares the response of Garth with the recorded one, field by field.
//!
//! Values that a server chose are bound at their first occurrence; later occurrences must be the bound values.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::bindings::Bindings;
use super::field_path::IgnoredFields;
use super::kinds;
use super::masking::Masker;
use super::placeholder;
use super::recording::{RecordedBody, RecordedResponse};
use super::report::{Difference, Outcome};
use super::server_values::{Shape, is_user_field, shape};

/// Headers with values that must be equal.
const EQUAL_HEADERS: [&str; 7] = [
    "allow",
    "content-disposition",
    "dry-run",
    "idempotency-replayed",
    "location",
    "x-accepted-oauth-scopes",
    "x-oauth-scopes",
];
/// Headers that must exist, with values that a server chooses.
const REQUIRED_HEADERS: [&str; 2] = ["etag", "retry-after"];

/// Compares two responses to a request to `path`.
pub fn compare(
    path: &str,
    recorded: &RecordedResponse,
    garth: &RecordedResponse,
    bindings: &mut Bindings,
    ignored: &IgnoredFields,
) -> Outcome {
    let mut comparison = Comparison {
        owner_is_bound: has_bound_owner(path, bindings),
        request_kind: kinds::of_path(path),
        bindings,
        ignored,
        path: Vec::new(),
        differences: Vec::new(),
        unknown_items: 0,
    };
    comparison.response(recorded, garth);
    match comparison.differences {
        differences if !differences.is_empty() => Outcome::Different { differences },
        _ => match comparison.unknown_items {
            0 => Outcome::Equal,
            items => {
                let items = match items {
                    1 => "1 item of the list was".to_owned(),
                    items => format!("{items} items of the list were"),
                };
                let reason = format!("{items} not created in this recording");
                Outcome::NotComparable { reason }
            }
        },
    }
}

/// Whether the path has the ID of an object that the recording created.
fn has_bound_owner(path: &str, bindings: &Bindings) -> bool {
    let objects = kinds::in_path(path);
    objects.iter().any(|(kind, id)| bindings.id(kind, *id).is_some())
}

struct Comparison<'a> {
    bindings: &'a mut Bindings,
    ignored: &'a IgnoredFields,
    request_kind: String,
    /// Whether a list belongs to an object of the recording, so that all of its items do, too.
    owner_is_bound: bool,
    path: Vec<String>,
    differences: Vec<Difference>,
    /// The number of list items that existed before the recording.
    unknown_items: usize,
}

impl Comparison<'_> {
    fn response(&mut self, recorded: &RecordedResponse, garth: &RecordedResponse) {
        self.below("status", |this| {
            if recorded.status != garth.status {
                this.differ(Some(&json!(recorded.status)), Some(&json!(garth.status)));
            }
        });
        self.below("headers", |this| this.headers(&recorded.headers, &garth.headers));
        let is_success = |response: &RecordedResponse| response.status < 400;
        self.below("body", |this| {
            match is_success(recorded) == is_success(garth) {
                true => this.body(recorded.body.as_ref(), garth.body.as_ref()),
                // The fields of an object and of an error have nothing in common.
                false => {
                    let (recorded, garth) = (as_json(recorded.body.as_ref()), as_json(garth.body.as_ref()));
                    this.differ(Some(&recorded), Some(&garth));
                }
            }
        });
    }

    /// Only headers of the recorded response are compared.
    fn headers(&mut self, recorded: &BTreeMap<String, String>, garth: &BTreeMap<String, String>) {
        for (name, value) in recorded {
            let found = garth.get(name);
            self.below(name, |this| match (name.as_str(), found) {
                // Others than `identity` are not comparable.
                ("content-encoding", _) => {}
                ("content-type", Some(found)) if media_type(value) == media_type(found) => {}
                (name, Some(found)) if REQUIRED_HEADERS.contains(&name) => {
                    this.bindings.rebind_text(value, found);
                }
                (name, Some(found)) if EQUAL_HEADERS.contains(&name) => this.text(value, found),
                (_, found) => {
                    let found = found.map(|found| json!(found));
                    this.differ(Some(&json!(value)), found.as_ref());
                }
            });
        }
    }

    fn body(&mut self, recorded: Option<&RecordedBody>, garth: Option<&RecordedBody>) {
        match (recorded, garth) {
            (Some(RecordedBody::Json(recorded)), Some(RecordedBody::Json(garth))) => {
                self.value(recorded, garth, None);
            }
            (Some(RecordedBody::Text(recorded)), Some(RecordedBody::Text(garth))) => {
                self.text(recorded, garth)
            }
            (recorded, garth) if recorded == garth => {}
            (recorded, garth) => self.differ(Some(&as_json(recorded)), Some(&as_json(garth))),
        }
    }

    fn value(&mut self, recorded: &Value, garth: &Value, parent: Option<&Map<String, Value>>) {
        match (recorded, garth) {
            _ if self.ignored.contains(&self.path) => {}
            (Value::Object(recorded), Value::Object(garth)) => self.object(recorded, garth),
            (Value::Array(recorded), Value::Array(garth)) => self.array(recorded, garth),
            (Value::String(recorded), Value::String(garth)) => self.text(recorded, garth),
            (Value::String(text), Value::Number(_)) if is_placeholder(text) => {}
            (Value::Number(_), Value::Number(_)) => self.number(recorded, garth, parent),
            _ if recorded == garth => {}
            _ => self.differ(Some(recorded), Some(garth)),
        }
    }

    fn object(&mut self, recorded: &Map<String, Value>, garth: &Map<String, Value>) {
        // Unknown items of a list make its length incomparable, so the items come first.
        let (items, others): (Vec<_>, Vec<_>) = recorded.iter().partition(|(name, _)| *name == "data");
        for (name, value) in items.into_iter().chain(others) {
            if self.unknown_items > 0 && ["pages", "results"].contains(&name.as_str()) {
                continue;
            }
            self.below(name, |this| match garth.get(name) {
                Some(found) => this.value(value, found, Some(recorded)),
                None => this.differ(Some(value), None),
            });
        }
        for (name, value) in garth.iter().filter(|(name, _)| !recorded.contains_key(*name)) {
            self.below(name, |this| this.differ(None, Some(value)));
        }
    }

    fn array(&mut self, recorded: &[Value], garth: &[Value]) {
        let has_ids = |items: &[Value]| items.iter().all(|item| item["id"].is_i64());
        if self.path == ["body", "data"] && has_ids(recorded) && has_ids(garth) {
            return self.items(recorded, garth);
        }
        for (index, (recorded, garth)) in recorded.iter().zip(garth).enumerate() {
            self.below(&index.to_string(), |this| this.value(recorded, garth, None));
        }
        if recorded.len() != garth.len() {
            self.length(recorded.len(), garth.len());
        }
    }

    /// Compares the items of a list by their IDs.
    fn items(&mut self, recorded: &[Value], garth: &[Value]) {
        let id = |item: &Value| item["id"].as_i64().unwrap_or_default();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let mut unbound = Vec::new();
        for (index, item) in recorded.iter().enumerate() {
            match self.bindings.id(&self.request_kind, id(item)) {
                None => unbound.push(index),
                Some(bound) => match garth.iter().position(|found| id(found) == bound) {
                    Some(found) => pairs.push((index, found)),
                    None => self.below(&index.to_string(), |this| this.differ(Some(item), None)),
                },
            }
        }
        let is_paired = |found: usize| pairs.iter().any(|(_, paired)| *paired == found);
        let rest: Vec<usize> = (0..garth.len()).filter(|index| !is_paired(*index)).collect();
        let (added, new): (Vec<usize>, Vec<usize>) = rest
            .into_iter()
            .partition(|index| self.bindings.is_bound(&self.request_kind, id(&garth[*index])));
        for index in added {
            self.below(&index.to_string(), |this| this.differ(None, Some(&garth[index])));
        }
        match unbound.len() == new.len() {
            true => pairs.extend(unbound.into_iter().zip(new)),
            false if self.owner_is_bound || unbound.len() < new.len() => {
                self.length(recorded.len(), garth.len());
            }
            false => self.unknown_items += unbound.len(),
        }
        pairs.sort_unstable();
        if !pairs.is_sorted_by_key(|(_, found)| *found) {
            let ids = |indices: Vec<usize>| -> Value {
                indices
                    .into_iter()
                    .map(|index| garth[index]["id"].clone())
                    .collect()
            };
            let expected = ids(pairs.iter().map(|(_, found)| *found).collect());
            let mut found: Vec<usize> = pairs.iter().map(|(_, found)| *found).collect();
            found.sort_unstable();
            let found = ids(found);
            self.below("order", |this| this.differ(Some(&expected), Some(&found)));
        }
        for (index, found) in pairs {
            self.below(&index.to_string(), |this| {
                this.value(&recorded[index], &garth[found], None);
            });
        }
    }

    fn length(&mut self, recorded: usize, garth: usize) {
        self.below("length", |this| {
            this.differ(Some(&json!(recorded)), Some(&json!(garth)))
        });
    }

    fn number(&mut self, recorded: &Value, garth: &Value, parent: Option<&Map<String, Value>>) {
        let kind = kinds::of_field(&self.request_kind, &self.path, parent);
        let is_equal = match (kind, recorded.as_i64(), garth.as_i64()) {
            (Some(kind), Some(recorded @ 1..), Some(garth @ 1..)) => {
                self.bindings.bind_id(&kind, recorded, garth)
            }
            _ => recorded.as_f64() == garth.as_f64(),
        };
        if !is_equal {
            self.differ(Some(recorded), Some(garth));
        }
    }

    fn text(&mut self, recorded: &str, garth: &str) {
        if !self.corresponds(recorded, garth) {
            self.differ(Some(&json!(recorded)), Some(&json!(garth)));
        }
    }

    fn corresponds(&mut self, recorded: &str, garth: &str) -> bool {
        if let Some((before, placeholder, after)) = placeholder::find(recorded) {
            return self.is_secret(before, placeholder, after, garth);
        }
        if let Some(bound) = self.bindings.text(recorded) {
            // The same second can be two different seconds in the replay.
            return bound == garth
                || (shape(recorded) == Some(Shape::Time) && shape(garth) == Some(Shape::Time));
        }
        if recorded == garth {
            return true;
        }
        let is_chosen = shape(recorded).is_some() && shape(recorded) == shape(garth);
        let is_user = self.path.last().is_some_and(|name| is_user_field(name));
        let is_chosen = (is_chosen || is_user) && !self.bindings.is_sent(recorded);
        if is_chosen || self.bindings.differ_in_ids(recorded, garth) {
            return self.bindings.bind_text(recorded, garth);
        }
        false
    }

    /// A secret corresponds to any text at its place, and to the same text from then on.
    fn is_secret(&mut self, before: &str, placeholder: &str, after: &str, garth: &str) -> bool {
        let secret = garth
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .filter(|secret| !secret.is_empty());
        let Some(secret) = secret else {
            return false;
        };
        if self.bindings.secret(placeholder).is_none() {
            self.bindings.bind_secret(placeholder, secret);
        }
        self.bindings.secret(placeholder) == Some(secret)
    }

    fn below(&mut self, name: &str, compare: impl FnOnce(&mut Self)) {
        self.path.push(name.to_owned());
        if !self.ignored.contains(&self.path) {
            compare(self);
        }
        self.path.pop();
    }

    fn differ(&mut self, recorded: Option<&Value>, garth: Option<&Value>) {
        let name = self.path.last().cloned().unwrap_or_default();
        self.differences.push(Difference {
            path: self.path.join("."),
            recorded: recorded.cloned(),
            garth: garth.map(|value| masked(name, value)),
        });
    }
}

/// A value of Garth without its secrets.
fn masked(name: String, value: &Value) -> Value {
    let mut object = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
    let mut masker = Masker::default();
    masker.learn_json(&object);
    masker.json(&mut object);
    object[&name].take()
}

fn is_placeholder(text: &str) -> bool {
    placeholder::find(text).is_some_and(|(before, _, after)| before.is_empty() && after.is_empty())
}

fn media_type(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

/// A body as it is shown.
fn as_json(body: Option<&RecordedBody>) -> Value {
    match body {
        Some(RecordedBody::Json(value)) => value.clone(),
        Some(RecordedBody::Text(text)) => json!(text),
        body => json!(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(body: Value) -> RecordedResponse {
        let headers = json!({"content-type": "application/json"});
        let response = json!({"status": 200, "headers": headers, "body": {"json": body}});
        serde_json::from_value(response).expect("a response")
    }

    fn differences(bindings: &mut Bindings, path: &str, recorded: Value, garth: Value) -> Vec<String> {
        let ignored = IgnoredFields::default();
        match compare(path, &response(recorded), &response(garth), bindings, &ignored) {
            Outcome::Equal => Vec::new(),
            Outcome::Different { differences } => differences.into_iter().map(|found| found.path).collect(),
            Outcome::NotComparable { reason } => vec![reason],
        }
    }

    #[test]
    fn values_that_the_server_chose_are_bound() {
        let mut bindings = Bindings::default();
        bindings.add_sent("10.0.0.9");
        let vpc = |id: i64, label: &str, created: &str, address: &str, wanted: &str| {
            json!({"id": id, "label": label, "created": created, "address": address, "wanted": wanted,
                   "subnets": [{"id": id + 7}], "token": "<secret 1>"})
        };
        let time = "2024-06-01T12:00:00";
        let recorded = vpc(57, "core", time, "192.0.2.7", "10.0.0.9");
        let mut garth = vpc(1, "core", "2026-01-01T00:00:00", "198.51.100.1", "10.0.0.9");
        garth["token"] = json!("abc");
        assert_eq!(
            differences(&mut bindings, "/v4/vpcs", recorded.clone(), garth.clone()),
            [""; 0]
        );
        assert_eq!(bindings.id("subnet", 64), Some(8));
        assert_eq!(bindings.secret("<secret 1>"), Some("abc"));

        let mut changed = garth.clone();
        changed["id"] = json!(2);
        changed["address"] = json!("198.51.100.2");
        changed["wanted"] = json!("10.0.0.8");
        changed["token"] = json!("abd");
        changed["label"] = json!("edge");
        assert_eq!(
            differences(&mut bindings, "/v4/vpcs/57", recorded, changed),
            [
                "body.id",
                "body.label",
                "body.address",
                "body.wanted",
                "body.token"
            ]
        );
    }

    #[test]
    fn missing_and_additional_fields_types_and_lengths_are_differences() {
        let mut bindings = Bindings::default();
        let recorded = json!({"a": 1, "b": null, "c": [1, 2], "d": "x", "e": 1});
        let garth = json!({"b": 0, "c": [1, 3, 4], "d": "x", "e": 1.0, "f": true});
        assert_eq!(
            differences(&mut bindings, "/v4/x", recorded, garth),
            ["body.a", "body.b", "body.c.1", "body.c.length", "body.f"]
        );
    }

    #[test]
    fn items_of_a_list_are_compared_by_id() {
        let mut bindings = Bindings::default();
        bindings.bind_id("vpc", 57, 1);
        bindings.bind_id("vpc", 58, 2);
        let list = |items: &[(i64, &str)]| {
            let data: Vec<_> = items
                .iter()
                .map(|(id, label)| json!({"id": id, "label": label}))
                .collect();
            json!({"results": items.len(), "data": data})
        };
        let mut compared = |recorded: &[(i64, &str)], garth: &[(i64, &str)]| {
            differences(&mut bindings, "/v4/vpcs", list(recorded), list(garth))
        };
        let recorded = [(57, "a"), (58, "b")];
        assert_eq!(compared(&recorded, &[(1, "a"), (2, "b")]), [""; 0]);
        assert_eq!(compared(&recorded, &[(1, "a"), (2, "c")]), ["body.data.1.label"]);
        assert_eq!(compared(&recorded, &[(2, "b"), (1, "a")]), ["body.data.order"]);
        assert_eq!(compared(&recorded, &[(1, "a")]), ["body.data.1", "body.results"]);
        assert_eq!(
            compared(&recorded[..1], &[(1, "a"), (2, "b")]),
            ["body.data.1", "body.results"]
        );
        let before = "1 item of the list was not created in this recording";
        assert_eq!(
            compared(&[(9, "old"), (57, "a"), (58, "b")], &[(1, "a"), (2, "b")]),
            [before]
        );
        assert_eq!(
            compared(&recorded, &[(1, "a"), (2, "b"), (3, "c")]),
            ["body.data.length", "body.results"]
        );
    }

    #[test]
    fn secrets_of_garth_are_not_in_the_report() {
        let mut bindings = Bindings::default();
        let garth = response(json!({"token": "abcdef", "nested": {"secret": "ghijkl"}}));
        let outcome = compare(
            "/v4/x",
            &response(json!({"token": null})),
            &garth,
            &mut bindings,
            &IgnoredFields::default(),
        );
        let shown = format!("{outcome:?}");
        assert!(
            shown.contains("body.token") && shown.contains("body.nested"),
            "{shown}"
        );
        assert!(!shown.contains("abcdef") && !shown.contains("ghijkl"), "{shown}");
    }

    #[test]
    fn an_error_in_place_of_an_object_is_one_difference() {
        let mut garth = response(json!({"errors": [{"reason": "no"}]}));
        garth.status = 400;
        let recorded = response(json!({"id": 1}));
        let outcome = compare(
            "/v4/vpcs",
            &recorded,
            &garth,
            &mut Bindings::default(),
            &IgnoredFields::default(),
        );
        let Outcome::Different { differences } = outcome else {
            panic!("{outcome:?}");
        };
        let paths: Vec<_> = differences.iter().map(|found| found.path.as_str()).collect();
        assert_eq!(paths, ["status", "body"]);
    }
}
