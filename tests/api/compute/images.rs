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
    assert_eq!(by_size[0]["memory"], 16384, "numbers sort as numbers");
}

#[tokio::test]
async fn the_slash_in_an_image_id_needs_no_encoding() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    let image = anonymous.get("/images/linode%2Fdebian12").await.json();
    assert_eq!(image["regions"], json!([]), "linode-cli requires the field");
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
        (r#"{"deprecated":false}"#, all),
        (r#"{"deprecated":true}"#, 0),
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
        (r#"{"successor":{"+neq":null}}"#, 1),
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
    for (class, count) in [("nanode", 2), ("standard", 4), ("dedicated", 3)] {
        let filter = json!({"class": class}).to_string();
        let found = anonymous.filter("/linode/types", &filter).await;
        assert_eq!(found.json()["results"], count, "{class}");
    }
    let nanode = anonymous.get("/linode/types/g6-nanode-1").await.json();
    let jakarta = json!({"id": "id-cgk", "hourly": 0.009, "monthly": 6.0});
    assert_eq!(nanode["region_prices"][1], jakarta);
    let free = json!({"id": "id-cgk", "hourly": 0.0, "monthly": 0.0});
    assert_eq!(nanode["addons"]["backups"]["region_prices"][1], free);
    let previous = anonymous.get("/linode/types/g5-nanode-1").await.json();
    assert_eq!(previous["successor"], "g6-nanode-1");
    let standard = anonymous.get("/linode/types/g6-standard-2").await.json();
    assert_eq!(
        (&standard["label"], &standard["network_out"]),
        (&json!("Linode 4GB"), &json!(4000))
    );
}
