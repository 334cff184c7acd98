//! Both engines give the same responses to the same calls at the same times, byte for byte.

use hyper::Method;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::harness::{Reply, TestApp, User};

const CALLS: usize = 1500;

/// A call of the script, as it is sent to both servers.
#[derive(Debug)]
struct Line {
    /// The index of the user who makes the call.
    who: usize,
    method: Method,
    path: String,
    body: Option<Value>,
    filter: Option<Value>,
    /// Seconds that pass before the call.
    pause: i64,
}

/// A deterministic random number generator.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// An ID. Usually it probably exists; sometimes it certainly does not.
    fn id(&mut self) -> usize {
        match self.below(12) {
            0 => 999,
            _ => 1 + self.below(14),
        }
    }

    fn label(&mut self) -> String {
        let word = self.one_of(&["alpha", "Beta", "gamma-1", "DELTA", "a_b", "x"]);
        match self.below(3) {
            0 => word.to_owned(),
            _ => format!("{word}-{}", self.below(30)),
        }
    }

    fn range(&mut self) -> String {
        let prefix = self.one_of(&[24, 25, 28, 29, 16]);
        format!("10.{}.{}.0/{prefix}", self.below(3), self.below(6))
    }
}

fn next_line(dice: &mut Dice) -> Line {
    let (get, post, put, delete) = (Method::GET, Method::POST, Method::PUT, Method::DELETE);
    let (a, b, c) = (dice.id(), dice.id(), dice.id());
    let (config, interfaces) = (
        format!("/compute/instances/{a}/configs/{b}"),
        format!("/compute/instances/{a}/configs/{b}/interfaces"),
    );
    let (method, path, body) = match dice.below(34) {
        0..=2 => {
            let subnet = |dice: &mut Dice| json!({"label": dice.label(), "ipv4": dice.range()});
            let subnets: Vec<_> = (0..dice.below(4)).map(|_| subnet(dice)).collect();
            let region = dice.one_of(&["us-east", "us-mia", "nowhere"]);
            let body = json!({"label": dice.label(), "region": region, "subnets": subnets});
            (post, "/vpcs".to_owned(), Some(body))
        }
        3 => (
            put,
            format!("/vpcs/{a}"),
            Some(json!({"label": dice.label(), "description": "é ü 漢 \u{1F600}"})),
        ),
        4 => (delete, format!("/vpcs/{a}"), None),
        5..=7 => {
            let body = json!({"label": dice.label(), "ipv4": dice.range()});
            (post, format!("/vpcs/{a}/subnets"), Some(body))
        }
        8 => (
            put,
            format!("/vpcs/{a}/subnets/{b}"),
            Some(json!({"label": dice.label()})),
        ),
        9 => (delete, format!("/vpcs/{a}/subnets/{b}"), None),
        10..=12 => {
            let interface = json!({"purpose": "vpc", "subnet_id": b, "ip_ranges": dice.one_of(&[json!([]), json!(["10.0.0.16/28"])])});
            let some = json!([{"purpose": "public"}, interface]);
            let interfaces = dice.one_of(&[json!([]), some, json!([interface])]);
            let mut body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
            if dice.below(2) == 0 {
                body["image"] = json!("linode/debian12");
                body["root_pass"] = json!("Something-hard-2-guess");
            }
            if dice.below(2) == 0 {
                body["label"] = json!(dice.label());
                body["tags"] = json!(["one", "two"]);
            }
            (post, "/compute/instances".to_owned(), Some(body))
        }
        13 => (
            put,
            format!("/compute/instances/{a}"),
            Some(json!({"label": dice.label(), "group": "g"})),
        ),
        14 => (delete, format!("/compute/instances/{a}"), None),
        15..=16 => {
            let word = dice.one_of(&["boot", "reboot", "shutdown"]);
            (post, format!("/compute/instances/{a}/{word}"), Some(json!({})))
        }
        17..=18 => {
            let interface =
                json!({"purpose": "vpc", "subnet_id": b, "ipv4": {"vpc": format!("10.0.0.{}", c)}});
            let body = json!({"label": dice.label(), "devices": {}, "interfaces": [interface]});
            (post, format!("/compute/instances/{a}/configs"), Some(body))
        }
        19 => (
            put,
            config,
            Some(json!({"label": dice.label(), "comments": "changed"})),
        ),
        20 => (delete, config, None),
        21..=22 => (
            post,
            interfaces,
            Some(json!({"purpose": "vpc", "subnet_id": c, "primary": true})),
        ),
        23 => {
            let body = json!({"ipv4": {"vpc": format!("10.0.0.{}", dice.below(20)), "nat_1_1": "any"}});
            (put, format!("{interfaces}/{c}"), Some(body))
        }
        24 => (delete, format!("{interfaces}/{c}"), None),
        25 => (
            post,
            format!("/account/events/{a}/{}", dice.one_of(&["seen", "read"])),
            None,
        ),
        _ => {
            let path = dice.one_of(&[
                "/vpcs".to_owned(),
                format!("/vpcs/{a}"),
                format!("/vpcs/{a}/subnets"),
                "/vpcs/ips".to_owned(),
                format!("/vpcs/{a}/ips"),
                "/compute/instances".to_owned(),
                format!("/compute/instances/{a}"),
                format!("/compute/instances/{a}/ips"),
                format!("/compute/instances/{a}/configs"),
                interfaces,
                "/account/events?page_size=500".to_owned(),
                format!("/account/events?after={}&page_size=25", a * 9),
                "/account/quotas".to_owned(),
                format!("/vpcs?page={}&page_size=2", 1 + a % 3),
            ]);
            (get, path, None)
        }
    };
    let filter = (method == Method::GET && dice.below(2) == 0).then(|| filter_for(&path, dice));
    Line {
        who: dice.below(8) / 6,
        method,
        path,
        body,
        filter,
        pause: [0, 0, 0, 1, 60][dice.below(5)],
    }
}

