//! Attachments: interface §4.3, decision 0015. `uploads` tests the forms.

use garth::model::grant::Permission;
use garth::model::token::hex;
use garth::rules::grants::Grant;
use hyper::Method;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::harness::{BEGINNING, TestApp, User};

const FILES: &str = "/support/tickets/1/attachments";
const FILE: &str = "/support/tickets/1/attachments/1";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[tokio::test]
async fn an_attachment_is_listed_and_downloaded_unchanged() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("No route").await;
    app.advance(5);

    let attached = ada.attach_file(1, "trace.txt", "no carrier").await;

    assert_eq!((attached.status.as_u16(), attached.json()), (200, json!({})));
    let file = json!({
        "id": 1,
        "name": "trace.txt",
        "size": 10,
        "sha256": sha256(b"no carrier"),
        "created": "2024-06-01T12:00:05",
        "created_by": "ada",
    });
    let list = ada.get(FILES).await;
    assert_eq!(
        list.json(),
        json!({"data": [file], "page": 1, "pages": 1, "results": 1})
    );
    let text = String::from_utf8_lossy(&list.body).into_owned();
    let keys = ["id", "name", "size", "sha256", "created", "created_by"];
    assert!(keys.map(|key| text.find(&format!("\"{key}\":"))).is_sorted());
    assert_eq!(ada.get(FILE).await.body, "no carrier");
}

#[tokio::test]
async fn a_download_is_never_displayed_inline() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    ada.attach_file(1, "Grüße 100%.PNG", PNG).await;

    for method in [Method::GET, Method::HEAD] {
        let file = ada.call(method.clone(), FILE).await;
        assert_eq!(file.status, 200);
        assert_eq!(file.header("content-type"), "image/png");
        assert_eq!(file.header("content-length"), PNG.len().to_string());
        assert_eq!(file.header("etag"), format!("\"{}\"", sha256(PNG)));
        assert_eq!(
            file.header("content-disposition"),
            "attachment; filename=\"Gr__e 100_.PNG\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe%20100%25.PNG"
        );
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        assert_eq!(
            file.header("content-security-policy"),
            "default-src 'none'; sandbox"
        );
        let sent: &[u8] = if method == Method::GET { PNG } else { b"" };
        assert_eq!(file.body, sent);
    }
}

#[tokio::test]
async fn every_extension_has_its_content_type() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let (jpeg, tiff): (&[u8], &[u8]) = (b"\xff\xd8\xff\xe0", b"II*\0");
    for (index, (name, content, kind)) in [
        ("a.gif", &b"GIF89a"[..], "image/gif"),
        ("a.jpg", jpeg, "image/jpeg"),
        ("a.jpeg", jpeg, "image/jpeg"),
        ("a.pjpg", jpeg, "image/jpeg"),
        ("a.pjpeg", jpeg, "image/jpeg"),
        ("a.tif", tiff, "image/tiff"),
        ("a.tiff", b"MM\0*", "image/tiff"),
        ("a.png", PNG, "image/png"),
        ("a.pdf", b"%PDF-1.7", "application/pdf"),
        ("a.TxT", b"words", "text/plain"),
    ]
    .into_iter()
    .enumerate()
    {
        let attached = ada.attach_file(1, name, content).await;
        assert_eq!(attached.status, 200, "{name}: {attached}");
        let file = ada.get(&format!("{FILES}/{}", index + 1)).await;
        assert_eq!((file.header("content-type"), &file.body[..]), (kind, content));
    }
}

#[tokio::test]
async fn a_known_file_is_not_sent_again() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    ada.attach_file(1, "a.txt", "words").await;
    let tag = format!("\"{}\"", sha256(b"words"));

    let again = ada.call(Method::GET, FILE).header("if-none-match", &tag).await;

    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    assert_eq!(again.header("etag"), tag);
    let other = ada.call(Method::GET, FILE).header("if-none-match", "\"x\"").await;
    assert_eq!((other.status.as_u16(), &other.body[..]), (200, &b"words"[..]));
}

#[tokio::test]
async fn an_upload_updates_the_ticket_and_records_an_event() {
    let app = TestApp::new().await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    ada.open_ticket("Look").await;
    app.advance(60);
    bob.attach_file(1, "a.txt", "words").await;

    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(ticket["attachments"], json!(["a.txt"]));
    assert_eq!(ticket["updated"], "2024-06-01T12:01:00");
    assert_eq!(ticket["updated_by"], "bob");
    assert_eq!(
        (&ticket["opened"], &ticket["status"]),
        (&json!(BEGINNING), &json!("new"))
    );
    assert_eq!(
        ada.events().await,
        ["ticket_create 1", "ticket_attachment_upload 1"]
    );
    let recorded = ada.get("/account/events").await.data().remove(0);
    assert_eq!(recorded["username"], "bob");
    assert_eq!(recorded["entity"]["type"], "ticket");
}

