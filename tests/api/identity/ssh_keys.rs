//! SSH keys of users.

use serde_json::{Value, json};

use crate::harness::{BEGINNING, TestApp, User};

const KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMtUMl4Y0bSAMOHUOWuFKqZr8nSVXhFaLbqkmzoQX8sU ada@example.com";

async fn add_key(user: &User<'_>, label: &str) -> Value {
    let created = user
        .post("/profile/sshkeys", json!({"label": label, "ssh_key": KEY}))
        .await;
    assert_eq!(created.status, 200, "{created}");
    created.json()
}

#[tokio::test]
async fn a_key_is_added_renamed_and_deleted() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let created = add_key(&ada, "laptop").await;

    let expected = json!({"id": 1, "label": "laptop", "ssh_key": KEY, "created": BEGINNING});
    assert_eq!(created, expected);
    assert_eq!(ada.get("/profile/sshkeys/1").await.json(), expected);
    assert_eq!(ada.get("/profile/sshkeys").await.data(), [expected]);
    let renamed = ada.put("/profile/sshkeys/1", json!({"label": "desktop"})).await;
    assert_eq!(renamed.json()["label"], "desktop");
    assert_eq!(
        ada.put("/profile/sshkeys/1", json!({})).await.json()["label"],
        "desktop",
        "an omitted label remains"
    );
    assert_eq!(
        ada.get("/account/users/ada").await.json()["ssh_keys"],
        json!(["desktop"])
    );
    assert_eq!(
        ada.get("/account/users").await.data()[0]["ssh_keys"],
        json!(["desktop"])
    );
    assert_eq!(ada.delete("/profile/sshkeys/1").await.json(), json!({}));
    assert_eq!(ada.get("/profile/sshkeys/1").await.status, 404);
    assert_eq!(ada.get("/account/users/ada").await.json()["ssh_keys"], json!([]));
    let actions = [
        "user_ssh_key_add",
        "user_ssh_key_update",
        "user_ssh_key_update",
        "user_ssh_key_delete",
    ];
    assert_eq!(ada.events().await, actions.map(|action| format!("{action} 1")));
    let entity = json!({"id": 1, "label": "desktop", "type": "user_ssh_key", "url": "/v4/profile/sshkeys/1"});
    assert_eq!(ada.get("/account/events").await.data()[0]["entity"], entity);
}

#[tokio::test]
async fn keys_are_validated() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (body, errors) in [
        (json!({}), vec!["label required", "ssh_key required"]),
        (
            json!({"label": "", "ssh_key": "nonsense"}),
            vec!["label too_short", "ssh_key ssh_key_invalid"],
        ),
        (
            json!({"label": "x".repeat(65), "ssh_key": KEY.replace("ed25519", "rsa")}),
            vec!["label too_long", "ssh_key ssh_key_invalid"],
        ),
        (
            json!({"label": "two", "ssh_key": format!("{KEY}\n{KEY}")}),
            vec!["ssh_key ssh_key_invalid"],
        ),
    ] {
        assert_eq!(
            ada.post("/profile/sshkeys", body.clone()).await.errors(),
            errors,
            "{body}"
        );
    }
    let padded = json!({"label": "padded", "ssh_key": format!("  {KEY}\n")});
    assert_eq!(ada.post("/profile/sshkeys", padded).await.json()["ssh_key"], KEY);
    assert_eq!(
        ada.put("/profile/sshkeys/1", json!({"label": " "}))
            .await
            .errors(),
        ["label too_short"]
    );
}

#[tokio::test]
async fn users_see_only_their_own_keys_which_end_with_them() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    add_key(&ada, "hers").await;
    add_key(&bob, "his").await;
    add_key(&bob, "second").await;

    assert_eq!(bob.get("/profile/sshkeys").await.ids(), [2, 3]);
    assert_eq!(
        bob.filter("/profile/sshkeys", r#"{"label":"second"}"#)
            .await
            .ids(),
        [3]
    );
    assert_eq!(bob.get("/profile/sshkeys/1").await.status, 404);
    assert_eq!(bob.delete("/profile/sshkeys/1").await.status, 404);
    assert_eq!(
        ada.get("/account/users/bob").await.json()["ssh_keys"],
        json!(["his", "second"])
    );
    assert_eq!(ada.delete("/account/users/bob").await.status, 200);
    assert_eq!(ada.get("/profile/sshkeys").await.ids(), [1]);
}

#[tokio::test]
async fn a_user_has_at_most_100_keys() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for number in 0..100 {
        add_key(&ada, &format!("key {number}")).await;
    }
    let more = json!({"label": "more", "ssh_key": KEY});
    assert_eq!(
        ada.post("/profile/sshkeys", more.clone()).await.errors(),
        ["- quota_exceeded"]
    );
    ada.delete("/profile/sshkeys/7").await;
    assert_eq!(ada.post("/profile/sshkeys", more).await.status, 200);
}

#[tokio::test]
async fn a_new_instance_takes_only_users_of_the_account() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("eve").of(app.another_account().await).await;
    let with = |users: Value| json!({"type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "authorized_users": users});

    assert_eq!(
        ada.post("/linode/instances", with(json!(["ada", "ADA"])))
            .await
            .status,
        200
    );
    let unknown = ada
        .post("/linode/instances", with(json!(["ada", "eve", "nobody"])))
        .await;
    assert_eq!(
        (unknown.status.as_u16(), unknown.errors()),
        (400, vec!["authorized_users user_invalid".to_owned(); 2])
    );
    assert_eq!(unknown.reason(), "User \"eve\" does not exist");
    let many: Vec<_> = (0..101).map(|_| "ada").collect();
    assert_eq!(
        ada.post("/linode/instances", with(json!(many))).await.errors(),
        ["authorized_users too_long"]
    );
}
