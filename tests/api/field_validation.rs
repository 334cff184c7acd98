//! Tables of valid and invalid values, each sent as a request.

use hyper::Method;
use serde_json::{Value, json};

use crate::harness::TestApp;

const GOOD: &str = "";

#[tokio::test]
async fn ranges_are_validated() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let table = [
        ("10.0.0.0/8", GOOD),
        ("10.0.0.0/9", GOOD),
        ("10.128.0.0/9", GOOD),
        ("10.0.0.0/24", GOOD),
        ("10.255.255.248/29", GOOD),
        ("10.0.0.0/29", GOOD),
        ("172.16.0.0/12", GOOD),
        ("172.31.255.0/24", GOOD),
        ("172.16.0.0/29", GOOD),
        ("192.168.0.0/17", GOOD),
        ("192.168.0.0/25", GOOD),
        ("192.168.127.248/29", GOOD),
        ("192.168.64.0/18", GOOD),
        // Not a network.
        ("", "cidr_invalid"),
        (" ", "cidr_invalid"),
        ("10.0.0.0", "cidr_invalid"),
        ("10.0.0.0/", "cidr_invalid"),
        ("/24", "cidr_invalid"),
        ("10.0.0/24", "cidr_invalid"),
        ("10.0.0.0.0/24", "cidr_invalid"),
        ("10.0.0.256/24", "cidr_invalid"),
        ("10.0.0.-1/24", "cidr_invalid"),
        ("10.0.0.0/33", "cidr_invalid"),
        ("10.0.0.0/-1", "cidr_invalid"),
        ("10.0.0.0/256", "cidr_invalid"),
        ("10.0.0.0/24/24", "cidr_invalid"),
        ("10.0.0.0/255.255.255.0", "cidr_invalid"),
        ("ten.0.0.0/8", "cidr_invalid"),
        ("10.0.0.0/x", "cidr_invalid"),
        ("fd00::/64", "cidr_invalid"),
        ("::ffff:10.0.0.0/104", "cidr_invalid"),
        ("0x0a000000/8", "cidr_invalid"),
        ("167772160/8", "cidr_invalid"),
        ("1٠.0.0.0/8", "cidr_invalid"),
        // Not canonical.
        ("10.0.0.0/08", "cidr_invalid"),
        ("10.0.0.0/+8", "cidr_invalid"),
        ("10.0.0.0/008", "cidr_invalid"),
        ("010.0.0.0/8", "cidr_invalid"),
        ("10.00.0.0/8", "cidr_invalid"),
        (" 10.0.0.0/8", "cidr_invalid"),
        ("10.0.0.0/8 ", "cidr_invalid"),
        ("10.0.0.0 /8", "cidr_invalid"),
        ("10.0.0.0/8\n", "cidr_invalid"),
        ("10.0.0.0/8\u{0}", "cidr_invalid"),
        // Host bits.
        ("10.0.0.1/24", "cidr_host_bits"),
        ("10.0.0.128/24", "cidr_host_bits"),
        ("10.1.0.0/8", "cidr_host_bits"),
        ("10.0.0.4/29", "cidr_host_bits"),
        ("192.168.1.1/16", "cidr_host_bits"),
        ("8.8.8.8/24", "cidr_host_bits"),
        // Not private.
        ("8.8.8.0/24", "cidr_not_private"),
        ("11.0.0.0/8", "cidr_not_private"),
        ("9.0.0.0/8", "cidr_not_private"),
        ("172.15.0.0/16", "cidr_not_private"),
        ("172.32.0.0/16", "cidr_not_private"),
        ("192.167.0.0/16", "cidr_not_private"),
        ("192.169.0.0/16", "cidr_not_private"),
        ("100.64.0.0/10", "cidr_not_private"),
        ("127.0.0.0/8", "cidr_not_private"),
        ("169.254.0.0/16", "cidr_not_private"),
        ("224.0.0.0/8", "cidr_not_private"),
        ("172.0.0.0/8", "cidr_not_private"),
        ("192.0.0.0/8", "cidr_not_private cidr_forbidden"),
        // Too large or too small.
        ("10.0.0.0/30", "cidr_prefix"),
        ("10.0.0.0/31", "cidr_prefix"),
        ("10.0.0.0/32", "cidr_prefix"),
        ("0.0.0.0/0", "cidr_not_private cidr_prefix cidr_forbidden"),
        ("10.0.0.0/7", "cidr_not_private cidr_prefix"),
        ("8.8.8.8/32", "cidr_not_private cidr_prefix"),
        // Reserved by the provider.
        ("192.168.128.0/17", "cidr_forbidden"),
        ("192.168.0.0/16", "cidr_forbidden"),
        ("192.168.255.248/29", "cidr_forbidden"),
        ("192.168.128.0/29", "cidr_forbidden"),
        ("192.168.200.0/30", "cidr_prefix cidr_forbidden"),
    ];
    assert!(table.len() >= 60);
    for (number, (range, codes)) in table.iter().enumerate() {
        let subnets = json!([{"label": "s", "ipv4": range}]);
        let body = json!({"label": format!("vpc-{number}"), "region": "us-east", "subnets": subnets});
        let reply = ada.post("/vpcs", body).await;
        assert_validated(&reply, "subnets[0].ipv4", range, codes);
        if codes.is_empty() {
            assert_eq!(reply.json()["subnets"][0]["ipv4"], *range);
        }
    }
}

