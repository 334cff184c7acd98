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
    let new = number(
        &server
            .client()
            .post("/v4/vpcs", json!({"label": "new", "region": "us-east"}))
            .ok()["id"],
    );
    assert_eq!(new, 5, "the ID of the deleted VPC is not reused");
    server.client().delete(&format!("/v4/vpcs/{new}")).ok();
    let content = read_all(&mut server.client());
    assert_eq!(server.stop().code, Some(0));

    folder.run(&format!("copy --from {} --to {copy}", postgres.url()));

    let mut serve = folder.serve();
    let server = Server::start(serve.env("GARTH_DATA", &copy));
    assert_eq!(read_all(&mut server.client()), content);
    let new = number(
        &server
            .client()
            .post("/v4/vpcs", json!({"label": "new", "region": "us-east"}))
            .ok()["id"],
    );
    assert_eq!(new, 6);

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
        let subnets = json!([{"label": "first", "ipv4": range}]);
        let body =
            json!({"label": label, "region": "us-east", "description": "é 漢 '\"\\", "subnets": subnets});
        client.post("/v4/vpcs", body).ok();
    }
    let fourth = client.create_vpc("d");
    client.delete(&format!("/v4/vpcs/{fourth}")).ok();
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

/// Everything that the API shows.
fn read_all(client: &mut Client) -> Vec<Value> {
    let lists = [
        "/v4/vpcs",
        "/v4/linode/instances",
        "/v4/vpcs/ips",
        "/v4/account/events",
    ];
    let mut content: Vec<Value> = lists.iter().flat_map(|list| client.all(list)).collect();
    content.push(client.get("/v4/linode/instances/1/configs").ok());
    content
}
