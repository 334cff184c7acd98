//! A recorded request with the values of Garth in place of those of the recorded service.

use serde_json::{Map, Value};

use super::bindings::Bindings;
use super::kinds;
use super::path_segment::{decoded, encoded};
use super::placeholder;
use super::recording::{Exchange, RecordedBody, RecordedResponse};

/// A request that can be sent to Garth.
pub struct PreparedRequest {
    pub method: String,
    /// The path with its query.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// The state of a preparation.
struct Preparation<'a> {
    bindings: &'a mut Bindings,
    /// Whether the recorded service accepted the request, so that all objects in it existed.
    is_accepted: bool,
    request_kind: String,
}

/// Replaces the values of a recorded request. The error says why the request cannot be sent.
pub fn prepare(
    exchange: &Exchange,
    response: &RecordedResponse,
    token: &str,
    bindings: &mut Bindings,
) -> Result<PreparedRequest, String> {
    let request = &exchange.request;
    let mut preparation = Preparation {
        is_accepted: response.status < 400,
        request_kind: kinds::of_path(&request.path),
        bindings,
    };
    // The texts of the body are known as sent, even if the request is not.
    let body = preparation.body(request.body.as_ref());
    let target = preparation.target(&request.path, request.query.as_deref())?;
    let mut headers = Vec::new();
    for (name, value) in &request.headers {
        let value = match name.as_str() {
            "authorization" => preparation.authorization(value, response.status, token)?,
            "if-match" | "if-none-match" => preparation.entity_tag(value)?,
            "x-filter" => preparation.filter(value)?,
            _ => preparation.bindings.reveal(value),
        };
        headers.push((name.clone(), value));
    }
    Ok(PreparedRequest {
        method: request.method.clone(),
        target,
        headers,
        body: body?,
    })
}

