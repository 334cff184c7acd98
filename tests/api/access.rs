//! Access control: sends every operation of the table with every kind of missing permission.
//!
//! The snapshot is the permission table; reviewers read it as code. A new operation appears in it
//! automatically, and the test fails until the table is reviewed. Around each request, the revisions of the
//! accounts are compared with the changes.

use std::fmt::Write;

use garth::api::operations::OPERATIONS;
use garth::model::account::status::AccountStatus;
use garth::model::grant::{Global, Permission};
use garth::model::id::{AccountId, HostId, InstanceId, VpcId};
use garth::model::input::Input;
use garth::model::job::JobKind;
use garth::model::login_record::LoginStatus;
use garth::model::scope::Scopes;
use garth::model::ssh_key::{KeyLabel, PublicKey};
use garth::model::staff_role::StaffRole;
use garth::model::user::Email;
use garth::rules::grants::Grant;
use garth::rules::lists::ListRequest;
use garth::rules::request::Request;
use garth::rules::{self, Error};
use garth::web::operation::{Audience, Base, Needs, Operation};
use hyper::Method;
use serde_json::{Value, json};

use crate::harness::{Call, Reply, TestApp, User, add_vpcs};
use crate::revisions::Observed;

/// The ID of the first client, from the deterministic random source of tests.
const CLIENT: &str = "abab0000000000000003";

const SSH_KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMtUMl4Y0bSAMOHUOWuFKqZr8nSVXhFaLbqkmzoQX8sU";

/// The kinds of requests: the columns of the table.
const REQUEST_KINDS: [&str; 14] = [
    "no token",
    "malformed",
    "unknown",
    "expired",
    "revoked",
    "wrong scope",
    "other side",
    "no access",
    "host",
    "no grant",
    "read grant",
    "other account",
    "wrong parent",
    "allowed",
];

/// Operations that need more than a token to succeed, and the tests in which they succeed.
const SUCCEED_ELSEWHERE: [(&str, &str, &str); 9] = [
    ("joinAgent", include_str!("hosting/agents.rs"), JOIN),
    ("authorize", include_str!("identity/oauth.rs"), LOG_IN),
    ("authorizeDecision", include_str!("identity/oauth.rs"), LOG_IN),
    ("logIn", include_str!("identity/oauth.rs"), LOG_IN),
    ("getOauthToken", include_str!("identity/oauth.rs"), LOG_IN),
    (
        "revokeOauthToken",
        include_str!("identity/oauth_tokens.rs"),
        REVOKE,
    ),
    (
        "requestPasswordReset",
        include_str!("identity/password_resets.rs"),
        "a_user_gets_a_link_and_sets_a_new_password_once",
    ),
    (
        "getPasswordPage",
        include_str!("identity/logins.rs"),
        "a_link_sets_a_password_once",
    ),
    (
        "setPassword",
        include_str!("identity/logins.rs"),
        "a_link_sets_a_password_once",
    ),
];
const LOG_IN: &str = "a_user_logs_in_and_consents_and_the_client_gets_access";
const JOIN: &str = "a_join_token_can_be_used_once_within_an_hour";
const REVOKE: &str = "a_client_can_revoke_its_own_access_and_refresh_tokens";

#[tokio::test]
async fn every_operation_refuses_unauthorized_requests() {
    let mut table = format!("{:<22}", "");
    for kind in REQUEST_KINDS {
        write!(table, " {kind:>13}").unwrap();
    }
    for operation in OPERATIONS.iter() {
        // One server per row: only the last request changes data.
        let app = app_with_objects().await;
        write!(table, "\n{:<22}", operation.id).unwrap();
        for kind in REQUEST_KINDS {
            let reply = send(&app, operation, kind).await;
            if kind == "allowed" {
                let succeeds = reply.as_ref().is_some_and(|reply| reply.status.is_success());
                let refuses = reply.as_ref().is_some_and(is_not_offered);
                assert_ne!(
                    succeeds,
                    refuses || succeeds_elsewhere(operation.id),
                    "{}",
                    operation.id
                );
            }
            let status = reply.map_or("-".to_owned(), |reply| describe(&reply));
            write!(table, " {status:>13}").unwrap();
        }
    }
    insta::assert_snapshot!(table);
}

