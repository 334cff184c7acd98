//! Upload forms: format and size.

use hyper::Method;

use crate::harness::{Reply, TestApp, User};
use crate::support::attachments::sha256;

const FILES: &str = "/support/tickets/1/attachments";
const NAMED: &str = "form-data; name=\"file\"; filename=\"a.txt\"";

/// The value of `Content-Disposition`, and the content.
type Part<'a> = (&'a str, &'a [u8]);

/// Sends a form with these parts.
async fn send(user: &User<'_>, parts: &[Part<'_>]) -> Reply {
    user.call(Method::POST, FILES).form(parts).await
}

/// The names and sizes of the first ticket's attachments.
async fn listed(user: &User<'_>) -> Vec<(String, i64)> {
    let list = user.get(FILES).await.data();
    let file = |file: &serde_json::Value| {
        let name = file["name"].as_str().expect("a name").to_owned();
        (name, file["size"].as_i64().expect("a size"))
    };
    list.iter().map(file).collect()
}

fn assert_too_large(reply: &Reply) {
    assert_eq!(
        (reply.status.as_u16(), reply.errors()),
        (413, vec!["file file_too_large".into()])
    );
}

#[tokio::test]
async fn a_file_cannot_exceed_the_maximum_size() {
    let app = TestApp::with(|policy, _| policy.support.attachment_max_bytes = 100_000).await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let attach = |size: usize| {
        let call = ada.call(Method::POST, FILES);
        call.file("a.txt", "x".repeat(size))
    };

    assert_eq!(attach(100_000).await.status, 200);
    assert_eq!(attach(100_000).chunked().await.status, 200);
    // Above the limit of the file, above the limit of the form, and above the size that the server reads and
    // discards.
    for size in [100_001, 2_000_000, 20_000_000] {
        assert_too_large(&attach(size).await);
        assert_too_large(&attach(size).chunked().await);
    }
    assert_eq!(listed(&ada).await, vec![("a.txt".to_owned(), 100_000); 2]);
    assert_eq!(app.stored_files.names().len(), 2);
}

#[tokio::test]
async fn the_default_maximum_is_five_mebibytes() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let most = b"garth ".iter().copied().cycle().take(5 * 1024 * 1024);
    let mut bytes: Vec<u8> = most.collect();

    assert_eq!(ada.attach_file(1, "a.txt", &bytes).await.status, 200);
    let back = ada.get(&format!("{FILES}/1")).await;
    assert!(back.body == bytes, "the bytes differ from the upload");
    assert_eq!(back.header("etag"), format!("\"{}\"", sha256(&bytes)));
    bytes.push(b'!');
    assert_too_large(&ada.attach_file(1, "a.txt", &bytes).await);
}

#[tokio::test]
async fn a_ticket_cannot_exceed_the_maximum_number_of_files() {
    let app = TestApp::with(|policy, _| policy.support.attachments_per_ticket = 2).await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    ada.open_ticket("Another").await;
    for _ in 0..2 {
        assert_eq!(ada.attach_file(1, "a.txt", "words").await.status, 200);
    }

    let third = ada.attach_file(1, "a.txt", "words").await;

    assert_eq!(
        (third.status.as_u16(), third.errors()),
        (400, vec!["- attachment_limit".into()])
    );
    assert_eq!(ada.attach_file(2, "a.txt", "words").await.status, 200);
    assert_eq!(app.stored_files.names().len(), 3);
}

#[tokio::test]
async fn concurrent_uploads_do_not_exceed_the_limit_per_ticket() {
    let app = TestApp::with(|policy, _| policy.support.attachments_per_ticket = 3).await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;

    let many = (0..12).map(|_| ada.attach_file(1, "a.txt", "words"));
    let replies = futures_util::future::join_all(many).await;

    let taken = replies.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(taken, 3);
    for refused in replies.iter().filter(|reply| reply.status != 200) {
        assert_eq!(refused.errors(), ["- attachment_limit"]);
    }
    assert_eq!(ada.count(FILES).await, 3);
    assert_eq!(app.stored_files.names().len(), 3);
}

#[tokio::test]
async fn a_form_must_have_one_file_that_is_not_empty() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;

    let cases: [(&[Part<'_>], &[&str]); 8] = [
        (&[], &["file file_required"]),
        (
            &[("form-data; name=\"upload\"; filename=\"a.txt\"", b"x")],
            &["file file_required"],
        ),
        (&[("form-data; name=\"file\"", b"x")], &["file file_required"]),
        (&[(NAMED, b"x"), (NAMED, b"y")], &["file file_count"]),
        (&[(NAMED, b"")], &["file file_empty"]),
        (
            &[("form-data; name=\"file\"; filename=\"\"", b"x")],
            &["file file_name"],
        ),
        (
            &[("form-data; name=\"file\"; filename=\"a.exe\"", b"x")],
            &["file file_extension"],
        ),
        (
            &[("form-data; name=\"file\"; filename=\"a.png\"", b"x")],
            &["file file_content"],
        ),
    ];
    for (parts, errors) in cases {
        let reply = send(&ada, parts).await;
        assert_eq!(reply.status, 400, "{parts:?}");
        assert_eq!(reply.errors(), errors, "{parts:?}");
    }
    assert_eq!(listed(&ada).await, []);
    assert_eq!(app.stored_files.names().len(), 0);
}

#[tokio::test]
async fn all_errors_of_a_form_are_reported_together() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;

    let empty = send(&ada, &[("form-data; name=\"file\"; filename=\"a.exe\"", b"")]).await;
    assert_eq!(empty.errors(), ["file file_extension", "file file_empty"]);
    let two = [
        ("form-data; name=\"file\"; filename=\"a.gif\"", &b"no gif"[..]),
        (NAMED, b"words"),
    ];
    assert_eq!(
        send(&ada, &two).await.errors(),
        ["file file_count", "file file_content"]
    );
    let nameless = [("form-data; name=\"file\"", &b""[..]), (NAMED, b"x")];
    assert_eq!(
        send(&ada, &nameless).await.errors(),
        ["file file_required", "file file_count", "file file_empty"]
    );
}