#[tokio::test]
async fn labels_are_validated() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let (longest, too_long) = ("x".repeat(64), "x".repeat(65));
    let table = [
        ("a", GOOD),
        ("A", "label_taken"),
        ("0", GOOD),
        ("-", GOOD),
        ("-a-", GOOD),
        ("a-b-c", GOOD),
        ("Core-1", GOOD),
        (&longest, GOOD),
        ("", "label_length"),
        (&too_long, "label_length"),
        ("--", "label_dashes"),
        ("a--b", "label_dashes"),
        ("a---b", "label_dashes"),
        ("a_b", "label_characters"),
        ("a b", "label_characters"),
        (" a", "label_characters"),
        ("a\n", "label_characters"),
        ("a\t", "label_characters"),
        ("a\u{0}", "label_characters"),
        ("a.b", "label_characters"),
        ("a/b", "label_characters"),
        ("ä", "label_characters"),
        ("а", "label_characters"),
        ("日本", "label_characters"),
        ("a\u{301}", "label_characters"),
        ("\u{202e}a", "label_characters"),
        ("a–b", "label_characters"),
        ("😀", "label_characters"),
        ("<b>", "label_characters"),
        ("'; DROP TABLE vpc", "label_characters"),
        ("_--_", "label_characters label_dashes"),
    ];
    for (label, codes) in table {
        let reply = ada
            .post("/vpcs", json!({"label": label, "region": "us-east"}))
            .await;
        assert_validated(&reply, "label", label, codes);
    }
    let all_wrong = format!("{}_--", "é".repeat(64));
    let reply = ada
        .post("/vpcs", json!({"label": all_wrong, "region": "us-east"}))
        .await;
    assert_validated(
        &reply,
        "label",
        &all_wrong,
        "label_length label_characters label_dashes",
    );
}

#[tokio::test]
async fn descriptions_are_validated() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let emoji = "😀".repeat(255);
    let (longest, too_long, too_many) = ("x".repeat(255), "x".repeat(256), "é".repeat(256));
    let table = [
        ("", GOOD),
        (" ", GOOD),
        ("line\nbreak\r\n\ttab", GOOD),
        ("<script>alert(1)</script>", GOOD),
        ("\"quoted\" \\ back", GOOD),
        ("héllo wörld 日本", GOOD),
        ("\u{202e}right to left", GOOD),
        (&longest, GOOD),
        (&emoji, GOOD),
        (&too_long, "too_long"),
        (&too_many, "too_long"),
        ("\u{0}", "control_characters"),
        ("a\u{7}b", "control_characters"),
        ("\u{1b}[31m", "control_characters"),
        ("\u{7f}", "control_characters"),
        ("\u{85}", "control_characters"),
    ];
    for (number, (text, codes)) in table.iter().enumerate() {
        let body = json!({"label": format!("vpc-{number}"), "region": "us-east", "description": text});
        let reply = ada.post("/vpcs", body).await;
        assert_validated(&reply, "description", text, codes);
        if codes.is_empty() {
            assert_eq!(reply.json()["description"], *text, "text is stored unchanged");
        }
    }
}

