//! Plans as the provider manages them (decision 0043).

use garth::model::staff_role::StaffRole;
use serde_json::{Value, json};

use crate::harness::{TestApp, User};

const PLANS: &str = "/provider/plans";

fn new_plan() -> Value {
    json!({
        "id": "g1-small", "label": "Small", "memory": 2048, "disk": 51200, "vcpus": 1, "transfer": 1000,
        "price": {"hourly": 0.015, "monthly": 10},
        "region_prices": [{"id": "id-cgk", "hourly": 0.018, "monthly": 12}],
    })
}

fn new_instance(plan: &str) -> Value {
    json!({"type": plan, "region": "us-east"})
}

async fn operator(app: &TestApp) -> User<'_> {
    app.user("sam").role(StaffRole::Operator).await
}

#[tokio::test]
async fn a_new_plan_can_be_chosen_and_has_the_public_shape() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, operator(&app).await);
    assert_eq!(
        ada.post("/linode/instances", new_instance("g1-small"))
            .await
            .errors(),
        ["type plan_invalid"]
    );

    let added = sam.post(PLANS, new_plan()).await;

    assert_eq!(
        added.json(),
        json!({
            "id": "g1-small", "label": "Small", "class": "standard", "memory": 2048, "disk": 51200, "vcpus": 1,
            "transfer": 1000, "gpus": 0, "network_out": 0, "price": {"hourly": 0.015, "monthly": 10.0},
            "region_prices": [{"id": "id-cgk", "hourly": 0.018, "monthly": 12.0}],
            "retired": false, "source": "store", "instances": 0, "updated": "2024-06-01T12:00:00",
        })
    );
    let public = app.anonymous().get("/linode/types/g1-small").await.json();
    let built_in = app.anonymous().get("/linode/types/g6-nanode-1").await.json();
    let keys = |plan: &Value| plan.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&public), keys(&built_in));
    assert_eq!(public["price"], json!({"hourly": 0.015, "monthly": 10.0}));
    assert_eq!(app.anonymous().count("/linode/types").await, 38);
    let instance = ada.post("/linode/instances", new_instance("g1-small")).await;
    assert_eq!(instance.json()["specs"]["memory"], 2048);
    assert_eq!(sam.get("/provider/plans/g1-small").await.json()["instances"], 1);
}

#[tokio::test]
async fn a_new_plan_with_only_a_monthly_price_has_an_hourly_price() {
    let app = TestApp::new().await;
    let sam = operator(&app).await;
    for (number, (price, hourly, monthly)) in [
        (json!({"monthly": 5}), 0.0075, 5.0),
        (json!({"monthly": 24, "hourly": null}), 0.036, 24.0),
        // The result is rounded to hundredths of a cent.
        (json!({"monthly": 10.5}), 0.0158, 10.5),
        (json!({"monthly": 0.01}), 0.0, 0.01),
        (json!({"monthly": 1e9}), 1_500_000.0, 1e9),
        (json!({"monthly": 10, "hourly": 0}), 0.0, 10.0),
        (json!({"monthly": 10, "hourly": 0.02}), 0.02, 10.0),
        (json!({"hourly": 0.02}), 0.02, 0.0),
        (json!({}), 0.0, 0.0),
        (Value::Null, 0.0, 0.0),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("g1-{number}");
        let body = json!({
            "id": id, "memory": 1024, "disk": 1024, "vcpus": 1, "transfer": null, "gpus": null, "price": price,
        });
        let plan = sam.post(PLANS, body).await.json();
        assert_eq!(
            plan["price"],
            json!({"hourly": hourly, "monthly": monthly}),
            "{price}"
        );
        assert_eq!((&plan["transfer"], &plan["gpus"]), (&json!(0), &json!(0)));
    }
    // A change of the monthly price does not change the hourly price.
    let changed = sam
        .put("/provider/plans/g1-0", json!({"price": {"monthly": 8}}))
        .await;
    assert_eq!(changed.json()["price"], json!({"hourly": 0.0075, "monthly": 8.0}));
}

