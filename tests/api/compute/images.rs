//! Types and images: public catalogs.

use serde_json::json;

use crate::harness::{BEGINNING, TestApp};

#[tokio::test]
async fn types_and_images_need_no_token() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();

    let nanode = anonymous.get("/linode/types/g6-nanode-1").await.json();
    assert_eq!(
        (&nanode["memory"], &nanode["disk"]),
        (&json!(1024), &json!(25600))
    );
    assert_eq!(nanode["price"], json!({"hourly": 0.0075, "monthly": 5.0}));
    assert!(anonymous.get("/linode/types").await.data().len() > 3);
    assert_eq!(anonymous.get("/linode/types/huge").await.status, 404);

    for vendor in ["Alpine", "Debian", "Ubuntu"] {
        let filter = json!({"vendor": vendor}).to_string();
        assert!(
            anonymous.filter("/images", &filter).await.data().len() >= 2,
            "{vendor}"
        );
    }
    let image = anonymous.get("/images/linode%2Fubuntu22.04").await.json();
    assert_eq!(
        (&image["id"], &image["is_public"]),
        (&json!("linode/ubuntu22.04"), &json!(true))
    );
    let by_size = anonymous
        .filter("/linode/types", r#"{"+order_by":"memory","+order":"desc"}"#)
        .await
        .data();
    assert_eq!(by_size[0]["memory"], 524_288, "numbers sort as numbers");
}

