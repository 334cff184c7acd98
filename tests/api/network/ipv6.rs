//! IPv6 ranges of VPCs and subnets (decision 0029).

use garth::model::cidr::Cidr6;
use serde_json::{Value, json};

use crate::harness::{Reply, TestApp, User};

/// A VPC with an IPv6 range, and a subnet with each of these IPv6 requests.
pub async fn create_vpc(user: &User<'_>, label: &str, ipv6: &str, subnets: &[&str]) -> Value {
    let subnet = |(at, range): (usize, &&str)| json!({"label": format!("s-{at}"), "ipv4": format!("10.0.{at}.0/24"), "ipv6": [{"range": range}]});
    let subnets: Vec<_> = subnets.iter().enumerate().map(subnet).collect();
    let body = json!({"label": label, "region": "us-east", "ipv6": [{"range": ipv6}], "subnets": subnets});
    let reply = user.post("/vpcs", body).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()
}

async fn add_subnet(user: &User<'_>, vpc: i64, number: u8, ipv6: &str) -> Reply {
    let (label, ipv4) = (format!("n-{number}"), format!("10.1.{number}.0/24"));
    let body = json!({"label": label, "ipv4": ipv4, "ipv6": [{"range": ipv6}]});
    user.post(&format!("/vpcs/{vpc}/subnets"), body).await
}

#[tokio::test]
async fn a_vpc_and_its_subnets_get_the_lowest_free_ranges() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let vpc = create_vpc(&ada, "core", "/52", &["/62", "auto", "/56"]).await;
    assert_eq!(vpc["ipv6"], json!([{"range": "fd67:6172::/52"}]));
    let defaults = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/17"].map(|range| json!({"range": range}));
    assert_eq!(vpc["ipv4"], json!(defaults));
    let ranges: Vec<_> = (0..3).map(|at| vpc["subnets"][at]["ipv6"].clone()).collect();
    assert_eq!(
        ranges,
        [
            json!([{"range": "fd67:6172::/62"}]),
            json!([{"range": "fd67:6172:0:100::/56"}]),
            json!([{"range": "fd67:6172:0:200::/56"}]),
        ]
    );
    assert_eq!(ada.get("/vpcs/1").await.json(), vpc);
    assert_eq!(ada.get("/vpcs").await.data()[0], vpc);
    assert_eq!(ada.get("/vpcs/1/subnets/2").await.json(), vpc["subnets"][1]);

    let large = create_vpc(&ada, "large", "/44", &[]).await;
    assert_eq!(large["ipv6"], json!([{"range": "fd67:6172:10::/44"}]));
    let second = create_vpc(&ada, "second", "auto", &[]).await;
    assert_eq!(second["ipv6"], json!([{"range": "fd67:6172:0:1000::/52"}]));
    let default = ada
        .post("/vpcs", json!({"label": "d", "region": "us-east", "ipv6": [{}]}))
        .await;
    assert_eq!(
        default.json()["ipv6"],
        json!([{"range": "fd67:6172:0:2000::/52"}])
    );
    for ipv6 in [json!(null), json!([])] {
        let label = format!("v4-{}", ipv6.is_null());
        let plain = ada
            .post(
                "/vpcs",
                json!({"label": label, "region": "us-east", "ipv6": ipv6}),
            )
            .await;
        assert_eq!(plain.json()["ipv6"], Value::Null);
    }
}

#[tokio::test]
async fn certain_ranges_are_placed_before_the_lowest_free_ones() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let vpc = create_vpc(
        &ada,
        "core",
        "/52",
        &["auto", "fd67:6172::/56", "fd67:6172:0:200::/55"],
    )
    .await;
    assert_eq!(
        vpc["subnets"][0]["ipv6"],
        json!([{"range": "fd67:6172:0:100::/56"}])
    );
    let next = add_subnet(&ada, 1, 1, "/60").await;
    assert_eq!(next.json()["ipv6"], json!([{"range": "fd67:6172:0:400::/60"}]));
    // A deleted subnet makes its range free.
    ada.delete("/vpcs/1/subnets/2").await;
    let again = add_subnet(&ada, 1, 2, "auto").await;
    assert_eq!(again.json()["ipv6"], json!([{"range": "fd67:6172::/56"}]));
    // The free ranges next to each other are joined.
    for subnet in [1, 3, 4, 5] {
        assert_eq!(ada.delete(&format!("/vpcs/1/subnets/{subnet}")).await.status, 200);
    }
    let whole = add_subnet(&ada, 1, 3, "/52").await;
    assert_eq!(whole.json()["ipv6"], json!([{"range": "fd67:6172::/52"}]));
    let plain = ada
        .post("/vpcs/1/subnets", json!({"label": "v4", "ipv4": "10.9.0.0/24"}))
        .await;
    assert_eq!(plain.json()["ipv6"], Value::Null);
}

