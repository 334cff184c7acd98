//! The most expensive bodies and filters within the limits, for each operation, compared with ordinary requests of the
//! same size.

use std::collections::BTreeMap;
use std::io;

use serde_json::{Map, Value, json};

use super::meter::Meter;
use super::stalled_clients::large_vpc;
use crate::client::Client;
use crate::harness::{Folder, Server};

/// Maximum cost, relative to an ordinary request with the same size and number of values. It is above 1, because
/// listing a hundred errors, or comparing a thousand values with stored values, is more work than reading them.
const MAX_RATIO: f64 = 12.0;
/// The maximum number of items, and a large number of characters.
const ITEMS: usize = 1_000;
const LONG_TEXT_LENGTH: usize = 200_000;
/// Bodies whose sizes and numbers of values differ by less than this have the same ordinary cost.
const SIZE_STEP: usize = 4096;
const VALUE_STEP: usize = 500;

#[test]
fn cost_of_a_body_is_proportional_to_its_size() {
    let folder = Folder::new("attack-cost");
    let (server, meter) = Meter::start(&folder);
    let (mut tenant, staff_token) = prepare(&folder, &server);
    let openapi = tenant.get("/openapi.json").ok();
    let mut failures = Vec::new();
    let mut count = 0;
    for operation in operations(&openapi) {
        // With Callgrind, requests are so slow that the server would close an idle connection.
        let client = &mut match operation.path.starts_with("/v4/desk") {
            true => server.client_with(&staff_token),
            false => server.client(),
        };
        let mut ordinary_costs = BTreeMap::new();
        for (name, body) in worst_bodies(&operation.fields) {
            let cost = compare(&meter, client, &operation, &body, &mut ordinary_costs);
            count += 1;
            if let Some((worst, ordinary)) = cost {
                let (method, path, unit) = (&operation.method, &operation.path, meter.unit());
                failures.push(format!(
                    "{method} {path}, {name}: {worst} {unit}, ordinary {ordinary}"
                ));
            }
        }
    }
    assert!(count > 150, "only {count} bodies were tried");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn cost_of_a_filter_is_proportional_to_its_size() {
    let folder = Folder::new("attack-filters");
    let (server, meter) = Meter::start(&folder);
    let (mut tenant, _) = prepare(&folder, &server);
    let values: Vec<_> = (0..250).map(|at| format!("value-{at}")).collect();
    let ordinary = json!({"label": {"+or": values}}).to_string();
    let mut failures = Vec::new();
    for (what, filter) in worst_filters() {
        for path in [
            "/v4/vpcs",
            "/v4/vpcs/1/subnets",
            "/v4/account/events",
            "/v4/support/tickets",
        ] {
            let name = if path.contains("tickets") {
                "summary"
            } else {
                "label"
            };
            let name = if path.contains("events") { "action" } else { name };
            let with_field = |filter: &str| filter.replace("label", name);
            let mut cost = |filter: &str| {
                let head = tenant.head("GET", path, &format!("x-filter: {filter}\r\n"));
                meter.cost_of(|| tenant.try_send_head("GET", &head).map(drop))
            };
            let (worst, plain) = (cost(&with_field(&filter)), cost(&with_field(&ordinary)));
            if is_too_expensive(&meter, worst, plain) {
                let unit = meter.unit();
                failures.push(format!("{path}, {what}: {worst} {unit}, ordinary {plain}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Creates one object of each kind, with the ID 1, so that bodies are validated. Returns a client of the tenant, and the
/// token of a member of staff.
fn prepare(folder: &Folder, server: &Server) -> (Client, String) {
    folder.run("user create --account 1 --username weak --email weak@example.com --restricted");
    folder.run("user create --staff --username grace --email grace@example.com");
    let mut tenant = server.client();
    tenant.post("/v4/vpcs", large_vpc("core", 500)).ok();
    let instance = json!({"label": "web", "region": "us-east", "type": "g6-nanode-1",
        "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
    tenant.post("/v4/linode/instances", instance).ok();
    tenant
        .post("/v4/support/tickets", json!({"summary": "a", "description": "b"}))
        .ok();
    let staff_token = folder.create_token("grace").1;
    server
        .client_with(&staff_token)
        .post(
            "/v4/desk/canned-replies",
            json!({"label": "hello", "description": "Hello"}),
        )
        .ok();
    (tenant, staff_token)
}

struct Operation {
    method: String,
    path: String,
    fields: Vec<String>,
}

/// The operations with JSON bodies, and the names of their fields at any depth.
fn operations(openapi: &Value) -> Vec<Operation> {
    let mut found = Vec::new();
    for (path, methods) in openapi["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            if schema.is_null() {
                continue;
            }
            let mut fields = Vec::new();
            collect_fields(openapi, schema, 0, &mut fields);
            let path: Vec<_> = path
                .split('/')
                .map(|part| match part {
                    "{username}" => "weak",
                    part if part.starts_with('{') => "1",
                    part => part,
                })
                .collect();
            found.push(Operation {
                method: method.to_uppercase(),
                path: format!("/v4{}", path.join("/")),
                fields,
            });
        }
    }
    found
}

fn collect_fields(openapi: &Value, schema: &Value, depth: usize, fields: &mut Vec<String>) {
    if depth > 6 {
        return;
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return collect_fields(
            openapi,
            &openapi["components"]["schemas"][name],
            depth + 1,
            fields,
        );
    }
    for (name, inner) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        if !fields.contains(name) {
            fields.push(name.clone());
        }
        collect_fields(openapi, inner, depth + 1, fields);
    }
    collect_nested_fields(openapi, schema, depth, fields);
}

fn collect_nested_fields(openapi: &Value, schema: &Value, depth: usize, fields: &mut Vec<String>) {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for inner in schema[keyword].as_array().unwrap_or(&Vec::new()) {
            collect_fields(openapi, inner, depth + 1, fields);
        }
    }
    if !schema["items"].is_null() {
        collect_fields(openapi, &schema["items"], depth + 1, fields);
    }
}

/// Bodies with long invalid values in every field.
fn worst_bodies(fields: &[String]) -> Vec<(String, Value)> {
    let in_all_fields = |value: Value| -> Value {
        fields
            .iter()
            .map(|name| (name.clone(), value.clone()))
            .collect::<Map<_, _>>()
            .into()
    };
    let full = json!({"id": 1, "label": "same", "ipv4": "10.0.0.0/24", "purpose": "vpc", "subnet_id": 1, "permissions": "x"});
    let many = ITEMS.min(9_000 / (7 * fields.len().max(1)));
    let mut bodies = vec![
        (
            "all fields as long lists of numbers".to_owned(),
            in_all_fields(json!(vec![1; ITEMS.min(9_000 / fields.len().max(1))])),
        ),
        (
            "all fields as lists of objects".to_owned(),
            in_all_fields(json!(vec![full.clone(); many])),
        ),
        ("all fields as objects".to_owned(), in_all_fields(full.clone())),
    ];
    let keys: Map<_, _> = (0..9_000).map(|at| (format!("key-{at}"), json!(1))).collect();
    bodies.push(("nine thousand unknown keys".to_owned(), keys.into()));
    let share = LONG_TEXT_LENGTH / fields.len().max(1);
    bodies.push((
        "all fields as long texts".to_owned(),
        in_all_fields(json!("\u{e9}\u{1}".repeat(share / 8))),
    ));
    bodies.push((
        "all fields as texts of many words".to_owned(),
        in_all_fields(json!("a:b, ".repeat(share / 5))),
    ));
    for name in fields {
        bodies.push((
            format!("{name} as a list of texts"),
            json!({name.as_str(): vec!["10.0.0.0/33"; ITEMS]}),
        ));
        bodies.push((
            format!("{name} as a list of objects"),
            json!({name.as_str(): vec![full.clone(); ITEMS]}),
        ));
    }
    bodies
}

fn worst_filters() -> Vec<(&'static str, String)> {
    let contains = |at: usize| json!({"label": {"+contains": format!("{}{at}", "a".repeat(20))}});
    let any: Vec<_> = (0..250).map(contains).collect();
    let mut deep = json!({"label": "x"});
    for _ in 0..14 {
        deep = json!({"+or": [deep, {"label": {"+contains": "%_%_%_%_"}}]});
    }
    vec![
        (
            "250 parts of a text",
            json!({"+or": any, "+order_by": "label"}).to_string(),
        ),
        ("deeply nested", deep.to_string()),
        (
            "a pattern of wildcards",
            json!({"label": {"+contains": "%a".repeat(1_000)}}).to_string(),
        ),
    ]
}

/// The costs of the worst and the ordinary request, if their ratio is too high. Ordinary bodies of about the
/// same size are measured once for each operation.
fn compare(
    meter: &Meter,
    client: &mut Client,
    operation: &Operation,
    worst: &Value,
    ordinary_costs: &mut BTreeMap<(usize, usize), u64>,
) -> Option<(u64, u64)> {
    let mut cost_of = |body: &str| meter.cost_of(|| send(client, operation, body));
    let (worst, values) = (worst.to_string(), count_values(worst));
    let ordinary = ordinary_body(worst.len(), values);
    let ordinary_cost = *ordinary_costs
        .entry((worst.len() / SIZE_STEP, values / VALUE_STEP))
        .or_insert_with(|| cost_of(&ordinary));
    let worst_cost = cost_of(&worst);
    if !is_too_expensive(meter, worst_cost, ordinary_cost) {
        return None;
    }
    // Another process may have disturbed the measurement.
    let again = (
        cost_of(&worst).min(worst_cost),
        cost_of(&ordinary).max(ordinary_cost),
    );
    is_too_expensive(meter, again.0, again.1).then_some(again)
}

fn count_values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_values).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(count_values).sum::<usize>(),
        _ => 1,
    }
}

/// A body with short texts in an unknown field, of about this length and with about this number of values.
fn ordinary_body(length: usize, values: usize) -> String {
    let texts = values.max(1);
    // Each text has two quotation marks and a comma.
    let text = "x".repeat((length / texts).saturating_sub(3));
    let lists: Vec<_> = (0..texts)
        .step_by(ITEMS)
        .map(|first| vec![text.as_str(); ITEMS.min(texts - first)])
        .collect();
    json!({ "x": lists }).to_string()
}

fn send(client: &mut Client, operation: &Operation, body: &str) -> io::Result<()> {
    let (method, path) = (&operation.method, &operation.path);
    let reply = client
        .try_send_bytes(method, path, "application/json", body.as_bytes())
        .unwrap_or_else(|cause| panic!("{method} {path} with {} bytes: {cause}", body.len()));
    assert_ne!(reply.status, 500, "{method} {path}: {}", reply.text());
    Ok(())
}

fn is_too_expensive(meter: &Meter, worst: u64, ordinary: u64) -> bool {
    worst > meter.min_cost() && worst as f64 > MAX_RATIO * ordinary as f64
}
