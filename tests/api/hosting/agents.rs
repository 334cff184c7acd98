//! Joining, credentials, and the stream of the desired state.

use serde_json::{Value, json};

use super::{StateStream, add_host, create_instance, join};
use crate::harness::{TestApp, User};

#[tokio::test]
async fn a_join_token_can_be_used_once_within_an_hour() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    add_host(&sam, 1, 5).await;
    let token = async || sam.post("/hosts/1/join-token", json!({})).await.json()["token"].clone();
    let try_join = async |token| app.anonymous().post("/agent/join", json!({"token": token})).await;

    let (first, second) = (token().await, token().await);
    assert_eq!(
        try_join(first).await.status,
        401,
        "a new token replaces the previous one"
    );
    let joined = try_join(second.clone()).await;
    assert_eq!(
        (&joined.json()["label"], &joined.json()["region"]),
        (&json!("rack-1"), &json!("us-east"))
    );
    assert_eq!(try_join(second).await.status, 401, "a token is used up");
    let late = token().await;
    app.advance(3600);
    assert_eq!(try_join(late).await.status, 401);
}

#[tokio::test]
async fn a_new_credential_replaces_the_previous_one_and_ends_its_stream() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let agent = add_host(&sam, 1, 5).await;
    let mut stream = StateStream::open(&agent.user, "/agent/state").await;
    assert_eq!(stream.next().await.expect("a snapshot")["type"], "snapshot");
    let next = app.with_token(&join(&sam, agent.id).await);
    assert_eq!(stream.next().await, None);
    assert_eq!(agent.user.get("/agent/state").await.status, 401);

    let mut stream = StateStream::open(&next, "/agent/state").await;
    stream.next().await.expect("a snapshot");
    let revoked = sam.post("/hosts/1/join-token", json!({"revoke": true})).await;
    assert_eq!(revoked.status, 200);
    assert_eq!(stream.next().await, None);
    assert_eq!(next.post("/agent/status", json!({})).await.status, 401);
    assert_eq!(sam.get("/hosts/1").await.json()["status"], "offline");
}

#[tokio::test]
async fn a_credential_is_not_stored_and_is_no_token_of_a_user() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let agent = add_host(&sam, 1, 5).await;
    let secret = agent.user.token.clone().expect("a credential");
    let content = app.home().content().await;
    assert!(!serde_json::to_string(&content).unwrap().contains(&secret));
    for path in ["/vpcs", "/hosts", "/desk/tickets", "/profile"] {
        let refused = agent.user.get(path).await;
        assert_eq!(refused.json()["errors"][0]["code"], "wrong_side", "{path}");
    }
}

#[tokio::test]
async fn an_agent_with_the_current_revision_gets_no_snapshot() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    let revision = agent.state().await["revision"].as_u64().expect("a revision");
    let first = async |after: u64| {
        let path = format!("/agent/state?after={after}");
        StateStream::open(&agent.user, &path)
            .await
            .next()
            .await
            .expect("a message")
    };
    assert_eq!(
        first(revision).await,
        json!({"type": "heartbeat", "revision": revision})
    );
    assert_eq!(first(revision - 1).await["type"], "snapshot");
    assert_eq!(first(revision + 1).await["type"], "snapshot");
    let invalid = agent.user.get("/agent/state?after=soon").await;
    assert_eq!(invalid.json()["errors"][0]["code"], "after_invalid");
}