/// An operation that Garth does not offer never succeeds.
fn is_not_offered(reply: &Reply) -> bool {
    describe(reply) == "400 not offered"
}

/// Whether an operation succeeds in another test. Every operation succeeds here or in a test of this list.
fn succeeds_elsewhere(id: &str) -> bool {
    let named = SUCCEED_ELSEWHERE.iter().find(|(known, _, _)| *known == id);
    named.is_some_and(|(_, file, test)| {
        assert!(
            file.contains(&format!("async fn {test}()")),
            "{test} does not exist"
        );
        true
    })
}

/// Every role sends every operation of staff. The snapshot shows which role is the lowest one.
#[tokio::test]
async fn every_operation_of_staff_requires_its_role() {
    let mut table = String::new();
    // Reads change nothing, so that they share a server.
    let shared = app_with_objects().await;
    let readers = users_of_all_roles(&shared).await;
    for operation in OPERATIONS.iter().filter(|op| op.audience == Audience::Staff) {
        let is_read = operation.method == Method::GET;
        let changing = if is_read {
            None
        } else {
            Some(app_with_objects().await)
        };
        let writers = match &changing {
            Some(app) => users_of_all_roles(app).await,
            None => Vec::new(),
        };
        write!(table, "{:<30}", operation.id).unwrap();
        let users = if is_read { &readers } else { &writers };
        for (role, user) in StaffRole::ALL.into_iter().zip(users) {
            let reply = call(user, operation, &path(operation, 1, 1)).await;
            let is_refused = describe(&reply) == "403 role";
            assert_eq!(
                is_refused,
                operation.role.is_some_and(|needed| role < needed),
                "{} as {}: {reply}",
                operation.id,
                role.word()
            );
            let word = if is_refused { "-" } else { role.word() };
            write!(table, " {word:>9}").unwrap();
        }
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}

/// A member of staff with each role, in the order of `StaffRole::ALL`.
async fn users_of_all_roles(app: &TestApp) -> Vec<User<'_>> {
    let names = ["with-support", "with-operator", "with-admin"];
    let mut users = Vec::new();
    for (role, name) in StaffRole::ALL.into_iter().zip(names) {
        users.push(app.user(name).role(role).await);
    }
    users
}

#[tokio::test]
async fn foreign_ids_and_unknown_ids_get_identical_responses() {
    // All requests are refused, so that they share a server.
    let app = app_with_objects().await;
    let grace = app.user("grace").of(app.another_account().await).await;
    for operation in OPERATIONS.iter().filter(|op| {
        op.audience == Audience::Tenants && op.path.contains('{') && !op.path.contains("{regionId}")
    }) {
        let theirs = call(&grace, operation, &path(operation, 1, 1)).await;
        let unknown = call(&grace, operation, &path(operation, 999, 999)).await;
        assert_eq!(theirs.status, 404, "{}", operation.id);
        assert_eq!(
            (theirs.status, theirs.body),
            (unknown.status, unknown.body),
            "{}",
            operation.id
        );
        let mut names = [theirs.headers, unknown.headers].map(|headers| {
            headers
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .filter(is_constant)
                .collect::<Vec<_>>()
        });
        names
            .iter_mut()
            .for_each(|names| names.sort_by_key(|(name, _)| name.to_string()));
        assert_eq!(names[0], names[1], "{}", operation.id);
    }
}

fn is_constant((name, _): &(hyper::header::HeaderName, hyper::header::HeaderValue)) -> bool {
    name != "x-request-id" && name != "date"
}

