//! The desk: tickets for the provider's staff.

use serde_json::{Value, json};

use crate::harness::{Reply, TestApp, User};

/// The history of a ticket: `who action (before>after) =status`.
pub async fn history(staff: &User<'_>, ticket: i64) -> Vec<String> {
    let entries = staff.get(&format!("/desk/tickets/{ticket}/history")).await.data();
    let line = |entry: &Value| {
        let word = |key: &str| entry[key].as_str().unwrap_or("-").to_owned();
        format!(
            "{} {} {}>{} ={}",
            word("created_by"),
            word("action"),
            word("before"),
            word("after"),
            word("status")
        )
    };
    entries.iter().map(line).collect()
}

pub async fn post(user: &User<'_>, path: &str) -> Reply {
    user.post(path, json!({})).await
}

#[tokio::test]
async fn a_desk_ticket_shows_the_customer_and_the_subject() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    let body = json!({"summary": "Help", "description": "Please.", "vpc_id": 1});
    ada.post("/support/tickets", body).await;
    let staff = app.user("sam").staff().await;

    let ticket = staff.get("/desk/tickets/1").await.json();

    let tenant = ada.get("/support/tickets/1").await.json();
    for (key, value) in tenant.as_object().unwrap() {
        assert_eq!(&ticket[key], value, "{key}");
    }
    assert_eq!(
        ticket["account"],
        json!({"id": 1, "company": "Example", "email": "owner@example.com"})
    );
    assert_eq!(
        ticket["customer"],
        json!({"username": "ada", "email": "ada@example.com", "restricted": false})
    );
    let rest = [
        "account_id",
        "priority",
        "claimed_by",
        "claimed",
        "managed_issue",
        "replies",
        "notes",
    ];
    let rest: Vec<_> = rest.iter().map(|key| ticket[key].clone()).collect();
    assert_eq!(json!(rest), json!([1, "normal", null, null, false, 0, 0]));
}

#[tokio::test]
async fn a_claim_opens_a_ticket_and_only_the_assignee_releases_it() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);
    app.advance(5);

    let claimed = post(&sam, "/desk/tickets/1/claim").await.json();
    assert_eq!(
        (&claimed["status"], &claimed["claimed_by"], &claimed["claimed"]),
        (&json!("open"), &json!("sam"), &json!("2024-06-01T12:00:05"))
    );
    let again = post(&sam, "/desk/tickets/1/claim").await;
    assert_eq!(again.json(), claimed);
    let taken = post(&pat, "/desk/tickets/1/claim").await;
    assert_eq!(taken.errors(), ["- ticket_claimed"]);
    assert!(taken.reason().contains("sam"), "{taken}");
    assert_eq!(
        post(&pat, "/desk/tickets/1/release").await.errors(),
        ["- ticket_claimed"]
    );

    let over = pat
        .post("/desk/tickets/1/claim", json!({"take_over": true}))
        .await;
    assert_eq!(over.json()["claimed_by"], "pat");
    let released = post(&pat, "/desk/tickets/1/release").await.json();
    assert_eq!(
        (&released["status"], &released["claimed_by"]),
        (&json!("open"), &json!(null))
    );
    assert_eq!(
        post(&pat, "/desk/tickets/1/release").await.errors(),
        ["- ticket_not_claimed"]
    );

    assert_eq!(
        history(&sam, 1).await,
        [
            "ada opened ->- =new",
            "sam claim ->sam =open",
            "pat claim sam>pat =open",
            "pat release pat>- =open",
        ]
    );
    assert_eq!(ada.events().await.len(), 4);
}