#[tokio::test]
async fn a_change_is_sent_to_the_hosts_of_its_vpc_and_to_no_other() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_vpc("other", &["10.0.0.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 1).await, add_host(&sam, 2, 1).await);
    create_instance(&ada, 1).await;
    create_instance(&ada, 2).await;
    let revisions = async || {
        [
            one.state().await["revision"].as_u64(),
            two.state().await["revision"].as_u64(),
        ]
    };
    let before = revisions().await;

    let mut stream = StateStream::open(&one.user, "/agent/state").await;
    stream.next().await.expect("a snapshot");
    ada.post("/vpcs/1/subnets", json!({"label": "more", "ipv4": "10.0.1.0/24"}))
        .await;
    let messages = stream.change(before[0].unwrap()).await;
    let types: Vec<_> = messages
        .iter()
        .map(|message| message["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["vpc"], "the underlay has not changed");
    assert_eq!(messages[0]["vpc"]["subnets"].as_array().unwrap().len(), 2);
    let after = revisions().await;
    assert_eq!(messages[0]["revision"].as_u64(), after[0]);
    assert!(after[0] > before[0]);
    assert_eq!(after[1], before[1], "the other host has no instance of this VPC");

    ada.delete("/linode/instances/1").await;
    let messages = stream.change(after[0].unwrap()).await;
    assert_eq!(
        (&messages[0]["type"], &messages[0]["vpc_id"]),
        (&json!("vpc_removed"), &json!(1))
    );
    assert_eq!(messages.len(), 1);
    assert_eq!(one.state().await["vpcs"], json!([]));
}

#[tokio::test]
async fn the_underlay_is_sent_when_it_has_changed_and_to_an_agent_that_reconnects() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let one = add_host(&sam, 1, 1).await;
    let two = add_host(&sam, 2, 1).await;
    create_instance(&ada, 1).await;
    create_instance(&ada, 1).await;
    let mut stream = StateStream::open(&one.user, "/agent/state").await;
    let mut revision = stream.next().await.expect("a snapshot")["revision"]
        .as_u64()
        .expect("a revision");
    let types = |messages: &[Value]| -> Vec<String> {
        let types = messages
            .iter()
            .map(|message| message["type"].as_str().expect("a type").to_owned());
        types.collect()
    };

    // Both a VPC and the underlay change: only the last message has the new revision.
    sam.put(
        &format!("/hosts/{}", two.id),
        json!({"underlay_address": "172.31.0.77"}),
    )
    .await;
    let messages = stream.change(revision).await;
    assert_eq!(types(&messages), ["vpc", "underlay"]);
    assert_eq!(messages[0]["revision"].as_u64(), Some(revision));
    assert_eq!(messages[1]["underlay"]["hosts"], json!(["172.31.0.77"]));
    revision = messages[1]["revision"].as_u64().expect("a revision");

    // A host of another region changes nothing here.
    let other = json!({"label": "far", "region": "eu-west", "underlay_address": "172.31.0.9"});
    let far = sam.post("/hosts", other).await.json()["id"]
        .as_i64()
        .expect("an id");
    join(&sam, far).await;
    ada.post("/vpcs/1/subnets", json!({"label": "more", "ipv4": "10.0.1.0/24"}))
        .await;
    let messages = stream.change(revision).await;
    assert_eq!(types(&messages), ["vpc"]);
    revision = messages[0]["revision"].as_u64().expect("a revision");
    drop(stream);

    // The settings of the provider may have changed while the agent was not connected.
    let mut stream = StateStream::open(&one.user, &format!("/agent/state?after={revision}")).await;
    assert_eq!(stream.next().await.expect("a message")["type"], "heartbeat");
    ada.post("/vpcs/1/subnets", json!({"label": "last", "ipv4": "10.0.2.0/24"}))
        .await;
    let messages = stream.change(revision).await;
    assert_eq!(types(&messages), ["vpc", "underlay"]);
}

#[tokio::test]
async fn a_host_without_a_credential_is_no_peer_and_has_no_endpoints() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 1).await, add_host(&sam, 2, 1).await);
    create_instance(&ada, 1).await;
    create_instance(&ada, 1).await;
    assert_eq!(one.state().await["underlay"]["hosts"], json!(["172.31.0.2"]));
    assert_eq!(one.state().await["vpcs"][0]["endpoints"][0]["host"], "172.31.0.2");

    sam.put("/hosts/2", json!({"underlay_address": "172.31.0.77"}))
        .await;
    assert_eq!(one.state().await["underlay"]["hosts"], json!(["172.31.0.77"]));
    assert_eq!(
        one.state().await["vpcs"][0]["endpoints"][0]["host"],
        "172.31.0.77"
    );
    assert_eq!(two.state().await["underlay"]["address"], "172.31.0.77");

    sam.post("/hosts/2/join-token", json!({"revoke": true})).await;
    assert_eq!(one.state().await["underlay"]["hosts"], json!([]));
    assert_eq!(one.state().await["vpcs"][0]["endpoints"], json!([]));
}

/// The state of VPC 1 in the messages of one change.
fn vpc_message(messages: &[Value]) -> &Value {
    let sent = messages.iter().find(|message| message["vpc"]["id"] == 1);
    &sent.unwrap_or_else(|| panic!("VPC 1 is not sent: {messages:?}"))["vpc"]
}

#[tokio::test]
async fn other_hosts_receive_the_endpoints_of_a_host_that_moves_is_revoked_or_joins_again() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_vpc("other", &["10.0.0.0/24"]).await;
    let (one, _two) = (add_host(&sam, 1, 1).await, add_host(&sam, 2, 1).await);
    for subnet in [1, 1] {
        create_instance(&ada, subnet).await;
    }
    let third = add_host(&sam, 3, 1).await;
    create_instance(&ada, 2).await;
    let mut stream = StateStream::open(&one.user, "/agent/state").await;
    let snapshot = stream.next().await.expect("a snapshot");
    let mut revision = snapshot["revision"].as_u64().expect("a revision");
    assert_eq!(snapshot["vpcs"][0]["endpoints"][0]["host"], "172.31.0.2");
    let mut unconcerned = StateStream::open(&third.user, "/agent/state").await;
    let snapshot = unconcerned.next().await.expect("a snapshot");
    let mut other_revision = snapshot["revision"].as_u64().expect("a revision");

    let steps = [
        ("moved", Some("172.31.0.77")),
        ("revoked", None),
        ("joined", Some("172.31.0.77")),
    ];
    for (step, endpoint) in steps {
        let reply = match step {
            "moved" => {
                sam.put("/hosts/2", json!({"underlay_address": "172.31.0.77"}))
                    .await
            }
            "revoked" => sam.post("/hosts/2/join-token", json!({"revoke": true})).await,
            _ => {
                join(&sam, 2).await;
                sam.get("/hosts/2").await
            }
        };
        assert_eq!(reply.status, 200, "{step}: {reply}");
        let messages = stream.change(revision).await;
        revision = messages.last().expect("a message")["revision"]
            .as_u64()
            .expect("a revision");
        let endpoints = vpc_message(&messages)["endpoints"].as_array().expect("endpoints");
        let hosts: Vec<_> = endpoints
            .iter()
            .map(|endpoint| endpoint["host"].as_str())
            .collect();
        assert_eq!(hosts, Vec::from_iter(endpoint.map(Some)), "{step}");

        let messages = unconcerned.change(other_revision).await;
        let types: Vec<_> = messages.iter().map(|message| &message["type"]).collect();
        assert_eq!(types, ["underlay"], "{step}: a host without the VPC");
        other_revision = messages[0]["revision"].as_u64().expect("a revision");
    }
}