#[tokio::test]
async fn invalid_ranges_are_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for (ipv6, error) in [
        (json!([{"range": "/56"}]), "ipv6[0].range cidr_prefix"),
        (json!([{"range": "/52x"}]), "ipv6[0].range cidr_prefix"),
        (json!([{"range": "52"}]), "ipv6[0].range cidr_invalid"),
        (json!([{"range": "AUTO"}]), "ipv6[0].range cidr_invalid"),
        (json!([{"range": "fd00::"}]), "ipv6[0].range cidr_invalid"),
        (json!([{"range": "fd00::1/52"}]), "ipv6[0].range cidr_host_bits"),
        (
            json!([{"range": "fd67:6172::/52"}]),
            "ipv6[0].range range_invalid",
        ),
        (json!([{"range": 52}]), "ipv6[0].range wrong_type"),
        (json!([{}, {}]), "ipv6 out_of_range"),
        (json!("/52"), "ipv6 wrong_type"),
    ] {
        let refused = ada
            .post(
                "/vpcs",
                json!({"label": "core", "region": "us-east", "ipv6": ipv6}),
            )
            .await;
        assert_eq!(
            (refused.status.as_u16(), refused.errors()),
            (400, vec![error.to_owned()]),
            "{ipv6}"
        );
    }
    let plain = json!({"label": "s", "ipv4": "10.0.0.0/24", "ipv6": [{"range": "/56"}]});
    let body = json!({"label": "core", "region": "us-east", "subnets": [plain]});
    assert_eq!(
        ada.post("/vpcs", body).await.errors(),
        ["subnets[0].ipv6 range_invalid"]
    );
    let rdma = json!({"label": "core", "region": "us-east", "vpc_type": "rdma", "ipv6": [{"range": "/52"}]});
    let refused = ada.post("/vpcs", rdma).await;
    assert_eq!(refused.errors(), ["ipv6 not_offered", "vpc_type not_offered"]);
    assert_eq!(
        refused.json()["errors"][0]["reason"],
        "RDMA VPCs cannot have IPv6 ranges"
    );
    assert_eq!(ada.count("/vpcs").await, 0);

    create_vpc(&ada, "core", "/52", &["/53"]).await;
    ada.create_vpc("plain", &[]).await;
    for (vpc, ipv6, error) in [
        (1, "/51", "ipv6[0].range cidr_prefix"),
        (1, "/63", "ipv6[0].range cidr_prefix"),
        (1, "/52", "ipv6[0].range no_free_range"),
        (1, "fd67:6172::/62", "ipv6[0].range cidr_overlap"),
        (1, "fd67:6172::/52", "ipv6[0].range cidr_overlap"),
        (1, "fd67:6172:0:1000::/56", "ipv6[0].range range_invalid"),
        (2, "auto", "ipv6 range_invalid"),
    ] {
        let refused = add_subnet(&ada, vpc, 9, ipv6).await;
        assert_eq!(
            (refused.status.as_u16(), refused.errors()),
            (400, vec![error.to_owned()]),
            "{ipv6}"
        );
    }
    let overlap = add_subnet(&ada, 1, 9, "fd67:6172::/62").await;
    assert_eq!(
        overlap.json()["errors"][0]["reason"],
        "overlaps fd67:6172::/53 (s-0)"
    );
}

