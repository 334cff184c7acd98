//! Sources of settings and their precedence.

use std::process::Command;

use serde_json::json;

use crate::client::Client;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::Process;

#[test]
fn flags_override_the_environment_which_overrides_the_file() {
    let folder = Folder::new("order");
    let file = folder.write("garth.toml", "page_size_min = 7");
    let smallest_page = |serve: &mut Command| {
        let refused = Server::start(serve).client().get("/v4/vpcs?page_size=0");
        refused.json()["errors"][0]["reason"].take()
    };

    let mut serve = folder.serve();
    assert_eq!(smallest_page(&mut serve), "Must be 1-500");
    serve.env("GARTH_CONFIG", file);
    assert_eq!(smallest_page(&mut serve), "Must be 7-500");
    serve.env("GARTH_PAGE_SIZE_MIN", "8");
    assert_eq!(smallest_page(&mut serve), "Must be 8-500");
    serve.args(["--page-size-min", "9"]);
    assert_eq!(smallest_page(&mut serve), "Must be 9-500");
}

#[test]
fn a_pool_without_usable_addresses_prevents_the_start() {
    let folder = Folder::new("pool");
    for (pool, reason) in [
        ("fe80::/32", "Must not overlap fe80::/10 (link-local addresses)"),
        ("ff00::/16", "Must not overlap ff00::/8 (multicast addresses)"),
        (
            "::1/128",
            "Must not overlap ::/8 (loopback, IPv4-mapped and other special addresses)",
        ),
        (
            "::ffff:10.0.0.0/104",
            "Must not overlap ::/8 (loopback, IPv4-mapped and other special addresses)",
        ),
        ("fd00::/53", "Must have a prefix length from 8 to 52"),
    ] {
        let ran = folder
            .serve()
            .args(["--network-ipv6-pool", pool])
            .output()
            .expect("garth runs");
        let message = String::from_utf8_lossy(&ran.stderr);
        assert!(!ran.status.success(), "{pool}");
        assert!(
            message.contains(&format!("network.ipv6_pool: {pool}: {reason}")),
            "{message}"
        );
    }
}

#[test]
fn settings_work_as_flags_variables_and_in_the_file() {
    let folder = Folder::new("flags");
    let mut flags = without_settings(&folder);
    flags.args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
    flags.args(["--data", "other-folder", "--log", "info", "--log-format", "json"]);
    flags.args([
        "--wire-names",
        "linode",
        "--page-size-min",
        "7",
        "--event-days",
        "30",
    ]);
    flags.args([
        "--forbidden-ranges",
        "10.0.0.0/9,172.16.0.0/16",
        "--rate-limit-enabled",
        "true",
    ]);
    flags.args(["--quota-vpcs-per-region", "3", "--quota-subnets-per-vpc", "4"]);
    assert_settings_work(&folder, &mut flags);

    let folder = Folder::new("environment");
    let mut environment = without_settings(&folder);
    for (name, value) in [
        ("LISTEN", "127.0.0.1:0"),
        ("METRICS_LISTEN", "127.0.0.1:0"),
        ("DATA", "other-folder"),
        ("LOG", "info"),
        ("LOG_FORMAT", "json"),
        ("WIRE_NAMES", "linode"),
        ("PAGE_SIZE_MIN", "7"),
        ("EVENT_DAYS", "30"),
        ("FORBIDDEN_RANGES", "10.0.0.0/9,172.16.0.0/16"),
        ("RATE_LIMIT_ENABLED", "true"),
        ("QUOTA_VPCS_PER_REGION", "3"),
        ("QUOTA_SUBNETS_PER_VPC", "4"),
    ] {
        environment.env(format!("GARTH_{name}"), value);
    }
    assert_settings_work(&folder, &mut environment);

    let folder = Folder::new("file");
    let text = r#"
        listen = "127.0.0.1:0"
        metrics_listen = "127.0.0.1:0"
        data = "other-folder"
        log = "info"
        log_format = "json"
        wire_names = "linode"
        page_size_min = 7
        event_days = 30
        forbidden_ranges = ["10.0.0.0/9", "172.16.0.0/16"]
        [rate_limit]
        enabled = true
        [quota]
        vpcs_per_region = 3
        subnets_per_vpc = 4
        "#;
    let config = folder.write("garth.toml", text);
    assert_settings_work(&folder, without_settings(&folder).arg("--config").arg(config));
}

