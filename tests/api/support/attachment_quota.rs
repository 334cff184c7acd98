//! The attachment quota of an account.

use garth::model::account::{QuotaChange, QuotaValue};
use serde_json::json;

use crate::harness::{TestApp, User};

const EXCEEDED: [&str; 1] = ["file quota_exceeded"];

async fn usage(user: &User<'_>) -> serde_json::Value {
    user.get("/account/quotas").await.json()["attachment_bytes"].take()
}

#[tokio::test]
async fn an_account_cannot_exceed_its_attachment_quota() {
    let app = TestApp::with(|policy, _| policy.quota.attachment_bytes = 25).await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").await;
    ada.open_ticket("First").await;
    bob.open_ticket("Second").await;

    assert_eq!(ada.attach_file(1, "a.txt", "0123456789").await.status, 200);
    assert_eq!(bob.attach_file(2, "b.txt", "0123456789").await.status, 200);
    assert_eq!(usage(&ada).await, json!({"limit": 25, "used": 20}));
    assert_eq!(ada.attach_file(1, "c.txt", "012345").await.errors(), EXCEEDED);
    assert_eq!(ada.attach_file(1, "d.txt", "01234").await.status, 200);
    assert_eq!(usage(&bob).await, json!({"limit": 25, "used": 25}));
    assert_eq!(bob.attach_file(2, "e.txt", "0").await.errors(), EXCEEDED);
    // The quota is used up, so the server refuses the file before it reads it.
    assert_eq!(bob.attach_file(2, "virus.exe", "").await.errors(), EXCEEDED);
    assert_eq!(
        app.stored_files.names().len(),
        3,
        "a refused file leaves no bytes"
    );
}

#[tokio::test]
async fn the_attachment_quota_can_be_overridden_per_account() {
    let app = TestApp::with(|policy, _| policy.quota.attachment_bytes = 5).await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    assert_eq!(ada.attach_file(1, "a.txt", "0123456789").await.errors(), EXCEEDED);

    let account = app.account;
    let more = QuotaChange {
        attachment_bytes: Some(QuotaValue::Limit(10)),
        ..QuotaChange::default()
    };
    let set = app
        .store
        .write(move |tx| garth::rules::accounts::set_quota(tx, account, more));
    set.await.expect("the quota can be set");

    assert_eq!(ada.attach_file(1, "a.txt", "0123456789").await.status, 200);
    assert_eq!(usage(&ada).await, json!({"limit": 10, "used": 10}));
}
