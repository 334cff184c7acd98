//! Tickets, for the account's users.

use garth::model::grant::Permission;
use garth::model::id::VpcId;
use garth::model::staff_role::StaffRole;
use garth::model::user::{Email, Membership, NewUser, Username};
use garth::rules::grants::Grant;
use serde_json::{Value, json};

use crate::harness::{TestApp, User};

async fn open_ticket_with(user: &User<'_>, more: Value) -> crate::harness::Reply {
    let mut body = json!({"summary": "Help", "description": "Please look into it."});
    let object = body.as_object_mut().unwrap();
    object.extend(more.as_object().unwrap().clone());
    user.post("/support/tickets", body).await
}

#[tokio::test]
async fn a_ticket_is_opened_viewed_and_closed() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let opened = open_ticket_with(&ada, json!({"unknown": 1, "status": "closed"})).await;

    let mut expected = json!({
        "id": 1, "summary": "Help", "description": "Please look into it.", "status": "new", "closable": true,
        "closed": null, "opened": "2024-06-01T12:00:00", "opened_by": "ada", "updated": "2024-06-01T12:00:00",
        "updated_by": "ada", "gravatar_id": "3e3417d7ef77d5932a6734b916515ed5", "attachments": [], "entity": null
    });
    expected["gravatar_id"] = opened.json()["gravatar_id"].clone();
    assert_eq!(opened.json(), expected);
    let keys: Vec<_> = opened.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        keys.join(" "),
        "id summary description status closable closed opened opened_by updated updated_by gravatar_id \
         attachments entity"
    );
    assert_eq!(ada.get("/support/tickets/1").await.json(), expected);

    app.advance(60);
    let grace = app.user("grace").await;
    assert_eq!(
        grace.post("/support/tickets/1/close", json!({})).await.json(),
        json!({})
    );

    let closed = ada.get("/support/tickets/1").await.json();
    expected["status"] = json!("closed");
    expected["closable"] = json!(false);
    expected["closed"] = json!("2024-06-01T12:01:00");
    expected["updated"] = json!("2024-06-01T12:01:00");
    expected["updated_by"] = json!("grace");
    assert_eq!(closed, expected);
    assert_eq!(ada.events().await, ["ticket_create 1", "ticket_update 1"]);
}

#[tokio::test]
async fn the_avatar_is_the_md5_of_the_address() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let id = ada.open_ticket("Help").await;
    let gravatar = ada.get(&format!("/support/tickets/{id}")).await.json()["gravatar_id"].clone();
    // md5("ada@example.com")
    assert_eq!(gravatar, "3e3417d7ef77d5932a6734b916515ed5");
}

#[tokio::test]
async fn closing_a_closed_ticket_changes_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    ada.post("/support/tickets/1/close", json!({})).await;
    let before = ada.get("/support/tickets/1").await.json();
    app.advance(60);

    assert_eq!(ada.post("/support/tickets/1/close", json!({})).await.status, 200);

    assert_eq!(ada.get("/support/tickets/1").await.json(), before);
    assert_eq!(ada.events().await, ["ticket_create 1", "ticket_update 1"]);
}

#[tokio::test]
async fn all_errors_of_a_ticket_are_reported_in_the_documented_order() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let body = json!({
        "managed_issue": "yes", "region": "us-east", "vpc_id": 7, "domain_id": "x", "linode_id": 9,
        "description": " \n\t", "summary": "a\nb"
    });

    let reply = ada.post("/support/tickets", body).await;

    assert_eq!(reply.status, 400);
    assert_eq!(
        reply.errors(),
        [
            "summary control_characters",
            "description too_short",
            "domain_id wrong_type",
            "linode_id entity_conflict",
            "linode_id entity_invalid",
            "vpc_id entity_conflict",
            "vpc_id entity_invalid",
            "managed_issue wrong_type",
            "region vlan_region",
        ]
    );
    assert_eq!(ada.count("/support/tickets").await, 0);
    assert_eq!(
        ada.post("/support/tickets", json!({})).await.errors(),
        ["summary required", "description required"]
    );
}

