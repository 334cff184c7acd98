//! Other products: empty lists, and operations that are not offered.

use garth::api::operations::OPERATIONS;
use garth::web::operation::Operation;
use hyper::Method;
use serde_json::json;

use crate::harness::TestApp;
use crate::openapi::documented;

/// The operations with the tag Other products in the OpenAPI document. Operations with path parameters are
/// excluded; they have their own tests.
fn other_products() -> impl Iterator<Item = &'static Operation> {
    let is_other_product =
        |op: &&Operation| documented(op)["tags"][0] == "Other products" && !op.path.contains('{');
    OPERATIONS.iter().filter(is_other_product)
}

fn is_list(operation: &Operation) -> bool {
    let ok = &documented(operation)["responses"]["200"]["$ref"];
    ok == "#/components/responses/EmptyPage"
}

#[tokio::test]
async fn lists_of_other_products_are_empty_and_check_their_filters() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let lists: Vec<_> = other_products().filter(|op| is_list(op)).collect();
    assert!(lists.len() >= 30, "{}", lists.len());
    for operation in lists {
        let path = operation.path;
        let list = ada.get(path).await;
        let empty = json!({"data": [], "page": 1, "pages": 1, "results": 0});
        assert_eq!(list.json(), empty, "{path}");
        for filter in [
            r#"{"+and":[],"+order":"desc"}"#,
            r#"{"status":{"+or":["pending","started","scheduled"]}}"#,
            r#"{"+and":[{"is_sender":false},{"status":{"+neq":"pending"}}]}"#,
            r#"{"date":{"+gte":"2024-05-31T17:43:12"},"+order_by":"date","+order":"desc"}"#,
            r#"{"+order_by":"label","+order":"asc"}"#,
            r#"{"platform":"rdbms-default"}"#,
        ] {
            let list = ada.filter(path, filter).await;
            assert_eq!(list.status, 200, "{path} {filter}: {list}");
        }
        let refused = ada.filter(path, r#"{"color":"red"}"#).await;
        assert_eq!(refused.errors(), ["X-Filter filter_field"], "{path}");
        let refused = ada.get(&format!("{path}?page_size=501")).await;
        assert_eq!(refused.errors(), ["page_size page_size_invalid"], "{path}");
        let second = ada.get(&format!("{path}?page=2&page_size=25")).await;
        assert_eq!((&second.json()["page"], second.data().len()), (&json!(2), 0));
    }
}

#[tokio::test]
async fn operations_that_are_not_offered_say_so_and_change_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let refused: Vec<_> = other_products().filter(|op| op.method != Method::GET).collect();
    assert!(refused.len() >= 25, "{}", refused.len());
    for operation in refused {
        let call = || ada.call(operation.method.clone(), operation.path);
        let reply = call().json(&json!({"label": "new", "region": "us-east"})).await;
        assert_eq!(reply.status, 400, "{}", operation.id);
        assert_eq!(reply.errors(), ["- not_offered"], "{}", operation.id);
        assert!(reply.reason().len() > 20, "{}", operation.id);
        assert_eq!(call().await.errors(), ["- not_offered"], "without a body");
        let invalid = call().body("{").await;
        assert_eq!(invalid.errors(), ["- json_invalid"], "{}", operation.id);
    }
    assert!(ada.events().await.is_empty());
}

#[tokio::test]
async fn an_object_of_a_neighbor_is_not_found() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    assert_eq!(ada.delete("/v4beta/locks/1").await.status, 404);
    for path in [
        "/networking/firewalls/1",
        "/networking/firewalls/1/rules",
        "/networking/firewalls/1/devices",
        "/volumes/1",
        "/nodebalancers/1",
        "/domains/1",
        "/locks/1",
        "/account/invoices/1",
        "/profile/devices/1",
        "/linode/stackscripts/1",
    ] {
        let reply = ada.get(path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.reason().as_str()),
            (404, "Not found"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn objects_of_other_products_have_the_public_format() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let none = json!({"linode": null, "nodebalancer": null, "public_interface": null, "vpc_interface": null});
    assert_eq!(
        ada.get("/networking/firewalls/settings").await.json(),
        json!({"default_firewall_ids": none})
    );
    assert_eq!(ada.get("/longview/plan").await.json(), json!({}));
    assert_eq!(
        ada.get("/account/agreements").await.json()["billing_agreement"],
        true
    );
    let questions = ada.get("/profile/security-questions").await.json();
    let ids: Vec<_> = questions["security_questions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|question| question["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, (1..=19).collect::<Vec<_>>());
    let first = &questions["security_questions"][0];
    // linodego compares the first question.
    let text = first["question"].as_str().unwrap();
    assert!(text.ends_with(" the name of your first pet?"), "{text}");
    assert_eq!((&first["id"], &first["response"]), (&json!(1), &json!(null)));
}

#[test]
fn the_documentation_lists_every_neighbor_once() {
    let table = include_str!("../../docs/other-products.md");
    let mut listed = 0;
    for operation in other_products() {
        let row = format!("\n| `{} {}` |", operation.method, operation.path);
        assert_eq!(table.matches(&row).count(), 1, "{}", operation.id);
        listed += 1;
    }
    assert_eq!(table.matches("\n| `").count(), listed);
}
