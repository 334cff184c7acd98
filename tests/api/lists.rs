//! Paging, the same for every list.

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn pages_cover_a_list_once_and_have_the_totals() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for number in 0..7 {
        ada.create_vpc(&format!("vpc-{number}"), &["10.0.0.0/24"]).await;
    }

    let mut ids = Vec::new();
    for page in 1..=3 {
        let reply = ada.get(&format!("/vpcs?page={page}&page_size=3")).await;
        let envelope = reply.json();
        assert_eq!(
            (&envelope["page"], &envelope["pages"], &envelope["results"]),
            (&json!(page), &json!(3), &json!(7))
        );
        assert!(
            reply
                .data()
                .iter()
                .all(|vpc| vpc["subnets"].as_array().unwrap().len() == 1)
        );
        ids.extend(reply.ids());
    }
    assert_eq!(ids, [1, 2, 3, 4, 5, 6, 7]);
}

#[tokio::test]
async fn a_page_past_the_end_is_empty_and_an_empty_list_has_one_page() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    assert_eq!(
        ada.get("/vpcs").await.json(),
        json!({"data": [], "page": 1, "pages": 1, "results": 0})
    );
    ada.create_vpc("core", &[]).await;
    for page in [2, 1_000_000, i64::MAX] {
        let reply = ada.get(&format!("/vpcs?page={page}&page_size=500")).await;
        assert_eq!(
            reply.json(),
            json!({"data": [], "page": page, "pages": 1, "results": 1})
        );
    }
}

#[tokio::test]
async fn page_and_page_size_are_validated_together() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    for invalid in ["0", "-1", "x", "", "1.0", "01", "%2B1", "9223372036854775808"] {
        let reply = ada.get(&format!("/vpcs?page={invalid}")).await;
        assert_eq!(reply.errors(), ["page page_invalid"], "{invalid}");
        assert_eq!(reply.reason(), "Must be an integer from 1 to 9223372036854775807");
    }
    for invalid in ["0", "501", "-1", "x", "", "1e2"] {
        let reply = ada.get(&format!("/vpcs?page_size={invalid}")).await;
        assert_eq!(reply.errors(), ["page_size page_size_invalid"], "{invalid}");
        assert_eq!(reply.reason(), "Must be 1-500");
    }
    for valid in [
        "page=1",
        "page_size=1",
        "page_size=500",
        "page=1&unknown=x",
        "",
        "&&=",
        "%ff=%ff",
    ] {
        assert_eq!(ada.get(&format!("/vpcs?{valid}")).await.status, 200, "{valid}");
    }
    let all = ada
        .call(hyper::Method::GET, "/vpcs?page=0&page_size=0")
        .header("x-filter", "{")
        .await;
    assert_eq!(
        all.errors(),
        [
            "page page_invalid",
            "page_size page_size_invalid",
            "X-Filter filter_invalid"
        ]
    );
}

#[tokio::test]
async fn a_list_of_five_hundred_vpcs_has_all_subnets() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for number in 0..120 {
        ada.create_vpc(&format!("vpc-{number}"), &["10.0.0.0/24", "10.0.1.0/24"])
            .await;
    }

    let vpcs = ada.get("/vpcs?page_size=500").await.data();

    assert_eq!(vpcs.len(), 120);
    for vpc in vpcs {
        let ranges: Vec<_> = vpc["subnets"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["ipv4"].clone())
            .collect();
        assert_eq!(ranges, ["10.0.0.0/24", "10.0.1.0/24"]);
    }
}
