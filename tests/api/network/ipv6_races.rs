//! Concurrent requests for IPv6 ranges: no two VPCs get the same range.

use garth::model::cidr::Cidr6;
use serde_json::json;

use crate::harness::TestApp;
use crate::races::run_concurrently;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_pool_is_handed_out_to_the_last_range_without_overlaps() {
    let app = TestApp::with(|policy, _| policy.ipv6.pool = Cidr6::parse("fd00:10::/44").ok()).await;
    let other = app.another_account().await;
    let users = [app.user("ada").await, app.user("eve").of(other).await];
    let create = async |number: usize| {
        let label = format!("vpc-{number}");
        let body = json!({"label": label, "region": "us-east", "ipv6": [{"range": "/52"}]});
        users[number % 2].post("/vpcs", body).await
    };
    let mut ranges = Vec::new();
    for round in 0..4 {
        for reply in run_concurrently(async |number| create(round * 64 + number).await) {
            assert_eq!(reply.status, 200, "{reply}");
            let range = reply.json()["ipv6"][0]["range"].as_str().unwrap().to_owned();
            ranges.push(Cidr6::parse(&range).unwrap());
        }
    }
    ranges.sort_by_key(|range| range.first());
    assert_eq!(ranges.len(), 256);
    let pool = Cidr6::parse("fd00:10::/44").unwrap();
    assert!(
        ranges
            .iter()
            .all(|range| range.prefix() == 52 && pool.contains(*range))
    );
    assert!(ranges.windows(2).all(|two| two[0].last() < two[1].first()));
    assert_eq!(create(256).await.errors(), ["ipv6[0].range no_free_range"]);

    // A released range is free after the retention.
    for user in &users {
        user.delete("/vpcs/1").await;
    }
    assert_eq!(create(257).await.errors(), ["ipv6[0].range no_free_range"]);
    app.advance(24 * 3600);
    assert_eq!(create(258).await.status, 200);
}
