//! VPCs: interface §4.1.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{BEGINNING, TestApp, add_vpcs};

#[tokio::test]
async fn a_vpc_is_created_with_its_subnets_and_viewed_identically() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let created = ada
        .post(
            "/vpcs",
            json!({
                "label": "core",
                "region": "us-east",
                "description": "the middle of it all",
                "subnets": [
                    {"label": "web", "ipv4": "10.0.0.0/24"},
                    {"label": "data", "ipv4": "10.0.1.0/24"},
                ],
            }),
        )
        .await;

    assert_eq!(created.status, 200);
    let subnet = |id: i64, label: &str, ipv4: &str| {
        json!({
            "id": id, "label": label, "ipv4": ipv4, "ipv6": null, "linodes": [], "computes": [],
            "databases": [], "nodebalancers": [], "vpc_type": "regular",
            "created": BEGINNING, "updated": BEGINNING,
        })
    };
    let vpc = json!({
        "id": 1,
        "label": "core",
        "description": "the middle of it all",
        "region": "us-east",
        "ipv4": [{"range": "10.0.0.0/8"}, {"range": "172.16.0.0/12"}, {"range": "192.168.0.0/17"}],
        "ipv6": null,
        "subnets": [subnet(1, "web", "10.0.0.0/24"), subnet(2, "data", "10.0.1.0/24")],
        "vpc_type": "regular",
        "created": BEGINNING,
        "updated": BEGINNING,
    });
    assert_eq!(created.json(), vpc);
    assert_eq!(ada.get("/vpcs/1").await.json(), vpc);
    assert_eq!(ada.get("/vpcs").await.data(), [vpc]);
    assert_eq!(
        ada.events().await,
        ["vpc_create 1", "subnet_create 1", "subnet_create 2"]
    );
}

#[tokio::test]
async fn keys_are_in_the_recorded_order() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    let body = ada.get("/vpcs/1").await.body;

    let text = String::from_utf8(body.to_vec()).unwrap();
    let place = |key: &str| {
        text.find(&format!("\"{key}\":"))
            .unwrap_or_else(|| panic!("no {key}"))
    };
    let keys = [
        "id",
        "label",
        "description",
        "region",
        "ipv4",
        "ipv6",
        "subnets",
        "linodes",
        "vpc_type",
        "created",
        "updated",
    ];
    let places: Vec<_> = keys.map(place).to_vec();
    assert!(places.is_sorted(), "{text}");
}

#[tokio::test]
async fn all_errors_of_a_create_are_reported_in_the_documented_order() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;

    let reply = ada
        .post(
            "/vpcs",
            json!({
                "subnets": [
                    {"label": "web", "ipv4": "10.0.0.1/24"},
                    {"ipv4": "8.8.8.0/30"},
                    7,
                    {"label": "WEB", "ipv4": "192.168.200.0/24"},
                    {"label": "x", "ipv4": "10.1.0.0/16"},
                    {"label": "y", "ipv4": "10.1.4.0/24"},
                ],
                "description": "x".repeat(256),
                "region": "mars",
                "label": "CORE",
            }),
        )
        .await;

    assert_eq!(reply.status, 400);
    assert_eq!(
        reply.errors(),
        [
            "label label_taken",
            "region region_invalid",
            "description too_long",
            "subnets[0].ipv4 cidr_host_bits",
            "subnets[1].label required",
            "subnets[1].ipv4 cidr_not_private",
            "subnets[1].ipv4 cidr_prefix",
            "subnets[2] wrong_type",
            "subnets[3].label label_taken",
            "subnets[3].ipv4 cidr_forbidden",
            "subnets[5].ipv4 cidr_overlap",
        ]
    );
    assert_eq!(ada.count("/vpcs").await, 1);
    assert_eq!(ada.events().await, ["vpc_create 1"]);
}