/// Two VPCs of the test's account, with a subnet each.
async fn app_with_objects() -> TestApp {
    let app = TestApp::new().await;
    let owner = app.user("owner").await;
    owner.create_vpc("one", &["10.0.0.0/24"]).await;
    owner.create_vpc("two", &["10.0.0.0/24"]).await;
    let client = owner
        .post("/account/oauth-clients", body_for("createOauthClient"))
        .await;
    assert_eq!(client.json()["id"], CLIENT);
    assert_eq!(log_in(&app, "owner").await, 1);
    assert_eq!(owner.post("/tags", body_for("createTag")).await.status, 200);
    app.user("clerk").restricted().await;
    authorize_client(&app, "owner").await;
    for instance in 1..=2 {
        assert_eq!(owner.create_instance_on(1).await.status, 200);
        let disks = format!("/compute/instances/{instance}/disks");
        assert_eq!(owner.post(&disks, body_for("createDisk")).await.status, 200);
        owner.open_ticket("Help").await;
    }
    assert_eq!(owner.attach_file(1, "notes.txt", "Notes").await.status, 200);
    let staff = app.user("front").staff().await;
    for (path, body) in [
        (
            "/desk/canned-replies",
            json!({"label": "Thanks", "description": "Thank you."}),
        ),
        (
            "/desk/entities",
            json!({"account_id": 1, "type": "domain", "id": 1, "label": "example.com"}),
        ),
        ("/desk/views", json!({"label": "Urgent", "shared": true})),
        ("/desk/tickets/1/claim", json!({})),
        (
            "/provider/announcements",
            json!({"title": "Maintenance", "text": "On Sunday."}),
        ),
        (
            "/hosts",
            json!({"label": "rack-1", "region": "us-west", "underlay_address": "172.31.0.1"}),
        ),
    ] {
        assert_eq!(staff.post(path, body).await.status, 200);
    }
    let branded = staff.put("/provider/branding", body_for("updateBranding")).await;
    assert_eq!(branded.status, 200);
    let scheduled = app.store.write(|tx| {
        let now = tx.instant();
        Ok::<_, Error>(garth::store::jobs::schedule(
            tx,
            JobKind::HostDrain,
            "99",
            "",
            now,
        )?)
    });
    scheduled.await.expect("a job is scheduled");
    let suppressed = app.store.write(|tx| {
        let address = Email::parse("ada@example.org").expect("an address");
        Ok::<_, Error>(garth::store::suppressed_addresses::insert(
            tx,
            &address,
            "550 5.1.1",
        )?)
    });
    suppressed.await.expect("an address is suppressed");
    app
}

/// Authorizes the client for a user without the consent page; returns the grant's ID.
async fn authorize_client(app: &TestApp, name: &str) -> i64 {
    let name = name.to_owned();
    let allowed = app.store.write(move |tx| {
        let user = garth::rules::users::load(tx, &name)?;
        let id = garth::store::oauth_grants::insert(tx, CLIENT, user.id, &Scopes::Everything)?;
        garth::rules::oauth_tokens::create_access_token(tx, id, user.id, "Dashboard", &Scopes::Everything)?;
        Ok::<_, Error>(id)
    });
    allowed.await.expect("a client can be authorized")
}

