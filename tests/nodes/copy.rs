//! Copies a store from a folder to a database and back, and compares the contents.

use serde_json::{Value, json};

use crate::client::Client;
use crate::connection::number;
use crate::folder::{Folder, Server};
use crate::postgres::Postgres;
use crate::process::Process;

#[test]
fn a_store_is_copied_to_a_database_and_back_completely() {
    let (folder, postgres) = (Folder::new("copy"), Postgres::new("copy"));
    let server = folder.start();
    create_objects(&mut server.client());
    let content = read_all(&mut server.client());
    assert_eq!(server.stop().code, Some(0));
    let (data, copy) = (
        folder.data().display().to_string(),
        folder.path("copied").display().to_string(),
    );

    folder.run(&format!("copy --from {data} --to {}", postgres.url()));

    let mut serve = folder.serve();
    let server = Server::start(serve.env("GARTH_DATABASE", postgres.url()));
    assert_eq!(read_all(&mut server.client()), content);
    let new = create_dual_stack(&mut server.client(), "new");
    let range = "fd67:6172:0:3000::/52".to_owned();
    assert_eq!(
        new,
        (5, range),
        "the ID and the range of the deleted VPC are not reused"
    );
    server.client().delete("/v4/vpcs/5").ok();
    let content = read_all(&mut server.client());
    assert_eq!(server.stop().code, Some(0));

    folder.run(&format!("copy --from {} --to {copy}", postgres.url()));

    let mut serve = folder.serve();
    let server = Server::start(serve.env("GARTH_DATA", &copy));
    assert_eq!(read_all(&mut server.client()), content);
    let new = create_dual_stack(&mut server.client(), "new");
    assert_eq!(new, (6, "fd67:6172:0:4000::/52".to_owned()));

    let refused =
        Process::spawn(&mut folder.garth(&format!("copy --from {data} --to {}", postgres.url()))).wait();
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("the destination already has accounts"),
        "{}",
        refused.stderr
    );
}

fn create_objects(client: &mut Client) {
    for (label, range) in [("a", "10.0.0.0/24"), ("b", "10.1.0.0/16"), ("c", "10.2.0.0/20")] {
        let ipv6 = (label != "c").then(|| json!([{"range": "auto"}]));
        let subnets = json!([{"label": "first", "ipv4": range, "ipv6": ipv6}]);
        let body = json!({"label": label, "region": "us-east", "description": "é 漢 '\"\\", "ipv6": ipv6,
            "subnets": subnets});
        client.post("/v4/vpcs", body).ok();
    }
    assert_eq!(
        create_dual_stack(client, "d"),
        (4, "fd67:6172:0:2000::/52".to_owned())
    );
    client.delete("/v4/vpcs/4").ok();
    for subnet in 1..=3 {
        let interfaces = json!([{"purpose": "vpc", "subnet_id": subnet, "ip_ranges": []}]);
        let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
        client.post("/v4/linode/instances", body).ok();
    }
    client.post("/v4/account/events/2/seen", json!({})).ok();
    client.post("/v4/account/events/3/read", json!({})).ok();
    // More rows than one batch.
    for number in 0..700 {
        client.post("/v4/vpcs/1/subnets", json!({"label": format!("s{number}"), "ipv4": format!("10.{}.{}.0/28", 3 + number / 256, number % 256)})).ok();
    }
}

/// Creates a VPC with an IPv6 range. Returns its ID and its range.
fn create_dual_stack(client: &mut Client, label: &str) -> (i64, String) {
    let body = json!({"label": label, "region": "us-east", "ipv6": [{"range": "/52"}]});
    let vpc = client.post("/v4/vpcs", body).ok();
    let range = vpc["ipv6"][0]["range"].as_str().expect("a range");
    (number(&vpc["id"]), range.to_owned())
}

/// Everything that the API shows.
fn read_all(client: &mut Client) -> Vec<Value> {
    let lists = [
        "/v4/vpcs",
        "/v4/linode/instances",
        "/v4/vpcs/ips",
        "/v4/vpcs/ipv6s",
        "/v4/account/events",
    ];
    let mut content: Vec<Value> = lists.iter().flat_map(|list| client.all(list)).collect();
    content.push(client.get("/v4/linode/instances/1/configs").ok());
    content
}
