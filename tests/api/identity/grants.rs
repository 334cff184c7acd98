//! Grants of restricted users, through the API.

use garth::model::grant::Permission;
use garth::model::id::VpcId;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{TestApp, add_vpcs};

const GRANTS: &str = "/account/users/bob/grants";

#[tokio::test]
async fn an_unrestricted_user_has_no_grants() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for path in ["/profile/grants", "/account/users/ada/grants"] {
        let reply = ada.get(path).await;
        assert_eq!((reply.status.as_u16(), reply.body.len()), (204, 0), "{path}");
        assert_eq!(reply.header("content-type"), "");
    }
    let refused = ada
        .put("/account/users/ada/grants", json!({"global": {"add_vpcs": true}}))
        .await;
    assert_eq!(refused.errors(), ["- grants_unrestricted"]);
}

#[tokio::test]
async fn grants_have_the_public_format_and_list_all_objects() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app
        .user("bob")
        .may(add_vpcs())
        .may(Grant::AccountAccess(Permission::ReadOnly))
        .await;
    ada.create_vpc("one", &["10.0.0.0/24"]).await;
    ada.create_vpc("two", &[]).await;
    ada.create_instance_on(1).await;
    app.grant("bob", Grant::Vpc(VpcId(2), Permission::ReadWrite))
        .await;

    let grants = ada.get(GRANTS).await.json();

    let expected = json!({
        "global": {
            "account_access": "read_only", "add_databases": false, "add_domains": false,
            "add_firewalls": false, "add_images": false, "add_kubernetes": false, "add_linodes": false,
            "add_lkes": false, "add_longview": false,
            "add_nodebalancers": false, "add_stackscripts": false, "add_volumes": false, "add_vpcs": true,
            "cancel_account": false, "longview_subscription": false, "child_account_access": null,
        },
        "linode": [{"id": 1, "label": "linode1", "permissions": null}],
        "domain": [], "nodebalancer": [], "image": [], "longview": [], "stackscript": [], "volume": [],
        "firewall": [], "database": [], "lkecluster": [],
        "vpc": [
            {"id": 1, "label": "one", "permissions": null},
            {"id": 2, "label": "two", "permissions": "read_write"},
        ],
    });
    assert_eq!(grants, expected);
    // Users only see their own grants.
    let mut own = expected;
    own["linode"] = json!([]);
    own["vpc"] = json!([{"id": 2, "label": "two", "permissions": "read_write"}]);
    assert_eq!(bob.get("/profile/grants").await.json(), own);
}

#[tokio::test]
async fn a_change_of_grants_is_partial_and_takes_effect_immediately() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    for label in ["one", "two"] {
        ada.create_vpc(label, &[]).await;
    }
    let entries = |grants: &Value| -> Vec<Value> {
        let vpcs = grants["vpc"].as_array().unwrap().iter();
        vpcs.map(|vpc| vpc["permissions"].clone()).collect()
    };

    let vpcs = json!([{"id": 1, "permissions": "read_only"}, {"id": 2, "permissions": "read_write"}]);
    let updated = ada
        .put(
            GRANTS,
            json!({"vpc": vpcs, "global": {"account_access": "read_write"}}),
        )
        .await
        .json();
    assert_eq!(entries(&updated), ["read_only", "read_write"]);
    assert_eq!(bob.get("/vpcs").await.ids(), [1, 2]);
    assert_eq!(bob.put("/vpcs/1", json!({})).await.status, 403);
    assert_eq!(bob.put("/vpcs/2", json!({})).await.status, 200);

    let one = ada
        .put(GRANTS, json!({"vpc": [{"id": 1, "permissions": null}]}))
        .await
        .json();
    assert_eq!(
        entries(&one),
        [Value::Null, json!("read_write")],
        "a missing field stays unchanged"
    );
    assert_eq!(one["global"]["account_access"], "read_write");
    assert_eq!(bob.get("/vpcs").await.ids(), [2]);
    let left_out = ada.put(GRANTS, json!({"vpc": [{"id": 2}]})).await.json();
    assert_eq!(entries(&left_out), [Value::Null, Value::Null]);

    let none = ada
        .put(GRANTS, json!({"global": {"account_access": null}}))
        .await
        .json();
    assert_eq!(none["global"]["account_access"], Value::Null);
    let body = json!({"label": "three", "region": "us-east"});
    assert_eq!(bob.post("/vpcs", body.clone()).await.status, 403);
    for (spelling, status) in [("add_vpc", 200), ("add_vpcs", 403)] {
        ada.put(GRANTS, json!({"global": {spelling: status == 200}}))
            .await;
        assert_eq!(bob.post("/vpcs", body.clone()).await.status, status, "{spelling}");
    }
    // A response can be sent back as a request.
    let all = ada.get(GRANTS).await.json();
    assert_eq!(ada.put(GRANTS, all.clone()).await.json(), all);
    assert_eq!(ada.put(GRANTS, json!({})).await.json(), all);
}

#[tokio::test]
async fn grants_for_products_that_garth_does_not_have_are_stored() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("bob").restricted().await;
    let global = json!({
        "add_lkes": true, "add_kubernetes": true, "add_databases": true, "child_account_access": false,
    });

    let updated = ada
        .put(
            GRANTS,
            json!({"global": global, "lkecluster": [], "domain": null}),
        )
        .await
        .json();

    for name in ["add_lkes", "add_kubernetes", "add_databases"] {
        assert_eq!(updated["global"][name], true, "{name}");
    }
    assert_eq!(ada.get(GRANTS).await.json(), updated);
    let none = json!({"global": {"add_lkes": false, "child_account_access": null}});
    let taken = ada.put(GRANTS, none).await.json();
    assert_eq!(taken["global"]["add_lkes"], false);
    assert_eq!(taken["global"]["add_kubernetes"], true);
    for access in [json!("read_write"), json!(true)] {
        let refused = ada
            .put(GRANTS, json!({"global": {"child_account_access": access}}))
            .await;
        assert_eq!(refused.errors(), ["global.child_account_access not_offered"]);
    }
}

