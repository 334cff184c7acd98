//! The texts of mails: changes, refusals, their effect on mails, previews and pages.

use garth::model::staff_role::StaffRole;
use hyper::Method;
use serde_json::{Value, json};

use super::outgoing_mails::{enable_mail, reply, send_due, text, to};
use crate::browser::hidden_field;
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, logged_in};
use crate::harness::{TestApp, User};
use crate::smtp_server::{Behavior, SmtpServer};

const TEMPLATES: &str = "/provider/mail-templates";
const PREVIEW: &str = "/provider/mail-templates/preview";
const RESET: &str = "/provider/mail-templates/reset";

fn one(mail: &str, introduction: &str, closing: &str) -> Value {
    json!({"mail": mail, "introduction": introduction, "closing": closing})
}

/// The template of a kind of mail in a response.
fn template(templates: &Value, mail: &str) -> Value {
    let all = templates["templates"].as_array().expect("a list");
    let found = all.iter().find(|template| template["mail"] == mail);
    found.expect("a template").clone()
}

async fn set(sam: &User<'_>, body: Value) -> Value {
    let changed = sam.put(TEMPLATES, body).await;
    assert_eq!(changed.status, 200, "{changed}");
    changed.json()
}

#[tokio::test]
async fn an_admin_changes_texts_and_restores_defaults() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let initial = sam.get(TEMPLATES).await;
    let mails = initial.json()["templates"].as_array().expect("a list").clone();
    let mails: Vec<_> = mails.iter().map(|template| template["mail"].clone()).collect();
    assert_eq!(
        mails,
        [
            "reply",
            "closed",
            "reopened",
            "opened",
            "new_ticket",
            "assigned",
            "invitation",
            "reset"
        ]
    );
    assert_eq!(
        template(&initial.json(), "invitation"),
        json!({
            "mail": "invitation", "introduction": null, "closing": null,
            "default_introduction":
                "A user was created for you at {{brand.name}}. Your username is {{recipient.username}}.",
            "default_closing": "If you did not expect this mail, ignore it.",
            "placeholders": ["recipient.username", "brand.name"],
        })
    );

    let changed = set(
        &sam,
        json!({"signature": "Harbor\r\nSupport", "templates": [one("reply", "Hello", "Bye"), one("reset", "R", "C")]}),
    )
    .await;

    assert_eq!(changed["signature"], "Harbor\nSupport");
    assert_eq!(template(&changed, "reply")["introduction"], "Hello");
    assert_eq!(sam.get(TEMPLATES).await.json(), changed);
    let stale = sam
        .call(Method::PUT, TEMPLATES)
        .header("if-match", initial.header("etag"))
        .json(&json!({"signature": "Late"}))
        .await;
    assert_eq!(stale.status, 412);
    // Omitted texts remain, and null restores a default.
    let changed = set(&sam, json!({"templates": [{"mail": "reply", "closing": null}]})).await;
    let reply = template(&changed, "reply");
    assert_eq!(
        (&reply["introduction"], &reply["closing"]),
        (&json!("Hello"), &Value::Null)
    );
    assert_eq!(template(&changed, "reset")["closing"], "C");
    assert_eq!(changed["signature"], "Harbor\nSupport");
    assert_eq!(sam.delete(TEMPLATES).await.status, 200);
    assert_eq!(sam.get(TEMPLATES).await.json(), initial.json());
}

#[tokio::test]
async fn unknown_placeholders_and_long_texts_are_refused_together() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let long = "x".repeat(1001);
    let cases = [
        (
            json!({"signature": "{{ticket.id}}", "templates": [one("reply", "{{ticket}}", &long), one("lost", "x", "x")]}),
            vec![
                "signature placeholder_unknown",
                "templates[0].introduction placeholder_unknown",
                "templates[0].closing too_long",
                "templates[1].mail choice_invalid",
            ],
        ),
        (json!({"signature": "x".repeat(501)}), vec!["signature too_long"]),
        (json!({"signature": " "}), vec!["signature too_short"]),
        (
            json!({"templates": [one("invitation", "{{ticket.summary}}", "\u{7}")]}),
            vec![
                "templates[0].introduction placeholder_unknown",
                "templates[0].closing control_characters",
            ],
        ),
        (
            json!({"templates": [{"mail": "reply", "introduction": "{{ticket.id"}]}),
            vec!["templates[0].introduction placeholder_unknown"],
        ),
        (
            json!({"templates": [{"closing": "x"}]}),
            vec!["templates[0].mail required"],
        ),
        (
            json!({"templates": vec![one("reply", "x", "x"); 9]}),
            vec!["templates out_of_range"],
        ),
    ];
    for (body, errors) in cases {
        assert_eq!(sam.put(TEMPLATES, body.clone()).await.errors(), errors, "{body}");
    }
    let refused = sam
        .put(
            TEMPLATES,
            json!({"templates": [{"mail": "reset", "closing": "{{link}}"}]}),
        )
        .await;
    assert_eq!(
        refused.reason(),
        "Unknown placeholder {{link}}; must be one of recipient.username, brand.name"
    );
    assert_eq!(sam.get(TEMPLATES).await.json()["signature"], Value::Null);
}