#[tokio::test]
async fn the_slash_in_an_image_id_needs_no_encoding() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    let image = anonymous.get("/images/linode%2Fdebian12").await.json();
    assert_eq!(image["regions"], json!(null));
    assert_eq!(image["id"], "linode/debian12");
    // One published client does not encode the slash.
    for path in ["/images/linode/debian12", "/images/linode/debian12/"] {
        assert_eq!(anonymous.get(path).await.json(), image, "{path}");
    }
    for path in [
        "/images/linode/none",
        "/images/linode/debian12/more",
        "/images//debian12",
    ] {
        assert_eq!(anonymous.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn types_and_images_have_the_filters_that_clients_send() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    let all = anonymous.count("/images").await;
    for (filter, found) in [
        (r#"{"is_public":true,"type":"manual"}"#, all),
        (r#"{"is_public":false,"type":"manual"}"#, 0),
        (
            r#"{"is_public":false,"type":"automatic","+order":"asc","+order_by":"label"}"#,
            0,
        ),
        (r#"{"deprecated":false}"#, all - 6),
        (r#"{"deprecated":true}"#, 6),
        (r#"{"deprecated":true,"vendor":"Alpine"}"#, 1),
        (r#"{"id":"linode/debian12","created_by":"linode"}"#, 1),
        (r#"{"status":"available","description":""}"#, all),
        (r#"{"created":{"+lt":"2010-01-01T00:00:00"}}"#, 0),
        (r#"{"+and":[],"+order":"desc","+order_by":"created"}"#, all),
    ] {
        let reply = anonymous.filter("/images", filter).await;
        assert_eq!(reply.status, 200, "{filter}: {reply}");
        assert_eq!(reply.json()["results"], found, "{filter}");
    }
    for (filter, found) in [
        (r#"{"disk":25600,"id":"g6-nanode-1"}"#, 1),
        (r#"{"gpus":0,"transfer":1000,"id":"g6-nanode-1"}"#, 1),
        (r#"{"network_out":1000,"id":"g6-nanode-1"}"#, 1),
        (r#"{"id":"g6-nanode-1","gpus":{"+gt":0}}"#, 0),
        (r#"{"successor":{"+neq":null}}"#, 0),
        (r#"{"class":"gpu","gpus":{"+gte":3}}"#, 2),
    ] {
        let reply = anonymous.filter("/linode/types", filter).await;
        assert_eq!(reply.status, 200, "{filter}: {reply}");
        assert_eq!(reply.json()["results"], found, "{filter}");
    }
}

#[tokio::test]
async fn types_and_images_are_those_that_current_clients_expect() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    for image in ["alpine3.22", "alpine3.23", "debian13", "ubuntu24.04"] {
        let found = anonymous.get(&format!("/images/linode%2F{image}")).await.json();
        assert!(found["eol"].as_str().unwrap() > BEGINNING, "{found}");
    }
    let rolling = anonymous.get("/images/linode%2Farch").await.json();
    assert_eq!(rolling["eol"], json!(null));
    for (class, count) in [
        ("nanode", 1),
        ("standard", 9),
        ("dedicated", 9),
        ("highmem", 5),
        ("gpu", 4),
        ("premium", 9),
    ] {
        let filter = json!({"class": class}).to_string();
        let found = anonymous.filter("/linode/types", &filter).await;
        assert_eq!(found.json()["results"], count, "{class}");
    }
    let nanode = anonymous.get("/linode/types/g6-nanode-1").await.json();
    let prices = json!([
        {"id": "id-cgk", "hourly": 0.009, "monthly": 6.0},
        {"id": "br-gru", "hourly": 0.0105, "monthly": 7.0},
    ]);
    assert_eq!(nanode["region_prices"], prices);
    let backups = json!({
        "price": {"hourly": 0.003, "monthly": 2.0},
        "region_prices": [
            {"id": "id-cgk", "hourly": 0.0036, "monthly": 2.4},
            {"id": "br-gru", "hourly": 0.004, "monthly": 2.8},
        ],
    });
    assert_eq!(nanode["addons"]["backups"], backups);
    let standard = anonymous.get("/linode/types/g6-standard-2").await.json();
    assert_eq!(
        (&standard["label"], &standard["network_out"]),
        (&json!("Linode 4GB"), &json!(4000))
    );
    // The public service rounds the hourly prices of regions to tenths of a cent.
    assert_eq!(standard["region_prices"][0]["hourly"], 0.043);
    let premium = anonymous.get("/linode/types/g7-premium-2").await.json();
    assert_eq!(premium["price"], json!({"hourly": 0.0645, "monthly": 43.0}));
    assert_eq!(premium["region_prices"][1]["monthly"], 60.48);
}

#[tokio::test]
async fn images_have_the_fields_of_the_public_service() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    let listed = anonymous.get("/images?page_size=100").await.data();
    assert_eq!(listed.len(), 34);
    let deprecated: Vec<_> = listed.iter().map(|image| image["deprecated"] == true).collect();
    assert!(deprecated.is_sorted(), "deprecated images come last");
    let image = anonymous.get("/images/linode%2Falmalinux9").await.json();
    assert_eq!(
        image,
        json!({"id": "linode/almalinux9", "label": "AlmaLinux 9", "deprecated": false, "size": 2500,
            "created": "2022-05-26T00:00:00", "updated": "2022-05-26T00:00:00", "description": "",
            "created_by": "linode", "type": "manual", "tags": [], "is_public": true, "is_shared": false,
            "vendor": "AlmaLinux", "expiry": null, "eol": "2032-05-31T00:00:00", "regions": null,
            "status": "available", "capabilities": ["cloud-init", "distributed-sites"], "image_sharing": null})
    );
}

#[tokio::test]
async fn withdrawn_images_are_not_listed_but_can_be_used() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    // The Terraform provider reads this image.
    let image = ada.get("/images/linode%2Fdebian8").await.json();
    assert_eq!(
        (&image["label"], &image["size"], &image["deprecated"]),
        (&json!("Debian 8"), &json!(1300), &json!(true))
    );
    let found = ada.filter("/images", r#"{"id":"linode/debian8"}"#).await;
    assert_eq!(found.json()["results"], 0);
    let new = json!({"region": "us-mia", "type": "g6-nanode-1", "image": "linode/alpine3.19",
        "root_pass": "a-long-secret-of-yours"});
    assert_eq!(ada.post("/linode/instances", new).await.status, 200);
}