#[tokio::test]
async fn a_refused_file_does_not_change_the_ticket() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let before = ada.get("/support/tickets/1").await;
    app.advance(60);

    assert_eq!(ada.attach_file(1, "a.exe", "words").await.status, 400);

    let after = ada.get("/support/tickets/1").await;
    assert_eq!(
        (after.header("etag"), after.json()),
        (before.header("etag"), before.json())
    );
    assert_eq!(ada.events().await, ["ticket_create 1"]);
    assert_eq!(ada.count(FILES).await, 0);
    assert_eq!(app.stored_files.names().len(), 0);
}

#[tokio::test]
async fn files_may_have_the_same_name_and_the_same_content() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    for content in ["one", "two", "one"] {
        assert_eq!(ada.attach_file(1, "a.txt", content).await.status, 200);
    }

    assert_eq!(ada.get(FILES).await.ids(), [1, 2, 3]);
    for (id, content) in [(1, "one"), (2, "two"), (3, "one")] {
        assert_eq!(ada.get(&format!("{FILES}/{id}")).await.body, content);
    }
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(ticket["attachments"], json!(["a.txt", "a.txt", "a.txt"]));
    assert_eq!(app.stored_files.names().len(), 3);
}

#[tokio::test]
async fn a_file_is_found_only_under_its_ticket() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    ada.open_ticket("Another").await;
    ada.attach_file(1, "a.txt", "words").await;

    for nowhere in [
        "/support/tickets/2/attachments/1",
        "/support/tickets/1/attachments/2",
        "/support/tickets/1/attachments/x",
        "/support/tickets/9/attachments/1",
    ] {
        assert_eq!(ada.get(nowhere).await.status, 404, "{nowhere}");
    }
    assert_eq!(ada.attach_file(9, "a.txt", "words").await.status, 404);
}

#[tokio::test]
async fn a_list_of_files_can_be_filtered() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    for (name, content) in [("a.txt", "a"), ("b.txt", "bb"), ("c.txt", "ccc")] {
        ada.attach_file(1, name, content).await;
    }

    for (filter, ids) in [
        (json!({"name": "b.txt"}), vec![2]),
        (json!({"size": {"+gte": 2}}), vec![2, 3]),
        (json!({"sha256": sha256(b"a")}), vec![1]),
        (
            json!({"created_by": "ada", "+order_by": "size", "+order": "desc"}),
            vec![3, 2, 1],
        ),
    ] {
        assert_eq!(
            ada.filter(FILES, &filter.to_string()).await.ids(),
            ids,
            "{filter}"
        );
    }
}

#[tokio::test]
async fn a_closed_ticket_refuses_files_after_validating_the_form() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    ada.attach_file(1, "a.txt", "words").await;
    assert_eq!(ada.post("/support/tickets/1/close", json!({})).await.status, 200);

    let late = ada.attach_file(1, "b.txt", "words").await;
    assert_eq!(
        (late.status.as_u16(), late.errors()),
        (400, vec!["- ticket_closed".into()])
    );
    let wrong = ada.post(FILES, json!({})).await;
    assert_eq!(wrong.errors(), ["- media_type_unsupported"]);
    assert_eq!(ada.get(FILES).await.ids(), [1]);
    assert_eq!(ada.get(FILE).await.status, 200);
}

#[tokio::test]
async fn an_upload_with_an_outdated_tag_is_refused() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;
    let tag = ada.get("/support/tickets/1").await.header("etag").to_owned();
    let attach = |tag: &str| {
        let call = ada.call(Method::POST, FILES).header("if-match", tag);
        call.file("a.txt", "words")
    };

    assert_eq!(attach("\"x\"").await.errors(), ["- precondition_failed"]);
    assert_eq!(attach(&tag).await.status, 200);
    let stale = attach(&tag).await;
    assert_eq!(
        (stale.status.as_u16(), stale.errors()),
        (412, vec!["- precondition_failed".into()])
    );
    assert_eq!(attach("*").await.status, 200);
    assert_eq!(ada.count(FILES).await, 2);
    assert_eq!(app.stored_files.names().len(), 2);
}

#[tokio::test]
async fn reading_and_attaching_files_need_read_and_write_access_to_the_ticket() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let opener = app.user("opener").restricted().await;
    let reader = app
        .user("reader")
        .may(Grant::AccountAccess(Permission::ReadOnly))
        .await;
    let writer = app
        .user("writer")
        .may(Grant::AccountAccess(Permission::ReadWrite))
        .await;
    let restricted = app.user("carl").restricted().await;
    let foreigner = app.user("foreigner").of(app.another_account().await).await;
    let agent = app.user("agent").staff().await;
    opener.open_ticket("Look").await;

    let mut attached = 0;
    for (user, attach, see) in [
        (&opener, 200, 200),
        (&ada, 200, 200),
        (&reader, 403, 200),
        (&writer, 200, 200),
        (&restricted, 404, 404),
        (&foreigner, 404, 404),
        (&agent, 403, 403),
        (&app.anonymous(), 401, 401),
    ] {
        let reply = user.attach_file(1, "a.txt", "words").await;
        assert_eq!(reply.status, attach, "{reply}");
        attached += i64::from(attach == 200);
        for path in [FILES, FILE] {
            assert_eq!(user.get(path).await.status, see, "{path}");
        }
        assert_eq!(ada.count(FILES).await, attached);
    }
    assert_eq!(app.stored_files.names().len(), 3);
}

