//! The replay: equal servers, differences, and requests that cannot be compared.

use serde_json::{Value, json};

use super::{Recording, exchanges, replay, use_networks, used_server, write_exchanges};
use crate::connection::{number, text};
use crate::harness::{Folder, TOKEN};

#[test]
fn the_same_requests_to_a_new_server_are_equal() {
    let folder = Folder::new("replay-equal");
    let server = used_server(&folder);
    let recording = Recording::start(&folder, &server);
    let mut client = recording.client();
    let requests = use_networks(&mut client);
    // A token that was created in the recording, with its own scopes.
    let created = client
        .post(
            "/v4/profile/tokens",
            json!({"label": "robot", "scopes": "vpc:read_only"}),
        )
        .ok();
    let mut robot = crate::client::Client::new(recording.address, &text(&created["token"]));
    assert_eq!(robot.get("/v4/vpcs").status, 200);
    assert_eq!(robot.post("/v4/vpcs", json!({})).status, 401);
    assert_eq!(
        client
            .delete(&format!("/v4/profile/tokens/{}", created["id"]))
            .status,
        200
    );
    assert_eq!(robot.get("/v4/vpcs").status, 401);
    // A change of an object that was not changed since.
    let vpc = client.create_vpc("tagged");
    let path = format!("/v4/vpcs/{vpc}");
    let etag = client.get(&path).header("etag").expect("an ETag").to_owned();
    let head = client.head("DELETE", &path, &format!("if-match: {etag}\r\n"));
    assert_eq!(
        client.try_send_head("DELETE", &head).expect("a response").status,
        200
    );

    let (file, _) = recording.end();
    let output = replay(&folder, &file, &[]);
    let expected = format!("{} equal, 0 different, 0 not comparable\n", requests + 8);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), expected.as_str()),
        "{output:?}"
    );

    // The same on a server that is running, with its own token and IDs.
    let other = Folder::new("replay-equal-server");
    let target = used_server(&other);
    let url = format!("http://{}", target.address);
    let token = other.write("token", &format!("{TOKEN}\n")).display().to_string();
    let output = replay(&folder, &file, &["--server", &url, "--token-file", &token]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), expected.as_str()),
        "{output:?}"
    );
    let wrong = other.write("wrong", &"0".repeat(64)).display().to_string();
    let output = replay(&folder, &file, &["--server", &url, "--token-file", &wrong]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stdout.contains("    status: recorded 200, Garth 401\n"),
        "{output:?}"
    );
}

/// Edits one exchange of a recording.
fn edited(exchanges: &[Value], index: usize, edit: impl Fn(&mut Value)) -> Vec<Value> {
    let mut edited = exchanges.to_vec();
    edit(&mut edited[index]["response"]);
    edited
}