#[tokio::test]
async fn invalid_grants_change_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("bob").restricted().await;
    let other = app.user("grace").of(app.another_account().await).await;
    other.create_vpc("theirs", &[]).await;
    let mine = ada.create_vpc("mine", &[]).await;
    let vpcs = json!([
        {"id": mine.0, "permissions": "read_write"}, {"id": 1, "permissions": "read_only"},
        {"permissions": "read_only"}, {"id": mine.0, "permissions": "write"}, 7,
    ]);
    let globals = json!({"account_access": "all", "add_linodes": "yes", "add_vpcs": true, "add_vpc": false});

    let refused = ada
        .put(GRANTS, json!({"vpc": vpcs, "linode": {}, "global": globals, "domain": [{"id": 5, "permissions": "read_only"}], "image": []}))
        .await;

    assert_eq!(
        refused.errors(),
        [
            "global.account_access grant_invalid",
            "global.add_linodes wrong_type",
            "global.add_vpcs spelling_conflict",
            "linode wrong_type",
            "vpc[1].id grant_invalid",
            "vpc[2].id required",
            "vpc[3].id grant_invalid",
            "vpc[3].permissions grant_invalid",
            "vpc[4] wrong_type",
            "domain[0].id grant_invalid",
        ]
    );
    let grants = ada.get(GRANTS).await.json();
    assert_eq!(grants["vpc"][0]["permissions"], Value::Null);
    assert_eq!(other.get(GRANTS).await.status, 404, "another account's user");
}

#[tokio::test]
async fn an_object_can_be_listed_only_once_in_a_change_of_grants() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("bob").restricted().await;
    let (core, shop) = (
        ada.create_vpc("core", &[]).await.0,
        ada.create_vpc("shop", &[]).await.0,
    );
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    let instance = ada.post("/linode/instances", body).await.json()["id"].clone();

    let entry = |id: i64, permissions: &str| json!({"id": id, "permissions": permissions});
    let vpcs = json!([
        entry(core, "read_only"),
        entry(shop, "read_only"),
        entry(core, "read_write"),
        entry(core, "read_only")
    ]);
    let refused = ada.put(GRANTS, json!({"vpc": vpcs})).await;
    assert_eq!(
        refused.errors(),
        ["vpc[2].id grant_invalid", "vpc[3].id grant_invalid"]
    );
    assert_eq!(
        refused.reason(),
        format!("The object {core} is listed more than once")
    );
    let linodes = json!([{"id": instance, "permissions": "read_only"}, {"id": instance}]);
    let refused = ada.put(GRANTS, json!({"linode": linodes})).await;
    assert_eq!(refused.errors(), ["linode[1].id grant_invalid"]);
    let grants = ada.get(GRANTS).await.json();
    assert_eq!(grants["vpc"][0]["permissions"], Value::Null);
    assert_eq!(grants["linode"][0]["permissions"], Value::Null);

    // An unknown object has one error.
    let unknown = json!([entry(99, "read_only"), entry(99, "read_only")]);
    let refused = ada.put(GRANTS, json!({"vpc": unknown})).await;
    assert_eq!(
        refused.errors(),
        ["vpc[0].id grant_invalid", "vpc[1].id grant_invalid"]
    );
    // The IDs of different kinds of objects are unrelated.
    let both = json!({"vpc": [entry(1, "read_only")], "linode": [entry(1, "read_only")]});
    assert_eq!(ada.put(GRANTS, both).await.status, 200);
}

#[tokio::test]
async fn a_change_of_grants_detects_conflicts_and_records_an_event() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("bob").restricted().await;
    let tag = ada.get(GRANTS).await.header("etag").to_owned();
    let put = |body: Value| ada.call(Method::PUT, GRANTS).header("if-match", &tag).json(&body);

    let changed = put(json!({"global": {"add_linodes": true}})).await;

    assert_eq!(changed.json()["global"]["add_linodes"], true);
    let stale = put(json!({"global": {"add_linodes": false}})).await;
    assert_eq!(stale.errors(), ["- precondition_failed"]);
    assert_eq!(ada.get(GRANTS).await.header("etag"), changed.header("etag"));
    assert_eq!(ada.events().await, ["user_update 2"]);
}

#[tokio::test]
async fn a_request_right_after_a_grant_change_runs_once_with_the_new_grant() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().may(add_vpcs()).await;
    bob.create_vpc("first", &[]).await;

    // The cached identity of the caller is older than each of these changes.
    app.grant("bob", Grant::Vpc(VpcId(1), Permission::ReadOnly)).await;
    let reply = bob
        .post("/vpcs", json!({"label": "second", "region": "us-east"}))
        .await;
    assert_eq!(reply.status, 200, "{}", reply.json());
    assert_eq!((ada.count("/vpcs").await, ada.events().await.len()), (2, 2));

    assert_eq!(bob.put("/vpcs/1", json!({"label": "mine"})).await.status, 403);
    app.grant("bob", Grant::Vpc(VpcId(1), Permission::ReadWrite))
        .await;
    assert_eq!(bob.put("/vpcs/1", json!({"label": "mine"})).await.status, 200);
    assert_eq!(ada.events().await.len(), 3);
}
