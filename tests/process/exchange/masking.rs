//! A recording has no secrets.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::{Recording, exchanges};
use crate::connection::text;
use crate::harness::{Folder, TOKEN};
use crate::uploads::sha256;

#[test]
fn a_recording_has_no_secrets() {
    let folder = Folder::new("record-secrets");
    let server = folder.start();
    let recording = Recording::start(&folder, &server);
    let mut client = recording.client();

    let token = json!({"label": "robot", "scopes": "vpc:read_write"});
    let token = text(&client.post("/v4/profile/tokens", token).ok()["token"]);
    let root_pass = "Correct-Horse 7 Battery";
    let instance = json!({
        "region": "us-east", "type": "g6-nanode-1", "label": "web-1", "image": "linode/debian12",
        "root_pass": root_pass, "booted": false,
    });
    assert_eq!(client.post("/v4/linode/instances", instance).status, 200);
    // The secrets again, in fields, a path, a query, a filter and an error text.
    let unknown = json!({"label": format!("{root_pass} {token}"), "region": root_pass});
    assert_eq!(client.post("/v4/vpcs", unknown).status, 400);
    client.get(&format!("/v4/vpcs/{token}?access_token={token}&page={TOKEN}"));
    let client_secret = "s3cret-of-the-client";
    let form = format!("grant_type=authorization_code&code=c0de-1234&client_secret={client_secret}");
    let kind = "application/x-www-form-urlencoded";
    client
        .try_send_bytes("POST", "/oauth/token", kind, form.as_bytes())
        .expect("the server responds");
    let head = client.head(
        "GET",
        "/v4/vpcs",
        &format!("cookie: session=c00kie-value\r\nx-api-key: an-0ther-key\r\nx-filter: {{\"label\": \"{token}\"}}\r\n"),
    );
    client.try_send_head("GET", &head).expect("the server responds");
    let ticket = client.open_ticket();
    let content = b"password: in-the-file-7";
    assert_eq!(
        client
            .upload(ticket, "log.txt", content)
            .expect("a response")
            .status,
        200
    );

    let (file, output) = recording.end();
    let name = file.display();
    assert_eq!(output.stdout, format!("recorded 8 exchanges in {name}\n"));
    let recorded = std::fs::read_to_string(&file).expect("the recording can be read");
    for secret in [
        TOKEN,
        &token,
        &token[..16],
        root_pass,
        "Correct-Horse",
        client_secret,
        "c0de-1234",
        "c00kie-value",
        "an-0ther-key",
        "in-the-file-7",
    ] {
        assert!(!recorded.contains(secret), "{secret}");
    }
    let mode = std::fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let exchanges = exchanges(&file);
    let sequence: Vec<_> = exchanges
        .iter()
        .map(|exchange| exchange["sequence"].clone())
        .collect();
    assert_eq!(sequence, (1..=8).map(|number| json!(number)).collect::<Vec<_>>());
    // Equal secrets have the same number.
    let created = &exchanges[0]["response"]["body"]["json"]["token"];
    assert_eq!(*created, "<secret 2>");
    assert_eq!(
        exchanges[0]["request"]["headers"]["authorization"],
        "Bearer <secret 1>"
    );
    let label = &exchanges[2]["request"]["body"]["json"]["label"];
    assert_eq!(*label, "<secret 3> <secret 2>");
    let upload = &exchanges[7]["request"]["body"]["multipart"][0];
    let expected =
        json!({"name": "file", "file_name": "log.txt", "size": content.len(), "sha256": sha256(content)});
    assert_eq!(*upload, expected);
}

#[test]
fn a_body_that_is_not_valid_json_is_recorded_without_its_content() {
    let folder = Folder::new("record-invalid-json");
    let server = folder.start();
    let recording = Recording::start(&folder, &server);
    let mut client = recording.client();
    let form = "application/x-www-form-urlencoded";
    let bodies = [
        ("application/json", r#"{"root_pass": "hunter-22",}"#),
        ("application/json", r#"{"label": "core", "root_pass": "hunter-22"#),
        ("text/plain", "root_pass: hunter-22"),
        ("", "root_pass: hunter-22"),
        (form, r#"{"root_pass": "hunter-22",}"#),
        (form, r#"{"root_pass": "hunter-22"}"#),
    ];
    for (kind, body) in bodies {
        let sent = client.try_send_bytes("POST", "/v4/linode/instances", kind, body.as_bytes());
        assert!(sent.expect("the server responds").status >= 400, "{body}");
    }
    let questions = json!({"security_questions": [{"question_id": 1, "response": "my first cat"}]});
    client.post("/v4/profile/security-questions", questions);
    let mut short = crate::client::Client::new(recording.address, "tok");
    let echo = json!({"label": "Authorization: Bearer tok", "region": "tok"});
    short.post("/v4/vpcs", echo);

    let (file, _) = recording.end();
    let recorded = std::fs::read_to_string(&file).expect("the recording can be read");
    for secret in ["hunter-22", "my first cat", "tok\"", "Bearer tok"] {
        assert!(!recorded.contains(secret), "{secret}: {recorded}");
    }
    let exchanges = exchanges(&file);
    for ((_, body), exchange) in bodies[..5].iter().zip(&exchanges) {
        let expected = json!({"bytes": {"size": body.len(), "sha256": sha256(body.as_bytes())}});
        assert_eq!(exchange["request"]["body"], expected, "{body}");
    }
    assert_eq!(
        exchanges[5]["request"]["body"],
        json!({"json": {"root_pass": "<secret 2>"}})
    );
}

/// In other texts, short secrets are not masked, because they could be parts of words.
#[test]
fn short_secrets_are_masked_in_their_fields() {
    let folder = Folder::new("record-short-secrets");
    let server = folder.start();
    let recording = Recording::start(&folder, &server);
    let mut client = crate::client::Client::new(recording.address, "q-z1");
    let form = "application/x-www-form-urlencoded";
    let part = "--b\r\ncontent-disposition: form-data; name=\"password\"\r\n\r\nq-z2\r\n--b--\r\n";
    for (path, kind, body) in [
        (
            "/v4/vpcs",
            "application/json",
            r#"{"password": "q-z3", "tfa_code": 97531}"#,
        ),
        ("/v4/vpcs?access_token=q-z4", form, "client_secret=q-z5&code=q-z6"),
        ("/v4/vpcs", "multipart/form-data; boundary=b", part),
    ] {
        client
            .try_send_bytes("POST", path, kind, body.as_bytes())
            .expect("the server responds");
    }
    let (file, _) = recording.end();
    let recorded = std::fs::read_to_string(&file).expect("the recording can be read");
    assert!(
        !recorded.contains("q-z") && !recorded.contains("97531"),
        "{recorded}"
    );
    let exchanges = exchanges(&file);
    let body = |index: usize| exchanges[index]["request"]["body"].clone();
    assert_eq!(
        body(0),
        json!({"json": {"password": "<secret 2>", "tfa_code": "<secret 3>"}})
    );
    assert_eq!(
        body(1),
        json!({"form": [["client_secret", "<secret 4>"], ["code", "<secret 5>"]]})
    );
    assert_eq!(
        body(2),
        json!({"multipart": [{"name": "password", "value": "<secret 7>"}]})
    );
}