#[tokio::test]
async fn conflicts_between_the_subnets_of_a_new_vpc_change_nothing() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let subnet = |label: &str, third: u8, ipv6: &str| json!({"label": label, "ipv4": format!("10.0.{third}.0/24"), "ipv6": [{"range": ipv6}]});
    let post = async |subnets: Value| {
        let body = json!({"label": "core", "region": "us-east", "ipv6": [{}], "subnets": subnets});
        ada.post("/vpcs", body).await.errors()
    };
    let same = [subnet("a", 0, "fd67:6172::/56"), subnet("b", 1, "fd67:6172::/62")];
    assert_eq!(post(json!(same)).await, ["subnets[1].ipv6[0].range cidr_overlap"]);
    let too_many = [
        subnet("a", 0, "/53"),
        subnet("b", 1, "/53"),
        subnet("c", 2, "/62"),
    ];
    assert_eq!(
        post(json!(too_many)).await,
        ["subnets[2].ipv6[0].range no_free_range"]
    );
    let outside = [subnet("a", 0, "fd99::/56")];
    assert_eq!(
        post(json!(outside)).await,
        ["subnets[0].ipv6[0].range range_invalid"]
    );
    assert_eq!(ada.count("/vpcs").await, 0);
    assert_eq!(ada.count("/account/events").await, 0);
    let vpc = create_vpc(&ada, "core", "/52", &[]).await;
    assert_eq!(vpc["ipv6"], json!([{"range": "fd67:6172::/52"}]));
}

#[tokio::test]
async fn a_vpc_keeps_its_range_and_accepts_it_unchanged() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let vpc = create_vpc(&ada, "core", "/52", &[]).await;
    ada.create_vpc("plain", &[]).await;
    let echo = json!({"label": "new", "ipv4": vpc["ipv4"], "ipv6": vpc["ipv6"]});
    assert_eq!(ada.put("/vpcs/1", echo).await.json()["ipv6"], vpc["ipv6"]);
    for (id, body, error) in [
        (
            1,
            json!({"ipv6": [{"range": "fd67:6172:0:1000::/52"}]}),
            "ipv6 not_offered",
        ),
        (2, json!({"ipv6": vpc["ipv6"]}), "ipv6 not_offered"),
        (1, json!({"ipv4": [{"range": "10.0.0.0/8"}]}), "ipv4 not_offered"),
    ] {
        let refused = ada.put(&format!("/vpcs/{id}"), body).await;
        assert_eq!(refused.errors(), [error]);
    }
}

#[tokio::test]
async fn an_update_refuses_every_other_value_of_ipv6() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_vpc(&ada, "core", "/52", &["auto"]).await;
    ada.create_vpc("plain", &["10.0.0.0/24"]).await;
    let others = [
        json!({}),
        json!(""),
        json!("auto"),
        json!(0),
        json!(false),
        json!([7]),
        json!([{}]),
        json!([{"range": null}]),
        json!([{"range": "auto"}]),
        json!([{"range": "/52"}]),
        json!([{"range": "fd67:6172::/52"}, {"range": "fd67:6172::/56"}]),
    ];
    for path in ["/vpcs/1", "/vpcs/1/subnets/1", "/vpcs/2", "/vpcs/2/subnets/2"] {
        let before = ada.get(path).await.json();
        for ipv6 in &others {
            let refused = ada.put(path, json!({"label": "new", "ipv6": ipv6})).await;
            assert_eq!(refused.errors(), ["ipv6 not_offered"], "{path} {ipv6}");
        }
        for ipv6 in [&before["ipv6"], &Value::Null] {
            let body = json!({"ipv6": ipv6});
            let echoed = ada.put(path, body).await;
            assert_eq!(
                (echoed.status.as_u16(), &echoed.json()["ipv6"]),
                (200, &before["ipv6"]),
                "{path} {ipv6}"
            );
        }
        // Only an object without an IPv6 range has an empty list of ranges.
        let empty = ada.put(path, json!({"ipv6": []})).await;
        match before["ipv6"] {
            Value::Null => assert_eq!(empty.status, 200, "{path}"),
            _ => assert_eq!(empty.errors(), ["ipv6 not_offered"], "{path}"),
        }
    }
    for ipv4 in [json!({}), json!(""), json!(0), json!(false), json!([{}])] {
        let refused = ada.put("/vpcs/1", json!({"ipv4": ipv4})).await;
        assert_eq!(refused.errors(), ["ipv4 not_offered"], "{ipv4}");
    }
}