#[tokio::test]
async fn minimum_and_maximum_lengths_are_in_characters() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (summary, description, fits) in [
        (1, 1, true),
        (64, 65_000, true),
        (65, 1, false),
        (1, 65_001, false),
        (0, 1, false),
        (1, 0, false),
    ] {
        let body = json!({"summary": "é".repeat(summary), "description": "𝄞".repeat(description)});
        let reply = ada.post("/support/tickets", body).await;
        assert_eq!(
            reply.status == 200,
            fits,
            "{summary} {description} {}",
            reply.status
        );
    }
}

#[tokio::test]
async fn a_ticket_can_be_about_each_of_the_nine_kinds() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    for (attribute, entity) in [
        (
            "database_id",
            json!([1, "database1", "database", "/v4/databases/mysql/instances/1"]),
        ),
        ("domain_id", json!([1, "domain1", "domain", "/v4/domains/1"])),
        (
            "firewall_id",
            json!([1, "firewall1", "firewall", "/v4/networking/firewalls/1"]),
        ),
        (
            "linode_id",
            json!([1, "linode1", "linode", "/v4/linode/instances/1"]),
        ),
        (
            "compute_id",
            json!([1, "linode1", "linode", "/v4/linode/instances/1"]),
        ),
        (
            "lkecluster_id",
            json!([1, "lkecluster1", "lkecluster", "/v4/lke/clusters/1"]),
        ),
        (
            "longviewclient_id",
            json!([1, "longview1", "longview", "/v4/longview/clients/1"]),
        ),
        (
            "nodebalancer_id",
            json!([1, "nodebalancer1", "nodebalancer", "/v4/nodebalancers/1"]),
        ),
        ("volume_id", json!([1, "volume1", "volume", "/v4/volumes/1"])),
        ("vpc_id", json!([1, "core", "vpc", "/v4/vpcs/1"])),
    ] {
        let reply = open_ticket_with(&ada, json!({attribute: 1, "managed_issue": false, "vlan": null})).await;
        let is = &reply.json()["entity"];
        assert_eq!(
            json!([is["id"], is["label"], is["type"], is["url"]]),
            entity,
            "{attribute}"
        );
    }
    let either = open_ticket_with(&ada, json!({"linode_id": 1, "compute_id": 1})).await;
    assert_eq!(either.json()["entity"]["type"], "linode");
    let both = open_ticket_with(&ada, json!({"linode_id": 1, "compute_id": 2})).await;
    assert_eq!(both.errors(), ["linode_id spelling_conflict"]);
    let unknown = open_ticket_with(&ada, json!({"compute_id": 7})).await;
    assert_eq!(unknown.errors(), ["compute_id entity_invalid"]);
    let negative = open_ticket_with(&ada, json!({"domain_id": -1})).await;
    assert_eq!(negative.errors(), ["domain_id entity_invalid"]);
}

#[tokio::test]
async fn a_ticket_has_at_most_one_subject() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (body, errors) in [
        (
            json!({"domain_id": 1, "volume_id": 2}),
            vec!["domain_id entity_conflict", "volume_id entity_conflict"],
        ),
        (
            json!({"domain_id": 1, "vlan": "v", "region": "us-east"}),
            vec!["vlan entity_conflict"],
        ),
        (
            json!({"domain_id": 1, "managed_issue": true}),
            vec!["managed_issue entity_conflict"],
        ),
        (
            json!({"vlan": "v", "region": "us-east", "managed_issue": true}),
            vec!["managed_issue entity_conflict"],
        ),
        (json!({"vlan": "v"}), vec!["region vlan_region"]),
        (json!({"region": "us-east"}), vec!["region vlan_region"]),
        (
            json!({"vlan": "v", "region": "moon"}),
            vec!["region region_invalid"],
        ),
        (json!({"vlan": "", "region": "us-east"}), vec!["vlan too_short"]),
    ] {
        assert_eq!(
            open_ticket_with(&ada, body.clone()).await.errors(),
            errors,
            "{body}"
        );
    }
    let reply = open_ticket_with(&ada, json!({"region": "us-east"})).await;
    assert_eq!(
        reply.reason(),
        "Region is only allowed when submitting a VLAN ticket."
    );
    let managed = open_ticket_with(&ada, json!({"managed_issue": true})).await;
    assert_eq!(managed.json()["entity"], Value::Null);
}

