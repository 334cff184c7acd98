//! Encryption between hosts: the setting of a region, keys, and their rotation.

use serde_json::{Value, json};

use super::{Agent, StateStream, add_host, create_instance, public_key};
use crate::harness::{TestApp, User};

const EAST: &str = "/hosts/encryption/us-east";

impl Agent<'_> {
    /// The encryption in the desired state.
    async fn encryption(&self) -> Value {
        self.state().await["underlay"]["encryption"].clone()
    }

    /// Reports that the host uses a generation with all other hosts.
    async fn settle(&self, generation: u32) {
        let reply = self
            .report_with(json!({"encryption": {"settled_generation": generation}}))
            .await;
        assert_eq!(reply.status, 200, "{reply}");
    }
}

async fn set(staff: &User<'_>, body: Value) -> Value {
    let reply = staff.put(EAST, body).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()
}

#[tokio::test]
async fn a_region_does_not_encrypt_until_staff_switch_it_on() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let one = add_host(&sam, 1, 5).await;
    let off = json!({"region": "us-east", "enabled": false, "key_days": 90, "generation": 0, "rotated": null,
        "next_rotation": null, "rotation": null,
        "hosts": [{"id": one.id, "label": "rack-1", "key_generation": null, "key_created": null}]});
    assert_eq!(sam.get(EAST).await.json(), off);
    assert_eq!(one.encryption().await, Value::Null);
    one.report_key(1, 'a').await;
    assert_eq!(sam.get(EAST).await.json(), off, "a key is not stored before");

    let on = set(&sam, json!({"enabled": true, "key_days": 1})).await;
    assert_eq!(
        (&on["enabled"], &on["generation"], &on["key_days"]),
        (&json!(true), &json!(1), &json!(1))
    );
    assert_eq!(one.encryption().await, json!({"generations": [1], "peers": []}));
    assert_eq!(
        sam.get("/hosts/encryption/eu-west").await.json()["enabled"],
        false
    );

    set(&sam, json!({"enabled": false})).await;
    assert_eq!(one.encryption().await, Value::Null);
    let again = set(&sam, json!({"enabled": true})).await;
    assert_eq!(again["generation"], 2, "keys from before are not used again");
}

#[tokio::test]
async fn invalid_settings_are_refused() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    for (body, field, code) in [
        (json!({"key_days": 0}), "key_days", "out_of_range"),
        (json!({"key_days": 3651}), "key_days", "out_of_range"),
        (json!({"rotate": true}), "rotate", "encryption_off"),
        (
            json!({"rotate": true, "enabled": false}),
            "rotate",
            "encryption_off",
        ),
    ] {
        let refused = sam.put(EAST, body.clone()).await;
        assert_eq!(refused.status, 400, "{body}");
        let error = &refused.json()["errors"][0];
        assert_eq!(
            (&error["field"], &error["code"]),
            (&json!(field), &json!(code)),
            "{body}"
        );
    }
    assert_eq!(
        sam.put("/hosts/encryption/moon", json!({"enabled": true}))
            .await
            .status,
        404
    );
    assert_eq!(sam.get("/hosts/encryption/moon").await.status, 404);
}

#[tokio::test]
async fn hosts_get_the_keys_of_the_other_hosts_of_their_region() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let (one, two, three) = (
        add_host(&sam, 1, 5).await,
        add_host(&sam, 2, 5).await,
        add_host(&sam, 3, 5).await,
    );
    set(&sam, json!({"enabled": true})).await;
    let mut stream = StateStream::open(&one.user, "/agent/state").await;
    let before = stream.next().await.expect("a snapshot")["revision"]
        .as_u64()
        .expect("a revision");
    two.report_key(1, 'b').await;
    let messages = stream.change(before).await;
    let peers = json!([{"host_id": two.id, "address": "172.31.0.2",
        "keys": [{"generation": 1, "public_key": public_key('b')}]}]);
    assert_eq!(
        messages.last().expect("a message")["underlay"]["encryption"]["peers"],
        peers
    );
    assert_eq!(two.encryption().await["peers"], json!([]), "host 3 has no key");

    let revision = one.state().await["revision"].clone();
    two.report_key(1, 'b').await;
    two.report_key(7, 'x').await;
    let invalid = json!({"encryption": {"keys": [{"generation": 1, "public_key": "short"}]}});
    two.report_with(invalid).await;
    assert_eq!(one.state().await["revision"], revision, "nothing has changed");

    two.report_key(1, 'c').await;
    assert_eq!(
        one.encryption().await["peers"][0]["keys"][0]["public_key"],
        public_key('c')
    );
    sam.post("/hosts/2/join-token", json!({"revoke": true})).await;
    assert_eq!(
        one.encryption().await["peers"],
        json!([]),
        "a revoked host is no peer"
    );
    three.report_key(1, 'd').await;
    assert_eq!(
        one.encryption().await["peers"].as_array().expect("peers").len(),
        1
    );
    assert_eq!(sam.delete("/hosts/3").await.status, 200);
    assert_eq!(one.encryption().await["peers"], json!([]));
}

