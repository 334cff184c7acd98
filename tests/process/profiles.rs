//! Settings of the API: the profile of the public service, field names, regions, forbidden ranges.

use serde_json::{Value, json};

use crate::client::Client;
use crate::connection::text;
use crate::expected_state::random_below;
use crate::harness::{Folder, Server};

#[test]
fn upstream_profile_has_public_limits_and_can_be_overridden() {
    let folder = Folder::new("upstream");
    let server = Server::start(folder.serve().args(["--profile", "upstream"]));
    let mut client = server.client();
    let refused = client.get("/v4/vpcs?page_size=24");
    assert_eq!(refused.json()["errors"][0]["reason"], "Must be 25-500");
    let list = client.get("/v4/vpcs?page_size=25");
    assert_eq!(list.header("x-ratelimit-limit"), Some("200"));
    assert!(list.header("x-ratelimit-remaining").is_some() && list.header("x-ratelimit-reset").is_some());
    let quotas = client.get("/v4/account/quotas").ok();
    assert_eq!(quotas["vpcs_per_region"]["limit"], 10);
    assert_eq!(quotas["subnets_per_vpc"]["limit"], 10);
    let create = |client: &mut Client, label: &str, region: &str| {
        client.post("/v4/vpcs", json!({"label": label, "region": region}))
    };
    assert_eq!(create(&mut client, "core", "us-east").code(), "region_invalid");
    let regions = client.get("/v4/regions?page_size=500").ok();
    let able = |region: &Value| {
        region["capabilities"]
            .as_array()
            .unwrap()
            .contains(&json!("VPCs"))
    };
    let able = regions["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|region| able(region));
    assert_eq!(able.count(), 23, "as of August 2026");
    let miami = client.get("/v4/regions/us-mia").ok();
    assert!(text(&miami["resolvers"]["ipv6"]).starts_with("2a01:7e04:e001:b3::1,"));
    assert_eq!(miami["placement_group_limits"]["maximum_linodes_per_pg"], 5);
    for number in 0..10 {
        create(&mut client, &format!("core-{number}"), "us-ord").ok();
    }
    assert_eq!(create(&mut client, "one-more", "us-ord").code(), "quota_exceeded");
    drop(server);

    let single = [
        "--profile",
        "upstream",
        "--page-size-min",
        "1",
        "--rate-limit-enabled",
        "false",
    ];
    let server = Server::start(folder.serve().args(single));
    let list = server.client().get("/v4/vpcs?page_size=1");
    assert_eq!((list.status, list.header("x-ratelimit-limit")), (200, None));
}

#[test]
fn a_setting_adds_capabilities_to_every_region() {
    let folder = Folder::new("capabilities");
    let added = ["--region-capabilities", "VPC Dual Stack,VPCs,Linode Interfaces"];
    let server = Server::start(folder.serve().args(added));
    let regions = server.client().get("/v4/regions").ok();
    for region in regions["data"].as_array().unwrap() {
        let own = ["Linodes", "Vlans", "VPCs", "Maintenance Policy"];
        let ipv6 = ["VPC Dual Stack", "VPC IPv6 Stack", "VPC IPv6 Large Prefixes"];
        let all = [&own[..], &ipv6, &["Linode Interfaces"]].concat();
        assert_eq!(region["capabilities"], json!(all));
    }
}

#[test]
fn wire_names_select_the_field_names_of_a_subnet() {
    let folder = Folder::new("names");
    let body =
        json!({"label": "core", "region": "us-east", "subnets": [{"label": "web", "ipv4": "10.0.0.0/24"}]});
    folder.start().client().post("/v4/vpcs", body).ok();
    for (names, linodes, computes) in [
        ("both", true, true),
        ("linode", true, false),
        ("compute", false, true),
    ] {
        let server = Server::start(folder.serve().args(["--wire-names", names]));
        let subnet = server.client().get("/v4/vpcs").ok()["data"][0]["subnets"][0].take();
        let fields = (subnet.get("linodes").is_some(), subnet.get("computes").is_some());
        assert_eq!(fields, (linodes, computes), "{names}: {subnet}");
    }
}

#[test]
fn configured_regions_replace_the_built_in_ones() {
    let folder = Folder::new("regions");
    let file = folder.write(
        "garth.toml",
        r#"
        [[regions]]
        id = "lab"
        label = "Basement, HQ"
        country = "ch"
        resolvers = { ipv4 = "10.9.9.9", ipv6 = "" }

        [[regions]]
        id = "attic"
        capabilities = ["Linodes"]
        "#,
    );
    let server = Server::start(folder.serve().arg("--config").arg(file));
    let mut client = server.client();
    let regions = client.all("/v4/regions");
    let ids: Vec<_> = regions.iter().map(|region| text(&region["id"])).collect();
    assert_eq!(ids, ["lab", "attic"]);
    assert_eq!(regions[0]["label"], "Basement, HQ");
    assert_eq!(regions[0]["resolvers"]["ipv4"], "10.9.9.9");
    let mut create = |region: &str| client.post("/v4/vpcs", json!({"label": region, "region": region}));
    create("lab").ok();
    for region in ["attic", "us-east"] {
        let refused = create(region).json()["errors"][0].take();
        assert_eq!(refused["field"], "region");
        assert!(
            text(&refused["reason"]).starts_with("region is not valid"),
            "{refused}"
        );
    }
}

#[test]
fn forbidden_ranges_are_configurable() {
    let folder = Folder::new("ranges");
    for (setting, range, code) in [
        (None, "192.168.128.0/24", Some("cidr_forbidden")),
        (None, "10.0.0.0/24", None),
        (
            Some("10.0.0.0/16,172.16.0.0/12"),
            "10.0.1.0/24",
            Some("cidr_forbidden"),
        ),
        (
            Some("10.0.0.0/16,172.16.0.0/12"),
            "172.20.0.0/24",
            Some("cidr_forbidden"),
        ),
        (Some("10.0.0.0/16,172.16.0.0/12"), "192.168.128.0/24", None),
        (Some(""), "192.168.128.0/24", None),
    ] {
        let mut serve = folder.serve();
        serve.args(setting.map(|ranges| format!("--forbidden-ranges={ranges}")));
        let server = Server::start(&mut serve);
        let mut client = server.client();
        let vpc = client.create_vpc(&format!("core-{}", random_below(1 << 30)));
        let subnet = json!({"label": "web", "ipv4": range});
        let reply = client.post(&format!("/v4/vpcs/{vpc}/subnets"), subnet);
        let result = match reply.status {
            200 => Value::Null,
            _ => json!(reply.code()),
        };
        assert_eq!(result, json!(code), "{range} with {setting:?}");
    }
}
