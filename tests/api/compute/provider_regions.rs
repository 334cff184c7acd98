//! Regions as the provider manages them (decision 0043).

use garth::model::staff_role::StaffRole;
use garth::store::Schema;
use serde_json::{Value, json};

use crate::harness::{TestApp, User, context};

const REGIONS: &str = "/provider/regions";

fn new_region() -> Value {
    json!({"id": "is-rkv", "label": "Reykjavik, IS", "country": "is", "capabilities": ["Linodes", "VPCs"]})
}

async fn operator(app: &TestApp) -> User<'_> {
    app.user("sam").role(StaffRole::Operator).await
}

#[tokio::test]
async fn a_new_region_is_offered_immediately_and_in_the_public_shape() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, operator(&app).await);
    let body = json!({"label": "core", "region": "is-rkv"});
    assert_eq!(
        ada.post("/vpcs", body.clone()).await.errors(),
        ["region region_invalid"]
    );

    let added = sam.post(REGIONS, new_region()).await;

    assert_eq!(
        added.json(),
        json!({
            "id": "is-rkv", "label": "Reykjavik, IS", "country": "is", "capabilities": ["Linodes", "VPCs"],
            "status": "ok", "retired": false, "source": "store", "instances": 0, "vpcs": 0, "hosts": 0,
            "updated": "2024-06-01T12:00:00",
        })
    );
    let public = app.anonymous().get("/regions/is-rkv").await.json();
    let built_in = app.anonymous().get("/regions/us-mia").await.json();
    let keys = |region: &Value| region.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&public), keys(&built_in));
    assert_eq!(public["resolvers"], built_in["resolvers"]);
    assert_eq!(app.anonymous().count("/regions").await, 35);
    assert_eq!(ada.post("/vpcs", body).await.status, 200);
    let instance = json!({"type": "g6-nanode-1", "region": "is-rkv"});
    assert_eq!(ada.post("/linode/instances", instance).await.status, 200);
    let host = json!({"label": "rack-1", "region": "is-rkv", "underlay_address": "192.0.2.1"});
    assert_eq!(sam.post("/hosts", host).await.status, 200);
    let used = sam.get("/provider/regions/is-rkv").await.json();
    assert_eq!(
        [&used["instances"], &used["vpcs"], &used["hosts"]],
        [&json!(1), &json!(1), &json!(1)]
    );
    let busy = sam.filter(REGIONS, r#"{"vpcs": {"+gte": 1}}"#).await.data();
    assert_eq!(busy.len(), 1);
}

#[tokio::test]
async fn a_retired_region_keeps_its_objects_and_accepts_no_new_ones() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, operator(&app).await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let region = ada.get("/vpcs/1").await.json()["region"]
        .as_str()
        .unwrap()
        .to_owned();
    let path = format!("{REGIONS}/{region}");

    let retired = sam.post(&format!("{path}/retire"), json!({})).await.json();

    assert_eq!((&retired["retired"], &retired["vpcs"]), (&json!(true), &json!(1)));
    for (path, body) in [
        ("/vpcs", json!({"label": "late", "region": region})),
        (
            "/linode/instances",
            json!({"type": "g6-nanode-1", "region": region}),
        ),
    ] {
        let refused = ada.post(path, body).await;
        assert_eq!(refused.errors(), ["region region_invalid"]);
        let reason = refused.reason();
        assert!(!reason.split([' ', ',']).any(|word| word == region), "{reason}");
    }
    let host = json!({"label": "rack-1", "region": region, "underlay_address": "192.0.2.1"});
    assert_eq!(
        sam.post("/hosts", host.clone()).await.errors(),
        ["region region_invalid"]
    );
    let public = app.anonymous();
    assert_eq!(public.count("/regions").await, 33);
    assert_eq!(public.get(&format!("/regions/{region}")).await.status, 200);
    let availability = public
        .get(&format!("/regions/{region}/availability"))
        .await
        .json();
    let is_unavailable = |row: &Value| row["available"] == false;
    assert!(availability.as_array().unwrap().iter().all(is_unavailable));
    // Existing objects can be changed.
    let subnet = json!({"label": "late", "ipv4": "10.0.9.0/24"});
    assert_eq!(ada.post("/vpcs/1/subnets", subnet).await.status, 200);
    let again = sam.post(&format!("{path}/retire"), json!({})).await;
    assert_eq!(again.errors(), ["- retired_state"]);

    let reactivated = sam.post(&format!("{path}/reactivate"), json!({})).await;

    assert_eq!(reactivated.json()["retired"], false);
    assert_eq!(sam.post("/hosts", host).await.status, 200);
    let again = sam.post(&format!("{path}/reactivate"), json!({})).await;
    assert_eq!(again.errors(), ["- retired_state"]);
}