#[tokio::test]
async fn bodies_are_validated() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let deepest = format!(
        r#"{{"label":"deep","region":"us-east","x":{}{}}}"#,
        "[".repeat(63),
        "]".repeat(63)
    );
    let too_deep = format!(r#"{{"x":{}{}}}"#, "[".repeat(64), "]".repeat(64));
    let endless = "[".repeat(100_000);
    let table: Vec<(&[u8], &str)> = vec![
        (br#"{"label":"ok-1","region":"us-east"}"#, GOOD),
        (b" \n\t{\"label\":\"ok-2\",\"region\":\"us-east\"}\r\n ", GOOD),
        (
            br#"{"label":"ok-3","region":"us-east","subnets":null,"description":null}"#,
            GOOD,
        ),
        (
            br#"{"label":"ok-4","region":"us-east","unknown":{"a":[1e400]}}"#,
            "- json_invalid",
        ),
        (
            br#"{"label":"ok-5","region":"us-east","general":0,"id":7,"created":"x"}"#,
            GOOD,
        ),
        (br#"{"label":"\u006fk-6","region":"us-east"}"#, GOOD),
        (deepest.as_bytes(), GOOD),
        (b"{", "- json_invalid"),
        (b"}", "- json_invalid"),
        (b"nope", "- json_invalid"),
        (b"{'label':'x'}", "- json_invalid"),
        (b"{\"label\":\"x\",}", "- json_invalid"),
        (b"{\"label\" \"x\"}", "- json_invalid"),
        (b"{\"label\":\"x\"} {}", "- json_invalid"),
        (b"{\"label\":01}", "- json_invalid"),
        (b"{\"label\":NaN}", "- json_invalid"),
        (b"{\"label\":\"\\x\"}", "- json_invalid"),
        (b"{\"label\":\"\\ud800\"}", "- json_invalid"),
        (b"{\"label\":\"a\nb\"}", "- json_invalid"),
        (b"{\"label\":\"\xff\"}", "- json_invalid"),
        (b"\xef\xbb\xbf{}", "- json_invalid"),
        (b"\0", "- json_invalid"),
        (br#"{"label":"a","label":"a"}"#, "- json_duplicate_key"),
        (br#"{"label":"a","\u006cabel":"b"}"#, "- json_duplicate_key"),
        (br#"{"x":{"y":1,"y":1}}"#, "- json_duplicate_key"),
        (b"[]", "- json_not_object"),
        (br#"["core","us-east"]"#, "- json_not_object"),
        (br#"[{"label":"x","region":"us-east"}]"#, "- json_not_object"),
        (b"null", "- json_not_object"),
        (b"\"label\"", "- json_not_object"),
        (b"7", "- json_not_object"),
        (too_deep.as_bytes(), "- json_too_deep"),
        (endless.as_bytes(), "- json_too_deep"),
        (br#"{"label":5,"region":"us-east"}"#, "label wrong_type"),
        (br#"{"label":["x"],"region":"us-east"}"#, "label wrong_type"),
        (br#"{"label":{},"region":"us-east"}"#, "label wrong_type"),
        (br#"{"label":true,"region":"us-east"}"#, "label wrong_type"),
        (br#"{"label":null,"region":"us-east"}"#, "label required"),
        (
            br#"{"label":"x","region":"us-east","subnets":{}}"#,
            "subnets wrong_type",
        ),
        (
            br#"{"label":"x","region":"us-east","subnets":"10.0.0.0/8"}"#,
            "subnets wrong_type",
        ),
        (
            br#"{"label":"x","region":"us-east","subnets":[null]}"#,
            "subnets[0] wrong_type",
        ),
        (
            br#"{"label":"x","region":"us-east","subnets":[[]]}"#,
            "subnets[0] wrong_type",
        ),
        (
            br#"{"label":"x","region":"us-east","description":0}"#,
            "description wrong_type",
        ),
        (br#"{"label":"x","region":"US-EAST"}"#, "region region_invalid"),
        (br#"{"label":"x","region":""}"#, "region region_invalid"),
    ];
    let good = table.iter().filter(|(_, error)| error.is_empty()).count() as i64;
    for (body, error) in table {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        let reply = ada.call(Method::POST, "/vpcs").body(body.to_vec()).await;
        match error {
            GOOD => assert_eq!(reply.status, 200, "{shown}: {reply}"),
            _ => assert_eq!(
                (reply.status.as_u16(), reply.errors()),
                (400, vec![error.to_owned()]),
                "{shown}"
            ),
        }
    }
    assert_eq!(ada.count("/vpcs").await, good);
    let reply = ada
        .call(Method::POST, "/vpcs")
        .body("{\n  \"label\": \"x\"\n  \"region\"")
        .await;
    assert!(reply.reason().contains("line 3 column 3"), "{reply}");
}

/// Asserts that the value was accepted, or refused with exactly these errors and without effect.
fn assert_validated(reply: &crate::harness::Reply, field: &str, value: &str, codes: &str) {
    if codes.is_empty() {
        assert_eq!(reply.status, 200, "{value:?}: {reply}");
        return;
    }
    let expected: Vec<_> = codes.split(' ').map(|code| format!("{field} {code}")).collect();
    assert_eq!(
        (reply.status.as_u16(), reply.errors()),
        (400, expected),
        "{value:?}"
    );
    let reasons = reply.json()["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["reason"].clone())
        .collect::<Vec<Value>>();
    assert!(
        reasons
            .iter()
            .all(|reason| reason.as_str().is_some_and(|text| text.len() > 5)),
        "{reply}"
    );
}
