//! Reads the JSON bodies of test control.

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::reason::{Code, Reason};
use crate::rules::error::FieldError;
use crate::rules::{Error, Result};
use crate::web::error;

/// Reads an object. The error describes the accepted fields.
pub fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T> {
    let value = read_json(body)?;
    match value.is_object() {
        true => convert(value),
        false => Err(refuse_body(Code::WrongType, "The body must be an object")),
    }
}

/// Reads a list of objects.
pub fn read_list<T: DeserializeOwned>(body: &Bytes) -> Result<Vec<T>> {
    let value = read_json(body)?;
    match value.as_array() {
        Some(items) if items.iter().all(Value::is_object) => convert(value),
        _ => Err(refuse_body(Code::WrongType, "The body must be a list of objects")),
    }
}

fn read_json(body: &Bytes) -> Result<Value> {
    serde_json::from_slice(body).map_err(|cause| {
        let reason = format!("The body is not valid JSON: {cause}");
        refuse_body(Code::JsonInvalid, reason)
    })
}

fn convert<T: DeserializeOwned>(value: Value) -> Result<T> {
    T::deserialize(&value).map_err(|cause| {
        if let Some(field) = number_outside_64_bits(&value, "") {
            return refuse(field, Code::OutOfRange, "Must be an integer of at most 64 bits");
        }
        let reason = format!(
            "The body is not valid: {}",
            without_type_names(&cause.to_string())
        );
        refuse_body(Code::WrongType, reason)
    })
}

/// The path of the first number that is too large or too small for an integer of 64 bits, such as `[0].action.status`.
fn number_outside_64_bits(value: &Value, path: &str) -> Option<String> {
    match value {
        Value::Number(number) => {
            let is_large = |number: f64| number.abs() >= i64::MAX as f64;
            let is_outside = !number.is_i64() && number.as_f64().is_none_or(is_large);
            is_outside.then(|| path.to_owned())
        }
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| number_outside_64_bits(item, &format!("{path}[{index}]")))
        }
        Value::Object(fields) => fields.iter().find_map(|(name, value)| {
            let path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            number_outside_64_bits(value, &path)
        }),
        _ => None,
    }
}

/// A message of the parser, with the types of JSON in place of those of the program.
fn without_type_names(message: &str) -> String {
    let mut words = Vec::new();
    let mut rest = message.split(' ');
    while let Some(word) = rest.next() {
        words.push(match word {
            "struct" => {
                rest.next();
                "an object"
            }
            "enum" => {
                rest.next();
                "a text"
            }
            "i64" | "u64" => "an integer",
            "f64" => "a number",
            "map" => "object",
            "sequence," => "list,",
            word => word,
        });
    }
    words.join(" ").replace("a object", "an object")
}

fn refuse_body(code: Code, reason: impl Into<String>) -> Error {
    Error::Refused(vec![FieldError::whole(Reason::new(code, reason))])
}

/// The refusal of a field.
pub fn refuse(field: impl Into<String>, code: Code, reason: impl Into<String>) -> Error {
    Error::Refused(vec![FieldError::on(field, Reason::new(code, reason))])
}

/// The middleware that gives the refusals of the router the format of the API: a body that is too long, or a path that
/// is not UTF-8.
pub async fn format_refusals(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let status = response.status();
    let kind = response.headers().get(header::CONTENT_TYPE);
    let is_json = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !status.is_client_error() || is_json {
        return response;
    }
    match status {
        StatusCode::PAYLOAD_TOO_LARGE => error::plain(
            status,
            Code::BodyTooLarge,
            "The request body must be at most 2097152 bytes",
        ),
        _ => error::plain(
            status,
            Code::HttpInvalid,
            "The path or the body of the request is not valid",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::without_type_names;

    #[test]
    fn messages_have_the_types_of_json() {
        for (message, expected) in [
            (
                "invalid type: integer `3`, expected struct Condition",
                "invalid type: integer `3`, expected an object",
            ),
            (
                "invalid type: string \"x\", expected i64",
                "invalid type: string \"x\", expected an integer",
            ),
        ] {
            assert_eq!(without_type_names(message), expected);
        }
    }
}
