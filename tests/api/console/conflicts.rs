//! Conflicts with the changes of other users, lists that became shorter, and the texts of events.

use serde_json::json;

use crate::browser::{hidden_field, text};
use crate::console::{assert_contains, assert_lacks, logged_in};
use crate::harness::{Reply, TestApp};

/// The value of a field in the form with this target.
fn form_value(page: &Reply, action: &str, name: &str) -> String {
    let html = text(page);
    let form = html.split_once(&format!("action=\"{action}\""));
    let form = form.unwrap_or_else(|| panic!("no form to {action} in {html}")).1;
    let form = form.split_once("</form>").expect("an end").0;
    let rest = form.split_once(&format!("name=\"{name}\" value=\""));
    let rest = rest.unwrap_or_else(|| panic!("no {name} in {form}")).1;
    rest.split('"')
        .next()
        .expect("a value ends")
        .replace("&quot;", "\"")
}

#[tokio::test]
async fn a_conflict_shows_the_current_value_of_each_field() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    program.create_vpc("core", &["10.0.0.0/24"]).await;
    app.user("bob").await;
    let client = app.client(&program, false).await;
    let mut ada = logged_in(&app, "ada").await;
    let of_client = format!("/account/oauth-clients/{}", client.id);
    for (form, fields, path, change, current) in [
        (
            "/vpcs/1/edit",
            [("label", "core"), ("description", "mine")],
            "/vpcs/1",
            json!({"description": "theirs"}),
            "theirs",
        ),
        (
            "/vpcs/1/subnets/1/edit",
            [("label", "mine"), ("x", "")],
            "/vpcs/1/subnets/1",
            json!({"label": "theirs"}),
            "theirs",
        ),
        (
            "/account/users/bob/edit",
            [("username", "bob"), ("email", "mine@example.com")],
            "/account/users/bob",
            json!({"email": "theirs@example.com"}),
            "theirs@example.com",
        ),
        (
            &format!("/account/clients/{}/edit", client.id),
            [("label", "Mine"), ("redirect_uri", crate::browser::CALLBACK)],
            &of_client,
            json!({"label": "Theirs"}),
            "Theirs",
        ),
    ] {
        let page = ada.get(form).await;
        let version = hidden_field(&page, "version");
        assert_eq!(program.put(path, change).await.status, 200, "{path}");
        let late = ada
            .submit(&page, form, &[&fields[..], &[("version", &version)]].concat())
            .await;
        assert_eq!(late.status, 412, "{form}: {late}");
        assert_contains(&late, &format!("Current value: <strong>{current}</strong>"));
        assert_eq!(
            text(&late).matches("Current value: ").count(),
            1,
            "only what differs: {late}"
        );
        assert_contains(&late, &format!("value=\"{}\"", fields[0].1));
    }
    // A validation error is not a conflict.
    let page = ada.get("/vpcs/1/edit").await;
    let fields = [
        ("label", "no label!"),
        ("description", "x"),
        ("version", &hidden_field(&page, "version")),
    ];
    let wrong = ada.submit(&page, "/vpcs/1/edit", &fields).await;
    assert_eq!(wrong.status, 400);
    assert_lacks(&wrong, "Current value:");
}

#[tokio::test]
async fn closing_a_ticket_conflicts_with_an_unseen_reply() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.open_ticket("Rack broken").await;
    app.user("grace").staff().await;
    let mut grace = logged_in(&app, "grace").await;
    let close = "/desk/tickets/1/close";
    let page = grace.get("/desk/tickets/1").await;
    let version = form_value(&page, close, "version");
    ada.post("/support/tickets/1/replies", json!({"description": "It burns"}))
        .await;
    let late = grace.submit(&page, close, &[("version", &version)]).await;
    assert_eq!(late.status, 412);
    assert_contains(&late, "It burns");
    assert_eq!(ada.get("/support/tickets/1").await.json()["status"], "new");
    let version = form_value(&late, close, "version");
    assert_eq!(
        grace.submit(&late, close, &[("version", &version)]).await.status,
        303
    );
}

#[tokio::test]
async fn a_page_beyond_the_last_links_to_the_first() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    let mut ada = logged_in(&app, "ada").await;
    for list in ["/vpcs", "/tickets", "/events"] {
        assert_lacks(&ada.get(&format!("{list}?page=9")).await, "This page is empty");
    }
    program.create_vpc("core", &[]).await;
    program.open_ticket("Rack broken").await;
    for list in ["/vpcs", "/tickets", "/events"] {
        let page = ada.get(&format!("{list}?page=9")).await;
        assert_eq!(page.status, 200, "{list}");
        assert_contains(&page, "This page is empty");
        assert_contains(&page, &format!("<a class=\"button main\" href=\"{list}\">"));
    }
}

