//! The desk: tickets for the provider's staff.

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{Reply, TestApp, User};

/// The history of a ticket: `who action (before>after) =status`.
async fn history(staff: &User<'_>, ticket: i64) -> Vec<String> {
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

async fn post(user: &User<'_>, path: &str) -> Reply {
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

    let seen = staff.get("/desk/tickets/1").await.json();

    let tenant = ada.get("/support/tickets/1").await.json();
    for (key, value) in tenant.as_object().unwrap() {
        assert_eq!(&seen[key], value, "{key}");
    }
    assert_eq!(
        seen["account"],
        json!({"id": 1, "company": "Example", "email": "owner@example.com"})
    );
    assert_eq!(
        seen["customer"],
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
    let rest: Vec<_> = rest.iter().map(|key| seen[key].clone()).collect();
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
async fn the_queue_has_all_accounts_and_can_be_filtered() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let grace = app.user("grace").of(app.another_account().await).await;
    ada.open_ticket("One").await;
    grace.open_ticket("Two").await;
    app.advance(3600);
    ada.post(
        "/support/tickets",
        json!({"summary": "Three", "description": ".", "domain_id": 4}),
    )
    .await;
    let sam = app.user("sam").staff().await;
    post(&sam, "/desk/tickets/2/claim").await;
    ada.post("/support/tickets/1/close", json!({})).await;

    assert_eq!(sam.get("/desk/tickets").await.ids(), [3, 2, 1]);
    for (filter, ids) in [
        (r#"{"account_id":1}"#, vec![3, 1]),
        (r#"{"account.id":2}"#, vec![2]),
        (r#"{"claimed_by":"sam"}"#, vec![2]),
        (r#"{"claimed_by":null}"#, vec![3, 1]),
        (r#"{"status":"new"}"#, vec![3]),
        (
            r#"{"opened":{"+lt":"2024-06-01T12:30:00"},"status":{"+neq":"closed"}}"#,
            vec![2],
        ),
        (r#"{"entity.type":"domain","entity.id":4}"#, vec![3]),
        (r#"{"summary":{"+contains":"thr"}}"#, vec![3]),
    ] {
        assert_eq!(sam.filter("/desk/tickets", filter).await.ids(), ids, "{filter}");
    }
}

#[tokio::test]
async fn search_finds_words_in_all_texts_of_a_ticket() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let sam = app.user("sam").staff().await;
    for (summary, description) in [
        ("Router down", "The edge router in Gießen does not answer."),
        ("Invoice", "Please send it to billing@example.com."),
        ("Über alles", "Nothing else: O'Reilly said \"so\" (10.0.0.1)."),
    ] {
        let body = json!({"summary": summary, "description": description});
        ada.post("/support/tickets", body).await;
    }
    ada.post(
        "/support/tickets/2/replies",
        json!({"description": "The Router says no."}),
    )
    .await;
    sam.post(
        "/desk/tickets/3/notes",
        json!({"description": "Smells of a router, too."}),
    )
    .await;
    for (query, ids) in [
        ("router", vec![3, 2, 1]),
        ("ROUTER%20gie%C3%9Fen", vec![1]),
        ("invoice%20router", vec![2]),
        ("rout", vec![3, 2, 1]),
        ("%C3%BCber", vec![3]),
        ("%C3%9CBER", vec![3]),
        ("o%27reilly", vec![3]),
        ("10.0.0.1", vec![3]),
        ("example.com", vec![2]),
        ("ticket", vec![]),
        ("router%20OR%20nothing", vec![]),
        ("%22", vec![0]),
        ("", vec![3, 2, 1]),
    ] {
        let reply = sam.get(&format!("/desk/tickets?q={query}")).await;
        if ids == [0] {
            assert_eq!(reply.errors(), ["q search_invalid"], "{query}");
        } else {
            assert_eq!(reply.ids(), ids, "{query}");
        }
    }
    let both = sam
        .call(Method::GET, "/desk/tickets?q=router&page_size=1&page=2")
        .header("x-filter", r#"{"id":{"+gt":1}}"#);
    let both = both.await;
    assert_eq!((both.ids(), both.json()["results"].clone()), (vec![2], json!(2)));
    let many = vec!["a"; 17].join("+");
    assert_eq!(sam.get(&format!("/desk/tickets?q={many}")).await.status, 400);
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
    let seen = ada.get("/support/tickets/1").await.json();
    assert_eq!(seen["entity"]["label"], "core");
    assert_eq!(seen["updated_by"], "Garth Hosting");
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

#[tokio::test]
async fn two_agents_cannot_overwrite_each_other() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);
    let tag = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    // Even a note changes the entity tag.
    pat.post("/desk/tickets/1/notes", json!({"description": "Mine."}))
        .await;
    for (method, path, body) in [
        (Method::PUT, "", json!({"priority": "low"})),
        (Method::POST, "/claim", json!({})),
        (Method::POST, "/close", json!({})),
        (Method::POST, "/reopen", json!({})),
        (Method::POST, "/release", json!({})),
        (Method::POST, "/replies", json!({"description": "Yes."})),
        (Method::POST, "/notes", json!({"description": "Yes."})),
    ] {
        let path = format!("/desk/tickets/1{path}");
        let call = sam.call(method, &path).header("if-match", &tag);
        assert_eq!(call.json(&body).await.status, 412, "{path}");
    }
    let fresh = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    let call = sam
        .call(Method::POST, "/desk/tickets/1/claim")
        .header("if-match", &fresh);
    assert_eq!(call.await.status, 200);
    // A value that was changed and restored still counts as changed.
    let fresh = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    for priority in ["high", "normal"] {
        pat.put("/desk/tickets/1", json!({"priority": priority})).await;
    }
    let call = sam
        .call(Method::POST, "/desk/tickets/1/close")
        .header("if-match", &fresh);
    assert_eq!(call.await.status, 412);
    // A reply of the customer counts too.
    let fresh = sam.get("/desk/tickets/1").await.header("etag").to_owned();
    ada.post("/support/tickets/1/replies", json!({"description": "Wait."}))
        .await;
    let call = sam
        .call(Method::POST, "/desk/tickets/1/close")
        .header("if-match", &fresh);
    assert_eq!(call.await.status, 412);
}

#[tokio::test]
async fn a_canned_reply_is_stored_filled_in_and_sent() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    let body = json!({"summary": "Help", "description": ".", "vpc_id": 1});
    ada.post("/support/tickets", body).await;
    ada.open_ticket("Other").await;
    let sam = app.user("sam").staff().await;
    let text = "Hello {{customer.username}} of {{account.company}} ({{account.id}}), about {{ ticket.summary }} \
                (#{{ticket.id}}) and {{entity.type}} {{entity.label}}: {{agent.username}}, {{provider.name}}";
    let created = sam
        .post(
            "/desk/canned-replies",
            json!({"label": "Hello", "description": text}),
        )
        .await;
    assert_eq!(created.status, 200, "{created}");

    let preview = sam
        .post("/desk/canned-replies/1/preview", json!({"ticket_id": 1}))
        .await;
    let filled_in = "Hello ada of Example (1), about Help (#1) and vpc core: sam, Support";
    assert_eq!(preview.json(), json!({"description": filled_in}));
    let sent = sam
        .post("/desk/tickets/1/replies", json!({"canned_reply_id": 1}))
        .await;
    assert_eq!(sent.json()["description"], filled_in);

    for (body, errors) in [
        (
            json!({"canned_reply_id": 1, "description": "x"}),
            ["canned_reply_id canned_reply_invalid"],
        ),
        (
            json!({"canned_reply_id": 9}),
            ["canned_reply_id canned_reply_invalid"],
        ),
        (json!({}), ["description required"]),
    ] {
        assert_eq!(sam.post("/desk/tickets/1/replies", body).await.errors(), errors);
    }
    let unknown = json!({"label": "Bad", "description": "Hello {{name}}"});
    let unknown = sam.post("/desk/canned-replies", unknown).await;
    assert_eq!(unknown.errors(), ["description placeholder_unknown"]);
    let taken = sam
        .post(
            "/desk/canned-replies",
            json!({"label": "HELLO", "description": "x"}),
        )
        .await;
    assert_eq!(taken.errors(), ["label label_taken"]);
    let nowhere = sam
        .post("/desk/canned-replies/1/preview", json!({"ticket_id": 99}))
        .await;
    assert_eq!(nowhere.errors(), ["ticket_id entity_invalid"]);

    app.advance(60);
    let changed = sam
        .put("/desk/canned-replies/1", json!({"label": "Hello"}))
        .await
        .json();
    assert_eq!(
        (&changed["description"], &changed["updated"]),
        (&json!(text), &json!("2024-06-01T12:01:00"))
    );
    assert_eq!(
        sam.filter("/desk/canned-replies", r#"{"label":"Hello"}"#)
            .await
            .ids(),
        [1]
    );
    assert_eq!(sam.delete("/desk/canned-replies/1").await.json(), json!({}));
    assert_eq!(sam.get("/desk/canned-replies/1").await.status, 404);
}

#[tokio::test]
async fn the_directory_has_objects_of_other_services() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let sam = app.user("sam").staff().await;
    ada.post(
        "/support/tickets",
        json!({"summary": "DNS", "description": ".", "domain_id": 7}),
    )
    .await;
    let label = async || ada.get("/support/tickets/1").await.json()["entity"]["label"].clone();
    assert_eq!(label().await, "domain7");

    let entry = json!({"account_id": 1, "type": "domain", "id": 7, "label": "example.com"});
    assert_eq!(sam.post("/desk/entities", entry.clone()).await.json(), entry);
    assert_eq!(label().await, "example.com");
    assert_eq!(sam.get("/desk/entities").await.data(), [entry]);
    let narrowed = sam.filter("/desk/entities", r#"{"type":"volume"}"#).await;
    assert_eq!(narrowed.json()["results"], 0);
    assert_eq!(sam.delete("/desk/entities/1/domain/7").await.status, 200);
    assert_eq!(sam.delete("/desk/entities/1/domain/7").await.status, 404);
    assert_eq!(label().await, "example.com");

    let wrong = json!({"account_id": 2, "type": "vpc", "id": 0, "label": ""});
    assert_eq!(
        sam.post("/desk/entities", wrong).await.errors(),
        [
            "account_id account_invalid",
            "type choice_invalid",
            "id out_of_range",
            "label too_short"
        ]
    );
}

#[tokio::test]
async fn staff_see_accounts_with_their_open_tickets() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.another_account().await;
    ada.open_ticket("One").await;
    ada.open_ticket("Two").await;
    post(&ada, "/support/tickets/1/close").await;
    let sam = app.user("sam").staff().await;

    let accounts = sam.get("/desk/accounts").await;
    assert_eq!(accounts.ids(), [1, 2]);
    let one = sam.get("/desk/accounts/1").await.json();
    assert_eq!(
        one,
        json!({"id": 1, "company": "Example", "email": "owner@example.com", "created": "2024-06-01T12:00:00",
            "tickets_open": 1, "tickets": 2, "users": 1})
    );
    assert_eq!(
        sam.filter("/desk/accounts", r#"{"company":"Other"}"#).await.ids(),
        [2]
    );
}

#[tokio::test]
async fn a_reply_follows_the_reopening_in_the_history() {
    let app = TestApp::with(|policy, _| policy.support.reopen_days = Some(1)).await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    post(&ada, "/support/tickets/1/close").await;
    ada.post("/support/tickets/1/replies", json!({"description": "Back."}))
        .await;
    let sam = app.user("sam").staff().await;
    assert_eq!(
        history(&sam, 1).await,
        [
            "ada opened ->- =new",
            "ada close new>closed =closed",
            "ada reopen closed>open =open",
            "ada reply ->- =open",
        ]
    );
    let entry = &sam.get("/desk/tickets/1/history").await.data()[3];
    assert_eq!(
        (&entry["description"], &entry["reply_id"]),
        (&json!("Back."), &json!(1))
    );
    assert_eq!(ada.events().await.len(), 3);
}
