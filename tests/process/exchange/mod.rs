//! `garth record` and `garth replay`: a server is recorded, and the recording is replayed on another server.

mod masking;
mod recording;
mod replaying;
mod services;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::client::Client;
use crate::connection::number;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::{Process, ProcessOutput, eventually};

/// A running `garth record`.
struct Recording {
    process: Process,
    address: SocketAddr,
    file: PathBuf,
}

impl Recording {
    /// Records a server.
    fn start(folder: &Folder, server: &Server) -> Self {
        Self::of(folder, &format!("http://{}", server.address), &[])
    }

    /// Records the service at a URL.
    fn of(folder: &Folder, upstream: &str, options: &[&str]) -> Self {
        let file = folder.path("recording.jsonl");
        let mut command = folder.garth("record --listen 127.0.0.1:0 --upstream");
        command.arg(upstream).arg("--output").arg(&file).args(options);
        let mut process = Process::spawn(&mut command);
        let address = eventually("the proxy to listen", || {
            let printed = process.stderr();
            assert!(process.is_running(), "{printed}");
            let rest = printed.split_once(" on http://")?.1;
            rest.split_once(" into ")?.0.parse().ok()
        });
        Self {
            process,
            address,
            file,
        }
    }

    /// A client of the proxy, with the token of the first user.
    fn client(&self) -> Client {
        Client::new(self.address, TOKEN)
    }

    /// Ends the recording as Ctrl-C does.
    fn end(self) -> (PathBuf, ProcessOutput) {
        self.process.signal("INT");
        let output = self.process.wait();
        assert_eq!(output.code, Some(0), "{output:?}");
        (self.file, output)
    }
}

/// The exchanges of a file, after its first line.
fn exchanges(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("the recording can be read");
    let mut lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let first: Value = lines.next().expect("a first line");
    assert_eq!(first["garth_recording"], 1, "{first}");
    lines.collect()
}

/// Replaces the exchanges of a file.
fn write_exchanges(file: &Path, exchanges: &[Value]) {
    let mut text = format!("{}\n", json!({"garth_recording": 1, "upstream": "test"}));
    for exchange in exchanges {
        text += &format!("{exchange}\n");
    }
    std::fs::write(file, text).expect("the recording can be written");
}

fn replay(folder: &Folder, file: &Path, options: &[&str]) -> ProcessOutput {
    let mut command = folder.garth("replay");
    Process::spawn(command.arg(file).args(options)).wait()
}

fn put(client: &mut Client, path: &str, body: Value) -> u16 {
    let reply = client.try_send("PUT", path, Some(&body));
    reply.expect("the server responds").status
}

/// A server whose next IDs are not 1, so that those of a replay differ.
fn used_server(folder: &Folder) -> Server {
    let server = folder.start();
    let mut client = server.client();
    for label in ["one", "two", "three"] {
        let id = client.create_vpc(label);
        assert_eq!(client.delete(&format!("/v4/vpcs/{id}")).status, 200);
    }
    server
}

/// Creates, reads, changes and deletes objects. Returns the number of requests.
fn use_networks(client: &mut Client) -> usize {
    let vpc = json!({
        "label": "core", "region": "us-east",
        "subnets": [{"label": "web", "ipv4": "10.0.0.0/24"}, {"label": "db", "ipv4": "10.0.1.0/24"}],
    });
    let vpc = client.post("/v4/vpcs", vpc).ok();
    let path = format!("/v4/vpcs/{}", vpc["id"]);
    let subnet = vpc["subnets"][1]["id"].clone();
    assert_eq!(client.get(&path).ok()["label"], "core");
    assert_eq!(put(client, &path, json!({"label": "edge"})), 200);
    let instance = json!({
        "region": "us-east", "type": "g6-nanode-1", "booted": false,
        "interfaces": [{"purpose": "vpc", "subnet_id": subnet}],
    });
    let instance = number(&client.post("/v4/linode/instances", instance).ok()["id"]);
    assert_eq!(
        client.get(&format!("/v4/linode/instances/{instance}")).status,
        200
    );
    assert_eq!(
        client
            .get(&format!("/v4/linode/instances/{instance}/configs"))
            .ok()["results"],
        1
    );
    assert_eq!(
        client.get(&format!("{path}/subnets/{subnet}")).ok()["linodes"][0]["id"],
        instance
    );
    let spare = client.create_vpc("spare");
    assert_eq!(client.get("/v4/vpcs").ok()["results"], 2);
    assert_eq!(client.get(&format!("{path}/subnets")).ok()["results"], 2);
    assert_eq!(client.delete(&format!("/v4/vpcs/{spare}")).status, 200);
    assert_eq!(client.get("/v4/vpcs?page_size=25&page=2").ok()["page"], 2);
    assert_eq!(client.get("/v4/vpcs/4000").status, 404);
    assert_eq!(client.post("/v4/vpcs", json!({"label": "core"})).status, 400);
    assert_eq!(client.delete(&format!("{path}/subnets/{subnet}")).status, 400);
    assert_eq!(
        client.delete(&format!("/v4/linode/instances/{instance}")).status,
        200
    );
    assert_eq!(client.delete(&path).status, 200);
    assert_eq!(client.get(&path).status, 404);
    18
}
