//! Lists that are long enough to be paged by tallies, with rows of other owners in between.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::json;

use crate::harness::{TestApp, User};

/// Asserts that every page of a list has the expected items, for several page sizes, and the same total.
async fn assert_paged(user: &User<'_>, path: &str, filter: &str, expected: &[i64]) {
    for size in [7, 100, 500] {
        let pages = expected.len().div_ceil(size).max(1);
        for page in 1..=pages + 1 {
            let reply = user
                .filter(&format!("{path}?page={page}&page_size={size}"), filter)
                .await;
            let items: Vec<i64> = expected
                .iter()
                .copied()
                .skip((page - 1) * size)
                .take(size)
                .collect();
            assert_eq!(
                reply.ids(),
                items,
                "page {page} of {size} of {path} with {filter}"
            );
            assert_eq!(reply.json()["results"], json!(expected.len()));
        }
    }
}

fn reversed(ids: &[i64]) -> Vec<i64> {
    ids.iter().rev().copied().collect()
}

#[tokio::test]
async fn vpcs_are_paged_by_id_in_both_directions_and_by_region() {
    let app = TestApp::with(|policy, _| policy.quota.vpcs_per_region = 1000).await;
    let ada = app.user("ada").await;
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;

    let create = async |number: usize| {
        let region = if number.is_multiple_of(3) {
            "us-mia"
        } else {
            "us-east"
        };
        let body = json!({"label": format!("vpc-{number}"), "region": region});
        let user = if number.is_multiple_of(4) { &eve } else { &ada };
        let reply = user.post("/vpcs", body).await;
        (number, region, reply.json()["id"].as_i64().unwrap())
    };
    let mut created = Vec::new();
    for batch in (0..800).collect::<Vec<_>>().chunks(40) {
        created.extend(join_all(batch.iter().map(|number| create(*number))).await);
    }
    let mut mine: Vec<_> = created
        .into_iter()
        .filter(|(number, ..)| number % 4 != 0)
        .collect();
    let (deleted, remaining): (Vec<_>, Vec<_>) = mine.drain(..).partition(|(number, ..)| number % 5 == 1);
    let delete = async |id: i64| assert_eq!(ada.delete(&format!("/vpcs/{id}")).await.status, 200);
    join_all(deleted.iter().map(|(.., id)| delete(*id))).await;

    let ids = |wanted: &dyn Fn(&str) -> bool| -> Vec<i64> {
        let ids: BTreeSet<i64> = remaining
            .iter()
            .filter(|(_, region, _)| wanted(region))
            .map(|created| created.2)
            .collect();
        ids.into_iter().collect()
    };
    let (all, miami) = (ids(&|_| true), ids(&|region| region == "us-mia"));
    assert!(all.len() > 256 && all.last().unwrap() - all.first().unwrap() > 512);
    assert_paged(&ada, "/vpcs", "{}", &all).await;
    assert_paged(
        &ada,
        "/vpcs",
        r#"{"+order_by": "id", "+order": "desc"}"#,
        &reversed(&all),
    )
    .await;
    assert_paged(&ada, "/vpcs", r#"{"region": "us-mia"}"#, &miami).await;
    let down = r#"{"region": "us-mia", "+order_by": "id", "+order": "desc"}"#;
    assert_paged(&ada, "/vpcs", down, &reversed(&miami)).await;
    assert_paged(&ada, "/vpcs", r#"{"region": null}"#, &[]).await;
    assert_eq!(eve.get("/vpcs").await.json()["results"], json!(200));

    let quotas = ada.get("/account/quotas").await.json();
    assert_eq!(
        quotas["vpcs_per_region"]["used"],
        json!({"us-east": all.len() - miami.len(), "us-mia": miami.len()})
    );
}

#[tokio::test]
async fn subnets_of_a_wide_vpc_are_paged_and_counted() {
    let app = TestApp::with(|policy, _| policy.quota.subnets_per_vpc = 600).await;
    let ada = app.user("ada").await;
    let (wide, narrow) = (
        ada.create_vpc("wide", &[]).await,
        ada.create_vpc("narrow", &[]).await,
    );
    let path = format!("/vpcs/{wide}/subnets");
    let mut ids = Vec::new();
    for number in 0..600 {
        let range = format!("10.{}.{}.0/24", number / 256, number % 256);
        let body = json!({"label": format!("subnet-{number}"), "ipv4": range});
        ids.push(ada.post(&path, body).await.json()["id"].as_i64().unwrap());
        if number % 2 == 0 {
            let body = json!({"label": format!("subnet-{number}"), "ipv4": range});
            ada.post(&format!("/vpcs/{narrow}/subnets"), body).await;
        }
    }
    let more = json!({"label": "one-more", "ipv4": "10.200.0.0/24"});
    assert_eq!(
        ada.post(&path, more).await.status,
        400,
        "the quota counts all of them"
    );
    assert_paged(&ada, &path, "{}", &ids).await;
    assert_paged(
        &ada,
        &path,
        r#"{"+order_by": "id", "+order": "desc"}"#,
        &reversed(&ids),
    )
    .await;
}

#[tokio::test]
async fn tickets_are_paged_with_open_ones_first() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let sam = app.user("sam").staff().await;
    let mut ids: Vec<i64> = Vec::new();
    for number in 0..320 {
        ids.push(ada.open_ticket(&format!("Ticket {number}")).await);
    }
    let closed: BTreeSet<i64> = ids.iter().copied().filter(|id| id % 3 == 0).collect();
    let opened_again: BTreeSet<i64> = closed.iter().copied().filter(|id| id % 2 == 0).collect();
    for id in &closed {
        sam.post(&format!("/desk/tickets/{id}/close"), json!({})).await;
    }
    for id in &opened_again {
        sam.post(&format!("/desk/tickets/{id}/reopen"), json!({})).await;
    }
    let closed: Vec<i64> = closed.difference(&opened_again).copied().collect();
    let open: Vec<i64> = ids.iter().copied().filter(|id| !closed.contains(id)).collect();

    let all = [reversed(&open), reversed(&closed)].concat();
    assert_paged(&ada, "/support/tickets", "{}", &all).await;
    assert_paged(
        &ada,
        "/support/tickets",
        r#"{"status": "closed"}"#,
        &reversed(&closed),
    )
    .await;
    assert_paged(&ada, "/support/tickets", r#"{"+order_by": "id"}"#, &ids).await;
}

#[tokio::test]
async fn events_are_paged_newest_first_after_old_ones_are_deleted() {
    let app = TestApp::with(|policy, _| policy.quota.vpcs_per_region = 1000).await;
    let ada = app.user("ada").await;
    for number in 0..90 {
        ada.create_vpc(&format!("old-{number}"), &[]).await;
    }
    app.advance(60 * 24 * 3600);
    for number in 0..300 {
        ada.create_vpc(&format!("new-{number}"), &[]).await;
    }
    let all: Vec<i64> = events(&ada).await;
    assert_paged(&ada, "/account/events", "{}", &all).await;

    app.advance(40 * 24 * 3600);
    let young: Vec<i64> = all[..300].to_vec();
    assert_paged(&ada, "/account/events", "{}", &young).await;
    let up = r#"{"+order_by": "id", "+order": "asc"}"#;
    assert_paged(&ada, "/account/events", up, &reversed(&young)).await;
}

#[tokio::test]
async fn events_since_a_time_are_paged_newest_first_after_the_clock_was_set_back() {
    let app = TestApp::with(|policy, _| policy.quota.vpcs_per_region = 1000).await;
    let ada = app.user("ada").await;
    for number in 0..80 {
        // The clock is sometimes set back, so that a later event has an earlier time.
        app.advance(if number % 11 == 10 { -45 } else { 7 });
        ada.create_vpc(&format!("vpc-{number}"), &["10.0.0.0/24"]).await;
    }
    let all = ada.get("/account/events?page_size=500").await.data();
    let mut times: Vec<_> = all
        .iter()
        .map(|event| event["created"].as_str().unwrap().to_owned())
        .collect();
    times.sort();
    for since in [&times[3], &times[60], &times[150], "2030-01-01T00:00:00"] {
        for action in ["vpc_create", "subnet_create"] {
            let expected = |any: bool| -> Vec<i64> {
                let matches = |event: &&serde_json::Value| {
                    event["created"].as_str() >= Some(since) && (any || event["action"] == *action)
                };
                all.iter()
                    .filter(matches)
                    .map(|event| event["id"].as_i64().unwrap())
                    .collect()
            };
            let plain = json!({"created": {"+gte": since}}).to_string();
            assert_paged(&ada, "/account/events", &plain, &expected(true)).await;
            let narrow = json!({"+and": [{"created": {"+gte": since}}], "action": action, "+order_by": "id", "+order": "desc"});
            assert_paged(&ada, "/account/events", &narrow.to_string(), &expected(false)).await;
            let up =
                json!({"created": {"+gte": since}, "action": action, "+order_by": "id", "+order": "asc"});
            assert_paged(
                &ada,
                "/account/events",
                &up.to_string(),
                &reversed(&expected(false)),
            )
            .await;
        }
    }
}

/// The IDs of all events. Each request has the last ID of the previous page in `after`.
async fn events(user: &User<'_>) -> Vec<i64> {
    let mut ids = Vec::new();
    loop {
        let after = ids.last().copied().unwrap_or(0);
        let reply = user
            .get(&format!("/account/events?after={after}&page_size=500"))
            .await;
        if reply.ids().is_empty() {
            ids.reverse();
            return ids;
        }
        ids.extend(reply.ids());
    }
}

#[tokio::test]
async fn the_queue_of_the_desk_has_open_tickets_first_on_every_page() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let eve = app.user("eve").of(app.another_account().await).await;
    let sam = app.user("sam").staff().await;
    assert_paged(&sam, "/desk/tickets", "{}", &[]).await;
    let open = async |number: usize| {
        let user = if number.is_multiple_of(4) { &eve } else { &ada };
        let reply = user
            .post("/support/tickets", json!({"summary": "Help", "description": "."}))
            .await;
        reply.json()["id"].as_i64().unwrap()
    };
    let mut ids = BTreeSet::new();
    for batch in (0..300).collect::<Vec<_>>().chunks(40) {
        ids.extend(join_all(batch.iter().map(|number| open(*number))).await);
    }
    let (closed, open): (Vec<i64>, Vec<i64>) = ids.into_iter().partition(|id| id % 3 == 0);
    for id in &closed {
        let path = format!("/desk/tickets/{id}/close");
        assert_eq!(sam.post(&path, json!({})).await.status, 200);
    }
    let all = [reversed(&open), reversed(&closed)].concat();
    assert_paged(&sam, "/desk/tickets", "{}", &all).await;
    let filter = r#"{"status":"closed"}"#;
    assert_paged(&sam, "/desk/tickets", filter, &reversed(&closed)).await;
    let filter = r#"{"+order_by":"id","+order":"asc"}"#;
    let mut ascending = all.clone();
    ascending.sort_unstable();
    assert_paged(&sam, "/desk/tickets", filter, &ascending).await;
}