#[tokio::test]
async fn without_texts_of_the_provider_mails_have_exactly_the_default_texts() {
    let app = TestApp::with(enable_mail).await;
    let (ada, staff) = (app.user("ada").await, app.user("sam").staff().await);
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    reply(&staff, "An answer").await;
    let body = json!({"username": "newcomer", "email": "new@example.com", "restricted": true});
    assert_eq!(ada.post("/account/users", body).await.status, 200);
    send_due(&app, &server).await;
    let mails = server.mails();
    let plain = text(&to(&mails, "ada@example.com")[0]);
    let (before, _) = plain.split_once("Stop these mails: ").expect("a link");
    assert_eq!(
        before,
        "-- Write your reply above this line --\n\nSupport replied to ticket #1: Help\n\nAn answer\n\n\
         View the ticket: https://garth.example.net/tickets/1\n\
         Reply to this mail to answer. You get it because you take part in this ticket.\n"
    );
    let html = to(&mails, "ada@example.com")[0]
        .body_html(0)
        .expect("HTML")
        .into_owned();
    let content = "<p style=\"margin:16px 0 4px;font-weight:bold\">Support replied to ticket #1: Help</p>\
        <div style=\"white-space:pre-wrap;overflow-wrap:anywhere\">An answer</div><p style=\"margin:20px 0 0\">\
        <a href=\"https://garth.example.net/tickets/1\" style=\"color:#1757c2\">View the ticket</a></p></div></div>";
    assert!(html.contains(content), "{html}");
    let plain = text(&to(&mails, "new@example.com")[0]);
    let (before, _) = plain.split_once("Choose a password: ").expect("a link");
    assert_eq!(
        before,
        "A user was created for you at Garth. Your username is newcomer.\n\n\
         Choose a password to log in. The link works once and expires after three days.\n\n\
         If you did not expect this mail, ignore it.\n\n"
    );
}

#[tokio::test]
async fn mails_about_tickets_have_the_texts_and_the_signature() {
    let app = TestApp::with(enable_mail).await;
    let (ada, sam) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Admin).await,
    );
    let texts = json!({
        "signature": "{{brand.name}} <support>\nMonday to Friday",
        "templates": [
            one("reply", "Hello {{recipient.username}},\n{{author.name}} wrote in #{{ ticket.id }}:", "Reply bye"),
            one("closed", "Closed: {{ticket.summary}}", "Closed bye"),
            one("new_ticket", "New: {{ticket.summary}} of {{author.name}}", "Hurry"),
        ],
    });
    set(&sam, texts).await;
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Slow {{brand.name}} <b>").await;
    reply(&sam, "An answer").await;
    sam.post("/desk/tickets/1/close", json!({})).await;
    send_due(&app, &server).await;

    let mails = server.mails();
    let to_ada = &to(&mails, "ada@example.com")[0];
    let plain = text(to_ada);
    let content = "-- Write your reply above this line --\n\nHello ada,\nSupport wrote in #1:\n\nAn answer\n\n\
        Closed: Slow {{brand.name}} <b>\n\nClosed bye\n\nView the ticket: https://garth.example.net/tickets/1\n\n\
        Garth <support>\nMonday to Friday\n\nReply to this mail to answer.";
    assert!(plain.starts_with(content), "{plain}");
    let html = to_ada.body_html(0).expect("HTML").replace("\r\n", "\n");
    for part in [
        ";white-space:pre-wrap;overflow-wrap:anywhere\">Hello ada,\nSupport wrote in #1:</p>",
        ">Closed: Slow {{brand.name}} &lt;b&gt;</p>",
        ">Closed bye</p>",
        ">Garth &lt;support&gt;\nMonday to Friday</p>",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(
        !plain.contains("Reply bye"),
        "the closing is that of the last notice"
    );
    let to_sam = text(&to(&mails, "sam@example.com")[0]);
    assert!(
        to_sam.contains("New: Slow {{brand.name}} <b> of ada\n\n") && to_sam.contains("\n\nHurry\n\n"),
        "{to_sam}"
    );
}