/// `garth serve` with only one setting: the first token.
fn without_settings(folder: &Folder) -> Command {
    let mut serve = folder.serve();
    serve.env_remove("GARTH_LISTEN").env_remove("GARTH_DATA");
    serve
}

fn assert_settings_work(folder: &Folder, serve: &mut Command) {
    let server = Server::start(serve);
    let mut client = server.client();
    assert!(folder.path("other-folder/garth.db").exists());
    assert_eq!(client.get("/v4/vpcs?page_size=6").code(), "page_size_invalid");
    let quotas = client.get("/v4/account/quotas").ok();
    assert_eq!(quotas["vpcs_per_region"]["limit"], 3);
    assert_eq!(quotas["subnets_per_vpc"]["limit"], 4);
    let vpc = |range: &str| json!({"label": "core", "region": "us-east", "subnets": [{"label": "web", "ipv4": range}]});
    for forbidden in ["10.1.0.0/24", "172.16.0.0/24"] {
        assert_eq!(client.post("/v4/vpcs", vpc(forbidden)).code(), "cidr_forbidden");
    }
    // This range is forbidden by default.
    let created = client.post("/v4/vpcs", vpc("192.168.200.0/24"));
    assert_eq!(created.header("x-ratelimit-limit"), Some("400"));
    let subnet = created.ok()["subnets"][0].take();
    assert!(
        subnet["linodes"].is_array() && subnet["computes"].is_null(),
        "{subnet}"
    );
    let page = Client::new(server.metrics_address(), TOKEN).get("/metrics");
    assert!(
        page.text().contains("garth_http_requests_total"),
        "{}",
        page.text()
    );

    let log = server.stop().stderr;
    let lines: Result<Vec<serde_json::Value>, _> = log.lines().map(serde_json::from_str).collect();
    assert!(!lines.unwrap_or_else(|e| panic!("{e}: {log}")).is_empty());
}

#[test]
fn help_lists_every_setting_and_its_variable() {
    let help = Folder::new("help").run("serve --help");
    for option in help.split("\n      --").skip(1) {
        let parts: Vec<_> = option.split_whitespace().collect();
        // The value of `--test-control[=<BOOL>]` is optional.
        let name = parts[0].split('[').next().unwrap_or_default();
        let name = name.to_uppercase().replace('-', "_");
        // The help does not show the value of a variable that may contain a password. The variable of
        // `--attachments` is named after the setting `attachments.url`.
        let is_listed = ["=", "]", "_URL="]
            .iter()
            .any(|end| parts.join(" ").contains(&format!("[env: GARTH_{name}{end}")));
        assert!(is_listed || parts[0] == "json", "--{option}");
    }
    for name in [
        "listen",
        "data",
        "config",
        "database",
        "profile",
        "quota-vpcs-per-region",
        "rate-limit-enabled",
    ] {
        assert!(help.contains(&format!("--{name} ")), "{help}");
    }
}

#[test]
fn database_of_the_file_applies_even_if_the_environment_names_a_folder() {
    let folder = Folder::new("settings-database");
    let file = folder.write("garth.toml", "database = 'postgres://garth@127.0.0.1:1/garth'");
    let file = file.display();
    let start = |arguments: String| Process::spawn(&mut folder.garth(&arguments)).wait();

    let node = start(format!("serve --listen 127.0.0.1:0 --config {file}"));
    assert_eq!(node.code, Some(1), "{node:?}");
    assert!(node.stderr.contains("garth@127.0.0.1:1/garth"), "{}", node.stderr);

    let embedded = start(format!("check --config {file} --data elsewhere"));
    assert!(
        embedded.code == Some(2) && embedded.stderr.contains("--data selects an embedded store"),
        "{}",
        embedded.stderr
    );
}