#[tokio::test]
async fn a_ticket_is_assigned_to_a_colleague_with_access() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);
    app.user("lee").staff().await;
    let claim = "/desk/tickets/1/claim";

    let assigned = sam.post(claim, json!({"assignee": "pat"})).await;
    assert_eq!(assigned.json()["claimed_by"], "pat", "{assigned}");
    let refused = sam.post(claim, json!({"assignee": "lee"})).await;
    assert_eq!(refused.errors(), ["- ticket_claimed"]);
    let reassigned = pat.post(claim, json!({"assignee": "lee"})).await;
    assert_eq!(reassigned.json()["claimed_by"], "lee");
    let taken = sam
        .post(claim, json!({"assignee": "pat", "take_over": true}))
        .await;
    assert_eq!(taken.json()["claimed_by"], "pat");
    let own = sam
        .post(claim, json!({"assignee": null, "take_over": true}))
        .await;
    assert_eq!(own.json()["claimed_by"], "sam");

    let disabled = app
        .store
        .write(|tx| garth::rules::staff::set_disabled(tx, "lee", true));
    disabled.await.expect("there is another admin");
    for name in ["lee", "ada", "missing", ""] {
        let refused = sam.post(claim, json!({"assignee": name})).await;
        assert_eq!(refused.errors(), ["assignee user_invalid"], "{name}");
    }
    let history = history(&sam, 1).await;
    assert_eq!(
        history[1..],
        [
            "sam claim ->pat =open",
            "pat claim pat>lee =open",
            "sam claim lee>pat =open",
            "sam claim pat>sam =open",
        ]
    );
}

#[tokio::test]
async fn a_repeated_claim_records_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    post(&sam, "/desk/tickets/1/claim").await;
    let (before, events) = (ada.get("/support/tickets/1").await.json(), ada.events().await);
    app.advance(5);
    post(&sam, "/desk/tickets/1/claim").await;
    post(&sam, "/desk/tickets/1/reopen").await;
    assert_eq!(ada.get("/support/tickets/1").await.json(), before);
    assert_eq!(ada.events().await, events);
}

#[tokio::test]
async fn staff_close_and_reopen_without_changing_closable() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;

    let set = sam.put("/desk/tickets/1", json!({"closable": false})).await;
    assert_eq!(set.json()["closable"], false);
    let refused = post(&ada, "/support/tickets/1/close").await;
    assert_eq!(refused.errors(), ["- ticket_not_closable"]);
    assert_eq!(
        post(&sam, "/desk/tickets/1/close").await.json()["status"],
        "closed"
    );
    for (path, body) in [
        ("/desk/tickets/1/claim", json!({})),
        ("/desk/tickets/1/replies", json!({"description": "Yes."})),
    ] {
        assert_eq!(sam.post(path, body).await.errors(), ["- ticket_closed"], "{path}");
    }
    let set = sam.put("/desk/tickets/1", json!({"closable": true})).await;
    assert_eq!(set.errors(), ["- ticket_closed"]);
    assert_eq!(post(&sam, "/desk/tickets/1/close").await.status, 200);
    let note = sam
        .post("/desk/tickets/1/notes", json!({"description": "Done."}))
        .await;
    assert_eq!(note.status, 200);

    let reopened = post(&sam, "/desk/tickets/1/reopen").await.json();

    assert_eq!(
        (&reopened["status"], &reopened["closable"], &reopened["closed"]),
        (&json!("open"), &json!(false), &json!(null))
    );
    assert_eq!(
        history(&sam, 1).await,
        [
            "ada opened ->- =new",
            "sam closable true>false =new",
            "sam close new>closed =closed",
            "sam note ->- =closed",
            "sam reopen closed>open =open",
        ]
    );
    let recorded = ada.get("/account/events").await.data();
    let recorded: Vec<_> = recorded
        .iter()
        .map(|event| event["username"].as_str().unwrap())
        .collect();
    assert_eq!(recorded, ["Support", "Support", "Support", "ada"]);
}

#[tokio::test]
async fn unchanged_values_change_and_record_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let sam = app.user("sam").staff().await;
    for close in [false, true] {
        if close {
            post(&sam, "/desk/tickets/1/close").await;
        }
        let (ticket, events) = (sam.get("/desk/tickets/1").await, ada.events().await);
        app.advance(5);

        let same = sam.put("/desk/tickets/1", ticket.json()).await;

        assert_eq!(
            (same.json(), same.header("etag")),
            (ticket.json(), ticket.header("etag"))
        );
        assert_eq!(ada.events().await, events);
    }
}