#[tokio::test]
async fn mails_to_staff_about_replies_have_the_default_introduction() {
    let app = TestApp::with(enable_mail).await;
    let (ada, sam) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Admin).await,
    );
    set(
        &sam,
        json!({"templates": [one("reply", "Dear customer,", "Kind regards")]}),
    )
    .await;
    let server = SmtpServer::start(Behavior::Accept);
    ada.open_ticket("Help").await;
    sam.post("/desk/tickets/1/claim", json!({})).await;
    send_due(&app, &server).await;
    app.advance(60);
    let answer = json!({"description": "Still slow"});
    assert_eq!(ada.post("/support/tickets/1/replies", answer).await.status, 200);
    assert_eq!(send_due(&app, &server).await, 1);
    let mails = server.mails();
    let plain = text(to(&mails, "sam@example.com").last().expect("a mail"));
    assert!(
        plain.contains("ada replied to ticket #1: Help\n\nStill slow\n\nView"),
        "{plain}"
    );
}

#[tokio::test]
async fn mails_about_users_have_the_texts_but_no_signature() {
    let app = TestApp::with(enable_mail).await;
    let (ada, sam) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Admin).await,
    );
    let invitation = one(
        "invitation",
        "Welcome {{recipient.username}} to {{brand.name}}",
        "Write to us",
    );
    set(&sam, json!({"signature": "Harbor", "templates": [invitation]})).await;
    let server = SmtpServer::start(Behavior::Accept);
    let body = json!({"username": "newcomer", "email": "new@example.com", "restricted": true});
    assert_eq!(ada.post("/account/users", body).await.status, 200);
    send_due(&app, &server).await;
    let mails = server.mails();
    let plain = text(&to(&mails, "new@example.com")[0]);
    let content = "Welcome newcomer to Garth\n\nChoose a password to log in. The link works once and expires after \
        three days.\n\nWrite to us\n\nChoose a password: https://";
    assert!(plain.starts_with(content), "{plain}");
    assert!(!plain.contains("Harbor"), "{plain}");
}

#[tokio::test]
async fn a_preview_shows_each_mail_and_stores_nothing() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Operator).await;
    for (mail, expected) in [
        (
            "reply",
            "Support replied to ticket #12: The instance does not boot",
        ),
        ("closed", "Support closed ticket #12"),
        ("reopened", "Support reopened ticket #12"),
        ("opened", "Support opened ticket #12"),
        ("new_ticket", "ada opened ticket #12"),
        ("assigned", "noor assigned ticket #12 to you"),
        ("invitation", "Your username is ada."),
        ("reset", "requested a new password for the user ada."),
    ] {
        let preview = sam.post(PREVIEW, json!({"mail": mail})).await.json();
        let plain = preview["text"].as_str().expect("a text");
        assert!(plain.contains(expected) && !plain.contains('\r'), "{plain}");
        let body = json!({"mail": mail, "templates": [one(mail, "I <b>{{brand.name}}</b>", "C")]});
        let preview = sam.post(PREVIEW, body).await.json();
        let (plain, html) = (preview["text"].as_str(), preview["html"].as_str());
        let (plain, html) = (plain.expect("a text"), html.expect("HTML"));
        assert!(
            plain.contains("I <b>Garth</b>\n") && plain.contains("\nC\n"),
            "{mail}: {plain}"
        );
        assert!(
            html.contains(">I &lt;b&gt;Garth&lt;/b&gt;</p>") && html.contains(">C</p>"),
            "{html}"
        );
    }
    let preview = sam
        .post(PREVIEW, json!({"mail": "reply", "signature": "Harbor"}))
        .await;
    assert!(
        preview.json()["text"]
            .as_str()
            .is_some_and(|text| text.contains("\n\nHarbor\n\n"))
    );
    assert_eq!(sam.get(TEMPLATES).await.json()["signature"], Value::Null);
    assert_eq!(sam.post(PREVIEW, json!({})).await.errors(), ["mail required"]);
    let unknown = json!({"mail": "reply", "signature": "{{x}}"});
    assert_eq!(
        sam.post(PREVIEW, unknown).await.errors(),
        ["signature placeholder_unknown"]
    );
}

