//! Malicious files and forms: none causes a 5xx response, none writes outside of the storage, and accepted
//! ones are harmless to display.

use std::path::Path;

use hyper::Method;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::harness::{Reply, TestApp, User};
use crate::stored_files::files_in;
use crate::support::attachments::sha256;

const FILES: &str = "/support/tickets/1/attachments";
/// The name that an escaped file would have.
const ESCAPED: &str = "garth-escaped";

async fn app() -> TestApp {
    TestApp::with(|policy, _| {
        policy.support.attachment_max_bytes = 100_000;
        policy.support.attachments_per_ticket = 10_000;
    })
    .await
}

/// Sends a body as a form with the boundary `edge`.
async fn send(user: &User<'_>, body: impl Into<hyper::body::Bytes>) -> Reply {
    let call = user.call(Method::POST, FILES);
    let call = call.header("content-type", "multipart/form-data; boundary=edge");
    let reply = call.body(body).await;
    assert!(!reply.status.is_server_error(), "{reply}");
    reply
}

/// A form with one part with this head.
fn form(head: &[u8], content: &[u8]) -> Vec<u8> {
    [b"--edge\r\n", head, b"\r\n\r\n", content, b"\r\n--edge--\r\n"].concat()
}

fn named(name: &[u8]) -> Vec<u8> {
    [
        b"Content-Disposition: form-data; name=\"file\"; filename=\"",
        name,
        b"\"",
    ]
    .concat()
}

/// Only the listed files exist, and they are harmless.
async fn assert_harmless(app: &TestApp, user: &User<'_>) {
    let list = user.get(&format!("{FILES}?page_size=500")).await;
    let list = list.data();
    assert!(list.len() < 500);
    for file in &list {
        let name = file["name"].as_str().expect("a name");
        let turns =
            |c: char| ('\u{200b}'..='\u{200f}').contains(&c) || ('\u{202a}'..='\u{202e}').contains(&c);
        let bad = |c: char| c.is_control() || c == '/' || c == '\\' || turns(c);
        assert!(!name.contains(bad), "{name:?}");
        assert!(
            (5..=255).contains(&name.len()) && !name.starts_with('.'),
            "{name:?}"
        );
        let sent = user.get(&format!("{FILES}/{}", file["id"])).await;
        assert_eq!(sent.status, 200, "{name:?}: {sent}");
        assert_eq!(file["sha256"], sha256(&sent.body), "{name:?}");
        assert_eq!(file["size"], sent.body.len(), "{name:?}");
        let disposition = sent.header("content-disposition");
        assert!(disposition.starts_with("attachment; "), "{disposition}");
        assert_eq!(disposition.matches('"').count(), 2, "{disposition}");
    }
    assert_in_place(app, list.len());
}

/// The storage has this many files, the spool is empty, and no file is elsewhere.
fn assert_in_place(app: &TestApp, attachments: usize) {
    let stored = app.stored_files.names();
    assert_eq!(stored.len(), attachments, "{stored:?}");
    let own = |name: &String| name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
    assert!(stored.iter().all(own), "{stored:?}");

    let there = files_in(app.folder());
    let (inside, others): (Vec<_>, Vec<_>) = there.iter().partition(|path| path.starts_with("attachments/"));
    assert!(
        inside.iter().all(|path| own(&path.replace("attachments/", ""))),
        "{inside:?}"
    );
    for path in others {
        assert!(path.starts_with("garth.db") && !path.contains('/'), "{path}");
    }
    let mut around = vec![std::env::current_dir().expect("a folder"), "/etc".into()];
    around.extend(app.folder().ancestors().skip(1).map(Path::to_owned));
    for folder in around {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            assert!(!name.to_string_lossy().contains(ESCAPED), "{:?}", entry.path());
        }
    }
}

