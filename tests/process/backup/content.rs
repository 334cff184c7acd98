//! Objects for tests of backups, and everything that the API shows of them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::client::Client;
use crate::connection::number;
use crate::process::eventually;

/// The number of objects to create.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    pub vpcs: usize,
    pub subnets_per_vpc: usize,
    pub files: usize,
}

/// More than 10,000 objects.
pub const TEN_THOUSAND: Amount = Amount {
    vpcs: 20,
    subnets_per_vpc: 490,
    files: 12,
};

/// The bodies of responses, by path.
pub type Responses = BTreeMap<String, Vec<u8>>;

const FORM: &str = "multipart/form-data; boundary=cut";

/// Creates the objects. The account must have sufficient quotas.
pub fn create(client: &mut Client, amount: Amount) {
    for vpc in 0..amount.vpcs {
        let subnet = |number: usize| {
            let range = format!("10.{vpc}.{}.{}/28", number / 16, number % 16 * 16);
            let ipv6 = (number == 0).then(|| json!([{"range": "/62"}]));
            json!({"label": format!("s{number}"), "ipv4": range, "ipv6": ipv6})
        };
        let subnets: Vec<Value> = (0..amount.subnets_per_vpc).map(subnet).collect();
        let body = json!({"label": format!("v{vpc}"), "region": "us-east", "description": "é 漢 '\"\\ \t\n",
            "ipv6": [{"range": "/52"}], "subnets": subnets});
        client.post("/v4/vpcs", body).ok();
    }
    let deleted = json!({"label": "deleted", "region": "us-east", "ipv6": [{"range": "/48"}]});
    let deleted = number(&client.post("/v4/vpcs", deleted).ok()["id"]);
    client.delete(&format!("/v4/vpcs/{deleted}")).ok();
    let ipv6 = json!({"slaac": [{"range": "auto"}], "ranges": [{"range": "auto"}], "is_public": true});
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ip_ranges": [], "ipv6": ipv6}]);
    let instance = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
    client.post("/v4/linode/instances", instance).ok();
    let ticket = json!({"summary": "A backup", "description": "Find these words: Größe, 漢字."});
    let ticket = number(&client.post("/v4/support/tickets", ticket).ok()["id"]);
    let replies = format!("/v4/support/tickets/{ticket}/replies");
    client.post(&replies, json!({"description": "A reply"})).ok();
    for file in 0..amount.files {
        // The first two files have the same content.
        upload(client, ticket, file, &content_of(file.saturating_sub(1)));
    }
}

pub fn upload(client: &mut Client, ticket: i64, number: usize, content: &[u8]) {
    let mut body =
        format!("--cut\r\ncontent-disposition: form-data; name=\"file\"; filename=\"f{number}.txt\"\r\n\r\n")
            .into_bytes();
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n--cut--\r\n");
    let path = format!("/v4/support/tickets/{ticket}/attachments");
    let reply = client.try_send_bytes("POST", &path, FORM, &body);
    reply.expect("the server responds").ok();
}

/// Text that does not compress well.
fn content_of(file: usize) -> Vec<u8> {
    let mut state = file as u64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b' ' + (state >> 33) as u8 % 94
    };
    (0..file * 1000 + 1).map(next).collect()
}

/// Everything that the API shows: all pages of the lists, and views of the objects.
pub fn read(client: &mut Client) -> Responses {
    let mut responses = Responses::new();
    for list in [
        "/v4/linode/instances",
        "/v4/account/events",
        "/v4/account/users",
        "/v4/vpcs/ips",
        "/v4/vpcs/ipv6s",
        "/v4/profile/tokens",
    ] {
        read_list(client, list, &mut responses);
    }
    read_one(client, "/v4/linode/instances/1/configs", &mut responses);
    read_one(client, "/v4/account", &mut responses);
    for vpc in read_list(client, "/v4/vpcs", &mut responses) {
        let path = format!("/v4/vpcs/{vpc}");
        read_one(client, &path, &mut responses);
        let subnets = read_list(client, &format!("{path}/subnets"), &mut responses);
        for subnet in subnets.iter().step_by(20) {
            read_one(client, &format!("{path}/subnets/{subnet}"), &mut responses);
        }
    }
    for ticket in read_list(client, "/v4/support/tickets", &mut responses) {
        let path = format!("/v4/support/tickets/{ticket}");
        read_one(client, &path, &mut responses);
        read_list(client, &format!("{path}/replies"), &mut responses);
        let files = format!("{path}/attachments");
        for file in read_list(client, &files, &mut responses) {
            read_one(client, &format!("{files}/{file}"), &mut responses);
        }
    }
    responses
}