#[tokio::test]
async fn errors_about_ranges_are_reported_together_with_all_others() {
    let app = TestApp::with(|policy, _| policy.ipv6.pool = Cidr6::parse("fd00::/51").ok()).await;
    let ada = app.user("ada").await;
    create_vpc(&ada, "core", "/52", &[]).await;
    let subnet = |label: &str, third: u8, ipv6: &str| json!({"label": label, "ipv4": format!("10.0.{third}.0/24"), "ipv6": [{"range": ipv6}]});
    let post = async |ipv6: &str, subnets: Value| {
        let body =
            json!({"label": "core", "region": "us-east", "ipv6": [{"range": ipv6}], "subnets": subnets});
        ada.post("/vpcs", body).await.errors()
    };
    assert_eq!(
        post("fd99::/52", json!([])).await,
        ["label label_taken", "ipv6[0].range range_invalid"]
    );
    assert_eq!(
        post("fd00::/52", json!([subnet("a", 0, "bad")])).await,
        [
            "label label_taken",
            "subnets[0].ipv6[0].range cidr_invalid",
            "ipv6[0].range cidr_overlap"
        ]
    );
    let outside = [subnet("a", 0, "fd99::/56"), subnet("A", 0, "fd98::/56")];
    assert_eq!(
        post("/52", json!(outside)).await,
        [
            "label label_taken",
            "subnets[0].ipv6[0].range range_invalid",
            "subnets[1].label label_taken",
            "subnets[1].ipv4 cidr_overlap",
            "subnets[1].ipv6[0].range range_invalid",
        ]
    );
    let too_many = [
        subnet("a", 0, "/53"),
        subnet("b", 1, "/53"),
        subnet("c", 2, "/62"),
    ];
    assert_eq!(
        post("/52", json!(too_many)).await,
        ["label label_taken", "subnets[2].ipv6[0].range no_free_range"]
    );
    create_vpc(&ada, "last", "/52", &[]).await;
    assert_eq!(
        post("/52", json!([])).await,
        ["label label_taken", "ipv6[0].range no_free_range"]
    );
    assert_eq!(ada.events().await, ["vpc_create 1", "vpc_create 2"]);

    let body = json!({"label": "_", "ipv4": "8.8.8.0/24", "ipv6": [{"range": "fd99::/56"}]});
    assert_eq!(
        ada.post("/vpcs/1/subnets", body).await.errors(),
        [
            "label label_characters",
            "ipv4 cidr_not_private",
            "ipv6[0].range range_invalid"
        ]
    );
}

#[tokio::test]
async fn an_invalid_range_names_the_accepted_values() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    create_vpc(&ada, "core", "/52", &["/62"]).await;
    let invalid = [
        "AUTO",
        "Auto",
        "52",
        "/52 ",
        " /52",
        "/",
        "",
        "/52/",
        "/64x",
        "fd00::",
        "fd00::/65",
        "/129",
        "10.0.0.0/8",
    ];
    for raw in invalid {
        let ipv6 = json!([{"range": raw}]);
        let vpc = json!({"label": "new", "region": "us-east", "ipv6": ipv6});
        let refused = ada.post("/vpcs", vpc).await;
        assert_eq!(
            refused.reason(),
            "Must be auto, /52, /48 or /44, or a range that your account has recently released",
            "{raw:?}"
        );
        let subnet = json!({"label": "new", "ipv4": "10.9.0.0/24", "ipv6": ipv6});
        let refused = ada.post("/vpcs/1/subnets", subnet).await;
        assert_eq!(
            refused.reason(),
            "Must be auto, a prefix length from /52 to /62, or a range of the VPC with such a prefix length",
            "{raw:?}"
        );
        for ipv6 in [json!({"slaac": ipv6}), json!({"ranges": ipv6})] {
            let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ipv6": ipv6}]);
            let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
            let refused = ada.post("/linode/instances", body).await;
            assert_eq!(
                refused.reason(),
                "Must be auto, /64, or a /64 of the subnet",
                "{raw:?}"
            );
        }
    }
    let foreign = json!({"label": "new", "region": "us-east", "ipv6": [{"range": "fd00::/52"}]});
    assert_eq!(
        ada.post("/vpcs", foreign).await.reason(),
        "Must be auto, /52, /48 or /44, or a range that your account has recently released"
    );
}

