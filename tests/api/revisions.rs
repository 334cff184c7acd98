//! The revision of an account rises exactly when a commit changes the account. `access.rs` checks that for
//! every operation, refused and allowed.

use std::collections::BTreeMap;

use garth::model::account::QuotaOverride;
use garth::model::change::{Change, ChangeKind};
use garth::model::id::AccountId;
use garth::rules::{self, Error};
use garth::store::{changes, revisions, tokens};
use serde_json::{Value, json};

use crate::harness::{TestApp, add_vpcs};
use crate::rows::{Content, sorted};

/// Tables that do not affect revisions: bookkeeping and secrets, which no operation shows, and
/// `login_record`, because anyone can add a row with a failed log-in.
const INTERNAL: [&str; 29] = [
    "account_revision",
    "attachment_check",
    "change_log",
    "due_work",
    "free_range",
    "host_credential",
    "host_join_token",
    "host_key",
    "host_report",
    "host_revision",
    "host_vpc",
    "job",
    "login_record",
    "migration",
    "oauth_code",
    "password_link",
    "placement",
    "port",
    "refresh_token",
    "region_encryption",
    "schema_compatibility",
    "server_secret",
    "session",
    "tally",
    "ticket_text",
    "ticket_viewer",
    "tunnel",
    "underlay_revision",
    "upload",
];

/// Columns of a user that log-in attempts change. They do not affect revisions, because anyone can attempt to
/// log in.
const ATTEMPTS: [&str; 2] = ["last_login", "last_login_status"];

/// A snapshot of a store.
pub struct Observed {
    content: BTreeMap<String, Vec<String>>,
    /// The revisions of the accounts, and the number of log rows of each revision.
    revisions: BTreeMap<i64, i64>,
    logged: BTreeMap<(i64, i64), usize>,
}

impl Observed {
    pub async fn of(app: &TestApp) -> Self {
        let content = app.home().content().await;
        let number = |value: &Value| value.as_i64().expect("a number");
        let revisions = content["account_revision"].iter();
        let revisions = revisions.map(|row| (number(&row["account"]), number(&row["revision"])));
        let mut logged = BTreeMap::new();
        for row in &content["change_log"] {
            let key = (number(&row["account"]), number(&row["revision"]));
            *logged.entry(key).or_default() += 1;
        }
        Self {
            revisions: revisions.collect(),
            logged,
            content: shown(content),
        }
    }

    /// Fails unless the revisions match the changes.
    pub fn check(&self, after: &Observed, request: &str) {
        let changed: Vec<_> = after
            .content
            .iter()
            .filter(|(table, rows)| self.content.get(*table) != Some(rows))
            .map(|(table, _)| table)
            .collect();
        let before = |account: &i64| self.revisions.get(account).copied().unwrap_or(0);
        let raised = after
            .revisions
            .iter()
            .filter(|(account, revision)| **revision > before(account));
        let raised: Vec<_> = raised.collect();
        assert_eq!(
            !changed.is_empty(),
            !raised.is_empty(),
            "{request} changed {changed:?} and raised {raised:?}"
        );
        for (account, revision) in &raised {
            assert_eq!(**revision, before(account) + 1, "{request} is one commit");
            let rows = after.logged.get(&(**account, **revision));
            assert!(rows.is_some(), "{request} is not in the log");
        }
        let new = after.logged.keys().filter(|key| !self.logged.contains_key(*key));
        assert_eq!(
            new.count(),
            raised.len(),
            "{request}: every raise is in the log, and nothing else"
        );
    }
}

fn shown(content: Content) -> BTreeMap<String, Vec<String>> {
    let shown = content
        .into_iter()
        .filter(|(table, _)| !INTERNAL.contains(&table.as_str()));
    let mut shown: Content = shown.collect();
    for user in shown.get_mut("app_user").into_iter().flatten() {
        user.retain(|column, _| !ATTEMPTS.contains(&column.as_str()));
    }
    shown
        .into_iter()
        .map(|(table, rows)| (table, sorted(rows)))
        .collect()
}

async fn revision(app: &TestApp, account: AccountId) -> i64 {
    let read = app.store.read(move |tx| revisions::current(tx, account));
    read.await.expect("the store responds")
}

async fn identity_version(app: &TestApp, account: Option<AccountId>) -> i64 {
    let read = app.store.read(move |tx| tokens::identity_version(tx, account));
    read.await.expect("the store responds")
}

async fn changes_since(app: &TestApp, account: AccountId, revision: i64) -> Option<Vec<Change>> {
    let read = app
        .store
        .read(move |tx| revisions::since(tx, account, revision, 100_000));
    read.await.expect("the store responds")
}

#[tokio::test]
async fn the_change_log_has_the_objects_of_each_commit() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;
    let (before, others) = (revision(&app, app.account).await, revision(&app, other).await);

    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.put("/vpcs/1", json!({"label": "edge"})).await;
    assert_eq!(
        ada.post("/vpcs", json!({"label": "edge", "region": "us-east"}))
            .await
            .status,
        400
    );

    let change = |revision, kind, id| Change { revision, kind, id };
    let log = changes_since(&app, app.account, before).await;
    assert_eq!(
        log,
        Some(vec![
            change(before + 1, ChangeKind::Event, 1),
            change(before + 1, ChangeKind::Event, 2),
            change(before + 1, ChangeKind::Subnet, 1),
            change(before + 1, ChangeKind::Vpc, 1),
            change(before + 2, ChangeKind::Event, 3),
            change(before + 2, ChangeKind::Vpc, 1),
        ])
    );
    assert_eq!(revision(&app, app.account).await, before + 2);
    assert_eq!(revision(&app, other).await, others);
    eve.open_ticket("Help").await;
    assert_eq!(revision(&app, other).await, others + 1);
    assert_eq!(revision(&app, app.account).await, before + 2);
}