#[tokio::test]
async fn a_vlan_has_the_same_id_each_time_and_another_in_another_region() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let grace = app.user("grace").of(app.another_account().await).await;
    let mut ids = Vec::new();
    for (user, label, region) in [
        (&ada, "v", "us-east"),
        (&ada, "v", "us-east"),
        (&ada, "v", "us-west"),
        (&ada, "w", "us-east"),
        (&grace, "v", "us-east"),
    ] {
        let reply = open_ticket_with(user, json!({"vlan": label, "region": region})).await;
        let entity = reply.json()["entity"].clone();
        assert_eq!(
            (&entity["label"], &entity["type"]),
            (&json!(label), &json!("vlan"))
        );
        ids.push(entity["id"].as_i64().unwrap());
    }
    assert_eq!(ids, [1, 1, 2, 3, 4]);
}

#[tokio::test]
async fn an_entity_shows_its_current_or_last_label() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    open_ticket_with(&ada, json!({"vpc_id": 1})).await;
    open_ticket_with(&ada, json!({"linode_id": 1})).await;
    let labels = async || {
        let tickets = ada.get("/support/tickets").await.data();
        let label = |ticket: &Value| ticket["entity"]["label"].as_str().unwrap().to_owned();
        tickets.iter().map(label).collect::<Vec<_>>()
    };
    ada.put("/vpcs/1", json!({"label": "edge"})).await;
    ada.put("/linode/instances/1", json!({"label": "web"})).await;
    assert_eq!(labels().await, ["web", "edge"]);

    ada.delete("/linode/instances/1").await;
    ada.delete("/vpcs/1").await;

    assert_eq!(labels().await, ["web", "edge"]);
    let entity = ada.get("/support/tickets/1").await.json()["entity"].clone();
    assert_eq!(
        entity,
        json!({"id": 1, "label": "edge", "type": "vpc", "url": "/v4/vpcs/1"})
    );
}

#[tokio::test]
async fn an_entity_has_the_type_and_the_url_of_its_kind() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_instance_on(1).await;
    for (subject, kind, url) in [
        (
            json!({"database_id": 7}),
            "database",
            "/v4/databases/mysql/instances/7",
        ),
        (json!({"domain_id": 7}), "domain", "/v4/domains/7"),
        (
            json!({"firewall_id": 7}),
            "firewall",
            "/v4/networking/firewalls/7",
        ),
        (json!({"linode_id": 1}), "linode", "/v4/linode/instances/1"),
        (json!({"lkecluster_id": 7}), "lkecluster", "/v4/lke/clusters/7"),
        (
            json!({"longviewclient_id": 7}),
            "longview",
            "/v4/longview/clients/7",
        ),
        (
            json!({"nodebalancer_id": 7}),
            "nodebalancer",
            "/v4/nodebalancers/7",
        ),
        (json!({"volume_id": 7}), "volume", "/v4/volumes/7"),
        (json!({"vpc_id": 1}), "vpc", "/v4/vpcs/1"),
        (
            json!({"vlan": "v", "region": "us-east"}),
            "vlan",
            "/v4/networking/vlans",
        ),
    ] {
        let opened = open_ticket_with(&ada, subject).await.json();
        let id = opened["id"].as_i64().unwrap();
        let stored = ada.get(&format!("/support/tickets/{id}")).await.json();
        for entity in [&opened["entity"], &stored["entity"]] {
            assert_eq!((&entity["type"], &entity["url"]), (&json!(kind), &json!(url)));
        }
    }
}

