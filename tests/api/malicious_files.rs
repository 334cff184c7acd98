//! Malicious files and forms: none of them causes a 5xx response or writes outside of the storage, and
//! accepted files are harmless to display.

mod forms;

use std::path::Path;

use hyper::Method;

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

/// Asserts that only the listed files exist, and that they are harmless.
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

/// Asserts that the storage has this many files, the spool is empty, and no file is elsewhere.
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
    let accepted: [(&[u8], &str); 26] = [
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
    for (index, (raw, shown)) in accepted.iter().enumerate() {
        let raw_text = String::from_utf8_lossy(raw).into_owned();
        let reply = send(&ada, form(&named(raw), b"words")).await;
        assert_eq!(reply.status, 200, "{raw_text:?}: {reply}");
        let list = ada.get(FILES).await.data();
        assert_eq!(list[index]["name"], *shown, "{raw_text:?}");
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
        // Almost valid content: the signature is incomplete, or begins one byte too late.
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
    for (index, (name, content, kind)) in files.into_iter().enumerate() {
        assert_eq!(ada.attach_file(1, name, content).await.status, 200, "{name}");
        let file = ada.get(&format!("{FILES}/{}", index + 1)).await;
        assert_eq!(file.header("content-type"), kind);
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        assert_eq!(
            file.header("content-security-policy"),
            "default-src 'none'; sandbox"
        );
    }
    assert_harmless(&app, &ada).await;
}
