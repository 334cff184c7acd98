//! Reset and snapshots: nothing of before is visible afterward.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use garth::model::grant::Global;
use garth::rules::grants::Grant;
use garth::store::{StoreError, WriteLock, WriteTx};
use hyper::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    assert_ends, delay_new_vpcs, labels, open_stream, restore, snapshot, tenant_token, wait_until_applied,
};
use crate::harness::TestApp;

#[tokio::test]
async fn a_restore_brings_back_rows_and_the_next_ids() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    admin.create_vpc("first", &["10.0.0.0/24"]).await;
    admin.open_ticket("A searchable question").await;
    snapshot(&app, "before").await;
    let second = admin.create_vpc("second", &[]).await;
    admin.delete("/vpcs/1").await;
    assert_eq!(labels(&admin).await, ["second"]);

    for _ in 0..2 {
        restore(&app, "before").await;
        assert_eq!(labels(&admin).await, ["first"]);
        assert_eq!(admin.count("/vpcs/1/subnets").await, 1);
        assert_eq!(admin.count("/support/tickets").await, 1);
        assert_eq!(admin.create_vpc("again", &[]).await, second);
        assert_eq!(labels(&admin).await, ["first", "again"]);
    }
}

#[tokio::test]
async fn a_token_of_after_the_snapshot_is_refused_and_one_revoked_since_works_again() {
    let app = TestApp::with_test_control().await;
    let earlier = app.user("ada").await;
    snapshot(&app, "before").await;
    let later = tenant_token(&app).await;
    let later = app.with_token(&later);
    assert_eq!(later.get("/vpcs").await.status, 200, "the identity is now cached");
    app.revoke(earlier.token_id).await;
    assert_eq!(earlier.get("/vpcs").await.status, 401);

    restore(&app, "before").await;

    assert_eq!(later.get("/vpcs").await.status, 401);
    assert_eq!(earlier.get("/vpcs").await.status, 200);
}

/// After the restore, the identity version of the account rises again to the version of the cached identity.
#[tokio::test]
async fn a_cached_grant_of_before_a_restore_is_not_used() {
    let app = TestApp::with_test_control().await;
    let (ada, _bob) = (
        app.user("ada").restricted().await,
        app.user("bob").restricted().await,
    );
    snapshot(&app, "before").await;
    app.grant("ada", Grant::Global(Global::AddVpcs)).await;
    ada.create_vpc("granted", &[]).await;

    restore(&app, "before").await;
    app.grant("bob", Grant::Global(Global::AddVpcs)).await;

    let body = json!({"label": "refused", "region": "us-east"});
    assert_eq!(ada.post("/vpcs", body).await.status, 403);
}

#[tokio::test]
async fn an_entity_tag_of_before_a_restore_matches_only_the_same_content() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    admin.create_vpc("core", &[]).await;
    app.controls(Method::PUT, "/clock", json!({"frozen": true})).await;
    let original = admin.get("/vpcs/1").await.header("etag").to_owned();
    snapshot(&app, "before").await;
    let changed = admin.put("/vpcs/1", json!({"description": "one"})).await;
    let changed = changed.header("etag").to_owned();

    restore(&app, "before").await;

    let known = |tag: &str| admin.call(Method::GET, "/vpcs/1").header("if-none-match", tag);
    assert_eq!(known(&changed).await.status, 200);
    assert_eq!(known(&original).await.status, 304);
    let update = |tag: &str| {
        let call = admin.call(Method::PUT, "/vpcs/1").header("if-match", tag);
        call.json(&json!({"description": "two"}))
    };
    assert_eq!(update(&changed).await.status, 412);
    assert_eq!(update(&original).await.status, 200);
    assert_eq!(known(&changed).await.status, 200);
    assert_eq!(known(&original).await.status, 200);
}

#[tokio::test]
async fn a_restore_and_a_reset_end_event_streams() {
    let app = TestApp::with_test_control().await;
    snapshot(&app, "before").await;
    let stream = open_stream(&app.admin()).await;
    restore(&app, "before").await;
    assert_ends(stream).await;

    let mut stream = open_stream(&app.admin()).await;
    app.admin().create_vpc("core", &[]).await;
    let message = stream.next().await.expect("a message");
    assert!(
        message.iter().any(|line| line.contains("vpc_create")),
        "{message:?}"
    );
    app.controls(Method::POST, "/reset", Value::Null).await;
    assert_ends(stream).await;
}