#[tokio::test]
async fn reasons_that_published_test_suites_assert_are_exact() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    let reason = async |body| ada.post("/vpcs", body).await.reason();
    assert_eq!(
        reason(json!({"label": "invalid_label", "region": "us-east"})).await,
        "Must only use ASCII letters, numbers, and dashes"
    );
    assert_eq!(
        reason(json!({"label": "core", "region": "us-east"})).await,
        "Label must be unique among your VPCs"
    );
    assert_eq!(reason(json!({"region": "us-east"})).await, "label is required");
    assert!(
        reason(json!({"label": "x", "region": "mars"}))
            .await
            .starts_with("region is not valid")
    );
    let subnet = json!({"label": "x", "region": "us-east", "subnets": [{"label": "s", "ipv4": "10.0.0"}]});
    assert_eq!(reason(subnet).await, "Must be an IPv4 network");
    let overlap = ada
        .post("/vpcs/1/subnets", json!({"label": "b", "ipv4": "10.0.0.128/25"}))
        .await;
    assert_eq!(overlap.reason(), "overlaps 10.0.0.0/24 (a)");
}

#[tokio::test]
async fn an_update_is_partial_and_always_records_an_event() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    app.advance(60);
    let renamed = ada.put("/vpcs/1", json!({"label": "middle"})).await.json();
    assert_eq!(
        (&renamed["label"], &renamed["description"], &renamed["updated"]),
        (&json!("middle"), &json!(""), &json!("2024-06-01T12:01:00"))
    );
    app.advance(60);
    let described = ada
        .put("/vpcs/1", json!({"label": "Middle", "description": "päth\n"}))
        .await
        .json();
    assert_eq!(
        (&described["label"], &described["description"]),
        (&json!("Middle"), &json!("päth\n"))
    );
    app.advance(60);
    let same = ada
        .put(
            "/vpcs/1",
            json!({"label": null, "region": "mars", "id": 9, "x": {}}),
        )
        .await
        .json();
    assert_eq!((&same["id"], &same["region"]), (&json!(1), &json!("us-east")));
    assert_eq!(same["updated"], "2024-06-01T12:03:00");
    assert_eq!(same, ada.get("/vpcs/1").await.json());
    assert_eq!(
        ada.events().await[2..],
        ["vpc_update 1", "vpc_update 1", "vpc_update 1"]
    );
}

#[tokio::test]
async fn updated_is_never_before_created() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    app.set_clock_by(-3600);

    for path in ["/vpcs/1", "/vpcs/1/subnets/1"] {
        let changed = ada.put(path, json!({"label": "middle"})).await.json();
        assert_eq!(changed["updated"], changed["created"], "{path}");
    }
}

#[tokio::test]
async fn a_refused_update_changes_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    ada.create_vpc("edge", &[]).await;
    let before = ada.get("/vpcs").await.body;

    app.advance(60);
    let reply = ada
        .put("/vpcs/2", json!({"label": "Core", "description": "\u{0}"}))
        .await;

    assert_eq!(
        reply.errors(),
        ["label label_taken", "description control_characters"]
    );
    assert_eq!(ada.get("/vpcs").await.body, before);
    assert_eq!(ada.events().await.len(), 2);
}

#[tokio::test]
async fn deleting_a_vpc_deletes_its_subnets_with_an_event_each() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    ada.create_vpc("edge", &["10.0.0.0/24"]).await;

    let reply = ada.delete("/vpcs/1").await;

    assert_eq!((reply.status.as_u16(), &reply.body[..]), (200, &b"{}"[..]));
    assert_eq!(ada.get("/vpcs/1").await.status, 404);
    assert_eq!(ada.get("/vpcs/1/subnets").await.status, 404);
    assert_eq!(ada.get("/vpcs").await.ids(), [2]);
    assert_eq!(ada.count("/vpcs/2/subnets").await, 1);
    assert_eq!(
        ada.events().await[5..],
        ["subnet_delete 1", "subnet_delete 2", "vpc_delete 1"]
    );
    assert_eq!(ada.delete("/vpcs/1").await.status, 404);
    assert_eq!(ada.create_vpc("core", &[]).await.0, 3, "IDs are never reused");
}