#[tokio::test]
async fn file_names_cannot_escape_the_storage_or_disguise_themselves() {
    let app = app().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let long = ["a".repeat(10_000), ".txt".to_owned()].concat();
    let longer = ["\u{1f600}".repeat(5_000), ".txt".to_owned()].concat();
    let taken: [(&[u8], &str); 26] = [
        (b"../../garth-escaped.txt", "garth-escaped.txt"),
        (b"../../../../../../../../garth-escaped.txt", "garth-escaped.txt"),
        (b"/etc/garth-escaped.txt", "garth-escaped.txt"),
        (b"//server/share/garth-escaped.txt", "garth-escaped.txt"),
        (b"..\\..\\garth-escaped.txt", "garth-escaped.txt"),
        (b"C:\\Windows\\garth-escaped.txt", "garth-escaped.txt"),
        (b"a/../..\\garth-escaped.txt", "garth-escaped.txt"),
        (b"..%2f..%2fgarth-escaped.txt", "%2f..%2fgarth-escaped.txt"),
        (b"%2e%2e/garth-escaped.txt", "garth-escaped.txt"),
        (b"garth-escaped%00.txt", "garth-escaped%00.txt"),
        ("abc\u{202e}gnp.txt".as_bytes(), "abcgnp.txt"),
        ("a\u{200b}b\u{feff}.txt".as_bytes(), "ab.txt"),
        ("a\u{2066}b\u{2069}.txt".as_bytes(), "ab.txt"),
        (b"a%0D%0ASet-Cookie: x=1.txt", "aSet-Cookie: x=1.txt"),
        (b"a\tb.txt", "ab.txt"),
        (b".txt", "file.txt"),
        (b"....txt", "file.txt"),
        (b"..htaccess.txt", "htaccess.txt"),
        (b"   .txt   ", "file.txt"),
        (b"CON.txt", "CON.txt"),
        (
            b"<img src=x onerror=alert(1)>.txt",
            "<img src=x onerror=alert(1)>.txt",
        ),
        (
            b"$(reboot) `reboot` ; rm -rf ..txt",
            "$(reboot) `reboot` ; rm -rf ..txt",
        ),
        (
            b"'; DROP TABLE attachment;--.txt",
            "'; DROP TABLE attachment;--.txt",
        ),
        (
            "\u{1f480}\u{1f469}\u{200d}\u{1f4bb}.txt".as_bytes(),
            "\u{1f480}\u{1f469}\u{1f4bb}.txt",
        ),
        (long.as_bytes(), &[&"a".repeat(251), ".txt"].concat()),
        (longer.as_bytes(), &[&"\u{1f600}".repeat(62), ".txt"].concat()),
    ];
    for (at, (raw, shown)) in taken.iter().enumerate() {
        let raw_text = String::from_utf8_lossy(raw).into_owned();
        let reply = send(&ada, form(&named(raw), b"words")).await;
        assert_eq!(reply.status, 200, "{raw_text:?}: {reply}");
        let list = ada.get(FILES).await.data();
        assert_eq!(list[at]["name"], *shown, "{raw_text:?}");
    }
    assert_harmless(&app, &ada).await;
}

#[tokio::test]
async fn malformed_file_names_are_refused() {
    let app = app().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    for (name, code) in [
        (&b"x.png.html"[..], "file file_extension"),
        (b"x.txt.exe", "file file_extension"),
        (b"x.html%00.svg", "file file_extension"),
        (b".htaccess", "file file_extension"),
        (b"..", "file file_extension"),
        (b".", "file file_extension"),
        (b"......", "file file_extension"),
        (b"txt", "file file_extension"),
        (b"x.txt.", "file file_extension"),
        (b"x.txt::$DATA", "file file_extension"),
        ("x.t\u{445}t".as_bytes(), "file file_extension"),
        ("x\u{ff0e}txt".as_bytes(), "file file_extension"),
        (b"", "file file_name"),
        (b"x.txt/", "file file_name"),
        (b"x.txt\\", "file file_required"),
        ("\u{202e}\u{200b}".as_bytes(), "file file_name"),
        (b" \t ", "file file_name"),
        // Overlong and malformed UTF-8 is not a name.
        (b"..\xc0\xaf..\xc0\xafgarth-escaped.txt", "file file_required"),
        (b"\xff\xfe.txt", "file file_required"),
        (b"x\xed\xa0\x80.txt", "file file_required"),
    ] {
        let reply = send(&ada, form(&named(name), b"words")).await;
        let name = String::from_utf8_lossy(name).into_owned();
        assert_eq!(
            (reply.status.as_u16(), reply.errors()),
            (400, vec![code.to_owned()]),
            "{name:?}"
        );
    }
    // Line breaks end the part head or the form; other control characters are removed.
    for name in [
        &b"x\0.txt"[..],
        b"x\r\nX-Evil: 1.txt",
        b"x\n\n.txt",
        b"x\r.txt",
        b"x\x7f.txt",
        b"x\x1b[2J.txt",
    ] {
        send(&ada, form(&named(name), b"words")).await;
    }
    for parameter in [
        "filename*=UTF-8''..%2F..%2Fgarth-escaped.txt",
        "filename*=UTF-8''%2Fetc%2Fgarth-escaped.txt",
        "filename*=UTF-8''a%00b%0D%0AX-Evil:%201.txt",
        "filename*=UTF-8''%E2%80%AEgnp.txt",
        "filename*=UTF-8''%C0%AE%C0%AE%2Fgarth-escaped.txt",
        "filename*=UTF-8''",
        "filename*='''''''",
        "filename*=",
        "filename",
        "filename=",
        "filename=\"",
        "filename=\"x.txt",
        "filename=\"\\",
        "filename=\"a.txt\"; filename=\"../garth-escaped.txt\"",
        "filename=../../garth-escaped.txt",
    ] {
        let head = format!("Content-Disposition: form-data; name=\"file\"; {parameter}");
        send(&ada, form(head.as_bytes(), b"words")).await;
    }
    assert_harmless(&app, &ada).await;
}