#[tokio::test]
async fn a_reset_gives_the_store_of_a_first_start_and_keeps_snapshots() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    admin.create_vpc("core", &[]).await;
    snapshot(&app, "filled").await;
    let tenant = tenant_token(&app).await;
    app.controls(Method::PUT, "/settings", json!({"quota.vpcs_per_region": 1}))
        .await;
    let faults = json!([{"action": {"status": 503}}]);
    app.controls(Method::PUT, "/faults", faults).await;
    let past = json!({"now": "2001-01-01T00:00:00", "frozen": true});
    app.controls(Method::PUT, "/clock", past).await;

    app.controls(Method::POST, "/reset", Value::Null).await;

    let clock = app.controls(Method::GET, "/clock", Value::Null).await;
    assert_eq!(clock["frozen"], false);
    assert!(clock["now"].as_str() > Some("2020"), "{clock}");
    assert_eq!(
        app.controls(Method::GET, "/faults", Value::Null).await,
        json!({"data": []})
    );
    assert_eq!(
        app.controls(Method::GET, "/requests", Value::Null).await,
        json!({"data": []})
    );
    assert_eq!(app.with_token(&tenant).get("/vpcs").await.status, 401);
    assert_eq!(labels(&admin).await.len(), 0);
    assert_eq!(admin.create_vpc("one", &[]).await.0, 1);
    assert_eq!(admin.create_vpc("two", &[]).await.0, 2);
    let account = app.controls(Method::POST, "/accounts", Value::Null).await;
    assert_eq!(account["account_id"], 2);

    restore(&app, "filled").await;
    assert_eq!(labels(&admin).await, ["core"]);
}

#[tokio::test]
async fn files_live_as_long_as_the_store_or_a_snapshot_refers_to_them() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    let ticket = admin.open_ticket("Question").await;
    assert_eq!(admin.attach_file(ticket, "a.txt", "first").await.status, 200);
    snapshot(&app, "one").await;
    assert_eq!(admin.attach_file(ticket, "b.txt", "second").await.status, 200);
    assert_eq!(app.stored_files.names().len(), 2);

    restore(&app, "one").await;
    assert_eq!(app.stored_files.names().len(), 1);
    app.controls(Method::POST, "/reset", Value::Null).await;
    assert_eq!(app.stored_files.names().len(), 1, "the snapshot needs it");
    restore(&app, "one").await;
    let ticket = admin.get(&format!("/support/tickets/{ticket}")).await.json();
    assert_eq!(ticket["attachments"], json!(["a.txt"]));
    app.controls(Method::POST, "/reset", Value::Null).await;
    app.controls(Method::DELETE, "/snapshots/one", Value::Null).await;
    assert_eq!(app.stored_files.names().len(), 0);
}

#[tokio::test]
async fn health_checks_respond_during_a_restore() {
    let app = TestApp::with_test_control().await;
    let anonymous = app.anonymous();
    snapshot(&app, "before").await;
    let (write, begun, end) = long_write();
    let restore = async {
        wait_for(begun).await;
        restore(&app, "before").await;
    };
    let checks = async {
        while !requests_wait(&app).await {}
        for (path, expected) in [("//healthz", 200), ("//readyz", 503)] {
            let reply = timeout(LIMIT, anonymous.get(path)).await;
            assert_eq!(
                reply.expect("a response during the restore").status,
                expected,
                "{path}"
            );
        }
        assert!(requests_wait(&app).await, "the restore has not ended yet");
        end.send(()).expect("the write is running");
    };
    let (written, (), ()) = tokio::join!(
        app.store.write_with(Some(WriteLock::Bootstrap), write),
        restore,
        checks
    );
    written.expect("the write ends");
    assert_eq!(app.admin().get("/vpcs").await.status, 200);
}

/// Longer than a request takes.
const LIMIT: Duration = Duration::from_secs(5);

/// A write for which a restore waits, while all requests wait for the restore. The write sends a message when it
/// begins, and ends after a message.
fn long_write() -> (
    impl Fn(&mut WriteTx) -> Result<(), StoreError> + Send + 'static,
    Receiver<()>,
    Sender<()>,
) {
    let (begin, begun) = channel();
    let (end, ended) = channel();
    let write = move |_: &mut WriteTx| {
        let _ = begin.send(());
        let _ = ended.recv_timeout(2 * LIMIT);
        Ok(())
    };
    (write, begun, end)
}