#[tokio::test]
async fn events_are_complete_sentences() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    program.create_vpc("core", &[]).await;
    program.put("/profile", json!({"email": "new@example.com"})).await;
    let client = app.client(&program, false).await;
    program
        .post(
            &format!("/account/oauth-clients/{}/reset-secret", client.id),
            json!({}),
        )
        .await;
    let bob = json!({"username": "bob", "email": "bob@example.com", "restricted": true});
    program.post("/account/users", bob).await;
    program.delete("/account/users/bob").await;
    program
        .delete(&format!("/account/oauth-clients/{}", client.id))
        .await;
    let mut ada = logged_in(&app, "ada").await;
    let page = text(&ada.get("/events").await);
    let list = page.split_once("<ol class=\"events\">").expect("a list").1;
    let list = list.split_once("</ol>").expect("an end").0;
    let plain = |item: &str| -> String {
        let parts = item
            .split('<')
            .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        parts.collect()
    };
    let sentences: Vec<String> = list
        .split("<li")
        .skip(1)
        // The changed fields of an event are a list in its item.
        .filter(|item| item.contains("<time"))
        .map(|item| {
            plain(
                item.split_once('>')
                    .expect("a tag ends")
                    .1
                    .split_once("<time")
                    .expect("a time")
                    .0,
            )
        })
        .map(|sentence| sentence.trim_end_matches(" new").to_owned())
        .collect();
    for expected in [
        "ada created the VPC core",
        "ada created the user bob",
        "ada deleted the user bob",
    ] {
        assert!(
            sentences.iter().any(|sentence| sentence == expected),
            "{expected}: {sentences:?}"
        );
    }
    for sentence in &sentences {
        for end in [" of", " the", " client", " a", " profile"] {
            let is_whole = !sentence.ends_with(end)
                || sentence.ends_with("a profile")
                || sentence.ends_with("an OAuth client");
            assert!(is_whole, "incomplete: {sentence}");
        }
    }
}

#[tokio::test]
async fn after_a_conflict_unedited_fields_have_the_current_value() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    program.create_vpc("core", &[]).await;
    let mut ada = logged_in(&app, "ada").await;
    let form = "/vpcs/1/edit";
    let page = ada.get(form).await;
    let (version, was) = (hidden_field(&page, "version"), hidden_field(&page, "was.label"));
    assert_eq!(was, "core");
    program.put("/vpcs/1", json!({"label": "renamed"})).await;
    let fields = [
        ("label", "core"),
        ("was.label", "core"),
        ("description", "mine"),
        ("was.description", ""),
        ("version", &version),
    ];
    let late = ada.submit(&page, form, &fields).await;
    assert_eq!(late.status, 412);
    assert_contains(&late, "name=\"label\" value=\"renamed\"");
    assert_contains(&late, "mine</textarea>");
    assert_lacks(&late, "Current value: ");
    // If the form is submitted unchanged, it preserves the change of the other user.
    let version = hidden_field(&late, "version");
    let fields = [
        ("label", "renamed"),
        ("description", "mine"),
        ("version", &version),
    ];
    assert_eq!(ada.submit(&late, form, &fields).await.status, 303);
    let vpc = program.get("/vpcs/1").await.json();
    assert_eq!(
        (&vpc["label"], &vpc["description"]),
        (&json!("renamed"), &json!("mine"))
    );
}

#[tokio::test]
async fn a_reply_after_an_unseen_update_is_not_sent_and_lists_the_update() {
    let app = TestApp::new().await;
    app.user("grace").staff().await;
    let program = app.user("ada").await;
    program.open_ticket("Slow").await;
    let mut grace = logged_in(&app, "grace").await;
    let path = "/desk/tickets/1";
    let page = grace.get(path).await;
    let since = hidden_field(&page, "since");
    let more = json!({"description": "And now it works."});
    program.post("/support/tickets/1/replies", more).await;
    let to = format!("{path}/replies");
    let late = grace
        .submit(&page, &to, &[("description", "Try again."), ("since", &since)])
        .await;
    assert_eq!(late.status, 412);
    assert_contains(&late, "Not sent:");
    assert_contains(&late, "New since you opened this page: ");
    assert_contains(&late, ">ada replied</a>");
    assert_contains(&late, "Try again.</textarea>");
    assert_contains(&late, "tabindex=\"-1\" autofocus");
}

#[tokio::test]
async fn get_on_a_form_action_redirects_to_the_form_page() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    program.open_ticket("Slow").await;
    let mut ada = logged_in(&app, "ada").await;
    assert_eq!(
        ada.get("/tickets/1/replies").await.status,
        405,
        "programs get 405"
    );
    ada.accept = Some("text/html");
    let redirect = ada.get("/tickets/1/replies").await;
    assert_eq!(
        (redirect.status.as_u16(), redirect.header("location")),
        (303, "/tickets/1")
    );
}