impl Preparation<'_> {
    fn target(&mut self, path: &str, query: Option<&str>) -> Result<String, String> {
        let path = self.path(path)?;
        Ok(match query {
            Some(query) => format!("{path}?{}", self.query(query)),
            None => path,
        })
    }

    fn path(&mut self, path: &str) -> Result<String, String> {
        let mut previous = "";
        let mut segments = Vec::new();
        for segment in path.split('/') {
            segments.push(match kinds::of_segment(previous, segment) {
                Some((kind, id)) => self.id(&kind, id)?.to_string(),
                None => self.segment(segment),
            });
            previous = segment;
        }
        Ok(segments.join("/"))
    }

    fn segment(&mut self, segment: &str) -> String {
        let recorded = decoded(segment);
        let mapped = self.text(&recorded);
        match mapped == recorded {
            true => segment.to_owned(),
            false => encoded(&mapped),
        }
    }

    fn query(&mut self, query: &str) -> String {
        let recorded: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let pairs = self.pairs(&recorded);
        match pairs == recorded {
            true => query.to_owned(),
            false => form_urlencoded::Serializer::new(String::new())
                .extend_pairs(pairs)
                .finish(),
        }
    }

    fn pairs(&mut self, pairs: &[(String, String)]) -> Vec<(String, String)> {
        let mapped = pairs.iter().map(|(name, value)| (name.clone(), self.text(value)));
        mapped.collect()
    }

    fn text(&mut self, recorded: &str) -> String {
        match self.bindings.text(recorded) {
            Some(bound) => bound.to_owned(),
            None => self.bindings.reveal(recorded),
        }
    }

    /// The ID of Garth for an ID of the recording.
    fn id(&self, kind: &str, recorded: i64) -> Result<i64, String> {
        if let Some(bound) = self.bindings.id(kind, recorded) {
            return Ok(bound);
        }
        if let Some(sequence) = self.bindings.lost(kind, recorded) {
            return Err(format!("{kind} {recorded} depends on exchange {sequence}"));
        }
        match self.is_accepted {
            true => Err(format!("{kind} {recorded} was not created in this recording")),
            false => Ok(self.bindings.unknown_id(kind, recorded)),
        }
    }

    /// The first token of the recording corresponds to the token of the replay.
    fn authorization(&mut self, value: &str, status: u16, token: &str) -> Result<String, String> {
        let Some((scheme, placeholder, _)) = placeholder::find(value) else {
            return Ok(value.to_owned());
        };
        let is_bearer = scheme.trim_end().eq_ignore_ascii_case("bearer");
        // The recorded service refused the token, so the request needs a token that Garth refuses.
        let is_refused = status == 401;
        if self.bindings.secret(placeholder).is_none() && !is_refused {
            if !is_bearer {
                return Err("the secret of the client is not in the recording".to_owned());
            }
            if self.bindings.has_first_token() {
                return Err("the request has a token that was not created in this recording".to_owned());
            }
            self.bindings.bind_first_token(placeholder, token);
        }
        Ok(self.bindings.reveal(value))
    }

    fn entity_tag(&self, value: &str) -> Result<String, String> {
        match self.bindings.text(value) {
            Some(bound) => Ok(bound.to_owned()),
            None if value == "*" || !self.is_accepted => Ok(value.to_owned()),
            None => Err(format!("the ETag {value} is not from this recording")),
        }
    }

    fn filter(&mut self, value: &str) -> Result<String, String> {
        let Ok(mut filter) = serde_json::from_str::<Value>(value) else {
            return Ok(value.to_owned());
        };
        let recorded = filter.clone();
        self.json(&mut filter)?;
        Ok(match filter == recorded {
            true => value.to_owned(),
            false => filter.to_string(),
        })
    }

    fn body(&mut self, body: Option<&RecordedBody>) -> Result<Vec<u8>, String> {
        match body {
            None => Ok(Vec::new()),
            Some(RecordedBody::Json(recorded)) => {
                let mut value = recorded.clone();
                self.add_sent(recorded);
                self.json(&mut value)?;
                Ok(value.to_string().into_bytes())
            }
            Some(RecordedBody::Form(pairs)) => {
                for (_, value) in pairs {
                    self.bindings.add_sent(value);
                }
                let pairs = self.pairs(pairs);
                let form = form_urlencoded::Serializer::new(String::new())
                    .extend_pairs(pairs)
                    .finish();
                Ok(form.into_bytes())
            }
            Some(RecordedBody::Text(text)) => Ok(self.bindings.reveal(text).into_bytes()),
            Some(RecordedBody::Multipart(_)) => {
                Err("the content of the file is not in the recording".to_owned())
            }
            Some(RecordedBody::Bytes { .. } | RecordedBody::EventStream) => {
                Err("the body of the request is not in the recording".to_owned())
            }
        }
    }

    fn add_sent(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.bindings.add_sent(text),
            Value::Array(items) => items.iter().for_each(|item| self.add_sent(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.add_sent(field)),
            _ => {}
        }
    }

    fn json(&mut self, value: &mut Value) -> Result<(), String> {
        self.field(value, None, &mut vec!["body".to_owned()])
    }

    fn field(
        &mut self,
        value: &mut Value,
        parent: Option<&Map<String, Value>>,
        path: &mut Vec<String>,
    ) -> Result<(), String> {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Number(number) => {
                let kind = kinds::of_field(&self.request_kind, path, parent);
                if let (Some(kind), Some(id)) = (kind, number.as_i64()) {
                    *value = self.id(&kind, id)?.into();
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    path.push(index.to_string());
                    self.field(item, None, path)?;
                    path.pop();
                }
            }
            Value::Object(fields) => {
                let recorded = fields.clone();
                for (name, field) in fields.iter_mut() {
                    path.push(name.clone());
                    self.field(field, Some(&recorded), path)?;
                    path.pop();
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(status: u16, path: &str, authorization: &str, body: Value) -> Exchange {
        let exchange = json!({
            "sequence": 1,
            "request": {
                "method": "PUT", "path": path,
                "headers": {"authorization": format!("Bearer {authorization}")},
                "body": {"json": body},
            },
            "response": {"status": status, "headers": {}, "body": null},
        });
        serde_json::from_value(exchange).expect("an exchange")
    }

    fn prepared(exchange: &Exchange, bindings: &mut Bindings) -> Result<PreparedRequest, String> {
        let response = exchange.response.as_ref().expect("a response");
        prepare(exchange, response, "token", bindings)
    }

    #[test]
    fn bound_values_replace_those_of_the_recording() {
        let mut bindings = Bindings::default();
        bindings.bind_id("vpc", 57, 1);
        bindings.bind_id("subnet", 57, 4);
        bindings.bind_text("192.0.2.7", "198.51.100.2");
        bindings.bind_text("alice", "admin");
        let sent = json!({"subnet_id": 57, "size": 57, "address": "192.0.2.7", "label": "x"});
        let exchange = exchange(200, "/v4/vpcs/57/users/alice", "<secret 1>", sent);
        let request = prepared(&exchange, &mut bindings).expect("a request");
        assert_eq!(request.target, "/v4/vpcs/1/users/admin");
        let expected = json!({"subnet_id": 4, "size": 57, "address": "198.51.100.2", "label": "x"});
        let body: Value = serde_json::from_slice(&request.body).expect("JSON");
        assert_eq!(body, expected);
        assert_eq!(
            request.headers,
            [("authorization".to_owned(), "Bearer token".to_owned())]
        );
        assert!(bindings.is_sent("192.0.2.7"));
    }

    #[test]
    fn requests_that_need_other_objects_or_tokens_are_not_sent() {
        let mut bindings = Bindings::default();
        bindings.lose("subnet".to_owned(), 9, 3);
        let mut reason = |status, path: &str, token: &str, body: Value| {
            let prepared = prepared(&exchange(status, path, token, body), &mut bindings);
            prepared.err().unwrap_or_default()
        };
        let unknown = "vpc 5 was not created in this recording";
        assert_eq!(reason(200, "/v4/vpcs/5", "<secret 1>", json!({})), unknown);
        assert_eq!(reason(200, "/v4/x", "<secret 1>", json!({"vpc_id": 5})), unknown);
        assert_eq!(reason(404, "/v4/vpcs/5", "<secret 1>", json!({})), "");
        assert_eq!(
            reason(404, "/v4/vpcs/5/subnets/9", "<secret 1>", json!({})),
            "subnet 9 depends on exchange 3"
        );
        assert_eq!(
            reason(200, "/v4/vpcs", "<secret 2>", json!({})),
            "the request has a token that was not created in this recording"
        );
        assert_eq!(reason(401, "/v4/vpcs", "<secret 3>", json!({})), "");
    }
}