#[tokio::test]
async fn the_pool_limits_the_prefix_lengths() {
    for (pool, lengths, accepted) in [
        ("fd00::/52", json!([]), "/52"),
        ("fd00::/49", json!([]), "/52"),
        ("fd00::/48", json!([52, 48]), "/52 or /48"),
        ("fd00::/45", json!([52, 48]), "/52 or /48"),
        ("fd00::/44", json!([52, 48, 44]), "/52, /48 or /44"),
    ] {
        let app = TestApp::with(|policy, _| policy.ipv6.pool = Cidr6::parse(pool).ok()).await;
        let ada = app.user("ada").await;
        for path in ["/regions/us-east/vpc-availability", "/regions/vpc-availability"] {
            let reply = ada.get(path).await.json();
            let region = reply["data"].get(0).unwrap_or(&reply);
            assert_eq!(region["available_ipv6_prefix_lengths"], lengths, "{pool} {path}");
        }
        for length in ["/52", "/48", "/44"] {
            let body = json!({"label": "core", "region": "us-east", "ipv6": [{"range": length}]});
            let reply = ada.post("/vpcs", body).await;
            if accepted.contains(length) {
                assert_eq!(
                    reply.json()["ipv6"][0]["range"],
                    format!("fd00::{length}"),
                    "{pool}"
                );
                assert_eq!(
                    ada.delete(&format!("/vpcs/{}", reply.json()["id"])).await.status,
                    200
                );
                app.advance(24 * 3600);
            } else {
                assert_eq!(reply.errors(), ["ipv6[0].range cidr_prefix"], "{pool} {length}");
                let text =
                    format!("Must be auto, {accepted}, or a range that your account has recently released");
                assert_eq!(reply.reason(), text);
            }
        }
    }
}

#[tokio::test]
async fn a_released_range_is_reused_only_after_the_retention() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let other = app.another_account().await;
    let eve = app.user("eve").of(other).await;
    create_vpc(&ada, "core", "/52", &["auto"]).await;
    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
    app.advance(24 * 3600 - 1);
    let second = create_vpc(&ada, "second", "/52", &[]).await;
    assert_eq!(second["ipv6"], json!([{"range": "fd67:6172:0:1000::/52"}]));

    // Its account can request it again. Others cannot.
    let again = json!({"label": "core", "region": "us-east", "ipv6": [{"range": "fd67:6172::/52"}]});
    let refused = eve.post("/vpcs", again.clone()).await;
    assert_eq!(refused.errors(), ["ipv6[0].range range_invalid"]);
    let returned = ada.post("/vpcs", again.clone()).await;
    assert_eq!(returned.json()["ipv6"], json!([{"range": "fd67:6172::/52"}]));
    let label = json!({"label": "c2", "region": "us-east", "ipv6": [{"range": "fd67:6172::/52"}]});
    assert_eq!(
        ada.post("/vpcs", label).await.errors(),
        ["ipv6[0].range cidr_overlap"]
    );
    assert_eq!(ada.delete("/vpcs/3").await.status, 200);

    app.advance(24 * 3600 - 1);
    let third = create_vpc(&eve, "third", "/52", &[]).await;
    assert_eq!(third["ipv6"], json!([{"range": "fd67:6172:0:2000::/52"}]));
    app.advance(1);
    let fourth = create_vpc(&eve, "fourth", "/52", &[]).await;
    assert_eq!(fourth["ipv6"], json!([{"range": "fd67:6172::/52"}]));
    assert_eq!(
        ada.post("/vpcs", again).await.errors(),
        ["ipv6[0].range range_invalid"]
    );
}