#[tokio::test]
async fn a_key_of_another_host_is_refused() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let (one, two) = (add_host(&sam, 1, 5).await, add_host(&sam, 2, 5).await);
    set(&sam, json!({"enabled": true})).await;
    one.report_key(1, 'a').await;
    two.report_key(1, 'a').await;
    let hosts = sam.get(EAST).await.json()["hosts"].clone();
    assert_eq!(
        (&hosts[0]["key_generation"], &hosts[1]["key_generation"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(two.encryption().await["peers"][0]["host_id"], one.id);
    two.report_key(1, 'b').await;
    assert_eq!(sam.get(EAST).await.json()["hosts"][1]["key_generation"], 1);
}

#[tokio::test]
async fn a_rotation_keeps_the_old_keys_until_all_hosts_use_the_new_ones() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let (one, two) = (add_host(&sam, 1, 5).await, add_host(&sam, 2, 5).await);
    // A host without any key takes no part.
    add_host(&sam, 3, 5).await;
    set(&sam, json!({"enabled": true})).await;
    for (agent, letter) in [(&one, 'a'), (&two, 'b')] {
        agent.report_key(1, letter).await;
        agent.settle(1).await;
    }

    let rotating = set(&sam, json!({"rotate": true})).await;
    assert_eq!(
        rotating["rotation"],
        json!({"done": 0, "total": 2, "waiting_host_ids": [one.id, two.id], "blocked_by": [
            {"id": one.id, "label": "rack-1", "reason": "its agent has not reported a new key yet"},
            {"id": two.id, "label": "rack-2", "reason": "its agent has not reported a new key yet"}]})
    );
    assert_eq!(rotating["next_rotation"], Value::Null);
    assert_eq!(one.encryption().await["generations"], json!([1, 2]));
    let again = set(&sam, json!({"rotate": true})).await;
    assert_eq!(again["generation"], 2, "a rotation in progress continues");

    for (agent, letter) in [(&one, 'c'), (&two, 'd')] {
        agent.report_key(2, letter).await;
    }
    let keys = json!([{"generation": 1, "public_key": public_key('b')},
        {"generation": 2, "public_key": public_key('d')}]);
    assert_eq!(one.encryption().await["peers"][0]["keys"], keys);
    one.settle(2).await;
    assert_eq!(
        sam.get(EAST).await.json()["rotation"]["waiting_host_ids"],
        json!([two.id])
    );
    assert_eq!(
        one.encryption().await["generations"],
        json!([1, 2]),
        "host 2 uses the old keys"
    );

    two.settle(2).await;
    let done = sam.get(EAST).await.json();
    assert_eq!(
        (&done["rotation"], &done["generation"]),
        (&Value::Null, &json!(2))
    );
    assert_eq!(one.encryption().await["generations"], json!([2]));
    assert_eq!(
        one.encryption().await["peers"][0]["keys"]
            .as_array()
            .expect("keys")
            .len(),
        1
    );
}

#[tokio::test]
async fn keys_of_several_agents_with_one_credential_are_not_used() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let (one, two) = (add_host(&sam, 1, 5).await, add_host(&sam, 2, 5).await);
    set(&sam, json!({"enabled": true})).await;
    let report = async |run: &str, letter: char| {
        let keys = json!([{"generation": 1, "public_key": public_key(letter)}]);
        let fields = json!({"agent_run": run, "encryption": {"keys": keys}});
        assert_eq!(one.report_with(fields).await.status, 200);
        app.advance(1);
        two.encryption().await["peers"][0]["keys"][0]["public_key"].clone()
    };
    assert_eq!(report("first", 'a').await, public_key('a'));
    assert_eq!(
        report("second", 'b').await,
        public_key('b'),
        "an agent with a new key"
    );
    for _ in 0..2 {
        assert_eq!(report("first", 'a').await, public_key('b'), "two agents");
        assert_eq!(report("second", 'c').await, public_key('b'), "two agents");
    }
    app.advance(60);
    assert_eq!(
        report("second", 'c').await,
        public_key('c'),
        "the other agent has ended"
    );
}

