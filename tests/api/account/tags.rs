//! Tags of an account's instances.

use garth::model::grant::Permission;
use garth::model::id::InstanceId;
use garth::rules::grants::Grant;
use serde_json::{Value, json};

use crate::harness::{TestApp, User};

async fn create_instance(user: &User<'_>, tags: &[&str]) -> i64 {
    let body = json!({"type": "g6-nanode-1", "region": "us-east", "tags": tags});
    let created = user.post("/linode/instances", body).await;
    created.json()["id"].as_i64().expect("an ID")
}

/// The labels of the account's tags.
async fn labels(user: &User<'_>) -> Vec<String> {
    let label = |tag: &Value| tag["label"].as_str().expect("a label").to_owned();
    user.get("/tags").await.data().iter().map(label).collect()
}

async fn tags_of(user: &User<'_>, instance: i64) -> Value {
    user.get(&format!("/linode/instances/{instance}")).await.json()["tags"].clone()
}

/// The IDs of the instances with a tag.
async fn tagged_ids(user: &User<'_>, path: &str) -> Vec<i64> {
    let id = |object: &Value| object["data"]["id"].as_i64().expect("an ID");
    user.get(path).await.data().iter().map(id).collect()
}

#[tokio::test]
async fn a_tag_is_created_with_instances_listed_and_deleted() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada, &["first"]).await;
    create_instance(&ada, &[]).await;

    app.advance(5);
    let created = ada
        .post("/tags", json!({"label": "prod", "linodes": [1, 2]}))
        .await;

    assert_eq!(
        (created.status.as_u16(), created.json()),
        (200, json!({"label": "prod"}))
    );
    assert_eq!(tags_of(&ada, 1).await, json!(["first", "prod"]));
    assert_eq!(tags_of(&ada, 2).await, json!(["prod"]));
    assert_eq!(
        ada.get("/linode/instances/2").await.json()["updated"],
        "2024-06-01T12:00:05"
    );
    assert_eq!(labels(&ada).await, ["first", "prod"]);
    let objects = ada.get("/tags/prod").await.data();
    assert_eq!(
        objects[0],
        json!({"type": "linode", "data": ada.get("/linode/instances/1").await.json()})
    );
    assert_eq!(tagged_ids(&ada, "/tags/prod").await, [1, 2]);
    assert_eq!(ada.get("/tags/none").await.status, 404);
    assert_eq!(
        ada.filter("/linode/instances", r#"{"tags":"first"}"#).await.ids(),
        [1]
    );

    assert_eq!(ada.delete("/tags/prod").await.json(), json!({}));

    assert_eq!(tags_of(&ada, 1).await, json!(["first"]));
    assert_eq!(tags_of(&ada, 2).await, json!([]));
    assert_eq!(labels(&ada).await, ["first"]);
    assert_eq!(ada.delete("/tags/prod").await.status, 404);
    let events = ada.get("/account/events?after=2").await.data();
    let event = |at: usize| (events[at]["action"].clone(), events[at]["entity"].clone());
    let tag = json!({"label": "prod", "id": "prod", "type": "tag", "url": "/v4/tags/prod"});
    let instance = |id: i64| {
        let url = format!("/v4/linode/instances/{id}");
        json!({"label": format!("linode{id}"), "id": id, "type": "linode", "url": url})
    };
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(event),
        [
            (json!("tag_create"), tag.clone()),
            (json!("linode_update"), instance(1)),
            (json!("linode_update"), instance(2)),
            (json!("linode_update"), instance(1)),
            (json!("linode_update"), instance(2)),
            (json!("tag_delete"), tag)
        ]
    );
    assert_eq!(events.len(), 6);
}

#[tokio::test]
async fn a_tag_of_instances_exists_while_one_of_them_has_it() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada, &["web", "blue"]).await;
    create_instance(&ada, &["web"]).await;
    assert_eq!(ada.post("/tags", json!({"label": "kept"})).await.status, 200);
    assert_eq!(labels(&ada).await, ["blue", "kept", "web"]);

    ada.put("/linode/instances/1", json!({"tags": ["kept"]})).await;
    assert_eq!(labels(&ada).await, ["kept", "web"]);
    assert_eq!(tagged_ids(&ada, "/tags/web").await, [2]);
    assert_eq!(tagged_ids(&ada, "/tags/kept").await, [1]);
    for id in [1, 2] {
        ada.delete(&format!("/linode/instances/{id}")).await;
    }
    assert_eq!(labels(&ada).await, ["kept"], "a tag that was created remains");
    assert_eq!(tagged_ids(&ada, "/tags/kept").await, [0; 0]);
}