#[tokio::test]
async fn the_mtu_of_a_region_is_the_smallest_that_its_hosts_report() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let (one, two) = (add_host(&sam, 1, 1).await, add_host(&sam, 2, 1).await);
    assert_eq!(one.state().await["underlay"]["mtu"], 1500);
    let mut stream = StateStream::open(&one.user, "/agent/state").await;
    let before = stream.next().await.expect("a snapshot")["revision"]
        .as_u64()
        .unwrap();
    one.report_with(json!({"underlay_mtu": 9000})).await;
    two.report_with(json!({"underlay_mtu": 8900})).await;
    let first = stream.change(before).await;
    assert_eq!(first.last().unwrap()["type"], "underlay");
    assert_eq!(one.state().await["underlay"]["mtu"], 8900);
    assert_eq!(two.state().await["underlay"]["mtu"], 8900);
}

/// The problems of host 1.
async fn warnings(staff: &User<'_>) -> Vec<String> {
    let host = staff.get("/hosts/1").await.json();
    let warnings = host["warnings"].as_array().expect("warnings").iter();
    let text = |warning: &Value| warning.as_str().expect("a text").to_owned();
    warnings.map(text).collect()
}

#[tokio::test]
async fn two_agents_with_one_credential_are_noticed_and_their_values_are_not_used() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    let report = async |run: &str, mtu: i64, bytes: i64| {
        let traffic =
            json!({"received_bytes": bytes, "received_packets": 1, "sent_bytes": 0, "sent_packets": 0});
        let port = json!({"interface_id": 1, "status": "up", "traffic": traffic});
        let fields = json!({"agent_run": run, "underlay_mtu": mtu, "ports": [port]});
        let reply = agent.report_with(fields).await;
        assert_eq!(reply.status, 200, "{reply}");
        app.advance(10);
    };
    let mtu = async || agent.state().await["underlay"]["mtu"].as_i64().expect("an MTU");
    let received = async || ada.get("/linode/instances/1/transfer/2024/6").await.json()["bytes_in"].clone();
    let none: [String; 0] = [];

    report("first", 1500, 100).await;
    report("second", 1500, 100).await;
    report("third", 1400, 300).await;
    assert_eq!(warnings(&sam).await, none, "restarts of one agent");
    assert_eq!((mtu().await, received().await), (1400, json!(300)));

    report("copy", 9000, 300).await;
    let revision = agent.state().await["revision"].clone();
    for _ in 0..3 {
        report("third", 1400, 900).await;
        report("copy", 9000, 20).await;
    }
    let found = warnings(&sam).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("several agents use the credential"),
        "{found:?}"
    );
    assert_eq!((mtu().await, received().await), (9000, json!(300)));
    assert_eq!(
        agent.state().await["revision"],
        revision,
        "the region has not changed"
    );

    // The copy is stopped. The MTU is that of the remaining agent again.
    for _ in 0..8 {
        report("third", 1400, 950).await;
    }
    assert_eq!(warnings(&sam).await, none);
    assert_eq!((mtu().await, received().await), (1400, json!(950)));
}

#[tokio::test]
async fn an_agent_that_joins_again_is_not_a_second_agent() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let agent = add_host(&sam, 1, 5).await;
    for run in ["first", "second"] {
        agent.report_with(json!({"agent_run": run})).await;
    }
    // The first agent still runs. Its machine gets a new credential, so that the second one is refused.
    let first = app.with_token(&join(&sam, agent.id).await);
    assert_eq!(
        agent.report_with(json!({"agent_run": "second"})).await.status,
        401
    );
    let report =
        json!({"protocol": 1, "applied_revision": 1, "agent_version": "0.2.0", "agent_run": "first"});
    assert_eq!(first.post("/agent/status", report).await.status, 200);
    assert_eq!(warnings(&sam).await, [""; 0]);
}