async fn send(app: &TestApp, operation: &Operation, kind: &str) -> Option<Reply> {
    let own = path(operation, 1, 1);
    let user = match kind {
        "no token" => app.anonymous(),
        "malformed" => {
            let anonymous = app.anonymous();
            let call = anonymous
                .call(operation.method.clone(), &own)
                .header("authorization", "Bearer");
            return send_observed(operation, call).await;
        }
        "unknown" => app.with_token(&"0123456789abcdef".repeat(4)),
        "expired" => {
            let user = app.user("late").expiring_in(60).await;
            app.advance(60);
            user
        }
        "revoked" => {
            let user = app.user("gone").await;
            app.revoke(user.token_id).await;
            user
        }
        "wrong scope" => {
            operation.scope?;
            let narrow = app.user("narrow").scopes("object_storage:read_write");
            match operation.audience {
                Audience::Staff => narrow.staff().await,
                _ => narrow.await,
            }
        }
        "other side" => match operation.audience {
            Audience::Staff => app.user("tenant").await,
            // Agents are refused by operations for users, and users by operations for agents.
            Audience::Agents => app.user("tenant").await,
            _ => app.user("staff").staff().await,
        },
        // The account of the tenant is suspended; the member of staff is disabled.
        "no access" => match operation.audience {
            Audience::Tenants => {
                let account = app.another_account().await;
                let user = app.user("barred").of(account).await;
                set_status(app, account).await;
                user
            }
            Audience::Staff => {
                let user = app.user("barred").staff().await;
                let disabled = app
                    .store
                    .write(|tx| rules::staff::set_disabled(tx, "barred", true));
                disabled.await.expect("there is another admin");
                user
            }
            Audience::Public | Audience::Agents => return None,
        },
        "host" => match operation.audience {
            Audience::Agents => return None,
            _ => app.with_token(&join_host(app).await),
        },
        "no grant" | "read grant" | "other account"
            if matches!(operation.audience, Audience::Staff | Audience::Agents) =>
        {
            return None;
        }
        "no grant" => app.user("bound").restricted().await,
        "read grant" => {
            let unrestricted = Some(Needs::Unrestricted);
            let grant = match operation.path {
                path if path.contains("{vpcId}") => Grant::Vpc(VpcId(1), Permission::ReadOnly),
                path if path.starts_with("/account/oauth-clients") && operation.grant != unrestricted => {
                    Grant::AccountAccess(Permission::ReadOnly)
                }
                // No grant gives access to these operations.
                _ if operation.grant == unrestricted => Grant::AccountAccess(Permission::ReadWrite),
                path if path.contains("{ticketId}") => Grant::AccountAccess(Permission::ReadOnly),
                path if path.contains("{computeId}") || path.contains("{address}") => {
                    Grant::Linode(InstanceId(1), Permission::ReadOnly)
                }
                _ => return None,
            };
            app.user("reader").may(grant).await
        }
        "other account" => app.user("grace").of(app.another_account().await).await,
        "wrong parent" => {
            let children = [
                "{vpcSubnetId}",
                "{configId}",
                "{diskId}",
                "{attachmentId}",
                "{address}",
            ];
            children.iter().find(|child| {
                operation.path.contains(**child) && operation.path != "/networking/ips/{address}"
            })?;
            let lost = app.user("lost");
            let user = match operation.audience {
                Audience::Staff => lost.staff().await,
                _ => lost.await,
            };
            return send_observed(operation, call_of(&user, operation, &path(operation, 2, 1))).await;
        }
        "allowed" => {
            let write = Grant::Vpc(VpcId(1), Permission::ReadWrite);
            let scope = operation
                .scope
                .map_or("domains:read_only".to_owned(), |scope| scope.to_string());
            if operation.audience == Audience::Agents {
                let agent = app.with_token(&join_host(app).await);
                return send_observed(operation, call_of(&agent, operation, &own)).await;
            }
            if operation.audience == Audience::Staff {
                prepare_for(app, operation).await;
                let role = operation.role.expect("an operation of staff has a role");
                let user = app.user("agent").role(role).scopes(&scope).await;
                if operation.id == "releaseDeskTicket" {
                    user.post("/desk/tickets/1/claim", json!({})).await;
                }
                return send_observed(operation, call_of(&user, operation, &own)).await;
            }
            let account = Grant::AccountAccess(Permission::ReadWrite);
            let add_linodes = Grant::Global(Global::AddLinodes);
            let linode = Grant::Linode(InstanceId(1), Permission::ReadWrite);
            let granted = app
                .user("ada")
                .may(add_vpcs())
                .may(add_linodes)
                .may(account)
                .may(write)
                .may(linode);
            let user = match operation.grant {
                Some(Needs::Unrestricted) => app.user("ada").scopes(&scope).await,
                _ => granted.scopes(&scope).await,
            };
            prepare_for(app, operation).await;
            // Tokens and authorized clients belong to each user, and a restricted user sees only its own
            // permissions.
            let app_id = authorize_client(app, "ada").await;
            let token = format!("/profile/tokens/{}", user.token_id);
            let login = log_in(app, "ada").await;
            let own = own
                .replace("/profile/logins/1", &format!("/profile/logins/{login}"))
                .replace("/profile/tokens/1", &token)
                .replace("/profile/apps/1", &format!("/profile/apps/{app_id}"))
                .replace("/iam/users/clerk", "/iam/users/ada")
                .replace(
                    "/profile/sshkeys/1",
                    &format!("/profile/sshkeys/{}", add_ssh_key(app).await),
                );
            return send_observed(operation, call_of(&user, operation, &own)).await;
        }
        other => panic!("{other}?"),
    };
    send_observed(operation, call_of(&user, operation, &own)).await
}

/// Suspends an account.
async fn set_status(app: &TestApp, account: AccountId) {
    let suspended = app.store.write(move |tx| {
        let set = garth::store::accounts::set_status(tx, account, AccountStatus::Suspended);
        Ok::<_, Error>(set?)
    });
    suspended.await.expect("the account exists");
}

