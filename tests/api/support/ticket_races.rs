//! Concurrent operations on tickets.

use std::future::IntoFuture;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::harness::{TestApp, User};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exactly_one_concurrent_claim_succeeds() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let names: Vec<_> = (0..16).map(|number| format!("agent{number}")).collect();
    let agents = join_all(names.iter().map(|name| app.user(name).staff().into_future())).await;
    for round in 1..=10 {
        ada.open_ticket("Help").await;
        let path = format!("/desk/tickets/{round}/claim");
        let claims = join_all(agents.iter().map(|agent| agent.post(&path, json!({})))).await;
        let succeeded: Vec<_> = claims.iter().filter(|claim| claim.status == 200).collect();
        assert_eq!(succeeded.len(), 1);
        for lost in claims.iter().filter(|claim| claim.status != 200) {
            assert_eq!(lost.errors(), ["- ticket_claimed"]);
        }
        let holder = agents[0].get(&format!("/desk/tickets/{round}")).await.json()["claimed_by"].clone();
        assert_eq!(succeeded[0].json()["claimed_by"], holder);
    }
    assert_eq!(ada.events().await.len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pages_list_open_tickets_first_during_concurrent_closes() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for _ in 0..60 {
        ada.open_ticket("Help").await;
    }
    let done = AtomicBool::new(false);
    let pages = AtomicUsize::new(0);
    let close = async {
        for id in (1..=60).map(|id| id * 37 % 61) {
            ada.post(&format!("/support/tickets/{id}/close"), json!({})).await;
        }
        done.store(true, Ordering::SeqCst);
    };
    let read = async {
        while !done.load(Ordering::SeqCst) {
            for page in 1..=4 {
                let path = format!("/support/tickets?page_size=15&page={page}");
                let tickets = ada.get(&path).await.data();
                let place = |ticket: &Value| (ticket["status"] == "closed", -ticket["id"].as_i64().unwrap());
                assert_eq!(tickets.len(), 15);
                assert!(tickets.is_sorted_by_key(place), "{tickets:?}");
                pages.fetch_add(1, Ordering::SeqCst);
            }
        }
    };
    tokio::join!(close, read);
    assert!(pages.load(Ordering::SeqCst) > 8);
    let last = ada.get("/support/tickets").await;
    assert_eq!(last.ids(), (1..=60).rev().collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_operations_leave_a_valid_history() {
    let app = TestApp::with(|policy, _| policy.support.attachments_per_ticket = 1000).await;
    let ada = app.user("ada").await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);
    ada.open_ticket("Help").await;
    let replies = AtomicUsize::new(0);
    let files = AtomicUsize::new(0);
    let count = |counter: &AtomicUsize, status: hyper::StatusCode| {
        assert!(status == 200 || status == 400, "{status}");
        counter.fetch_add(usize::from(status == 200), Ordering::SeqCst);
    };
    let customer = async {
        for number in 0..40 {
            match number % 4 {
                0 => drop(ada.post("/support/tickets/1/close", json!({})).await),
                1 => count(&files, ada.attach_file(1, "a.txt", "Notes").await.status),
                _ => {
                    let body = json!({"description": "And?"});
                    count(
                        &replies,
                        ada.post("/support/tickets/1/replies", body).await.status,
                    );
                }
            }
        }
    };
    let staff = async |agent: &User<'_>| {
        for number in 0..40 {
            let take = json!({"take_over": true});
            let reply = match number % 5 {
                0 => agent.post("/desk/tickets/1/claim", take).await,
                1 => agent.post("/desk/tickets/1/close", json!({})).await,
                2 | 3 => agent.post("/desk/tickets/1/reopen", json!({})).await,
                _ => {
                    agent
                        .post("/desk/tickets/1/replies", json!({"description": "So."}))
                        .await
                }
            };
            assert!(reply.status == 200 || reply.status == 400, "{reply}");
            if number % 5 == 4 {
                count(&replies, reply.status);
            }
        }
    };
    tokio::join!(customer, staff(&sam), staff(&pat));

    let history = sam.get("/desk/tickets/1/history?page_size=500").await.data();
    let ids: Vec<_> = history
        .iter()
        .map(|entry| entry["id"].as_i64().unwrap())
        .collect();
    assert!(ids.is_sorted());
    let mut status = "new".to_owned();
    for entry in &history {
        let (action, after) = (
            entry["action"].as_str().unwrap(),
            entry["status"].as_str().unwrap(),
        );
        let allowed = match (status.as_str(), action) {
            ("new", "opened") => "new",
            ("new" | "open", "close") => "closed",
            ("closed", "reopen") => "open",
            ("new" | "open", "claim") => "open",
            ("new" | "open", "reply") if entry["from_staff"] == true => "open",
            (same @ ("new" | "open"), "reply" | "attachment") => same,
            (status, action) => panic!("{action} on a ticket that is {status}: {history:#?}"),
        };
        assert_eq!(after, allowed, "{action}");
        status = after.to_owned();
    }
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(ticket["status"], status);
    assert_eq!(
        ticket["attachments"].as_array().unwrap().len(),
        files.load(Ordering::SeqCst)
    );
    let stored = ada.count("/support/tickets/1/replies").await as usize;
    assert_eq!(stored, replies.load(Ordering::SeqCst));
    assert!(stored > 0);
    // Each step of the history has one event, including the step `opened`.
    assert_eq!(ada.count("/account/events").await as usize, history.len());
}
