//! Malformed forms.

use hyper::Method;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{FILES, app, assert_harmless, form, named, send};

#[tokio::test]
async fn malformed_forms_do_no_harm() {
    let app = app().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let valid = form(&named(b"a.txt"), b"words");
    let part = |head: &str| [b"--edge\r\n", head.as_bytes(), b"\r\n\r\nx\r\n"].concat();
    let other = part("Content-Disposition: form-data; name=\"x\"");
    let big = "x".repeat(100_000);
    let disposition = "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"";

    let refused: Vec<(&str, Vec<u8>)> = vec![
(
            "a header line of 100 KB",
            form(format!("X-Long: {big}\r\n{disposition}").as_bytes(), b"words"),
        ),
        ("nothing", vec![]),
        ("only line breaks", b"\r\n\r\n\r\n".to_vec()),
        ("only the end", b"--edge--".to_vec()),
        ("no closing boundary", valid[..valid.len() - 10].to_vec()),
        ("half a closing boundary", valid[..valid.len() - 4].to_vec()),
        ("a head that does not end", valid[..40].to_vec()),
        ("another boundary", b"--egde\r\n\r\nx\r\n--egde--\r\n".to_vec()),
        ("a preamble without an end", b"x".repeat(2_000_000)),
        ("thousands of parts", [other.repeat(10_000), b"--edge--".to_vec()].concat()),
        ("thousands of files", [part(disposition).repeat(5_000), b"--edge--".to_vec()].concat()),
        ("thousands of boundaries", b"--edge\r\n".repeat(100_000)),
        ("a header line of 100 KB without a colon", form(big.as_bytes(), b"x")),
        ("thousands of headers", form(format!("{disposition}\r\n{}", "a: b\r\n".repeat(5_000)).trim_end().as_bytes(), b"x")),
        ("headers that are none", form(b"\0\0\0: \xff", b"x")),
        ("no disposition", form(b"Content-Type: text/plain", b"x")),
        ("a nested form", form(b"Content-Type: multipart/mixed; boundary=inner\r\nContent-Disposition: form-data; name=\"files\"",
            &[b"--inner\r\n", disposition.as_bytes(), b"\r\n\r\nx\r\n--inner--"].concat())),
        ("a boundary at the end of the content", form(disposition.as_bytes(), b"x\r\n--edge")),
        ("a boundary in the content", form(disposition.as_bytes(), b"x\r\n--edge\r\nrest")),
        ("more than the limit in addition to a file", [form(b"Content-Disposition: form-data; name=\"x\"", &b"x".repeat(3_000_000)), valid.clone()].concat()),
    ];
    for (name, body) in refused {
        let reply = send(&ada, body).await;
        assert!(reply.status.is_client_error(), "{name}: {reply}");
    }
    assert_eq!(ada.count(FILES).await, 0);

    let accepted: Vec<(&str, Vec<u8>)> = vec![
        (
            "another disposition first",
            form(
                format!("Content-Disposition: form-data\r\n{disposition}").as_bytes(),
                b"x",
            ),
        ),
        ("a preamble", [&b"this is a form\r\n"[..], &valid].concat()),
        (
            "something behind the end",
            [
                &valid[..],
                b"--edge\r\n\r\nmore\r\n--edge--",
                &b"x".repeat(100_000),
            ]
            .concat(),
        ),
        (
            "duplicated headers",
            form(
                format!("{disposition}\r\n{disposition}\r\nContent-Type: a/b\r\nContent-Type: c/d")
                    .as_bytes(),
                b"words",
            ),
        ),
        (
            "a type that lies",
            form(
                format!("{disposition}\r\nContent-Type: text/html").as_bytes(),
                b"words",
            ),
        ),
        (
            "an encoding that is none",
            form(
                format!("{disposition}\r\nContent-Transfer-Encoding: base64").as_bytes(),
                b"words",
            ),
        ),
        (
            "a nested form as content",
            form(disposition.as_bytes(), b"--inner\r\n\r\nx\r\n--inner--"),
        ),
        (
            "almost boundaries",
            form(disposition.as_bytes(), b"\r\n--edg\r\n-edge\r\r\n--\n--edge"),
        ),
    ];
    let count = accepted.len();
    for (name, body) in accepted {
        let reply = send(&ada, body).await;
        assert_eq!(reply.status, 200, "{name}: {reply}");
    }
    assert_eq!(ada.count(FILES).await, count as i64);
    assert_harmless(&app, &ada).await;
}