#[tokio::test]
async fn creating_an_existing_tag_adds_it_to_more_instances() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada, &["web"]).await;
    create_instance(&ada, &[]).await;

    let again = ada
        .post("/tags", json!({"label": "web", "linodes": [1, 2, 2]}))
        .await;

    assert_eq!(again.status, 200);
    assert_eq!(tagged_ids(&ada, "/tags/web").await, [1, 2]);
    assert_eq!(tags_of(&ada, 1).await, json!(["web"]), "it has the tag once");
    assert_eq!(tags_of(&ada, 2).await, json!(["web"]));
    let events = ada.events().await;
    assert_eq!(
        events,
        ["linode_create 1", "linode_create 2", "linode_update 2"],
        "only the instance that got the tag has changed"
    );
    ada.put("/linode/instances/2", json!({"tags": []})).await;
    ada.put("/linode/instances/1", json!({"tags": []})).await;
    assert_eq!(labels(&ada).await, ["web"]);
}

#[tokio::test]
async fn a_restricted_user_sees_that_a_tag_changed_its_instance() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for _ in 0..2 {
        create_instance(&ada, &[]).await;
    }
    let bob = app
        .user("bob")
        .restricted()
        .may(Grant::Linode(InstanceId(2), Permission::ReadOnly))
        .await;
    ada.post("/tags", json!({"label": "prod", "linodes": [1, 2]}))
        .await;
    ada.delete("/tags/prod").await;
    assert_eq!(
        bob.events().await,
        ["linode_create 2", "linode_update 2", "linode_update 2"]
    );
}

#[tokio::test]
async fn labels_with_any_characters_work_in_paths() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_instance(&ada, &[]).await;
    let label = "a/b +ü%";
    let created = ada.post("/tags", json!({"label": label, "linodes": [1]})).await;
    assert_eq!(created.json()["label"], label);
    let event = ada.get("/account/events?after=1").await.data();
    let url = event[0]["entity"]["url"].as_str().unwrap();
    assert_eq!(url, "/v4/tags/a%2Fb%20%2B%C3%BC%25");
    let path = url.strip_prefix("/v4").unwrap();
    assert_eq!(tagged_ids(&ada, path).await, [1]);
    assert_eq!(ada.delete(path).await.status, 200);
    assert_eq!(tags_of(&ada, 1).await, json!([]));
}

#[tokio::test]
async fn invalid_tags_unknown_instances_and_other_objects_are_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let eve = app.user("eve").of(app.another_account().await).await;
    create_instance(&eve, &["theirs"]).await;
    for (body, errors) in [
        (json!({}), vec!["label required"]),
        (json!({"label": "ab"}), vec!["label tag_invalid"]),
        (json!({"label": "   "}), vec!["label tag_invalid"]),
        (
            json!({"label": "prod", "linodes": [1, "x", 9]}),
            vec![
                "linodes[0] instance_invalid",
                "linodes[1] wrong_type",
                "linodes[2] instance_invalid",
            ],
        ),
        (
            json!({"label": "prod", "domains": [], "volumes": [7], "reserved_ipv4_addresses": ["192.0.2.2"]}),
            vec!["volumes not_offered", "reserved_ipv4_addresses not_offered"],
        ),
    ] {
        assert_eq!(ada.post("/tags", body.clone()).await.errors(), errors, "{body}");
    }
    assert_eq!(labels(&ada).await, [""; 0]);
    assert_eq!(ada.get("/tags/theirs").await.status, 404);
    assert_eq!(labels(&eve).await, ["theirs"]);
}

#[tokio::test]
async fn the_number_of_tags_is_limited() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let many: Vec<_> = (0..101).map(|number| format!("tag-{number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    create_instance(&ada, &many[..100]).await;
    let full = ada.put("/linode/instances/1", json!({"tags": many})).await;
    assert_eq!(full.errors(), ["tags quota_exceeded"]);
    let more = ada.post("/tags", json!({"label": "more", "linodes": [1]})).await;
    assert_eq!(more.errors(), ["linodes[0] quota_exceeded"]);
    let known = ada.post("/tags", json!({"label": "tag-0", "linodes": [1]})).await;
    assert_eq!(known.status, 200);
    assert_eq!(ada.count("/tags").await, 100);
    assert_eq!(
        ada.get("/tags?page_size=2&page=2").await.data()[0]["label"],
        "tag-10"
    );
    for number in 1..1000 {
        let created = ada.post("/tags", json!({"label": format!("own-{number}")})).await;
        assert_eq!(created.status, 200);
    }
    let over = ada.post("/tags", json!({"label": "own-1000"})).await;
    assert_eq!(over.errors(), ["- quota_exceeded"]);
}
