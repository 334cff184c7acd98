//! The API reference: `openapi.yaml` as JSON and as an HTML page.
//!
//! The server renders the page from the document. The page has no scripts and no external resources (decision
//! 0012).

use std::sync::LazyLock;

use axum::Extension;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

use crate::web::answer;
use crate::web::response_memory::SharedBody;

const SOURCE: &str = include_str!("../../openapi.yaml");
const STYLE: &str = include_str!("docs.css");
const METHODS: [&str; 4] = ["get", "post", "put", "delete"];

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    serde_saphyr::from_str(SOURCE).expect("a test verifies that openapi.yaml is valid YAML")
});
static JSON: LazyLock<String> =
    LazyLock::new(|| serde_json::to_string_pretty(&*DOCUMENT).expect("JSON values can be serialized"));
static PAGE: LazyLock<String> = LazyLock::new(|| render(&DOCUMENT).into_string());

/// The document as JSON, which `/openapi.json` serves.
pub fn openapi_json() -> &'static str {
    &JSON
}

/// The version of the public API specification that the document follows.
pub fn spec_version() -> &'static str {
    DOCUMENT["info"]["version"].as_str().unwrap_or_default()
}

pub async fn openapi() -> Response {
    let kind = [(header::CONTENT_TYPE, answer::JSON)];
    (Extension(SharedBody), kind, openapi_json()).into_response()
}

pub async fn page() -> Response {
    let policy = HeaderValue::from_static("default-src 'none'; style-src 'self'; img-src 'self'");
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    (
        Extension(SharedBody),
        [
            (header::CONTENT_TYPE, html),
            (header::CONTENT_SECURITY_POLICY, policy),
        ],
        PAGE.as_str(),
    )
        .into_response()
}

pub async fn style() -> Response {
    let css = HeaderValue::from_static("text/css; charset=utf-8");
    ([(header::CONTENT_TYPE, css)], STYLE).into_response()
}

fn render(document: &Value) -> Markup {
    let info = &document["info"];
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (text(&info["title"])) " API reference" }
                link rel="stylesheet" href="/docs/style.css";
            }
            body {
                header {
                    h1 { (text(&info["title"])) " API reference " small { (text(&info["version"])) } }
                    (paragraphs(&info["description"]))
                    p { a href="/openapi.json" { "OpenAPI 3.1 document (JSON)" } }
                }
                nav aria-label="Operations" { (contents(document)) }
                main {
                    @for tag in list(&document["tags"]) { (render_tag(document, tag)) }
                    section {
                        h2 id="shapes" { "Schemas" }
                        @for (name, schema) in entries(&document["components"]["schemas"]) {
                            (render_named_schema(name, schema))
                        }
                    }
                }
            }
        }
    }
}

fn contents(document: &Value) -> Markup {
    html! {
        @for tag in list(&document["tags"]) {
            h2 { (text(&tag["name"])) }
            ul {
                @for (path, method, operation) in operations(document, text(&tag["name"])) {
                    li {
                        a href=(format!("#{}", text(&operation["operationId"]))) {
                            code { (method.to_uppercase()) " " (full_path(document, path)) }
                        }
                    }
                }
            }
        }
        ul { li { a href="#shapes" { "Schemas" } } }
    }
}

fn render_tag(document: &Value, tag: &Value) -> Markup {
    html! {
        section {
            h2 { (text(&tag["name"])) }
            (paragraphs(&tag["description"]))
            @for (path, method, operation) in operations(document, text(&tag["name"])) {
                article id=(text(&operation["operationId"])) {
                    h3 { code { span class="method" { (method.to_uppercase()) } " " (full_path(document, path)) } }
                    p class="summary" { (text(&operation["summary"])) }
                    (paragraphs(&operation["description"]))
                    (render_access(operation))
                    (render_parameters(document, &document["paths"][path], operation))
                    (render_body(document, operation))
                    (render_responses(document, operation))
                }
            }
        }
    }
}