#[tokio::test]
async fn instances_keep_a_retired_plan_and_new_instances_cannot_have_it() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, operator(&app).await);
    let created = ada.post("/linode/instances", new_instance("g6-nanode-1")).await;
    assert_eq!(created.status, 200);
    let path = "/provider/plans/g6-nanode-1";

    let retired = sam.post(&format!("{path}/retire"), json!({})).await.json();

    assert_eq!(
        (&retired["retired"], &retired["instances"]),
        (&json!(true), &json!(1))
    );
    let refused = ada.post("/linode/instances", new_instance("g6-nanode-1")).await;
    assert_eq!(refused.errors(), ["type plan_invalid"]);
    let instance = ada.get("/linode/instances/1").await.json();
    assert_eq!(
        (&instance["type"], &instance["specs"]["memory"]),
        (&json!("g6-nanode-1"), &json!(1024))
    );
    let public = app.anonymous();
    assert_eq!(public.count("/linode/types").await, 36);
    assert_eq!(public.get("/linode/types/g6-nanode-1").await.status, 200);
    let offered = public.get("/regions/us-east/availability").await.json();
    let is_offered = |row: &Value| row["plan"] == "g6-nanode-1";
    assert!(!offered.as_array().unwrap().iter().any(is_offered));
    assert_eq!(
        sam.post(&format!("{path}/retire"), json!({})).await.errors(),
        ["- retired_state"]
    );
    let listed = sam.filter(PLANS, r#"{"retired": true}"#).await.data();
    assert_eq!(listed.len(), 1);

    assert_eq!(
        sam.post(&format!("{path}/reactivate"), json!({})).await.status,
        200
    );

    let accepted = ada.post("/linode/instances", new_instance("g6-nanode-1")).await;
    assert_eq!(accepted.status, 200);
}

#[tokio::test]
async fn a_change_applies_to_existing_instances_and_the_disk_does_not_shrink_below_them() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, operator(&app).await);
    ada.post("/linode/instances", new_instance("g6-nanode-1")).await;
    let path = "/provider/plans/g6-nanode-1";
    let before = app.anonymous().get("/linode/types/g6-nanode-1").await.json();

    let smaller = sam.put(path, json!({"disk": 100})).await;

    assert_eq!(smaller.errors(), ["disk out_of_range"]);
    let body = json!({"label": "Tiny", "disk": 30000, "price": {"monthly": 6}});
    assert_eq!(sam.put(path, body).await.status, 200);
    let after = app.anonymous().get("/linode/types/g6-nanode-1").await.json();
    assert_eq!(
        (&after["label"], &after["disk"], &after["price"]),
        (
            &json!("Tiny"),
            &json!(30000),
            &json!({"hourly": before["price"]["hourly"], "monthly": 6.0})
        )
    );
    for unchanged in ["addons", "region_prices", "memory", "class"] {
        assert_eq!(after[unchanged], before[unchanged], "{unchanged}");
    }
    let instance = ada.get("/linode/instances/1").await.json();
    assert_eq!(instance["specs"]["disk"], 30000);
    let unused = "/provider/plans/g6-standard-1";
    assert_eq!(sam.put(unused, json!({"disk": 100})).await.json()["disk"], 100);
    let none = sam.put(path, json!({"region_prices": []})).await.json();
    assert_eq!(none["region_prices"], json!([]));
}

#[tokio::test]
async fn wrong_fields_are_refused_together() {
    let app = TestApp::new().await;
    let sam = operator(&app).await;
    for (body, errors) in [
        (
            json!({}),
            vec![
                "id required",
                "memory required",
                "disk required",
                "vcpus required",
            ],
        ),
        (
            json!({
                "id": "g6-nanode-1", "class": "huge", "memory": 0, "disk": "big", "vcpus": 1, "gpus": -1,
                "price": {"hourly": -1, "monthly": "ten"}, "region_prices": [{"monthly": 1e10}, 5],
            }),
            vec![
                "id id_taken",
                "class choice_invalid",
                "memory out_of_range",
                "disk wrong_type",
                "gpus out_of_range",
                "price.hourly out_of_range",
                "price.monthly wrong_type",
                "region_prices[0].id required",
                "region_prices[0].monthly out_of_range",
                "region_prices[1] wrong_type",
            ],
        ),
    ] {
        assert_eq!(sam.post(PLANS, body).await.errors(), errors);
    }
    let many: Vec<_> = (0..101).map(|at| json!({"id": format!("r{at}")})).collect();
    let refused = sam
        .put("/provider/plans/g6-nanode-1", json!({"region_prices": many}))
        .await;
    assert_eq!(refused.errors(), ["region_prices out_of_range"]);
    assert_eq!(
        sam.put("/provider/plans/g0", json!({"label": "x"})).await.status,
        404
    );
    assert_eq!(
        sam.get("/provider/plans/g6-nanode-1").await.json()["source"],
        "settings"
    );
}