#[tokio::test]
async fn content_that_does_not_match_the_extension_is_refused() {
    let app = app().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let html = b"<!DOCTYPE html><script>alert(1)</script>";
    let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\"/>";
    let (elf, zip) = (b"\x7fELF\x02\x01\x01\0", b"PK\x03\x04\x14\0");
    let (exe, gif) = (b"MZ\x90\0\x03\0", b"GIF89a/*\0*/=1;alert(1)");
    let foreign: [&[u8]; 6] = [html, svg, elf, zip, exe, b"\0"];

    for extension in ["gif", "jpg", "jpeg", "pjpg", "pjpeg", "tif", "tiff", "png", "pdf"] {
        let name = format!("x.{extension}");
        for content in foreign {
            let reply = send(&ada, form(&named(name.as_bytes()), content)).await;
            assert_eq!(reply.errors(), ["file file_content"], "{name}");
        }
        if extension != "gif" {
            assert_eq!(
                ada.attach_file(1, &name, gif).await.errors(),
                ["file file_content"]
            );
        }
        // Almost valid: the signature a byte too late, or incomplete.
        for content in [
            &b" \x89PNG\r\n\x1a\n"[..],
            b"\x89PN",
            b"GIF8",
            b"\xff\xd8",
            b"II*",
            b"%PDF",
        ] {
            assert_eq!(
                ada.attach_file(1, &name, content).await.errors(),
                ["file file_content"],
                "{name}"
            );
        }
    }
    for content in [&elf[..], zip, exe, gif, b"\0", b"words\0"] {
        assert_eq!(
            ada.attach_file(1, "x.txt", content).await.errors(),
            ["file file_content"]
        );
    }
    assert_eq!(ada.count(FILES).await, 0);
    assert_harmless(&app, &ada).await;
}

#[tokio::test]
async fn a_polyglot_file_is_served_with_the_type_of_its_extension() {
    let app = app().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let files: [(&str, &[u8], &str); 5] = [
        ("x.gif", b"GIF89a/*<html>*/=1;alert(1)", "image/gif"),
        (
            "x.jpg",
            b"\xff\xd8\xff\xe0<?php system('id') ?>PK\x03\x04",
            "image/jpeg",
        ),
        ("x.pdf", b"<script>alert(1)</script>%PDF-1.7", "application/pdf"),
        (
            "x.png",
            b"\x89PNG\r\n\x1a\n<html><script>alert(1)</script>",
            "image/png",
        ),
        ("x.txt", b"<html><script>alert(1)</script>", "text/plain"),
    ];
    for (at, (name, content, kind)) in files.into_iter().enumerate() {
        assert_eq!(ada.attach_file(1, name, content).await.status, 200, "{name}");
        let file = ada.get(&format!("{FILES}/{}", at + 1)).await;
        assert_eq!(file.header("content-type"), kind);
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        assert_eq!(
            file.header("content-security-policy"),
            "default-src 'none'; sandbox"
        );
    }
    assert_harmless(&app, &ada).await;
}

#[tokio::test]
async fn malformed_forms_do_no_harm() {
    let app = app().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let good = form(&named(b"a.txt"), b"words");
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
        ("no closing boundary", good[..good.len() - 10].to_vec()),
        ("half a closing boundary", good[..good.len() - 4].to_vec()),
        ("a head that does not end", good[..40].to_vec()),
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
        ("more than the limit in addition to a file", [form(b"Content-Disposition: form-data; name=\"x\"", &b"x".repeat(3_000_000)), good.clone()].concat()),
    ];
    for (what, body) in refused {
        let reply = send(&ada, body).await;
        assert!(reply.status.is_client_error(), "{what}: {reply}");
    }
    assert_eq!(ada.count(FILES).await, 0);

    let taken: Vec<(&str, Vec<u8>)> = vec![
        (
            "another disposition first",
            form(
                format!("Content-Disposition: form-data\r\n{disposition}").as_bytes(),
                b"x",
            ),
        ),
        ("a preamble", [&b"this is a form\r\n"[..], &good].concat()),
        (
            "something behind the end",
            [
                &good[..],
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
    let count = taken.len();
    for (what, body) in taken {
        let reply = send(&ada, body).await;
        assert_eq!(reply.status, 200, "{what}: {reply}");
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
    let endless: [(&str, Vec<u8>, (u16, &str)); 4] = [
        ("preamble", b"preamble ".repeat(1_500_000), none),
        ("head", [head, b"x".repeat(13_000_000)].concat(), none),
        (
            "content",
            [part.trim_end().as_bytes(), &b"x".repeat(13_000_000)].concat(),
            much,
        ),
        ("parts", part.repeat(220_000).into_bytes(), much),
    ];
    for (what, body, (status, code)) in endless {
        for chunked in [false, true] {
            let call = ada.call(Method::POST, FILES).body(body.clone());
            let call = call.header("content-type", "multipart/form-data; boundary=edge");
            let reply = if chunked { call.chunked().await } else { call.await };
            assert_eq!(
                (reply.status.as_u16(), reply.errors()),
                (status, vec![code.to_owned()]),
                "{what}"
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
