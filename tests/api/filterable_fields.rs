//! The documentation lists the fields by which each list can be filtered: `openapi.yaml` and `docs/reference.md`.
//!
//! The test filters each list by the documented names, and by the names of the properties of its items.

use std::collections::{BTreeMap, BTreeSet};

use garth::api::operations::OPERATIONS;
use garth::web::operation::{Audience, Operation};
use serde_json::{Value, json};

use crate::harness::{TestApp, User};
use crate::openapi::{DOCUMENT, documented};

type Names = BTreeSet<String>;

/// The lists with items. The lists of products that Garth does not have accept the same fields.
fn lists() -> impl Iterator<Item = &'static Operation> {
    let is_list = |op: &&Operation| {
        let described = documented(op);
        let parameters = described["parameters"].as_array().into_iter().flatten();
        let has_filter = |parameter: &Value| parameter["$ref"] == "#/components/parameters/X-Filter";
        let is_empty = described["responses"]["200"]["$ref"] == "#/components/responses/EmptyPage";
        parameters.into_iter().any(has_filter) && !is_empty
    };
    OPERATIONS.iter().filter(is_list)
}

/// The names after "Filterable fields:" in the description of an operation.
fn in_document(operation: &Operation) -> Names {
    let description = documented(operation)["description"].as_str().unwrap();
    let (_, sentence) = description
        .split_once("Filterable field")
        .unwrap_or_else(|| panic!("{}: {description}", operation.id));
    let sentence = sentence.split_once(": ").unwrap().1;
    let end = sentence.find(". ").unwrap_or(sentence.len());
    let words = sentence[..end]
        .split([' ', ',', '(', ')'])
        .map(|word| word.trim_end_matches('.'));
    let is_name = |word: &&str| !["", "and", "or", "the", "same", "as"].contains(word);
    words.filter(is_name).map(str::to_owned).collect()
}

/// The rows of the table in `docs/reference.md`, by path.
fn in_reference() -> BTreeMap<String, Names> {
    let reference = include_str!("../../docs/reference.md");
    let table = reference.split_once("| list | fields |\n|---|---|\n").unwrap().1;
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let in_backticks =
        |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let mut found = BTreeMap::new();
    for row in rows {
        let cells: Vec<_> = row.split('|').collect();
        let names = in_backticks(cells[2])
            .into_iter()
            .filter(|name| !name.starts_with('+'));
        let names: Names = names.collect();
        for path in in_backticks(cells[1]) {
            assert!(
                found.insert(path.clone(), names.clone()).is_none(),
                "{path} has two rows"
            );
        }
    }
    found
}

/// The path of a list in `docs/reference.md`.
fn path_in_reference(operation: &Operation) -> String {
    let segment = |segment: &str| match segment {
        "{tagLabel}" => "LABEL".to_owned(),
        "{username}" => "NAME".to_owned(),
        segment if segment.starts_with('{') => "ID".to_owned(),
        "compute" => "linode".to_owned(),
        segment => segment.to_owned(),
    };
    operation
        .path
        .split('/')
        .map(segment)
        .collect::<Vec<_>>()
        .join("/")
}

/// The properties of the items of a list.
fn properties(operation: &Operation) -> Names {
    let schema = |value: &'static Value| match value["$ref"].as_str() {
        Some(reference) => DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap(),
        None => value,
    };
    let response = schema(&documented(operation)["responses"]["200"]);
    let page = schema(&response["content"]["application/json"]["schema"]);
    let item = schema(&page["properties"]["data"]["items"]);
    let names = item["properties"].as_object().into_iter().flatten();
    names.map(|(name, _)| name.clone()).collect()
}

/// The names of `candidates` by which the server filters a list.
async fn accepted(user: &User<'_>, path: &str, candidates: &Names) -> Names {
    let mut found = Names::new();
    for name in candidates {
        let reply = user.filter(path, &json!({name: null}).to_string()).await;
        match reply.status.as_u16() {
            200 => drop(found.insert(name.clone())),
            _ => assert_eq!(reply.errors(), ["X-Filter filter_field"], "{path} {name}"),
        }
    }
    found
}

#[tokio::test]
async fn the_documentation_has_the_filterable_fields_of_every_list() {
    let app = TestApp::new().await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1}]);
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "tags": ["web"], "interfaces": interfaces});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    ada.open_ticket("Help").await;

    let mut reference = in_reference();
    for operation in lists() {
        let path = operation
            .path
            .replace("{tagLabel}", "web")
            .replace("{username}", "ada");
        let path: Vec<_> = path
            .split('/')
            .map(|part| if part.starts_with('{') { "1" } else { part })
            .collect();
        let user = match operation.audience {
            Audience::Staff => &staff,
            _ => &ada,
        };
        let row = reference.remove(&path_in_reference(operation));
        let row = row.unwrap_or_else(|| panic!("docs/reference.md: no row for {}", operation.path));
        let described = in_document(operation);
        let candidates = &(&row | &described) | &properties(operation);
        let accepted = accepted(user, &path.join("/"), &candidates).await;
        assert_eq!(described, accepted, "openapi.yaml: {}", operation.path);
        assert_eq!(row, accepted, "docs/reference.md: {}", operation.path);
    }
    assert!(
        reference.is_empty(),
        "docs/reference.md has rows without a list: {reference:?}"
    );
}