#[tokio::test]
async fn keys_are_rotated_when_they_reach_their_lifetime() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let one = add_host(&sam, 1, 5).await;
    set(&sam, json!({"enabled": true, "key_days": 2})).await;
    one.report_key(1, 'a').await;
    one.settle(1).await;
    app.advance(2 * 86_400 - 1);
    one.settle(1).await;
    assert_eq!(one.encryption().await["generations"], json!([1]));
    app.advance(1);
    one.settle(1).await;
    assert_eq!(one.encryption().await["generations"], json!([1, 2]));
}

#[tokio::test]
async fn a_trace_shows_whether_packets_between_hosts_are_encrypted() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let (one, two) = (add_host(&sam, 1, 1).await, add_host(&sam, 2, 1).await);
    create_instance(&ada, 1).await;
    create_instance(&ada, 1).await;
    let trace = async || {
        one.apply().await;
        two.apply().await;
        sam.get("/hosts/trace/1/10.0.0.3").await.json()
    };
    let hop = |trace: &Value| trace["hops"][2]["action"].as_str().expect("an action").to_owned();
    let clear = trace().await;
    assert_eq!(clear["outcome"], "delivered");
    assert!(hop(&clear).ends_with(", not encrypted"), "{clear}");

    set(&sam, json!({"enabled": true})).await;
    one.report_key(1, 'a').await;
    let without_key = trace().await;
    assert_eq!(
        (&without_key["outcome"], &without_key["cause"]),
        (&json!("dropped"), &json!("no_key"))
    );
    two.report_key(1, 'b').await;
    let encrypted = trace().await;
    assert_eq!(encrypted["outcome"], "delivered");
    assert!(hop(&encrypted).ends_with(", encrypted"), "{encrypted}");
}

#[tokio::test]
async fn a_rotation_that_waits_names_the_host_that_blocks_it() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let agents = [
        add_host(&sam, 1, 5).await,
        add_host(&sam, 2, 5).await,
        add_host(&sam, 3, 5).await,
    ];
    set(&sam, json!({"enabled": true})).await;
    for (agent, letter) in agents.iter().zip(['a', 'b', 'c']) {
        agent.report_key(1, letter).await;
        agent.settle(1).await;
    }
    app.advance(61);
    let [one, two, _] = &agents;
    one.report_key(1, 'a').await;
    two.report_key(1, 'b').await;
    set(&sam, json!({"rotate": true})).await;
    let blockers = async || {
        let rotation = sam.get(EAST).await.json()["rotation"].clone();
        assert_eq!(
            rotation["waiting_host_ids"],
            json!([1, 2, 3]),
            "nothing has settled"
        );
        let blockers = rotation["blocked_by"].as_array().expect("a list").clone();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let named = blockers
            .iter()
            .map(|host| (text(&host["label"]), text(&host["reason"])));
        named.collect::<Vec<_>>()
    };
    let silent = ("rack-3".to_owned(), "its agent does not report".to_owned());
    one.report_key(2, 'd').await;
    let keyless = "its agent has not reported a new key yet".to_owned();
    assert_eq!(blockers().await, [("rack-2".to_owned(), keyless), silent.clone()]);
    two.report_key(2, 'e').await;
    assert_eq!(blockers().await, [silent]);
    agents[2].report_key(2, 'f').await;
    let labels: Vec<_> = blockers().await.into_iter().map(|(label, _)| label).collect();
    assert_eq!(labels, ["rack-1", "rack-2", "rack-3"], "all lack sessions");
}