#[tokio::test]
async fn the_vpc_quota_applies_and_can_be_overridden_per_account() {
    let app = TestApp::with(|policy, _| policy.quota.vpcs_per_region = 2).await;
    let ada = app.user("ada").await;
    ada.create_vpc("a", &[]).await;
    ada.create_vpc("b", &[]).await;

    let third = json!({"label": "c", "region": "us-east"});
    let reply = ada.post("/vpcs", third.clone()).await;
    assert_eq!(reply.errors(), ["- quota_exceeded"]);
    let elsewhere = ada
        .post("/vpcs", json!({"label": "c", "region": "us-west"}))
        .await;
    assert_eq!(elsewhere.status, 200);

    let (account, more) = (
        app.account,
        garth::model::account::QuotaChange {
            vpcs_per_region: Some(garth::model::account::QuotaValue::Limit(3)),
            ..Default::default()
        },
    );
    app.store
        .write(move |tx| garth::rules::accounts::set_quota(tx, account, more))
        .await
        .unwrap();
    let reply = ada
        .post("/vpcs", json!({"label": "d", "region": "us-east"}))
        .await;
    assert_eq!(reply.status, 200);
    let grace = app.user("grace").of(app.another_account().await).await;
    assert_eq!(
        grace.get("/account/quotas").await.json()["vpcs_per_region"]["limit"],
        2
    );
}

#[tokio::test]
async fn restricted_users_see_and_change_only_granted_vpcs() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for label in ["one", "two", "three"] {
        ada.create_vpc(label, &["10.0.0.0/24"]).await;
    }
    let bob = app.user("bob").restricted().await;
    let vpc = |id, permission| Grant::Vpc(garth::model::id::VpcId(id), permission);
    app.grant("bob", vpc(1, Permission::ReadOnly)).await;
    app.grant("bob", vpc(2, Permission::ReadWrite)).await;

    assert_eq!(bob.get("/vpcs").await.ids(), [1, 2]);
    assert_eq!(bob.get("/vpcs/1").await.status, 200);
    assert_eq!(bob.put("/vpcs/1", json!({})).await.status, 403);
    assert_eq!(bob.delete("/vpcs/1/subnets/1").await.status, 403);
    assert_eq!(bob.delete("/vpcs/1/subnets/99").await.status, 404);
    assert_eq!(bob.put("/vpcs/2", json!({"label": "zwei"})).await.status, 200);
    assert_eq!(bob.get("/vpcs/3").await.status, 404);
    assert_eq!(bob.delete("/vpcs/3").await.status, 404);
    assert_eq!(
        bob.post("/vpcs", json!({"label": "four", "region": "us-east"}))
            .await
            .status,
        403
    );
}

#[tokio::test]
async fn a_restricted_creator_of_a_vpc_gets_a_grant_on_it() {
    let app = TestApp::new().await;
    let bob = app.user("bob").may(add_vpcs()).await;
    let eve = app.user("eve").may(add_vpcs()).await;
    let vpc = bob.create_vpc("core", &["10.0.0.0/24"]).await;

    let path = format!("/vpcs/{vpc}");
    assert_eq!(bob.put(&path, json!({"label": "mine"})).await.status, 200);
    assert_eq!(eve.get(&path).await.status, 404);
    assert_eq!(eve.get("/vpcs").await.ids(), [0i64; 0]);
    assert_eq!(bob.delete(&path).await.status, 200);
}

#[tokio::test]
async fn accounts_do_not_see_each_other_and_may_use_the_same_labels_and_ranges() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let grace = app.user("grace").of(app.another_account().await).await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    assert_eq!(grace.create_vpc("core", &["10.0.0.0/24"]).await.0, 2);
    assert_eq!(grace.get("/vpcs").await.ids(), [2]);
    assert_eq!(ada.get("/vpcs").await.ids(), [1]);
    let (theirs, unknown) = (grace.get("/vpcs/1").await, grace.get("/vpcs/99").await);
    assert_eq!((theirs.status, theirs.body), (unknown.status, unknown.body));
}

#[tokio::test]
async fn alternative_versions_spellings_and_trailing_slashes_are_equivalent() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    let plain = ada.get("/vpcs/1").await.body;
    for path in [
        "/v4beta/vpcs/1",
        "/v4/vpcs/1/",
        "/v4beta/vpcs/1/?page=1&page_size=100",
    ] {
        assert_eq!(ada.get(path).await.body, plain, "{path}");
    }
    let created = ada
        .call(Method::POST, "/v4beta/vpcs/1/subnets/")
        .json(&json!({"label": "b", "ipv4": "10.1.0.0/16"}));
    assert_eq!(created.await.status, 200);
}

