//! Kernels and maintenance policies: public catalogs.

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn kernels_need_no_token_and_have_a_slash_in_their_id() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    let kernel = anonymous
        .get("/linode/kernels/linode%2Flatest-64bit")
        .await
        .json();
    assert_eq!(
        (&kernel["id"], &kernel["architecture"], &kernel["kvm"]),
        (&json!("linode/latest-64bit"), &json!("x86_64"), &json!(true))
    );
    assert!(kernel["label"].as_str().unwrap().starts_with("Latest 64 bit ("));
    for path in [
        "/linode/kernels/linode/latest-64bit",
        "/v4beta/linode/kernels/linode%2Flatest-64bit/",
        "/compute/kernels/linode/latest-64bit",
    ] {
        assert_eq!(anonymous.get(path).await.json(), kernel, "{path}");
    }
    assert_eq!(anonymous.get("/linode/kernels/linode%2Fnone").await.status, 404);
    for id in [
        "linode/latest-32bit",
        "linode/grub2",
        "linode/direct-disk",
        "linode/grub-legacy",
    ] {
        let found = anonymous
            .filter("/linode/kernels", &json!({"id": id}).to_string())
            .await;
        assert_eq!(found.json()["results"], 1, "{id}");
    }
    for (filter, found) in [
        (r#"{"label":{"+contains":"64 BIT"}}"#, 1),
        (r#"{"deprecated":false,"kvm":true}"#, 5),
        (r#"{"pvops":true}"#, 2),
        (r#"{"pvops":false}"#, 3),
        (r#"{"kvm":false}"#, 0),
        (r#"{"deprecated":true}"#, 0),
        (r#"{"architecture":"i386"}"#, 1),
        (r#"{"+and":[],"+order":"desc"}"#, 5),
    ] {
        let kernels = anonymous.filter("/linode/kernels", filter).await;
        assert_eq!(kernels.json()["results"], found, "{filter}");
    }
    // The public service sends no version for it.
    let direct = anonymous.get("/linode/kernels/linode/direct-disk").await.json();
    assert_eq!(
        (&direct["version"], &direct["pvops"]),
        (&json!(""), &json!(false))
    );
}

#[tokio::test]
async fn maintenance_policies_are_listed() {
    let app = TestApp::new().await;
    let policies = app.anonymous().get("/v4beta/maintenance/policies").await.data();
    let rows: Vec<_> = policies
        .iter()
        .map(|policy| {
            (
                policy["slug"].as_str().unwrap(),
                policy["notification_period_sec"].as_i64().unwrap(),
                policy["is_default"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("linode/migrate", 10_800, true),
            ("linode/power_off_on", 604_800, false)
        ]
    );
    // The Terraform provider and linodego compare the first description.
    let descriptions: Vec<_> = policies.iter().map(|policy| &policy["description"]).collect();
    assert_eq!(
        descriptions,
        [
            "Migrates the Linode to a new host while it remains fully operational. Recommended for maximizing \
             availability.",
            "Powers off the Linode at the start of the maintenance event and reboots it once the maintenance \
             finishes. Recommended for maximizing performance.",
        ]
    );
}