#[tokio::test]
async fn other_parts_are_ignored() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let other = vec![b'x'; 200_000];
    let parts: [(&str, &[u8]); 5] = [
        ("form-data; name=\"comment\"", b"see below"),
        ("form-data; name=\"files\"; filename=\"evil.exe\"", &other),
        (NAMED, b"words"),
        ("form-data; name=\"FILE\"; filename=\"b.txt\"", b"more"),
        ("form-data", b"nothing"),
    ];

    let reply = send(&ada, &parts).await;

    assert_eq!(reply.status, 200, "{reply}");
    assert_eq!(listed(&ada).await, [("a.txt".to_owned(), 5)]);
    assert_eq!(ada.get(&format!("{FILES}/1")).await.body, "words");
}

#[tokio::test]
async fn an_extended_file_name_is_used_only_without_a_plain_one() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let names = [
        ("filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt", "naïve €.txt"),
        (
            "filename=\"plain.txt\"; filename*=utf-8'en'other.txt",
            "plain.txt",
        ),
        ("filename*=UTF-8''other.txt; filename=\"plain.txt\"", "plain.txt"),
        ("filename=\"plain.txt\"; filename*=latin1''worse.txt", "plain.txt"),
        ("filename=\"plain.txt\"; filename*=UTF-8''%ff.txt", "plain.txt"),
        ("filename=bare.txt", "bare.txt"),
        ("filename=\"say \\\"hi\\\".txt\"", "say \"hi\".txt"),
        ("filename=\"say %22hi%22.txt\"", "say \"hi\".txt"),
    ];

    for (parameter, name) in names {
        let disposition = format!("form-data; name=\"file\"; {parameter}");
        let reply = send(&ada, &[(&disposition, b"x")]).await;
        assert_eq!(reply.status, 200, "{parameter}: {reply}");
        let list = listed(&ada).await;
        assert_eq!(list.last().expect("a file").0, name, "{parameter}");
    }
}

#[tokio::test]
async fn an_extended_file_name_cannot_replace_a_plain_one_that_is_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;

    let disposition = "form-data; name=\"file\"; filename=\"virus.exe\"; filename*=UTF-8''notes.txt";
    let reply = send(&ada, &[(disposition, b"x")]).await;

    assert_eq!(reply.errors(), ["file file_extension"]);
}

#[tokio::test]
async fn control_characters_in_a_file_name_are_removed() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;

    for control in [
        "\u{1}",
        "\u{7}",
        "\u{8}",
        "\t",
        "\u{b}",
        "\u{1b}[2J",
        "\u{7f}",
        "\u{85}",
        "\0",
    ] {
        let disposition = format!("form-data; name=\"file\"; filename=\"a{control}b.txt\"");
        let reply = send(&ada, &[(&disposition, b"\x01 stays")]).await;
        assert_eq!(reply.status, 200, "{control:?}: {reply}");
        let expected = format!("a{}b.txt", control.trim_start_matches(char::is_control));
        assert_eq!(listed(&ada).await.pop(), Some((expected, 7)), "{control:?}");
    }
    let file = ada.get("/support/tickets/1/attachments/1").await;
    assert_eq!(file.body, "\u{1} stays", "the content is as it was sent");
}

#[tokio::test]
async fn only_a_form_with_a_boundary_is_accepted() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;

    for kind in [
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "multipart/mixed; boundary=edge",
        "nonsense",
        "",
    ] {
        let call = ada.call(Method::POST, FILES).header("content-type", kind);
        let body = format!("--edge\r\nContent-Disposition: {NAMED}\r\n\r\nx\r\n--edge--\r\n");
        let reply = call.body(body).await;
        assert_eq!(
            (reply.status.as_u16(), reply.errors()),
            (415, vec!["- media_type_unsupported".into()]),
            "{kind}"
        );
    }
    let untyped = ada.call(Method::POST, FILES).body("x").await;
    assert_eq!(untyped.status, 415);
    let quoted = ada.call(Method::POST, FILES);
    let quoted = quoted.header(
        "content-type",
        "Multipart/Form-Data; charset=utf-8; boundary=\"e dge\"",
    );
    let body = format!("--e dge\r\nContent-Disposition: {NAMED}\r\n\r\nx\r\n--e dge--");
    assert_eq!(quoted.body(body).await.status, 200);
    assert_eq!(listed(&ada).await, [("a.txt".to_owned(), 1)]);
}

#[tokio::test]
async fn a_form_may_arrive_in_any_pieces() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    // Pieces have 10,000 bytes, so the boundary after the file is at the end of the first piece and continues
    // in the second.
    for (index, size) in (9_900..9_960).step_by(3).enumerate() {
        let mut content = vec![b'x'; size];
        content.extend_from_slice(b"\r\n--edg\r\n--edge");
        content.truncate(content.len() - 1);
        let reply = ada
            .call(Method::POST, FILES)
            .file("a.txt", &content)
            .chunked()
            .await;
        assert_eq!(reply.status, 200, "{size}: {reply}");
        let back = ada.get(&format!("{FILES}/{}", index + 1)).await;
        assert!(back.body == content, "{size}");
    }
}