fn render_access(operation: &Value) -> Markup {
    let schemes = list(&operation["security"]).iter().filter_map(Value::as_object);
    let scopes: Vec<&str> = schemes
        .flat_map(|scheme| scheme.values())
        .flat_map(list)
        .map(text)
        .collect();
    let is_public = operation["security"].as_array().is_some_and(Vec::is_empty);
    html! {
        p class="access" {
            @if is_public { "No token required." }
            @else if scopes.is_empty() { "Requires a token with any scope." }
            @else { "Required scope: " code { (scopes.join(" ")) } "." }
            @match operation["x-garth-grant"].as_str() {
                None => {}
                Some("unrestricted") => { " Requires an unrestricted user." }
                Some(grant) => { " Restricted users need the grant " code { (grant) } "." }
            }
        }
    }
}

fn render_parameters(document: &Value, path: &Value, operation: &Value) -> Markup {
    let parameters = list(&path["parameters"])
        .iter()
        .chain(list(&operation["parameters"]));
    let parameters: Vec<_> = parameters.map(|parameter| resolve(document, parameter)).collect();
    html! {
        @if !parameters.is_empty() {
            table {
                thead { tr { th { "Parameter" } th { "Location" } th { "Description" } } }
                tbody {
                    @for parameter in parameters {
                        tr {
                            td { code { (text(&parameter["name"])) } }
                            td { (text(&parameter["in"])) }
                            td { (text(&parameter["description"])) " " (bounds(&parameter["schema"])) }
                        }
                    }
                }
            }
        }
    }
}

fn render_body(document: &Value, operation: &Value) -> Markup {
    let body = resolve(document, &operation["requestBody"]);
    let (kind, media) = match entries(&body["content"]).next() {
        Some(first) => first,
        None => return html! {},
    };
    html! {
        h4 { "Request body " code { (kind) } }
        (render_schema(document, &media["schema"]))
        (render_example(document, media))
    }
}

fn render_responses(document: &Value, operation: &Value) -> Markup {
    html! {
        h4 { "Responses" }
        @for (status, response) in entries(&operation["responses"]) {
            @let response = resolve(document, response);
            details open[status == "200"] {
                summary { code { (status) } " " (text(&response["description"])) }
                @for (_, media) in entries(&response["content"]) {
                    (render_schema(document, &media["schema"]))
                    (render_example(document, media))
                }
            }
        }
    }
}

fn render_example(document: &Value, media: &Value) -> Markup {
    let named = entries(&media["examples"])
        .next()
        .map(|(_, example)| &resolve(document, example)["value"]);
    let example = media.get("example").or(named);
    html! {
        @match example {
            None => {}
            Some(Value::String(example)) => pre { (example) }
            Some(example) => pre { (serde_json::to_string_pretty(example).unwrap_or_default()) }
        }
    }
}

fn render_named_schema(name: &str, schema: &Value) -> Markup {
    html! {
        article id=(format!("shape-{name}")) {
            h3 { code { (name) } }
            (paragraphs(&schema["description"]))
            p { (bounds(schema)) }
            (render_fields(schema))
        }
    }
}

/// A link to a named schema, or the fields of an anonymous schema.
fn render_schema(document: &Value, schema: &Value) -> Markup {
    match schema_name(schema) {
        Some(name) if !document["components"]["schemas"][name].is_null() => html! { p { (kind_of(schema)) } },
        _ => render_fields(schema),
    }
}

fn render_fields(schema: &Value) -> Markup {
    html! {
        @if schema["properties"].is_object() {
            table {
                thead { tr { th { "Field" } th { "Type" } th { "Description" } } }
                tbody { (field_rows(schema, "")) }
            }
        }
    }
}

