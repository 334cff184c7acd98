//! Schemas: their fields and types, and the schemas that each page contains.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use maud::{Markup, html};
use serde_json::Value;

use super::document::{
    DOCUMENT, DocumentedOperation, SECTIONS, Section, entries, list, plain, resolve, text,
};
use super::paragraphs::paragraphs;

/// The URL of each schema: on the page of the first section that contains it.
pub static SCHEMA_URLS: LazyLock<BTreeMap<&'static str, String>> = LazyLock::new(|| {
    let mut urls = BTreeMap::new();
    for section in SECTIONS.iter() {
        for name in schemas_of(section) {
            let url = format!("{}#schema-{name}", section.url());
            urls.entry(name).or_insert(url);
        }
    }
    // The other schemas are bodies, which the page shows with their operation.
    for section in SECTIONS.iter() {
        for operation in &section.operations {
            for name in operation
                .bodies()
                .filter_map(|(_, media)| name_of(&media["schema"]))
            {
                let url = format!("{}#{}", section.url(), operation.id);
                urls.entry(name).or_insert(url);
            }
        }
    }
    for name in error_schemas() {
        let url = format!("/docs/errors#schema-{name}");
        urls.entry(name).or_insert(url);
    }
    urls
});

/// The named schemas that a page contains: those of responses and parameters, those of the fields of bodies, and all
/// schemas to which these refer.
pub fn schemas_of(section: &Section) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for operation in &section.operations {
        for schema in shown_schemas(operation) {
            add_references(schema, &mut found);
        }
    }
    found
}

/// The schemas of errors, which are on the page of the error codes: all schemas that no section contains.
pub fn error_schemas() -> BTreeSet<&'static str> {
    let mut known: BTreeSet<&str> = SECTIONS.iter().flat_map(schemas_of).collect();
    let operations = SECTIONS.iter().flat_map(|section| &section.operations);
    for operation in operations {
        let bodies = operation.bodies();
        known.extend(bodies.filter_map(|(_, media)| name_of(&media["schema"])));
    }
    let mut found = BTreeSet::new();
    for (name, schema) in entries(&DOCUMENT["components"]["schemas"]) {
        if !known.contains(name) {
            found.insert(name);
            add_references(schema, &mut found);
        }
    }
    found
}

/// The schemas that an operation refers to, and the fields of its bodies.
fn shown_schemas(operation: &DocumentedOperation) -> Vec<&'static Value> {
    let media = operation.responses().flat_map(|(status, response)| {
        let is_success = status.starts_with('2');
        entries(&response["content"]).filter(move |_| is_success)
    });
    let parameters = operation.parameters.iter().map(|parameter| &parameter["schema"]);
    let bodies = operation.bodies().map(|(_, media)| resolve(&media["schema"]));
    let responses = media.map(|(_, media)| &media["schema"]);
    responses.chain(parameters).chain(bodies).collect()
}

fn add_references(value: &'static Value, found: &mut BTreeSet<&'static str>) {
    match value {
        Value::Object(fields) => {
            if let Some(name) = name_of(value)
                && found.insert(name)
            {
                add_references(resolve(value), found);
            }
            for (_, field) in fields {
                add_references(field, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_references(item, found)),
        _ => {}
    }
}

/// The name of a schema, if the value is a reference to it.
pub fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/components/schemas/")
}

pub fn render_schemas(names: BTreeSet<&'static str>) -> Markup {
    html! {
        @if !names.is_empty() {
            section #schemas {
                h2 { "Schemas" }
                @for name in names {
                    @let schema = &DOCUMENT["components"]["schemas"][name];
                    article .schema id={ "schema-" (name) } {
                        h3 { code { (name) } }
                        (paragraphs(text(&schema["description"])))
                        @let limits = limits(schema);
                        @if !limits.is_empty() || !schema["properties"].is_object() {
                            p { (kind_of(schema)) @if !limits.is_empty() { ". " (limits) } }
                        }
                        (render_fields(schema))
                    }
                }
            }
        }
    }
}

/// The fields of a schema as a table.
pub fn render_fields(schema: &'static Value) -> Markup {
    html! {
        @if schema["properties"].is_object() {
            table {
                thead { tr { th scope="col" { "Field" } th scope="col" { "Type" } th scope="col" { "Description" } } }
                tbody { (field_rows(schema, "")) }
            }
        }
    }
}

/// A row for each field, followed by the rows of its nested fields.
fn field_rows(schema: &'static Value, prefix: &str) -> Markup {
    let required: Vec<_> = list(&schema["required"]).iter().map(text).collect();
    html! {
        @for (name, field) in entries(&schema["properties"]) {
            tr {
                th scope="row" {
                    code { (prefix) (name) }
                    @if required.contains(&name) { " " span .required { "required" } }
                }
                td { (kind_of(field)) }
                td { (text(&field["description"])) " " (limits(field)) }
            }
            (field_rows(field, &format!("{prefix}{name}.")))
            (field_rows(&field["items"], &format!("{prefix}{name}[].")))
        }
    }
}

/// The names of all fields of a schema, with their descriptions.
pub fn field_names(schema: &'static Value, prefix: &str) -> Vec<(String, &'static str)> {
    let mut names = Vec::new();
    for (name, field) in entries(&schema["properties"]) {
        names.push((format!("{prefix}{name}"), text(&field["description"])));
        names.extend(field_names(field, &format!("{prefix}{name}.")));
        names.extend(field_names(&field["items"], &format!("{prefix}{name}[].")));
    }
    names
}

/// The limits of a value, in addition to its type.
pub fn limits(schema: &Value) -> String {
    let number = |key: &str| schema[key].as_i64();
    let mut limits = Vec::new();
    match (number("minLength"), number("maxLength")) {
        (Some(min), Some(max)) => limits.push(format!("{min} to {max} characters.")),
        (None, Some(max)) => limits.push(format!("At most {max} characters.")),
        (Some(1), None) => limits.push("Not empty.".to_owned()),
        (Some(min), None) => limits.push(format!("At least {min} characters.")),
        (None, None) => {}
    }
    match (number("minimum"), number("maximum")) {
        (Some(min), Some(max)) => limits.push(format!("{min} to {max}.")),
        (Some(min), None) => limits.push(format!("At least {min}.")),
        (None, Some(max)) => limits.push(format!("At most {max}.")),
        (None, None) => {}
    }
    let values: Vec<String> = list(&schema["enum"]).iter().map(displayed).collect();
    if !values.is_empty() {
        limits.push(format!("One of: {}.", values.join(", ")));
    }
    if !schema["const"].is_null() {
        limits.push(format!("Always {}.", displayed(&schema["const"])));
    }
    if !schema["default"].is_null() {
        limits.push(format!("Default: {}.", schema["default"]));
    }
    limits.join(" ")
}

fn displayed(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::Null => "null".to_owned(),
        other => plain(other),
    }
}

pub fn kind_of(schema: &Value) -> Markup {
    if let Some(name) = name_of(schema) {
        return html! { a href={ "#schema-" (name) } { (name) } };
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