#[tokio::test]
async fn operators_read_the_templates_and_only_admins_change_them() {
    let app = TestApp::new().await;
    let (noor, sam) = (
        app.user("noor").role(StaffRole::Operator).await,
        app.user("sam").role(StaffRole::Support).await,
    );
    assert_eq!(noor.get(TEMPLATES).await.status, 200);
    for refused in [
        sam.get(TEMPLATES).await,
        sam.post(PREVIEW, json!({"mail": "reply"})).await,
        noor.put(TEMPLATES, json!({"signature": "x"})).await,
        noor.delete(TEMPLATES).await,
    ] {
        assert_eq!(refused.errors(), ["- role_missing"]);
    }
    let page = logged_in(&app, "noor")
        .await
        .get("/provider/mail-templates?mail=reset")
        .await;
    assert_contains(&page, "requested a new password for the user ada.");
    assert_contains(&page, "Only admins can change the texts.");
    assert_lacks(&page, "Save</button>");
    assert_contains(&page, "href=\"/provider/mail-templates?mail=closed\"");
}

#[tokio::test]
async fn the_page_previews_saves_and_restores_texts() {
    let app = TestApp::new().await;
    let user = app.user("sam").role(StaffRole::Admin).await;
    let mut sam = logged_in(&app, "sam").await;
    let page = sam.get(TEMPLATES).await;
    assert_contains(&page, "Default: {{author.name}} replied to ticket #{{ticket.id}}");
    let policy = page.header("content-security-policy").to_owned();
    assert!(
        policy.contains(
            "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline';"
        ),
        "{policy}"
    );
    let version = hidden_field(&page, "version");
    let fields = [
        ("version", version.as_str()),
        ("signature", "Harbor </iframe><script>alert(1)</script>"),
        ("templates[1].introduction", "Closed \"><script>"),
        ("templates[6].closing", "Welcome"),
        ("preview", "closed"),
    ];

    let preview = sam.submit(&page, PREVIEW, &fields).await;

    assert_eq!(preview.status, 200);
    assert_contains(&preview, "Preview: Ticket closed");
    assert_contains(&preview, "These texts are not saved yet.");
    assert_contains(&preview, "sandbox=\"\" srcdoc=\"&lt;!DOCTYPE html&gt;");
    assert_contains(&preview, "Closed &amp;quot;&amp;gt;&amp;lt;script&amp;gt;");
    assert_lacks(&preview, "<script>");
    assert_eq!(user.get(TEMPLATES).await.json()["signature"], Value::Null);

    // The links to the other mails keep the texts.
    for expected in [
        "<button class=\"link\" type=\"submit\" form=\"mail-texts\" formaction=\"/provider/mail-templates/preview\" \
         name=\"preview\" value=\"reply\">",
        "value=\"closed\" aria-current=\"true\"",
        "Welcome</textarea>",
        "href=\"/provider/suppressed-addresses\"",
        "This server sends no mail, because <code>mail.smtp_url</code> is not set.",
    ] {
        assert_contains(&preview, expected);
    }
    let unchanged = [("version", version.as_str()), ("preview", "reset")];
    let unchanged = sam.submit(&page, PREVIEW, &unchanged).await;
    assert_contains(&unchanged, "Preview: New password");
    assert_lacks(&unchanged, "These texts are not saved yet.");

    let mut restore = fields;
    restore[4] = ("restore", "closed");
    let restored = sam.submit(&page, PREVIEW, &restore).await;
    assert_contains(&restored, "Support closed ticket #12");
    assert_lacks(&restored, "Closed &quot;");
    assert_contains(&restored, "Welcome</textarea>");

    let saved = sam.submit(&page, TEMPLATES, &fields).await;
    assert_redirects_to(&saved, &format!("{TEMPLATES}?done=mail-templates-saved"));
    let stored = user.get(TEMPLATES).await.json();
    assert_eq!(template(&stored, "closed")["introduction"], "Closed \"><script>");
    assert_eq!(template(&stored, "closed")["closing"], Value::Null);
    assert_eq!(template(&stored, "invitation")["closing"], "Welcome");
    assert_eq!(sam.submit(&page, TEMPLATES, &fields).await.status, 412);

    let wrong = [("templates[0].closing", "{{ticket}}"), ("preview", "reply")];
    for url in [PREVIEW, TEMPLATES] {
        let refused = sam.submit(&page, url, &wrong).await;
        assert_eq!(refused.status, 400);
        assert_contains(&refused, "Reply, closing");
        assert_contains(
            &refused,
            "Unknown placeholder {{ticket}}; must be one of ticket.id",
        );
    }
    let page = sam.get(TEMPLATES).await;
    let reset = sam.submit(&page, RESET, &[]).await;
    assert_redirects_to(&reset, &format!("{TEMPLATES}?done=mail-templates-reset"));
    assert_eq!(
        template(&user.get(TEMPLATES).await.json(), "closed")["introduction"],
        Value::Null
    );
}