async fn wait_for(begun: Receiver<()>) {
    while begun.try_recv().is_err() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether requests wait for the end of a restore.
async fn requests_wait(app: &TestApp) -> bool {
    let admin = app.admin();
    let sent = timeout(Duration::from_millis(200), admin.get("/vpcs")).await;
    sent.is_err()
}

#[tokio::test]
async fn a_running_request_is_completed_before_a_restore_without_its_delay() {
    let app = TestApp::with_test_control().await;
    let admin = app.admin();
    snapshot(&app, "before").await;
    delay_new_vpcs(&app).await;
    let restored = async {
        wait_until_applied(&app).await;
        timeout(2 * LIMIT, restore(&app, "before"))
            .await
            .expect("the delay ends")
    };
    let body = json!({"label": "late", "region": "us-east"});
    let (created, ()) = tokio::join!(async { admin.post("/vpcs", body).await.status }, restored);
    assert_eq!(created, 200);
    assert_eq!(labels(&admin).await.len(), 0, "the request was completed before");
}

/// A request that waits for the first restore runs before the second one.
#[tokio::test]
async fn two_concurrent_restores_end_the_delay_of_a_request_between_them() {
    let app = TestApp::with_test_control().await;
    let anonymous = app.anonymous();
    snapshot(&app, "before").await;
    let rule = json!({"match": {"path": "/regions"}, "times": 1, "action": {"delay_ms": 60_000}});
    app.controls(Method::PUT, "/faults", json!([rule])).await;
    let (write, begun, end) = long_write();
    let first = async {
        wait_for(begun).await;
        restore(&app, "before").await;
    };
    let between_and_second = async {
        while !requests_wait(&app).await {}
        let delayed = async { anonymous.get("/regions").await.status };
        let second = async {
            wait_until_applied(&app).await;
            restore(&app, "before").await;
        };
        let release = async {
            wait_until_applied(&app).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
            end.send(()).expect("the write is running");
        };
        let (status, (), ()) = tokio::join!(delayed, second, release);
        status
    };
    let both = async {
        tokio::join!(
            app.store.write_with(Some(WriteLock::Bootstrap), write),
            first,
            between_and_second
        )
    };
    let (written, (), status) = timeout(4 * LIMIT, both).await.expect("both restores end");
    written.expect("the write ends");
    assert_eq!(status, 200);
}

#[tokio::test]
async fn snapshots_are_listed_replaced_and_deleted() {
    let app = TestApp::with_test_control().await;
    app.controls(
        Method::PUT,
        "/clock",
        json!({"now": "2024-06-01T12:00:00", "frozen": true}),
    )
    .await;
    for name in ["b", "a.1_x-y", "b"] {
        snapshot(&app, name).await;
    }
    let created = "2024-06-01T12:00:00";
    let expected =
        json!({"data": [{"name": "a.1_x-y", "created": created}, {"name": "b", "created": created}]});
    assert_eq!(
        app.controls(Method::GET, "/snapshots", Value::Null).await,
        expected
    );
    app.admin().create_vpc("core", &[]).await;
    snapshot(&app, "b").await;
    restore(&app, "b").await;
    assert_eq!(labels(&app.admin()).await, ["core"]);

    app.controls(Method::DELETE, "/snapshots/b", Value::Null).await;
    for (method, path) in [
        (Method::DELETE, "/snapshots/b"),
        (Method::POST, "/snapshots/b/restore"),
    ] {
        let (status, reply) = app.control(method, path, Value::Null).await;
        let reason = "No snapshot has this name; snapshots are lost when the server stops";
        assert_eq!((status, &reply["errors"][0]["reason"]), (404, &json!(reason)));
    }
    for name in ["", ".", "..", "a/b", "ä", &"x".repeat(65)] {
        let (status, body) = app
            .control(Method::POST, "/snapshots", json!({"name": name}))
            .await;
        assert_eq!(
            (status, &body["errors"][0]["field"]),
            (400, &json!("name")),
            "{name}"
        );
    }
    for body in [json!({}), json!({"name": "x", "extra": 1}), json!(["x"])] {
        let (status, reply) = app.control(Method::POST, "/snapshots", body.clone()).await;
        assert_eq!(status, 400, "{body}");
        assert!(!reply.to_string().contains("NewSnapshot"), "{reply}");
    }
    // Refusals before the operation have the format of the API, too.
    let long = json!({"name": "x".repeat(3_000_000)});
    let (status, reply) = app.control(Method::POST, "/snapshots", long).await;
    assert_eq!(
        (status, &reply["errors"][0]["code"]),
        (413, &json!("body_too_large"))
    );
    for path in ["/snapshots/%ff", "/faults/x"] {
        let (status, reply) = app.control(Method::DELETE, path, Value::Null).await;
        assert_eq!(status, 400, "{path}");
        assert!(reply["errors"][0]["reason"].is_string(), "{reply}");
    }
}