#[tokio::test]
async fn a_ticket_can_only_be_about_visible_objects() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("one", &[]).await;
    ada.create_vpc("two", &[]).await;
    let grant = Grant::Vpc(VpcId(1), Permission::ReadOnly);
    let bob = app.user("bob").may(grant).await;
    let grace = app.user("grace").of(app.another_account().await).await;

    assert_eq!(open_ticket_with(&bob, json!({"vpc_id": 1})).await.status, 200);
    for (user, vpc) in [(&bob, 2), (&grace, 1)] {
        let reply = open_ticket_with(user, json!({"vpc_id": vpc})).await;
        assert_eq!(reply.errors(), ["vpc_id entity_invalid"]);
        assert_eq!(reply.reason(), "vpc_id is not valid");
    }
}

#[tokio::test]
async fn strict_entities_accepts_only_objects_in_the_directory() {
    let app = TestApp::with(|policy, _| policy.support.strict_entities = true).await;
    let ada = app.user("ada").await;
    let staff = app.user("sam").staff().await;
    let entry = json!({"account_id": 1, "type": "domain", "id": 7, "label": "example.com"});
    staff.post("/desk/entities", entry).await;

    let known = open_ticket_with(&ada, json!({"domain_id": 7})).await;
    assert_eq!(known.json()["entity"]["label"], "example.com");
    let unknown = open_ticket_with(&ada, json!({"domain_id": 8})).await;
    assert_eq!(unknown.errors(), ["domain_id entity_unknown"]);
    let grace = app.user("grace").of(app.another_account().await).await;
    assert_eq!(
        open_ticket_with(&grace, json!({"domain_id": 7})).await.status,
        400
    );
}

#[tokio::test]
async fn open_tickets_come_first_and_newer_ones_before_older() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for _ in 0..6 {
        ada.open_ticket("Help").await;
    }
    for id in [2, 5] {
        ada.post(&format!("/support/tickets/{id}/close"), json!({})).await;
    }
    assert_eq!(ada.get("/support/tickets").await.ids(), [6, 4, 3, 1, 5, 2]);
    assert_eq!(ada.get("/support/tickets?page=2&page_size=4").await.ids(), [5, 2]);
}