/// A note must not raise the revision of the tenant's account, because that would reveal the note.
#[tokio::test]
async fn staff_only_changes_raise_the_staff_revision() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let ticket = ada.open_ticket("Help").await;
    let (accounts, staff) = (
        revision(&app, app.account).await,
        revision(&app, changes::PROVIDER).await,
    );
    let note = json!({"description": "Known."});
    assert_eq!(
        sam.post(&format!("/desk/tickets/{ticket}/notes"), note)
            .await
            .status,
        200
    );
    assert_eq!(
        sam.put(&format!("/desk/tickets/{ticket}"), json!({"priority": "high"}))
            .await
            .status,
        200
    );
    assert_eq!(revision(&app, app.account).await, accounts);
    assert_eq!(revision(&app, changes::PROVIDER).await, staff + 2);
}

#[tokio::test]
async fn changes_in_one_account_do_not_invalidate_identities_of_another() {
    let app = TestApp::new().await;
    let other = app.another_account().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").of(other).await);
    let sam = app.user("sam").staff().await;
    for user in [&ada, &eve] {
        assert_eq!(user.get("/vpcs").await.status, 200);
    }
    let versions = async || {
        [
            identity_version(&app, Some(app.account)).await,
            identity_version(&app, Some(other)).await,
            identity_version(&app, None).await,
        ]
    };

    let before = versions().await;
    ada.post(
        "/account/users",
        json!({"username": "bob", "email": "bob@example.com", "restricted": true}),
    )
    .await;
    app.grant("bob", add_vpcs()).await;
    ada.post("/profile/tokens", json!({"label": "x", "scopes": "*"}))
        .await;
    ada.delete("/account/users/bob").await;
    let after = versions().await;
    assert!(after[0] >= before[0] + 4, "{before:?} {after:?}");
    assert_eq!(after[1..], before[1..]);

    app.revoke(sam.token_id).await;
    let last = versions().await;
    assert_eq!((last[0], last[1]), (after[0], after[1]));
    assert!(last[2] > after[2]);
    assert_eq!(sam.get("/desk/tickets").await.status, 401);
    assert_eq!(eve.get("/vpcs").await.status, 200);
}

/// Users of other accounts have authorized the client, too. The deletion ends all these authorizations.
#[tokio::test]
async fn deleting_a_client_invalidates_identities_of_every_account_that_authorized_it() {
    let app = TestApp::new().await;
    let other = app.another_account().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").of(other).await);
    let client = json!({"label": "Dashboard", "redirect_uri": "https://app.example/callback"});
    let created = ada.post("/account/oauth-clients", client).await;
    let id = created.json()["id"].as_str().expect("an id").to_owned();
    let allowed = id.clone();
    let token = app.store.write(move |tx| {
        let user = rules::users::load(tx, "eve")?;
        let everything = garth::model::scope::Scopes::Everything;
        let grant = garth::store::oauth_grants::insert(tx, &allowed, user.id, &everything)?;
        let token = rules::oauth_tokens::create_access_token(tx, grant, user.id, "Dashboard", &everything)?;
        Ok::<_, Error>(token.reveal().to_owned())
    });
    let token = token.await.expect("a client can be authorized");
    let dashboard = app.with_token(&token);
    assert_eq!(dashboard.get("/vpcs").await.status, 200);

    let deleted = ada.delete(&format!("/account/oauth-clients/{id}")).await;

    assert_eq!(deleted.status, 200);
    assert_eq!(dashboard.get("/vpcs").await.status, 401);
    assert_eq!(eve.get("/vpcs").await.status, 200);
}

#[tokio::test]
async fn a_long_change_log_is_trimmed_and_has_its_first_revision() {
    let app = TestApp::new().await;
    let account = app.account;
    app.user("ada").await;
    let first = revision(&app, account).await;
    for number in 0..2100 {
        let quota = QuotaOverride {
            vpcs_per_region: Some(number),
            subnets_per_vpc: None,
            attachment_bytes: None,
        };
        let write = app
            .store
            .write(move |tx| garth::store::accounts::set_quota(tx, account, quota));
        write.await.expect("a quota can be set");
    }
    assert!(changes_since(&app, account, first).await.is_some());

    // Each transaction deletes a limited number of rows. The log then starts after the last deleted revision.
    let trim = async |max_rows: i64| {
        let trimmed = app.store.write(move |tx| revisions::trim(tx, 10, max_rows)).await;
        trimmed.expect("it is trimmed")
    };
    assert!(trim(50).await);
    assert_eq!(changes_since(&app, account, first + 20).await, None);
    assert!(changes_since(&app, account, first + 60).await.is_some());
    while trim(10_000).await {}

    let now = revision(&app, account).await;
    assert_eq!(now, first + 2100);
    assert_eq!(changes_since(&app, account, first).await, None);
    let remaining = changes_since(&app, account, now - 1000)
        .await
        .expect("these revisions are stored");
    assert_eq!(remaining.len(), 1000);
    assert_eq!(changes_since(&app, account, now - 1001).await, None);
}
