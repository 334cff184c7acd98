//! The response to a request of a test.

use std::fmt;

use hyper::body::Bytes;
use hyper::{HeaderMap, StatusCode};
use serde_json::Value;

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