#[tokio::test]
async fn filters_of_published_clients_work_on_tickets() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    for summary in ["alpha", "beta", "gamma"] {
        open_ticket_with(&ada, json!({"summary": summary, "vpc_id": 1})).await;
        app.advance(10);
    }
    ada.post("/support/tickets/2/close", json!({})).await;
    for (filter, ids) in [
        (
            r#"{"+order":"desc","+order_by":"opened","+or":[{"status":"open"},{"status":"new"}]}"#,
            vec![3, 1],
        ),
        (
            r#"{"+order":"desc","+order_by":"opened","status":"closed"}"#,
            vec![2],
        ),
        (r#"{"+order_by":"summary","+order":"desc"}"#, vec![3, 2, 1]),
        (r#"{"+order_by":"updated"}"#, vec![1, 3, 2]),
        (r#"{"+order_by":"updated_by"}"#, vec![1, 2, 3]),
        (r#"{"closed":null}"#, vec![3, 1]),
        (r#"{"closable":false}"#, vec![2]),
        (r#"{"opened":{"+gt":"2024-06-01T12:00:05"}}"#, vec![3, 2]),
        (
            r#"{"entity.type":"vpc","entity.id":1,"opened_by":"ada"}"#,
            vec![3, 1, 2],
        ),
        (r#"{"summary":{"+contains":"ETA"}}"#, vec![2]),
        (r#"{"+order_by":"severity","+order":"desc"}"#, vec![3, 2, 1]),
    ] {
        assert_eq!(
            ada.filter("/support/tickets", filter).await.ids(),
            ids,
            "{filter}"
        );
    }
    let unknown = ada.filter("/support/tickets", r#"{"priority":"high"}"#).await;
    assert_eq!(unknown.errors(), ["X-Filter filter_field"]);
}

#[tokio::test]
async fn account_access_controls_reading_and_replying() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    let reader = app
        .user("reader")
        .may(Grant::AccountAccess(Permission::ReadOnly))
        .await;
    let writer = app
        .user("writer")
        .may(Grant::AccountAccess(Permission::ReadWrite))
        .await;
    ada.open_ticket("Ada's").await;
    bob.open_ticket("Bob's").await;

    for (user, sees, adds) in [
        (&ada, vec![2, 1], vec![200, 200]),
        (&bob, vec![2], vec![404, 200]),
        (&reader, vec![2, 1], vec![403, 403]),
        (&writer, vec![2, 1], vec![200, 200]),
    ] {
        assert_eq!(user.get("/support/tickets").await.ids(), sees);
        for (ticket, status) in (1..).zip(adds) {
            let body = json!({"description": "And another thing."});
            let reply = user
                .post(&format!("/support/tickets/{ticket}/replies"), body)
                .await;
            assert_eq!(reply.status, status);
        }
    }
    // The same applies to events: Bob sees all events of his own ticket, including events that other users
    // caused, and no other events.
    let of_bob = bob.events().await;
    assert_eq!(of_bob.len(), 4, "{of_bob:?}");
    assert!(of_bob.iter().all(|event| event.ends_with(" 2")), "{of_bob:?}");
    assert_eq!(reader.events().await.len(), ada.events().await.len());
}

#[tokio::test]
async fn no_tenant_can_have_the_providers_name() {
    let app = TestApp::new().await;
    for (name, membership, created) in [
        ("support", Membership::Account(app.account), false),
        ("supporter", Membership::Account(app.account), true),
        ("Support", Membership::Staff(StaffRole::Support), true),
    ] {
        let new = NewUser {
            membership,
            username: Username::parse(name).unwrap(),
            email: Email::parse("a@example.com").unwrap(),
            restricted: false,
            password: None,
        };
        let tried = app
            .store
            .write(move |tx| garth::rules::users::create(tx, &new))
            .await;
        assert_eq!(tried.is_ok(), created, "{name}");
    }
}

#[tokio::test]
async fn the_published_limits_are_enforced() {
    let app = TestApp::with(|policy, _| policy.support.reopen_days = Some(7)).await;
    let ada = app.user("ada").scopes("domains:read_only").await;
    let limits = ada.get("/support/limits").await;
    assert_eq!(
        limits.json(),
        json!({
            "summary_max": 64, "description_max": 65000, "reply_max": 65535, "attachment_max_bytes": 5242880,
            "attachments_per_ticket": 20, "attachment_extensions": [
                ".gif", ".jpg", ".jpeg", ".pjpg", ".pjpeg", ".tif", ".tiff", ".png", ".pdf", ".txt"
            ], "reopen_days": 7
        })
    );
}

#[tokio::test]
async fn an_outdated_tag_prevents_closing_and_replying() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let tag = ada.get("/support/tickets/1").await.header("etag").to_owned();
    let post = async |path: &str, body: Value| {
        let call = ada.call(hyper::Method::POST, path).header("if-match", &tag);
        call.json(&body).await.status
    };
    let more = json!({"description": "More."});
    assert_eq!(post("/support/tickets/1/replies", more.clone()).await, 200);
    assert_eq!(post("/support/tickets/1/replies", more).await, 412);
    assert_eq!(post("/support/tickets/1/close", json!({})).await, 412);
    assert_eq!(ada.count("/support/tickets/1/replies").await, 1);
}