#[test]
fn differences_are_reported_with_the_field_and_both_values() {
    let folder = Folder::new("replay-different");
    let server = used_server(&folder);
    let recording = Recording::start(&folder, &server);
    let mut client = recording.client();
    let vpc = client.create_vpc("core");
    assert_eq!(client.get(&format!("/v4/vpcs/{vpc}")).status, 200);
    assert_eq!(client.get("/v4/vpcs").status, 200);
    let (file, _) = recording.end();
    let original = exchanges(&file);

    type Edit = fn(&mut Value);
    let edits: [(usize, Edit, &str); 8] = [
        (
            1,
            |response| response["body"]["json"]["label"] = json!("other"),
            "2 GET /v4/vpcs/4: different\n    body.label: recorded \"other\", Garth \"core\"\n",
        ),
        (
            1,
            |response| response["body"]["json"]["id"] = json!(77),
            "    body.id: recorded 77, Garth 1\n",
        ),
        (
            1,
            |response| response["body"]["json"]["created"] = json!("yesterday"),
            "    body.created: recorded \"yesterday\", Garth \"20",
        ),
        (
            0,
            |response| response["body"]["json"]["extra"] = json!([1]),
            "1 POST /v4/vpcs: different\n    body.extra: recorded [1], Garth nothing\n",
        ),
        (
            0,
            |response| {
                drop(
                    response["body"]["json"]
                        .as_object_mut()
                        .expect("fields")
                        .remove("region"),
                )
            },
            "    body.region: recorded nothing, Garth \"us-east\"\n",
        ),
        (
            2,
            |response| response["status"] = json!(206),
            "3 GET /v4/vpcs: different\n    status: recorded 206, Garth 200\n",
        ),
        (
            2,
            |response| response["headers"]["content-type"] = json!("text/html"),
            "    headers.content-type: recorded \"text/html\", Garth \"application/json\"\n",
        ),
        (
            2,
            |response| response["body"]["json"]["data"] = json!([]),
            "    body.data.0: recorded nothing, Garth {",
        ),
    ];
    for (index, edit, expected) in edits {
        write_exchanges(&file, &edited(&original, index, edit));
        let output = replay(&folder, &file, &[]);
        assert_eq!(output.code, Some(1), "{expected}: {output:?}");
        assert!(output.stdout.contains(expected), "{expected}: {}", output.stdout);
        assert!(
            output
                .stdout
                .ends_with("2 equal, 1 different, 0 not comparable\n"),
            "{}",
            output.stdout
        );
    }
    write_exchanges(
        &file,
        &edited(&original, 2, |response| {
            response["body"]["json"]["data"][0]["label"] = json!("other");
            response["status"] = json!(206);
        }),
    );
    let ignored = ["--ignore", "body.data.*.label", "--ignore", "status"];
    let output = replay(&folder, &file, &ignored);
    assert_eq!(output.code, Some(0), "{output:?}");
    let output = replay(&folder, &file, &["--json", "--ignore", "status"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(
        report["summary"],
        json!({"equal": 2, "different": 1, "not_comparable": 0})
    );
    let expected = json!({
        "sequence": 3, "method": "GET", "path": "/v4/vpcs", "result": "different",
        "differences": [{"path": "body.data.0.label", "recorded": "other", "garth": "core"}],
    });
    assert_eq!(report["exchanges"][2], expected);
}

#[test]
fn requests_that_depend_on_other_data_are_not_comparable() {
    let folder = Folder::new("replay-not-comparable");
    let server = folder.start();
    let old = server.client().create_vpc("old");
    let recording = Recording::start(&folder, &server);
    let mut client = recording.client();
    let vpc = client.create_vpc("core");
    assert_eq!(client.get(&format!("/v4/vpcs/{old}")).status, 200);
    assert_eq!(client.get("/v4/vpcs").ok()["results"], 2);
    let ticket = client.open_ticket();
    assert_eq!(
        client
            .upload(ticket, "log.txt", b"text")
            .expect("a response")
            .status,
        200
    );
    let (_, other) = folder.create_token("admin");
    let mut other = crate::client::Client::new(recording.address, &other);
    assert_eq!(other.get("/v4/vpcs/4000").status, 404);
    // An object of an exchange that differs.
    let subnet = json!({"label": "web", "ipv4": "10.0.0.0/24"});
    let subnet = number(&client.post(&format!("/v4/vpcs/{vpc}/subnets"), subnet).ok()["id"]);
    assert_eq!(
        client.get(&format!("/v4/vpcs/{vpc}/subnets/{subnet}")).status,
        200
    );
    let (file, _) = recording.end();
    let mut edited = exchanges(&file);
    edited[6]["request"]["body"]["json"]["ipv4"] = json!("300.0.0.0/24");
    write_exchanges(&file, &edited);

    let output = replay(&folder, &file, &[]);
    assert_eq!(output.code, Some(1), "{output:?}");
    for expected in [
        "2 GET /v4/vpcs/1: not comparable: vpc 1 was not created in this recording\n",
        "3 GET /v4/vpcs: not comparable: 1 item of the list was not created in this recording\n",
        "5 POST /v4/support/tickets/1/attachments: not comparable: the content of the file is not in the recording\n",
        "6 GET /v4/vpcs/4000: not comparable: the request has a token that was not created in this recording\n",
        "7 POST /v4/vpcs/2/subnets: different\n    status: recorded 200, Garth 400\n",
        "8 GET /v4/vpcs/2/subnets/1: not comparable: subnet 1 depends on exchange 7\n",
        "2 equal, 1 different, 5 not comparable\n",
    ] {
        assert!(output.stdout.contains(expected), "{expected}: {}", output.stdout);
    }
}

#[test]
fn responses_after_an_upload_depend_on_it() {
    let folder = Folder::new("replay-upload");
    let server = folder.start();
    let recording = Recording::start(&folder, &server);
    let mut client = recording.client();
    let ticket = client.open_ticket();
    for name in ["one.txt", "two.txt"] {
        assert_eq!(
            client.upload(ticket, name, b"text").expect("a response").status,
            200
        );
    }
    let path = format!("/v4/support/tickets/{ticket}");
    for path in [
        path.clone(),
        format!("{path}/attachments"),
        format!("{path}/attachments/2"),
        "/v4/support/tickets".to_owned(),
        "/v4/account/events".to_owned(),
        "/v4/vpcs".to_owned(),
    ] {
        assert_eq!(client.get(&path).status, 200, "{path}");
    }
    let (file, _) = recording.end();

    let output = replay(&folder, &file, &[]);

    assert_eq!(output.code, Some(0), "{output:?}");
    let reason = "not comparable: ticket 1 depends on exchange 2, which was not repeated";
    for (sequence, path) in [
        (4, "support/tickets/1"),
        (5, "support/tickets/1/attachments"),
        (6, "support/tickets/1/attachments/2"),
        (7, "support/tickets"),
    ] {
        let expected = format!("{sequence} GET /v4/{path}: {reason}\n");
        assert!(output.stdout.contains(&expected), "{expected}: {}", output.stdout);
    }
    assert!(
        !output.stdout.contains("not created in this recording"),
        "{}",
        output.stdout
    );
    assert!(!output.stdout.contains("GET /v4/vpcs"), "{}", output.stdout);
}

#[test]
fn a_replay_that_fails_has_its_own_exit_code() {
    let folder = Folder::new("replay-failed");
    let valid = json!({"garth_recording": 1, "upstream": "test"});
    let newer = json!({"garth_recording": 2, "upstream": "test"});
    let request = json!({"method": "GET", "path": "/v4/vpcs", "headers": {}, "body": null});
    let response = json!({"status": 401, "headers": {}, "body": null});
    let exchange = json!({"sequence": 1, "request": request, "response": response});
    for (name, content, options, expected) in [
        ("missing", None, "", "cannot read"),
        ("empty", Some(String::new()), "", "is not a recording"),
        ("text", Some("text\n".to_owned()), "", "is not a recording"),
        (
            "newer",
            Some(format!("{newer}\n")),
            "",
            "has version 2 of the format",
        ),
        (
            "broken",
            Some(format!("{valid}\n\n{{\n")),
            "",
            "line 3, column 1: EOF while parsing an object\n",
        ),
        (
            "interrupted",
            Some(format!("{valid}\n{exchange}\n{}", &exchange.to_string()[..40])),
            "",
            "line 3 is incomplete: the recording was interrupted; delete this line to replay the others\n",
        ),
        (
            "nothing",
            Some(format!("{valid}\n")),
            "",
            "no response can be compared",
        ),
        (
            "ignore",
            Some(format!("{valid}\n{exchange}\n")),
            "--ignore label",
            "must begin with status",
        ),
        (
            "unreachable",
            Some(format!("{valid}\n{exchange}\n")),
            "--server http://127.0.0.1:1 --token-file nothing",
            "exchange 1",
        ),
    ] {
        if let Some(content) = content {
            folder.write(name, &content);
        }
        let options: Vec<_> = options.split_whitespace().collect();
        let output = replay(&folder, &folder.path(name), &options);
        assert_eq!(output.code, Some(2), "{name}: {output:?}");
        assert!(output.stderr.contains(expected), "{name}: {output:?}");
    }
}
