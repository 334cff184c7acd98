//! Reports of the desk: volume and first response times of a period.

use serde_json::{Value, json};

use super::desk::post;
use crate::harness::TestApp;

const DAY: i64 = 24 * 60 * 60;

/// Figures as `opened closed responses median 90th-percentile`.
fn line(figures: &Value) -> String {
    let response = &figures["first_response"];
    format!(
        "{} {} {} {} {}",
        figures["opened"],
        figures["closed"],
        response["count"],
        response["median_seconds"],
        response["percentile_90_seconds"]
    )
}

#[tokio::test]
async fn a_report_counts_tickets_and_first_responses() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;
    // Opened before the period, closed in it.
    ada.open_ticket("Before").await;
    app.advance(DAY);
    for (seconds, user) in [(60, &ada), (600, &ada), (1200, &eve)] {
        let ticket = user.open_ticket("In the period").await;
        app.advance(seconds);
        let reply = json!({"description": "Yes."});
        sam.post(&format!("/desk/tickets/{ticket}/replies"), reply).await;
    }
    sam.put("/desk/tickets/2", json!({"tags": ["billing"]})).await;
    sam.put("/desk/tickets/4", json!({"tags": ["billing", "network"]}))
        .await;
    app.advance(DAY);
    ada.open_ticket("Without a response").await;
    post(&sam, "/desk/tickets/1/close").await;
    post(&sam, "/desk/tickets/4/close").await;
    post(&sam, "/desk/tickets/4/reopen").await;
    post(&sam, "/desk/tickets/4/close").await;
    app.advance(DAY);
    ada.open_ticket("After").await;
    post(&sam, "/desk/tickets/6/close").await;

    let report = sam
        .get("/desk/reports?from=2024-06-02&to=2024-06-03")
        .await
        .json();

    assert_eq!(
        (&report["from"], &report["to"]),
        (&json!("2024-06-02"), &json!("2024-06-03"))
    );
    assert_eq!(line(&report["total"]), "4 3 3 600 1200");
    assert_eq!(
        report["days"],
        json!([{"day": "2024-06-02", "opened": 3, "closed": 0}, {"day": "2024-06-03", "opened": 1, "closed": 3}])
    );
    let accounts: Vec<_> = report["accounts"].as_array().unwrap().iter().collect();
    let accounts: Vec<_> = accounts
        .iter()
        .map(|one| (one["account_id"].as_i64(), line(one)))
        .collect();
    assert_eq!(
        accounts,
        [
            (Some(1), "3 1 2 330 600".to_owned()),
            (Some(other.0), "1 2 1 1200 1200".to_owned())
        ]
    );
    let tags: Vec<_> = report["tags"].as_array().unwrap().iter().collect();
    let tags: Vec<_> = tags.iter().map(|one| (one["tag"].as_str(), line(one))).collect();
    assert_eq!(
        tags,
        [
            (Some("billing"), "2 2 2 630 1200".to_owned()),
            (Some("network"), "1 2 1 1200 1200".to_owned())
        ]
    );
    let all = sam.get("/desk/reports").await.json();
    assert_eq!(
        (&all["from"], &all["to"]),
        (&json!("2024-05-06"), &json!("2024-06-04"))
    );
    assert_eq!(line(&all["total"]), "6 4 3 600 1200");
}

#[tokio::test]
async fn invalid_periods_are_refused() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    for (query, error) in [
        ("from=yesterday", "from time_invalid"),
        ("to=2024-13-01", "to time_invalid"),
        ("from=2024-06-02&to=2024-06-01", "to time_invalid"),
        ("from=2023-01-01&to=2024-06-01", "from time_invalid"),
        ("from=", "from time_invalid"),
    ] {
        let reply = sam.get(&format!("/desk/reports?{query}")).await;
        assert_eq!(reply.errors(), [error], "{query}");
    }
    let empty = sam
        .get("/desk/reports?from=2020-01-01&to=2020-01-01")
        .await
        .json();
    assert_eq!(line(&empty["total"]), "0 0 0 null null");
}