/// Lets the agent of the host join; returns its credential.
async fn join_host(app: &TestApp) -> String {
    let joined = app.store.write(|tx| {
        let request = || Request {
            expected: None,
            body: Ok(Input::Object(Vec::new())),
        };
        let token = rules::hosts::create_join_token(tx, HostId(1), &request())?;
        let token = Input::Text(token.text.reveal().to_owned());
        let body = Input::Object(vec![("token".to_owned(), token)]);
        let join = Request {
            body: Ok(body),
            ..request()
        };
        Ok::<_, Error>(rules::hosts::join(tx, &join)?.credential.reveal().to_owned())
    });
    joined.await.expect("the agent joins")
}

/// Records a log-in of a user; returns its ID.
async fn log_in(app: &TestApp, name: &str) -> i64 {
    let name = name.to_owned();
    let recorded = app.store.write(move |tx| {
        let user = garth::rules::users::load(tx, &name)?;
        garth::rules::sessions::record(tx, user.id, "192.0.2.7", LoginStatus::Successful)?;
        let scope = garth::store::login_records::Scope::User(user.id);
        let all = ListRequest::full_page().read(tx.policy(), &garth::store::login_records::FIELDS)?;
        let found = garth::store::login_records::list(tx, scope, &all)?;
        Ok::<_, Error>(found.items.last().map_or(0, |record| record.id.0))
    });
    recorded.await.expect("a log-in is recorded")
}

/// Adds an SSH key for the unrestricted user; returns its ID.
async fn add_ssh_key(app: &TestApp) -> i64 {
    let added = app.store.write(|tx| {
        let user = garth::rules::users::load(tx, "ada")?;
        let label = KeyLabel::parse("own").expect("a label");
        let key = PublicKey::parse(SSH_KEY).expect("a key");
        Ok::<_, Error>(garth::store::ssh_keys::insert(tx, user.id, &label, &key)?.0)
    });
    added.await.expect("a key can be added")
}

/// Prepares the state in which the operation can succeed.
async fn prepare_for(app: &TestApp, operation: &Operation) {
    let owner = app.user("freer").await;
    match operation.id {
        "deleteVpc" | "deleteVpcSubnet" | "closeProviderAccount" => {
            for instance in [1, 2] {
                owner.delete(&format!("/compute/instances/{instance}")).await;
            }
            if operation.id == "closeProviderAccount" {
                owner.delete("/vpcs/1").await;
                owner.delete("/vpcs/2").await;
            }
        }
        "reactivateProviderAccount" => set_status(app, AccountId(1)).await,
        "reactivateProviderRegion" | "reactivateProviderPlan" => {
            let staff = app.user("operator").staff().await;
            let retire = path(operation, 1, 1).replace("reactivate", "retire");
            assert_eq!(staff.post(&retire, json!({})).await.status, 200);
        }
        // Only an unassigned ticket can be claimed.
        "claimDeskTicket" | "releaseDeskTicket" => {
            let front = app.user("back").staff().await;
            let take = json!({"take_over": true});
            front.post("/desk/tickets/1/claim", take).await;
            front.post("/desk/tickets/1/release", json!({})).await;
        }
        // Usernames are unique across accounts, and an earlier request has created this user.
        "createUser" => {
            let created = app.store.write(|tx| {
                let newcomer = garth::rules::users::load(tx, "newcomer")?;
                Ok::<_, Error>(garth::store::users::delete(tx, newcomer.id)?)
            });
            created.await.expect("another account creates the user");
        }
        // The last public address of an instance cannot be released.
        "deleteInstanceIp" => {
            let more = json!({"type": "ipv4", "public": true});
            owner.post("/compute/instances/1/ips", more).await;
        }
        "rebootInstance" => drop(owner.post("/compute/instances/1/boot", json!({})).await),
        _ => {}
    }
}

/// Sends a request, and checks that the revisions match the changes that it made.
async fn send_observed(operation: &Operation, call: Call<'_>) -> Option<Reply> {
    let (app, before) = (call.app(), Observed::of(call.app()).await);
    let reply = send_unobserved(operation, call).await;
    before.check(&Observed::of(app).await, operation.id);
    reply
}