#[tokio::test]
async fn a_change_takes_precedence_over_the_settings_and_survives_a_restart() {
    let app = TestApp::new().await;
    let sam = operator(&app).await;
    let before = sam.get("/provider/regions/us-mia").await.json();
    assert_eq!(
        (&before["source"], &before["updated"]),
        (&json!("settings"), &Value::Null)
    );
    app.advance(60);

    let changed = sam
        .put("/provider/regions/us-mia", json!({"status": "outage"}))
        .await
        .json();

    assert_eq!(
        (&changed["source"], &changed["updated"], &changed["label"]),
        (&json!("store"), &json!("2024-06-01T12:01:00"), &before["label"])
    );
    let shown = app.anonymous().get("/regions/us-mia").await.json();
    assert_eq!(
        (&shown["status"], &shown["capabilities"]),
        (&json!("outage"), &before["capabilities"])
    );
    let reopened = app.home().open(&Schema::current(), context());
    let policy = reopened.expect("the store opens").policy();
    let miami = policy.regions.iter().find(|region| region.id == "us-mia");
    assert_eq!(miami.map(|region| region.status.as_str()), Some("outage"));
}

#[tokio::test]
async fn wrong_fields_are_refused_together() {
    let app = TestApp::new().await;
    let sam = operator(&app).await;
    for (body, errors) in [
        (json!({}), vec!["id required", "country required"]),
        (
            json!({"id": "SE", "country": "Sweden", "capabilities": ["Beds", 7], "status": "fine", "label": ""}),
            vec![
                "id id_invalid",
                "label too_short",
                "country choice_invalid",
                "capabilities[0] choice_invalid",
                "capabilities[1] wrong_type",
                "status choice_invalid",
            ],
        ),
        (json!({"id": "us-mia", "country": "us"}), vec!["id id_taken"]),
        (
            json!({"id": "availability", "country": "us"}),
            vec!["id id_invalid"],
        ),
    ] {
        assert_eq!(sam.post(REGIONS, body).await.errors(), errors);
    }
    assert_eq!(sam.post(REGIONS, new_region()).await.status, 200);
    assert_eq!(sam.post(REGIONS, new_region()).await.errors(), ["id id_taken"]);
    assert_eq!(
        sam.put("/provider/regions/mars", json!({"label": "Mars"}))
            .await
            .status,
        404
    );
    let path = "/provider/regions/is-rkv";
    let (label, none) = (json!({"label": "Akureyri"}), json!({}));
    let old = sam.get(path).await.header("etag").to_owned();
    let changed = sam.put(path, label.clone()).await;
    assert_eq!(changed.json()["country"], "is");
    let stale = sam
        .call(hyper::Method::PUT, path)
        .header("if-match", &old)
        .json(&label)
        .await;
    assert_eq!(stale.status, 412);
    let unchanged = sam.put(path, none).await.json();
    assert_eq!(
        (&unchanged["label"], &unchanged["capabilities"]),
        (&json!("Akureyri"), &json!(["Linodes", "VPCs"]))
    );
}
