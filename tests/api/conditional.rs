//! Conditional requests: `ETag`, `If-None-Match`, `If-Match`.

use hyper::Method;
use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn an_unchanged_object_is_not_sent_again() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    for path in [
        "/vpcs/1",
        "/vpcs/1/subnets/1",
        "/account/events/1",
        "/regions/us-mia",
        "/account/quotas",
    ] {
        let first = ada.get(path).await;
        let tag = first.header("etag").to_owned();
        assert!(tag.starts_with('"'), "{path}: {tag}");
        for known in [
            tag.clone(),
            format!("W/{tag}"),
            format!("\"x\", {tag}"),
            "*".to_owned(),
        ] {
            let again = ada.call(Method::GET, path).header("if-none-match", &known).await;
            assert_eq!(
                (again.status.as_u16(), again.body.len()),
                (304, 0),
                "{path} {known}"
            );
            assert_eq!(again.header("etag"), tag);
            let head = ada.call(Method::HEAD, path).header("if-none-match", &known).await;
            assert_eq!(head.status, 304);
        }
        let other = ada.call(Method::GET, path).header("if-none-match", "\"x\"").await;
        assert_eq!((other.status.as_u16(), other.body), (200, first.body));
    }
}

#[tokio::test]
async fn every_visible_change_changes_the_entity_tag() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    let mut tags = vec![ada.get("/vpcs/1").await.header("etag").to_owned()];
    app.advance(1);
    tags.push(
        ada.put("/vpcs/1", json!({"description": "x"}))
            .await
            .header("etag")
            .to_owned(),
    );
    assert_eq!(tags[1], ada.get("/vpcs/1").await.header("etag"));
    ada.put("/vpcs/1/subnets/1", json!({"label": "b"})).await;
    tags.push(ada.get("/vpcs/1").await.header("etag").to_owned());
    ada.post("/vpcs/1/subnets", json!({"label": "c", "ipv4": "10.1.0.0/24"}))
        .await;
    tags.push(ada.get("/vpcs/1").await.header("etag").to_owned());
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), 4);
}

#[tokio::test]
async fn a_write_with_an_outdated_tag_is_refused_without_effect() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let tag = ada.get("/vpcs/1").await.header("etag").to_owned();
    ada.put("/vpcs/1", json!({"label": "changed"})).await;

    for (method, path) in [
        (Method::PUT, "/vpcs/1"),
        (Method::DELETE, "/vpcs/1"),
        (Method::PUT, "/vpcs/1/subnets/1"),
        (Method::DELETE, "/vpcs/1/subnets/1"),
        (Method::POST, "/account/events/1/seen"),
        (Method::POST, "/account/events/1/read"),
    ] {
        let reply = ada
            .call(method.clone(), path)
            .header("if-match", &tag)
            .json(&json!({"label": "x"}))
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.errors()),
            (412, vec!["- precondition_failed".to_owned()]),
            "{method} {path}"
        );
    }
    assert_eq!(ada.get("/vpcs/1").await.json()["label"], "changed");
    assert_eq!(ada.events().await.len(), 3);

    let now = ada.get("/vpcs/1").await.header("etag").to_owned();
    let both = format!("\"x\", {now}");
    assert_eq!(
        ada.call(Method::PUT, "/vpcs/1")
            .header("if-match", &both)
            .json(&json!({}))
            .await
            .status,
        200
    );
    assert_eq!(
        ada.call(Method::DELETE, "/vpcs/1")
            .header("if-match", "*")
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn checks_run_in_the_documented_order() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    let bob = app.user("bob").restricted().await;
    let narrow = app.user("eve").scopes("events:read_only").await;

    // Each request also fails all later checks, but only the first error is reported.
    let wrong = async |user: &crate::harness::User<'_>, method: Method, path: &str| {
        let call = user
            .call(method, path)
            .header("if-match", "\"old\"")
            .header("content-type", "text/plain");
        call.body("{").await.status.as_u16()
    };
    assert_eq!(wrong(&app.anonymous(), Method::PUT, "/nowhere/1").await, 404);
    assert_eq!(wrong(&app.anonymous(), Method::PATCH, "/vpcs/1").await, 405);
    assert_eq!(wrong(&app.anonymous(), Method::PUT, "/vpcs/1").await, 401);
    assert_eq!(wrong(&narrow, Method::PUT, "/vpcs/x").await, 401);
    let staff = app.user("staff").staff().await;
    assert_eq!(wrong(&staff, Method::PUT, "/vpcs/x").await, 403);
    assert_eq!(wrong(&bob, Method::PUT, "/vpcs/1").await, 404);
    app.grant(
        "bob",
        garth::rules::grants::Grant::Vpc(
            garth::model::id::VpcId(1),
            garth::model::grant::Permission::ReadOnly,
        ),
    )
    .await;
    assert_eq!(wrong(&bob, Method::PUT, "/vpcs/1").await, 403);
    assert_eq!(wrong(&ada, Method::PUT, "/vpcs/1").await, 412);
    let typed = ada
        .call(Method::PUT, "/vpcs/1")
        .header("content-type", "text/plain")
        .body("{")
        .await;
    assert_eq!(typed.status, 415);
    assert_eq!(ada.call(Method::PUT, "/vpcs/1").body("{").await.status, 400);
}