#[tokio::test]
async fn malformed_ids_are_not_found() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;

    for id in [
        "0",
        "-1",
        "+1",
        "01",
        "1.0",
        "x",
        "1x",
        "9223372036854775807",
        "9223372036854775808",
        "%31%00",
    ] {
        assert_eq!(ada.get(&format!("/vpcs/{id}")).await.status, 404, "{id}");
        assert_eq!(
            ada.get(&format!("/vpcs/1/subnets/{id}")).await.status,
            404,
            "{id}"
        );
    }
}

#[tokio::test]
async fn responses_can_use_one_spelling_only() {
    use garth::web::WireNames;
    for (names, present, absent) in [
        (WireNames::Compute, "computes", "linodes"),
        (WireNames::Linode, "linodes", "computes"),
    ] {
        let app = TestApp::with(|_, options| options.names = names).await;
        let ada = app.user("ada").await;
        ada.create_vpc("core", &["10.0.0.0/24"]).await;
        let subnet = ada.get("/vpcs/1/subnets/1").await.json();
        assert_eq!(
            (subnet.get(present).is_some(), subnet.get(absent).is_some()),
            (true, false)
        );
    }
}

#[tokio::test]
async fn fields_of_vpcs_that_garth_does_not_have_are_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = |field: &str, value: Value| {
        let mut body = json!({"label": "core", "region": "us-east"});
        body[field] = value;
        body
    };
    for (field, value) in [
        ("ipv4", json!([{"range": "10.0.0.0/20"}])),
        ("vpc_type", json!("rdma")),
        ("vpc_type", json!(7)),
    ] {
        let refused = ada.post("/vpcs", body(field, value.clone())).await;
        assert_eq!(refused.errors(), [format!("{field} not_offered")], "{value}");
    }
    let subnet = json!([{"label": "a", "ipv4": "10.0.0.0/24", "ipv6": [{"range": "/62"}]}]);
    let refused = ada.post("/vpcs", body("subnets", subnet)).await;
    assert_eq!(refused.errors(), ["subnets[0].ipv6 range_invalid"]);
    assert_eq!(ada.count("/vpcs").await, 0);

    // Values that are already true for every VPC.
    let mut harmless = body("vpc_type", json!("regular"));
    harmless["ipv6"] = json!([]);
    harmless["ipv4"] = json!(null);
    let vpc = ada.post("/vpcs", harmless).await.json();
    assert_eq!(
        (&vpc["vpc_type"], &vpc["label"]),
        (&json!("regular"), &json!("core"))
    );
    let subnet = json!({"label": "a", "ipv4": "10.0.0.0/24", "ipv6": null});
    assert_eq!(
        ada.post("/vpcs/1/subnets", subnet).await.json()["vpc_type"],
        "regular"
    );
    let subnet = json!({"label": "b", "ipv4": "10.0.1.0/24", "ipv6": [{"range": "auto"}]});
    let refused = ada.post("/vpcs/1/subnets", subnet).await;
    assert_eq!(refused.errors(), ["ipv6 range_invalid"]);
    assert_eq!(ada.filter("/vpcs", r#"{"vpc_type":"regular"}"#).await.ids(), [1]);
    assert_eq!(
        ada.filter("/vpcs", r#"{"vpc_type":"rdma"}"#).await.json()["results"],
        0
    );

    // An update cannot change these fields either. The ranges of a response can be sent back.
    for (field, value) in [
        ("vpc_type", json!("rdma")),
        ("ipv6", json!([{"range": "/52"}])),
        ("ipv4", json!([{"range": "10.0.0.0/20"}])),
    ] {
        let refused = ada.put("/vpcs/1", json!({field: value})).await;
        assert_eq!(refused.errors(), [format!("{field} not_offered")]);
    }
    let all = ada.get("/vpcs/1").await.json();
    assert_eq!(ada.put("/vpcs/1", all).await.status, 200);
}
