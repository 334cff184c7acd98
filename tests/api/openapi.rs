//! Validates responses against `openapi.yaml`: status, headers and body.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use garth::api::operations::OPERATIONS;
use garth::console::PAGES;
use garth::web::operation::{Base, Operation};
use hyper::Method;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::harness::Reply;

pub static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(garth::api::openapi_json()).expect("JSON"));

/// Panics if a response does not match the document.
pub fn validate(method: &Method, path: &str, sent: &[u8], reply: &Reply) {
    if is_page(path) {
        return assert_not_json(method, path, reply);
    }
    let Some(operation) = operation_of(method, path) else {
        return assert_error_format(method, path, reply);
    };
    let status = reply.status.as_str();
    let documented = &documented(operation)["responses"];
    let response = resolve(
        documented
            .get(status)
            .unwrap_or_else(|| panic!("{}: the status {status} is not documented: {reply}", operation.id)),
    );
    for (name, header) in response["headers"].as_object().into_iter().flatten() {
        let header = resolve(header);
        let required = header["required"].as_bool().unwrap_or(false);
        match reply.headers.get(name.as_str()) {
            None => assert!(!required, "{} {status}: no header {name}", operation.id),
            Some(value) => {
                let text = value.to_str().expect("plain text");
                let value = match header["schema"]["type"].as_str() {
                    Some("integer") => json!(text.parse::<i64>().expect("an integer header")),
                    _ => json!(text),
                };
                let place = format!("{} {status} header {name}", operation.id);
                check(&place, &header["schema"], &value);
            }
        }
    }
    let kind = reply
        .header("content-type")
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    match response["content"].as_object() {
        _ if *method == Method::HEAD => {}
        None => assert!(
            reply.body.is_empty(),
            "{} {status}: a body is not documented",
            operation.id
        ),
        Some(content) => {
            let media = content.get(kind).unwrap_or_else(|| {
                panic!(
                    "{} {status}: the content type {kind:?} is not documented",
                    operation.id
                )
            });
            if kind == "application/json" {
                assert_eq!(reply.header("content-type"), "application/json");
                check(
                    &format!("{} {status}", operation.id),
                    &media["schema"],
                    &reply.json(),
                );
            }
        }
    }
    if reply.status == 200 && !sent.is_empty() {
        let body = resolve(&documented_body(operation)).clone();
        if let Some(media) = body["content"].get("application/json") {
            let sent = serde_json::from_slice(sent).expect("an accepted body is JSON");
            check(&format!("{} request", operation.id), &media["schema"], &sent);
        }
    }
}

/// Whether the path is a page of the console. The document does not describe these pages.
fn is_page(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    path.strip_prefix('/')
        .filter(|root| root.starts_with('/'))
        .is_some_and(|root| PAGES.iter().any(|page| matches(page.path, root)))
}

/// Asserts that a page is not JSON. Only errors about methods and files to download are JSON.
fn assert_not_json(method: &Method, path: &str, reply: &Reply) {
    let json = reply.header("content-type") == "application/json";
    let is_file = reply.headers.contains_key("content-disposition");
    let allowed = reply.status == 405 || *method == Method::OPTIONS || is_file;
    assert!(!json || allowed, "{method} {path} is a page but gave {reply}");
}

fn documented_body(operation: &Operation) -> Value {
    documented(operation)["requestBody"].clone()
}

/// The document's description of an operation.
pub fn documented(operation: &Operation) -> &'static Value {
    &DOCUMENT["paths"][operation.path][operation.method.as_str().to_lowercase()]
}

fn assert_error_format(method: &Method, path: &str, reply: &Reply) {
    if *method == Method::HEAD || *method == Method::OPTIONS {
        return;
    }
    assert!(
        reply.status.is_client_error(),
        "{method} {path} is unknown but gave {reply}"
    );
    if path.starts_with("//") && reply.header("content-type").starts_with("text/html") {
        // Browsers get a page.
        return;
    }
    check(
        "an unknown path",
        &json!({"$ref": "#/components/schemas/Errors"}),
        &reply.json(),
    );
}

/// The operation of a request, according to the table of operations.
fn operation_of(method: &Method, path: &str) -> Option<&'static Operation> {
    let method = if *method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    let path = path.split('?').next().unwrap_or_default();
    let root = path.strip_prefix("//").map(|path| match path {
        "v4beta" => "/v4".to_owned(),
        path => format!("/{path}"),
    });
    let path = path
        .strip_prefix("/v4beta")
        .or_else(|| path.strip_prefix("/v4"))
        .unwrap_or(path);
    let (base, path) = match &root {
        Some(path) => (Base::Root, path.as_str()),
        None => (Base::Versioned, path),
    };
    let path = path
        .strip_suffix('/')
        .filter(|rest| !rest.is_empty())
        .unwrap_or(path);
    let path = path
        .strip_prefix("/networking/vpcs/ips")
        .map_or(path.to_owned(), |rest| format!("/vpcs/ips{rest}"));
    let path = path
        .strip_prefix("/linode")
        .map_or(path.clone(), |rest| format!("/compute{rest}"));
    let with_slash = ["/images/", "/compute/kernels/"];
    let item = with_slash
        .iter()
        .find_map(|list| Some(format!("{list}{}", path.strip_prefix(list)?.replace('/', "%2F"))));
    let path = item.unwrap_or(path);
    let path = path.as_str();
    let literal = |operation: &&Operation| {
        operation.method == *method && operation.base == base && operation.path == path
    };
    let similar = |operation: &&Operation| {
        operation.method == *method && operation.base == base && matches(operation.path, path)
    };
    OPERATIONS
        .iter()
        .find(literal)
        .or_else(|| OPERATIONS.iter().find(similar))
}

fn matches(template: &str, path: &str) -> bool {
    let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
    let same =
        |(expected, is): (&&str, &&str)| expected == is || (expected.starts_with('{') && !is.is_empty());
    template.len() == path.len() && template.iter().zip(&path).all(same)
}

fn resolve(value: &Value) -> &Value {
    let pointer = value["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    match pointer {
        Some(pointer) => DOCUMENT
            .pointer(pointer)
            .unwrap_or_else(|| panic!("no {pointer} in the document")),
        None => value,
    }
}

fn check(place: &str, schema: &Value, value: &Value) {
    if schema.is_null() {
        return;
    }
    let validator = validator(schema);
    let errors: Vec<_> = validator
        .iter_errors(value)
        .map(|error| error.to_string())
        .collect();
    assert!(
        errors.is_empty(),
        "{place} breaks its promise: {}\n{value:#}",
        errors.join("; ")
    );
}

fn validator(schema: &Value) -> Arc<Validator> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().expect("no test panics while it holds this");
    let make = || {
        // References are relative to the root of the document, so the schema is placed next to its components.
        let whole = json!({"allOf": [schema], "components": DOCUMENT["components"]});
        Arc::new(jsonschema::validator_for(&whole).expect("a schema of the document is valid"))
    };
    known.entry(schema.to_string()).or_insert_with(make).clone()
}