/// The number of objects in lists.
pub fn count(responses: &Responses) -> usize {
    let lists = responses.iter().filter(|(path, _)| path.contains("page="));
    let length = |body: &[u8]| {
        let list: Value = serde_json::from_slice(body).expect("JSON");
        list["data"].as_array().map_or(0, Vec::len)
    };
    lists.map(|(_, body)| length(body)).sum()
}

/// Reads all pages of a list. Returns the IDs of its items.
fn read_list(client: &mut Client, path: &str, responses: &mut Responses) -> Vec<i64> {
    let (mut ids, mut page) = (Vec::new(), 1);
    loop {
        let list = read_one(client, &format!("{path}?page_size=500&page={page}"), responses);
        let list: Value = serde_json::from_slice(&list).expect("a list is JSON");
        let items = list["data"].as_array().expect("a list has data");
        ids.extend(items.iter().filter_map(|item| item["id"].as_i64()));
        if list["pages"] == page {
            return ids;
        }
        page += 1;
    }
}

fn read_one(client: &mut Client, path: &str, responses: &mut Responses) -> Vec<u8> {
    let reply = client.get(path);
    assert_eq!(reply.status, 200, "{path}: {}", reply.text());
    responses.insert(path.to_owned(), reply.body.clone());
    reply.body
}

/// Compares responses, and names the first path that differs.
pub fn assert_equal(after: &Responses, before: &Responses) {
    let paths = |responses: &Responses| responses.keys().cloned().collect::<Vec<_>>();
    assert_eq!(paths(after), paths(before));
    for (path, body) in before {
        let text = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
        assert!(
            after[path] == *body,
            "{path}: {} {}",
            text(&after[path]),
            text(body)
        );
    }
}

/// A client that creates VPCs with increasing numbers until it is stopped.
pub struct Load {
    stop: Arc<AtomicBool>,
    created: Arc<AtomicUsize>,
    client: JoinHandle<()>,
}

impl Load {
    /// Starts the client. Waits until it has created some VPCs.
    pub fn start(mut client: Client) -> Self {
        let (stop, created) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stopped, count) = (stop.clone(), created.clone());
        let client = std::thread::spawn(move || {
            while !stopped.load(Ordering::SeqCst) {
                client.create_vpc(&format!("load-{}", count.load(Ordering::SeqCst)));
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        eventually("some load", || {
            (created.load(Ordering::SeqCst) > 20).then_some(())
        });
        Self {
            stop,
            created,
            client,
        }
    }

    /// Runs a backup. Returns how many VPCs its snapshot can have.
    pub fn during(&self, backup: impl FnOnce()) -> RangeInclusive<usize> {
        let before = self.created.load(Ordering::SeqCst);
        backup();
        let after = self.created.load(Ordering::SeqCst);
        assert!(after > before, "the server works during the backup");
        before..=after + 1
    }

    pub fn stop(self) {
        self.stop.store(true, Ordering::SeqCst);
        self.client.join().expect("every request succeeds");
    }
}

/// The snapshot has a prefix of the writes: all before its moment, and none after it.
pub fn assert_prefix(labels: &[String], expected: &RangeInclusive<usize>) {
    let numbered: Vec<String> = (0..labels.len()).map(|number| format!("load-{number}")).collect();
    assert_eq!(labels, numbered);
    assert!(expected.contains(&labels.len()), "{expected:?}: {}", labels.len());
}