fn filter_for(path: &str, dice: &mut Dice) -> Value {
    let fields: &[&str] = match path {
        "/vpcs/ips" => &["address", "vpc_id", "active", "region", "linode_id"],
        path if path.starts_with("/account/events") => {
            &["action", "seen", "created", "entity.id", "entity.type"]
        }
        path if path.starts_with("/compute/instances") => &["label", "status", "ipv4", "image", "created"],
        path if path.contains("/subnets") => &["label", "ipv4", "created", "id"],
        _ => &["label", "region", "subnets.label", "subnets.id", "id"],
    };
    let field = dice.one_of(fields);
    let operator = dice.one_of(&["+eq", "+neq", "+gt", "+lte", "+contains"]);
    let texts = [
        "alpha",
        "E",
        "-1",
        "10.0.0.2",
        "us-east",
        "vpc_create",
        "2024-06-01T12:05:00",
        "_",
        "É",
    ];
    let value = match dice.below(4) {
        0 => json!(dice.below(9)),
        1 => json!(dice.below(2) == 0),
        2 => json!(null),
        _ => json!(dice.one_of(&texts)),
    };
    json!({ field: {operator: value}, "+order_by": dice.one_of(fields), "+order": dice.one_of(&["asc", "desc"]) })
}

async fn send_line(user: &User<'_>, line: &Line) -> Reply {
    let mut call = user.call(line.method.clone(), &line.path);
    if let Some(filter) = &line.filter {
        call = call.header("x-filter", &filter.to_string());
    }
    match &line.body {
        Some(body) => call.json(body).await,
        None => call.await,
    }
}

/// Needs both engines, so it runs with the tests on PostgreSQL.
#[tokio::test]
async fn both_engines_give_identical_responses_to_a_long_script() {
    if Engine::chosen() == Engine::Embedded {
        return;
    }
    let seed = std::env::var("GARTH_TEST_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let embedded = TestApp::with_engine(Engine::Embedded, |policy, _| policy.quota.vpcs_per_region = 9).await;
    let postgres = TestApp::with_engine(Engine::Postgres, |policy, _| policy.quota.vpcs_per_region = 9).await;
    let users = async |app| {
        let app: &TestApp = app;
        let ada = app.user("ada").await;
        let other = app.user("bob").may(crate::harness::add_vpcs()).await;
        [ada.token, other.token].map(|token| app.with_token(&token.expect("a token")))
    };
    let (at_embedded, at_postgres) = (users(&embedded).await, users(&postgres).await);
    let (mut dice, mut statuses) = (Dice(seed), std::collections::BTreeMap::new());
    for number in 0..CALLS {
        let line = next_line(&mut dice);
        embedded.advance(line.pause);
        postgres.advance(line.pause);
        let ours = send_line(&at_embedded[line.who], &line).await;
        let theirs = send_line(&at_postgres[line.who], &line).await;
        assert_eq!(
            (ours.status, &ours.body, ours.header("etag")),
            (theirs.status, &theirs.body, theirs.header("etag")),
            "call {number} of seed {seed}: {line:#?}"
        );
        *statuses.entry(ours.status.as_u16()).or_insert(0) += 1;
    }
    for status in [200, 400, 404] {
        assert!(
            statuses[&status] > CALLS / 20,
            "the script is one-sided: {statuses:?}"
        );
    }
}