#[tokio::test]
async fn access_errors_precede_form_errors() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let reader = app
        .user("reader")
        .may(Grant::AccountAccess(Permission::ReadOnly))
        .await;
    let restricted = app.user("carl").restricted().await;
    ada.open_ticket("Look").await;

    assert_eq!(reader.post(FILES, json!({})).await.status, 403);
    assert_eq!(restricted.post(FILES, json!({})).await.status, 404);
    let stale = ada.call(Method::POST, FILES).header("if-match", "\"x\"");
    assert_eq!(stale.json(&json!({})).await.status, 412);
}

#[tokio::test]
async fn each_download_by_staff_is_only_recorded_in_the_history() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let agent = app.user("agent").staff().await;
    ada.open_ticket("Look").await;
    ada.attach_file(1, "a.txt", "words").await;
    let desk = agent.get("/desk/tickets/1").await;
    let ticket = ada.get("/support/tickets/1").await;
    let events = ada.events().await;
    app.advance(60);

    let listed = agent.get("/desk/tickets/1/attachments").await;
    assert_eq!(listed.json(), ada.get(FILES).await.json());
    let file = agent.get("/desk/tickets/1/attachments/1").await;

    let own = ada.get(FILE).await;
    assert_eq!((file.status, &file.body), (own.status, &own.body));
    for header in ["content-type", "content-disposition", "content-length", "etag"] {
        assert_eq!(file.header(header), own.header(header));
    }
    assert_eq!(
        steps(&agent).await,
        ["opened ada", "attachment ada", "download agent"]
    );
    let last = agent.get("/desk/tickets/1/history").await.data().remove(2);
    assert_eq!(
        (&last["after"], &last["attachment_id"]),
        (&json!("a.txt"), &json!(1))
    );
    assert_eq!(last["created"], "2024-06-01T12:01:00");
    assert_eq!(
        agent.get("/desk/tickets/1").await.header("etag"),
        desk.header("etag")
    );
    assert_eq!(
        ada.get("/support/tickets/1").await.header("etag"),
        ticket.header("etag")
    );
    assert_eq!(ada.events().await, events);
    assert_eq!(agent.get("/desk/tickets/1/attachments/2").await.status, 404);
    // A response without content is not a download.
    let file = "/desk/tickets/1/attachments/1";
    assert_eq!(agent.call(Method::HEAD, file).await.status, 200);
    let known = agent
        .call(Method::GET, file)
        .header("if-none-match", own.header("etag"));
    assert_eq!(known.await.status, 304);
    assert_eq!(steps(&agent).await.len(), 3);
}

#[tokio::test]
async fn a_tag_that_only_contains_the_hash_does_not_hide_a_download() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let agent = app.user("agent").staff().await;
    ada.open_ticket("Look").await;
    ada.attach_file(1, "a.txt", "words").await;
    let hash = sha256(b"words");
    let file = "/desk/tickets/1/attachments/1";

    let others = [
        format!("x{hash}"),
        format!("\"x{hash}\""),
        format!("\"{hash}x\""),
        format!("\"x\", \"{hash}\" x"),
        format!("\"a, \"{hash}"),
        hash.clone(),
        "\"*\"".to_owned(),
    ];
    for (already, known) in others.iter().enumerate() {
        let reply = agent.call(Method::GET, file).header("if-none-match", known).await;
        assert_eq!(
            (reply.status.as_u16(), reply.body.as_ref()),
            (200, &b"words"[..]),
            "{known}"
        );
        assert_eq!(steps(&agent).await.len(), 3 + already, "{known}");
    }
    for known in [
        format!("\"{hash}\""),
        format!("\"a,b\", W/\"{hash}\""),
        "*".to_owned(),
    ] {
        let reply = agent
            .call(Method::GET, file)
            .header("if-none-match", &known)
            .await;
        assert_eq!((reply.status.as_u16(), reply.body.len()), (304, 0), "{known}");
    }
    assert_eq!(steps(&agent).await.len(), 2 + others.len());
}

/// The history of the first ticket: `opened ada`.
async fn steps(agent: &User<'_>) -> Vec<String> {
    let history = agent.get("/desk/tickets/1/history").await;
    let step = |step: &serde_json::Value| {
        let word = |key: &str| step[key].as_str().expect("a word").to_owned();
        format!("{} {}", word("action"), word("created_by"))
    };
    history.data().iter().map(step).collect()
}
