//! Texts, names and files that try to run in the browser of another user.

use serde_json::json;

use super::tickets::PNG;
use crate::browser::text;
use crate::console::{app_with_ada, assert_redirects_to, logged_in};

/// A text that must be escaped.
const SCRIPT: &str = "<script>alert(1)</script>";

#[tokio::test]
async fn hostile_texts_names_and_files_are_harmless() {
    let app = app_with_ada().await;
    let eve = app.user("eve").await;
    let vpc = eve.create_vpc("core", &[]).await;
    let text_of_ticket = format!(
        "{SCRIPT} <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![p](https://evil.example/p.png) \"'><svg onload=alert(1)>"
    );
    let body = json!({"summary": format!("a{SCRIPT}"), "description": text_of_ticket, "vpc_id": vpc.0});
    assert_eq!(eve.post("/support/tickets", body).await.status, 200);
    eve.post(
        "/support/tickets/1/replies",
        json!({"description": text_of_ticket}),
    )
    .await;
    let name = "\"><img src=x onerror=alert(1)>.png";
    assert_eq!(
        eve.attach_file(1, &name.replace('"', "%22"), PNG).await.status,
        200
    );
    let grace = app.user("grace").staff().await;
    grace
        .post("/desk/tickets/1/notes", json!({"description": text_of_ticket}))
        .await;
    grace
        .post(
            "/desk/canned-replies",
            json!({"label": SCRIPT, "description": format!("{SCRIPT} {{{{ticket.summary}}}}")}),
        )
        .await;

    grace
        .put("/desk/tickets/1", json!({"tags": ["<b>bold</b>\"><script>"]}))
        .await;
    let hostile_view = json!({"label": SCRIPT, "filters": {"q": SCRIPT, "tag": SCRIPT}});
    assert_eq!(grace.post("/desk/views", hostile_view).await.status, 200);

    let mut tenant = logged_in(&app, "eve").await;
    let mut staff = logged_in(&app, "grace").await;
    let mut count = 0;
    for path in ["/tickets", "/tickets/1", "/events", "/tickets/new"] {
        assert_harmless(path, &text(&tenant.get(path).await));
        count += 1;
    }
    let (query, form) = (
        format!("/tickets?q={}", "%3Cscript%3E"),
        tenant.get("/tickets/new").await,
    );
    assert_harmless(&query, &text(&tenant.get(&query).await));
    let again = tenant
        .submit(
            &form,
            "/tickets/new",
            &[("summary", SCRIPT), ("description", SCRIPT), ("act", "preview")],
        )
        .await;
    assert_harmless("preview", &text(&again));
    for path in [
        "/desk",
        "/desk/tickets/1",
        "/desk/tickets/1?canned=1",
        "/desk/tickets/1?canned=1&use=1",
        "/desk/canned-replies",
        "/desk/canned-replies/1",
        "/desk/views",
        "/desk/views/new?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    ] {
        assert_harmless(path, &text(&staff.get(path).await));
        count += 1;
    }
    assert_eq!(count, 12);

    // Files are downloaded, not displayed; SVG files are rejected.
    for (browser, path) in [
        (&mut tenant, "/tickets/1/attachments/1"),
        (&mut staff, "/desk/tickets/1/attachments/1"),
    ] {
        let file = browser.get(path).await;
        assert_eq!(file.status, 200);
        assert!(
            file.header("content-disposition").starts_with("attachment; "),
            "{:?}",
            file.headers
        );
        assert_eq!(
            file.header("content-security-policy"),
            "default-src 'none'; sandbox"
        );
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        assert_eq!(file.body, PNG);
    }
    let page = tenant.get("/tickets/1").await;
    let to = format!(
        "/tickets/1/attachments?form_token={}",
        crate::browser::hidden_field(&page, "form_token")
    );
    let svg = tenant.upload(&to, "x.svg", b"<svg onload=alert(1)>", &[]).await;
    assert_redirects_to(&svg, "/tickets/1");
    let svg = tenant.upload(&to, "x.png", b"<svg onload=alert(1)>", &[]).await;
    assert_redirects_to(&svg, "/tickets/1");
}

/// Asserts that a page has no foreign elements, scripts, images or event handlers. Images of tickets are ours.
pub fn assert_harmless(name: &str, html: &str) {
    assert!(html.contains("</html>"), "{name}: {html}");
    let ours = [
        "<script src=\"/console/",
        "<img src=\"/tickets/",
        "<img src=\"/desk/tickets/",
    ];
    let without_ours = ours
        .iter()
        .fold(html.to_owned(), |html, ours| html.replace(ours, ""));
    for bad in [
        "<script",
        "<img",
        "onload=alert(1)>\"",
        "href=\"javascript",
        "src=\"http",
        "<svg onload",
        "style=\"",
    ] {
        assert!(!without_ours.contains(bad), "{name}: {bad} is in {html}");
    }
    for tag in html
        .split('<')
        .skip(1)
        .map(|rest| rest.split('>').next().unwrap_or_default())
    {
        let attributes = tag.split('"').step_by(2).collect::<String>();
        assert!(!attributes.contains(" on"), "{name}: <{tag}>");
    }
}