/// A row for each field, followed by the rows of its nested fields.
fn field_rows(schema: &Value, prefix: &str) -> Markup {
    let required: Vec<_> = list(&schema["required"]).iter().map(text).collect();
    html! {
        @for (name, field) in entries(&schema["properties"]) {
            tr {
                td { code { (prefix) (name) } @if required.contains(&name) { " " span class="required" { "required" } } }
                td { (kind_of(field)) }
                td { (text(&field["description"])) " " (bounds(field)) }
            }
            (field_rows(field, &format!("{prefix}{name}.")))
            (field_rows(&field["items"], &format!("{prefix}{name}[].")))
        }
    }
}

/// Constraints on a value in addition to its type.
fn bounds(schema: &Value) -> String {
    let number = |key: &str| schema[key].as_i64();
    let mut bounds = Vec::new();
    match (number("minLength"), number("maxLength")) {
        (Some(min), Some(max)) => bounds.push(format!("{min} to {max} characters.")),
        (None, Some(max)) => bounds.push(format!("At most {max} characters.")),
        (Some(1), None) => bounds.push("Not empty.".to_owned()),
        (Some(min), None) => bounds.push(format!("At least {min} characters.")),
        (None, None) => {}
    }
    match (number("minimum"), number("maximum")) {
        (Some(min), Some(max)) => bounds.push(format!("{min} to {max}.")),
        (Some(min), None) => bounds.push(format!("At least {min}.")),
        (None, Some(max)) => bounds.push(format!("At most {max}.")),
        (None, None) => {}
    }
    let words: Vec<_> = list(&schema["enum"]).iter().map(text).collect();
    if !words.is_empty() {
        let displayed = |word: &str| {
            if word.is_empty() {
                "empty".to_owned()
            } else {
                word.to_owned()
            }
        };
        let words: Vec<_> = words.iter().map(|word| displayed(word)).collect();
        bounds.push(format!("One of: {}.", words.join(", ")));
    }
    if let Some(constant) = schema["const"].as_str() {
        bounds.push(format!("Always {constant}."));
    }
    if !schema["default"].is_null() {
        bounds.push(format!("Default: {}.", schema["default"]));
    }
    bounds.join(" ")
}

fn kind_of(schema: &Value) -> Markup {
    if let Some(name) = schema_name(schema) {
        return html! { a href=(format!("#shape-{name}")) { code { (name) } } };
    }
    match &schema["type"] {
        Value::String(kind) if kind == "array" => html! { "array of " (kind_of(&schema["items"])) },
        Value::String(kind) => html! { (kind) },
        Value::Array(kinds) => html! { (kinds.iter().map(text).collect::<Vec<_>>().join(" or ")) },
        _ => html! {
            @for (index, choice) in list(&schema["oneOf"]).iter().chain(list(&schema["anyOf"])).enumerate() {
                @if index > 0 { " or " }
                (kind_of(choice))
            }
        },
    }
}

fn schema_name(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The path from the root of the server.
fn full_path(document: &Value, path: &str) -> String {
    let path_server = document["paths"][path]["servers"][0]["url"].as_str();
    let base = path_server.unwrap_or_else(|| text(&document["servers"][0]["url"]));
    format!("{}{path}", base.trim_end_matches('/'))
}

fn operations<'a>(
    document: &'a Value,
    tag: &'a str,
) -> impl Iterator<Item = (&'a str, &'static str, &'a Value)> {
    entries(&document["paths"]).flat_map(move |(path, item)| {
        let operations = METHODS
            .into_iter()
            .filter_map(move |method| Some((path, method, item.get(method)?)));
        operations
            .filter(move |(_, _, operation)| list(&operation["tags"]).iter().any(|name| text(name) == tag))
    })
}

fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let pointer = value["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    pointer
        .and_then(|pointer| document.pointer(pointer))
        .unwrap_or(value)
}

fn paragraphs(value: &Value) -> Markup {
    html! {
        @for paragraph in text(value).split("\n\n").filter(|text| !text.is_empty()) { p { (paragraph) } }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
}