/// Sends a request. A stream does not end, so only its head is read. All other responses are read and checked
/// completely.
async fn send_unobserved(operation: &Operation, call: Call<'_>) -> Option<Reply> {
    if ["streamEvents", "streamAgentState"].contains(&operation.id) && call.send().await.status() == 200 {
        let head = call.send().await.into_parts().0;
        return Some(Reply {
            status: head.status,
            headers: head.headers,
            body: Default::default(),
        });
    }
    Some(call.await)
}

fn describe(reply: &Reply) -> String {
    let code = serde_json::from_slice::<Value>(&reply.body).ok();
    let code = code.and_then(|body| Some(body["errors"][0]["code"].as_str()?.to_owned()));
    let word = match code.as_deref() {
        Some("token_invalid") => " token",
        Some("scope_missing") => " scope",
        Some("grant_missing") => " grant",
        Some("wrong_side") => " side",
        Some("role_missing") => " role",
        Some("account_suspended") => " suspended",
        Some("user_disabled") => " disabled",
        Some("not_offered") => " not offered",
        Some("not_found") | None => "",
        Some(other) => other,
    };
    format!("{}{word}", reply.status.as_u16())
}

fn path(operation: &Operation, vpc: i64, id: i64) -> String {
    let path = operation
        .path
        .replace("{vpcId}", &vpc.to_string())
        .replace("{computeId}", &vpc.to_string());
    let path = path
        .replace("{configId}", &id.to_string())
        .replace("{diskId}", &id.to_string())
        .replace("{backupId}", &id.to_string())
        .replace("{year}", "2024")
        .replace("{month}", "5")
        .replace("{interfaceId}", &id.to_string());
    let path = path
        .replace("{typeId}", "g6-nanode-1")
        .replace("{imageId}", "linode%2Fdebian12")
        .replace("{kernelId}", "linode%2Fgrub2");
    let path = path
        .replace("{vpcSubnetId}", &id.to_string())
        .replace("{eventId}", &id.to_string());
    let path = path
        .replace("{ticketId}", &vpc.to_string())
        .replace("{attachmentId}", &id.to_string())
        .replace("{hostId}", &id.to_string())
        .replace("{targetAddress}", "10.0.0.9")
        .replace("{savedViewId}", &id.to_string())
        .replace("{cannedReplyId}", &id.to_string());
    let path = path
        .replace("{accountId}", "1")
        .replace("{entityType}", "domain")
        .replace("{entityId}", &id.to_string());
    let path = path
        .replace("{docsPage}", "vpcs")
        .replace("{link}", "nothing")
        .replace("{tokenId}", &id.to_string())
        .replace("{appId}", &id.to_string())
        .replace(
            "{clientId}",
            if id == 1 { CLIENT } else { "0123456789abcdef0123" },
        )
        .replace("{announcementId}", &id.to_string())
        .replace("{suppressedAddressId}", &id.to_string())
        .replace("{jobId}", &id.to_string())
        .replace("{staffUsername}", if id == 1 { "front" } else { "missing" })
        .replace("{username}", if id == 1 { "clerk" } else { "missing" });
    let path = path.replace("{loginId}", &id.to_string());
    let path = path.replace("{sshKeyId}", &id.to_string());
    let path = path.replace("{tagLabel}", if id == 1 { "prod" } else { "none" });
    let path = path
        .replace("{regionId}", "us-mia")
        .replace("{address}", if id == 1 { "192.0.2.2" } else { "203.0.113.9" });
    match operation.base {
        Base::Root => format!("/{path}"),
        Base::Versioned => path,
    }
}

async fn call(user: &User<'_>, operation: &Operation, path: &str) -> Reply {
    call_of(user, operation, path).await
}

fn call_of<'a>(user: &'a User<'_>, operation: &Operation, path: &str) -> Call<'a> {
    let call = user.call(operation.method.clone(), path);
    match operation.method {
        _ if ["createTicketAttachment", "createDeskAttachment"].contains(&operation.id) => {
            call.file("notes.txt", "Notes")
        }
        _ if operation.id.starts_with("setBranding") => call
            .header("content-type", "image/svg+xml")
            .body("<svg xmlns=\"http://www.w3.org/2000/svg\"><path/></svg>"),
        // Forms of pages and OAuth clients, without fields.
        Method::POST if operation.audience == Audience::Public && operation.id != "joinAgent" => {
            call.header("content-type", "application/x-www-form-urlencoded")
        }
        Method::POST | Method::PUT => call.json(&body_for(operation.id)),
        _ => call,
    }
}

