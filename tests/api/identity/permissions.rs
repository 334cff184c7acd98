//! Permissions by name, derived from grants.

use garth::model::grant::{Global, Permission};
use garth::model::id::{InstanceId, VpcId};
use garth::rules::grants::Grant;
use serde_json::Value;

use crate::harness::{Reply, TestApp, add_vpcs};

fn names(reply: Reply) -> Vec<String> {
    let list: Value = reply.json();
    let list = list.as_array().expect("a plain array");
    let names: Vec<_> = list
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    assert!(names.is_sorted(), "{names:?}");
    names
}

#[tokio::test]
async fn an_unrestricted_user_has_all_permissions() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("account:read_only").await;
    let all = names(ada.get("/v4beta/iam/users/ada/permissions/account").await);
    assert_eq!(all.len(), 64);
    for name in ["is_account_admin", "create_vpc", "create_user"] {
        assert!(all.iter().any(|permission| permission == name), "{name}");
    }
}

#[tokio::test]
async fn the_permissions_of_a_restricted_user_follow_its_grants() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    let path = "/iam/users/bob/permissions/account";
    let has = |all: &[String], name: &str| all.iter().any(|permission| permission == name);

    let few = names(bob.get(path).await);
    assert!(has(&few, "list_events") && has(&few, "view_account_settings"));
    for name in ["is_account_admin", "create_vpc", "view_account", "update_account"] {
        assert!(!has(&few, name), "{name}");
    }
    app.grant("bob", add_vpcs()).await;
    app.grant("bob", Grant::Global(Global::AddImages)).await;
    app.grant("bob", Grant::AccountAccess(Permission::ReadOnly)).await;
    let more = names(bob.get(path).await);
    for name in ["create_vpc", "create_image", "upload_image", "view_account"] {
        assert!(has(&more, name), "{name}");
    }
    assert!(!has(&more, "update_account") && !has(&more, "create_linode"));
    app.grant("bob", Grant::AccountAccess(Permission::ReadWrite))
        .await;
    let most = names(bob.get(path).await);
    assert!(has(&most, "update_account") && !has(&most, "create_user"));
    assert_eq!(names(ada.get(path).await), most);
    // The user really has the access that the permissions name.
    assert_eq!(bob.get("/account").await.status, 200);
    assert_eq!(bob.get("/account/users").await.status, 403);
}

#[tokio::test]
async fn the_permissions_on_an_object_follow_the_grant_on_it() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    let on = |user: &str, entity: &str| format!("/iam/users/{user}/permissions/{entity}");
    for (entity, reads, all) in [("vpc/1", 3, 8), ("linode/1", 12, 45)] {
        assert_eq!(names(ada.get(&on("ada", entity)).await).len(), all, "{entity}");
        assert!(names(bob.get(&on("bob", entity)).await).is_empty());
        for (permission, count) in [(Permission::ReadOnly, reads), (Permission::ReadWrite, all)] {
            let grant = match entity {
                "vpc/1" => Grant::Vpc(VpcId(1), permission),
                _ => Grant::Linode(InstanceId(1), permission),
            };
            app.grant("bob", grant).await;
            assert_eq!(names(bob.get(&on("bob", entity)).await).len(), count, "{entity}");
        }
    }
    for entity in ["vpc/99", "linode/-1", "linode/x", "domain/1"] {
        assert!(names(ada.get(&on("ada", entity)).await).is_empty(), "{entity}");
    }
}

#[tokio::test]
async fn users_see_only_their_own_permissions() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    let grace = app.user("grace").of(app.another_account().await).await;
    for entity in ["account", "vpc/1"] {
        for name in ["ada", "grace", "nobody"] {
            let path = format!("/iam/users/{name}/permissions/{entity}");
            assert_eq!(bob.get(&path).await.status, 403, "{path}");
        }
        let path = format!("/iam/users/bob/permissions/{entity}");
        assert_eq!(ada.get(&path).await.status, 200);
        assert_eq!(grace.get(&path).await.status, 404);
    }
}