#[tokio::test]
async fn state_errors_are_reported_with_field_errors() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    post(&ada, "/support/tickets/1/close").await;
    let sam = app.user("sam").staff().await;
    let nothing = || json!({"description": ""});
    let errors = ["description too_short", "- ticket_closed"];
    assert_eq!(
        ada.post("/support/tickets/1/replies", nothing()).await.errors(),
        errors
    );
    assert_eq!(
        sam.post("/desk/tickets/1/replies", nothing()).await.errors(),
        errors
    );
    let wrong = json!({"closable": true, "priority": "bogus"});
    assert_eq!(
        sam.put("/desk/tickets/1", wrong).await.errors(),
        ["priority choice_invalid", "- ticket_closed"]
    );
}

#[tokio::test]
async fn tenants_never_see_priorities() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for _ in 0..4 {
        ada.open_ticket("Help").await;
    }
    let sam = app.user("sam").staff().await;
    let before = (ada.get("/support/tickets/1").await.json(), ada.events().await);
    app.advance(60);
    for (ticket, priority) in [(1, "urgent"), (2, "high"), (3, "low")] {
        let body = json!({"priority": priority});
        let reply = sam.put(&format!("/desk/tickets/{ticket}"), body).await;
        assert_eq!(reply.json()["priority"], priority);
    }
    assert_eq!(
        (ada.get("/support/tickets/1").await.json(), ada.events().await),
        before
    );
    for (filter, ids) in [
        (r#"{"+order_by":"priority","+order":"desc"}"#, vec![1, 2, 4, 3]),
        (r#"{"priority":{"+gte":"high"},"+order_by":"id"}"#, vec![1, 2]),
        (r#"{"priority":"normal"}"#, vec![4]),
    ] {
        assert_eq!(sam.filter("/desk/tickets", filter).await.ids(), ids, "{filter}");
    }
    let wrong = sam
        .put("/desk/tickets/1", json!({"priority": "asap", "closable": 1}))
        .await;
    assert_eq!(wrong.errors(), ["closable wrong_type", "priority choice_invalid"]);
    let filter = sam.filter("/desk/tickets", r#"{"priority":"asap"}"#).await;
    assert_eq!(filter.errors(), ["X-Filter filter_type"]);
}

#[tokio::test]
async fn the_provider_can_open_a_ticket_that_the_account_cannot_close() {
    let app = TestApp::with(|policy, _| policy.support.provider = "Garth Hosting".to_owned()).await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    let sam = app.user("sam").staff().await;
    let body = json!({"account_id": 1, "summary": "Maintenance", "description": "Tonight.", "vpc_id": 1,
        "priority": "high"});

    let created = sam.post("/desk/tickets", body).await.json();

    assert_eq!(
        [
            &created["status"],
            &created["closable"],
            &created["opened_by"],
            &created["priority"],
            &created["customer"]
        ],
        [
            &json!("new"),
            &json!(false),
            &json!("Garth Hosting"),
            &json!("high"),
            &json!(null)
        ]
    );
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(ticket["entity"]["label"], "core");
    assert_eq!(ticket["updated_by"], "Garth Hosting");
    assert_eq!(
        post(&ada, "/support/tickets/1/close").await.errors(),
        ["- ticket_not_closable"]
    );
    let event = &ada.get("/account/events").await.data()[0];
    assert_eq!(
        (&event["action"], &event["username"]),
        (&json!("ticket_create"), &json!("Garth Hosting"))
    );
    let reply = ada
        .post("/support/tickets/1/replies", json!({"description": "Fine."}))
        .await;
    assert_eq!(reply.status, 200);

    let body = json!({"account_id": 9, "summary": "", "vpc_id": 2, "closable": "no", "priority": 1});
    let wrong = sam.post("/desk/tickets", body).await;
    assert_eq!(
        wrong.errors(),
        [
            "account_id account_invalid",
            "summary too_short",
            "description required",
            "vpc_id entity_invalid",
            "closable wrong_type",
            "priority wrong_type",
        ]
    );
}