fn body_for(id: &str) -> Value {
    match id {
        "createVpc" => json!({"label": "new", "region": "us-east"}),
        "createInstance" => json!({"type": "g6-nanode-1", "region": "us-east"}),
        "createDisk" => json!({"label": "data", "size": 1000}),
        "resizeDisk" => json!({"size": 2000}),
        "setDiskPassword" => json!({"password": "Correct-horse-9"}),
        "setInstancePassword" => json!({"root_pass": "Correct-horse-9"}),
        "createConfig" => json!({"label": "new", "devices": {}}),
        "createConfigInterface" => json!({"purpose": "public"}),
        "orderConfigInterfaces" => json!({"ids": [1]}),
        "createTicket" => json!({"summary": "Help", "description": "Please."}),
        "createTicketReply" | "createDeskReply" | "createDeskNote" => json!({"description": "Yes."}),
        "mergeDeskTicket" => json!({"into": 2}),
        "createDeskTicket" => json!({"account_id": 1, "summary": "Notice", "description": "Beware."}),
        "updateDeskTicket" => json!({"priority": "high"}),
        "createSavedView" => json!({"label": "New", "filters": {"status": "new"}}),
        "createCannedReply" => json!({"label": "Sorry", "description": "We are sorry."}),
        "updateCannedReply" => json!({"label": "Many thanks"}),
        "updateDeskMailChoices" => json!({"replies": false}),
        "previewCannedReply" => json!({"ticket_id": 1}),
        "createHost" => json!({"label": "rack-2", "region": "us-west", "underlay_address": "172.31.0.2"}),
        "joinAgent" => json!({"protocol": 1, "token": "garth_join_0", "agent_version": "0.2.0"}),
        "reportAgentStatus" => json!({"protocol": 1, "applied_revision": 1, "agent_version": "0.2.0"}),
        "setDeskEntity" => json!({"account_id": 1, "type": "domain", "id": 2, "label": "example.org"}),
        "createProviderAccount" => json!({"email": "it@example.com", "company": "New", "username": "first"}),
        "updateProviderAccount" => json!({"company": "Renamed"}),
        "updateProviderAccountQuotas" => json!({"vpcs_per_region": 5}),
        "updateBranding" => json!({"name": "Harbor Cloud"}),
        "updateMailTemplates" => json!({"signature": "Harbor Lane Ltd"}),
        "previewMailTemplate" => json!({"mail": "reply"}),
        "createProviderAccountUser" => json!({"username": "colleague", "email": "colleague@example.com"}),
        "updateProviderAccountUser" => json!({"disabled": true}),
        "createProviderRegion" => json!({"id": "is-rkv", "country": "is"}),
        "updateProviderRegion" => json!({"status": "outage"}),
        "createProviderPlan" => json!({"id": "g1-small", "memory": 2048, "disk": 51200, "vcpus": 1}),
        "updateProviderPlan" => json!({"label": "Small"}),
        "createAnnouncement" => json!({"title": "Outage", "text": "We are working on it."}),
        "updateAnnouncement" => json!({"severity": "critical"}),
        "createStaffUser" => json!({"username": "second", "email": "second@example.com", "role": "support"}),
        "updateStaffUser" => json!({"role": "operator"}),
        "createUser" => json!({"username": "newcomer", "email": "newcomer@example.com"}),
        "createToken" | "updateToken" => json!({"label": "laptop"}),
        "createOauthClient" => json!({"label": "Dashboard", "redirect_uri": "https://app.example/callback"}),
        "addInstanceIp" => json!({"type": "ipv4", "public": true}),
        "allocateIp" => json!({"type": "ipv4", "public": true, "linode_id": 1}),
        "assignIps" => {
            json!({"region": "us-east", "assignments": [{"address": "192.0.2.2", "linode_id": 1}]})
        }
        "shareIps" => json!({"ips": ["192.0.2.2"], "linode_id": 1}),
        "createTag" => json!({"label": "prod", "linodes": []}),
        "createSshKey" => json!({"label": "laptop", "ssh_key": SSH_KEY}),
        "createVpcSubnet" => json!({"label": "new", "ipv4": "10.9.0.0/24"}),
        _ => json!({}),
    }
}