#[tokio::test]
async fn malformed_boundaries_do_no_harm() {
    let app = app().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let huge = "e".repeat(20_000);
    for boundary in [
        "",
        "\"\"",
        "\"",
        "-",
        "--",
        "----",
        "\"a b\"",
        "\"a\\\"b\"",
        "%00",
        "x; boundary=y",
        "\u{e4}",
        &huge,
    ] {
        let bare = boundary.trim_matches('"');
        let body = format!(
            "--{bare}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nx\r\n--{bare}--"
        );
        let call = ada.call(Method::POST, FILES);
        let call = call.header(
            "content-type",
            &format!("multipart/form-data; boundary={boundary}"),
        );
        let reply = call.body(body).await;
        assert!(!reply.status.is_server_error(), "{boundary}: {reply}");
    }
    assert_harmless(&app, &ada).await;
}

#[tokio::test]
async fn an_unterminated_form_is_refused() {
    let app = app().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let part = "--edge\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nx\r\n";
    let (none, much) = ((400, "- multipart_invalid"), (413, "- body_too_large"));
    let head = b"--edge\r\nX-Long: ".to_vec();
    let unterminated: [(&str, Vec<u8>, (u16, &str)); 4] = [
        ("preamble", b"preamble ".repeat(1_500_000), none),
        ("head", [head, b"x".repeat(13_000_000)].concat(), none),
        (
            "content",
            [part.trim_end().as_bytes(), &b"x".repeat(13_000_000)].concat(),
            much,
        ),
        ("parts", part.repeat(220_000).into_bytes(), much),
    ];
    for (name, body, (status, code)) in unterminated {
        for chunked in [false, true] {
            let call = ada.call(Method::POST, FILES).body(body.clone());
            let call = call.header("content-type", "multipart/form-data; boundary=edge");
            let reply = if chunked { call.chunked().await } else { call.await };
            assert_eq!(
                (reply.status.as_u16(), reply.errors()),
                (status, vec![code.to_owned()]),
                "{name}"
            );
        }
    }
    assert_harmless(&app, &ada).await;
}

#[test]
fn random_bytes_do_no_harm() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    let app = runtime.block_on(app());
    let ada = runtime.block_on(async {
        let ada = app.user("ada").await;
        ada.open_ticket("Look").await;
        ada
    });
    // Random bytes mixed with form syntax.
    let word = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        Just(b"\r\n".to_vec()),
        Just(b"--".to_vec()),
        Just(b"--edge".to_vec()),
        Just(b"--edge\r\n".to_vec()),
        Just(b"--edge--".to_vec()),
        Just(b"Content-Disposition: form-data; ".to_vec()),
        Just(b"name=\"file\"; ".to_vec()),
        Just(b"filename=\"a.txt\"".to_vec()),
        Just(b"filename*=UTF-8''%2e.txt".to_vec()),
        Just(b"\r\n\r\nx\r\n--edge--".to_vec()),
    ];
    let body = proptest::collection::vec(word, 0..16).prop_map(|words| words.concat());
    let boundary = prop_oneof![
        Just("edge".to_owned()),
        "[ -~]{0,70}",
        "[0-9a-zA-Z'()+_,./:=?-]{1,70}",
    ];
    let config = Config {
        cases: 400,
        failure_persistence: None,
        ..Config::default()
    };
    let harmless =
        TestRunner::new(config).run(&(body, boundary, any::<bool>()), |(body, boundary, framed)| {
            let body = match framed {
                true => form(&named(b"a.txt"), &body),
                false => body,
            };
            let kind = format!("multipart/form-data; boundary={boundary}");
            let call = ada
                .call(Method::POST, FILES)
                .header("content-type", &kind)
                .body(body);
            let reply = runtime.block_on(call.into_future());
            prop_assert!(!reply.status.is_server_error(), "{}", reply);
            Ok(())
        });
    harmless.unwrap_or_else(|found| panic!("{found}"));
    runtime.block_on(assert_harmless(&app, &ada));
}
