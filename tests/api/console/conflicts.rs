//! What the console says when somebody else was faster, and when a list has become shorter.

use serde_json::json;

use crate::browser::{hidden, text};
use crate::console::{entered, has, lacks};
use crate::harness::{Reply, TestApp};

/// The value of a field in the form that goes to this address.
fn in_form(page: &Reply, action: &str, name: &str) -> String {
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
async fn a_conflict_shows_beside_each_field_how_it_is_now() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    program.creates_vpc("core", &["10.0.0.0/24"]).await;
    app.user("bob").await;
    let client = app.client(&program, false).await;
    let mut ada = entered(&app, "ada").await;
    let of_client = format!("/account/oauth-clients/{}", client.id);
    for (form, fields, path, change, told) in [
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
        let seen = hidden(&page, "seen");
        assert_eq!(program.put(path, change).await.status, 200, "{path}");
        let late = ada
            .submits(&page, form, &[&fields[..], &[("seen", &seen)]].concat())
            .await;
        assert_eq!(late.status, 412, "{form}: {late}");
        has(&late, &format!("Current value: <strong>{told}</strong>"));
        assert_eq!(
            text(&late).matches("Current value: ").count(),
            1,
            "only what differs: {late}"
        );
        has(&late, &format!("value=\"{}\"", fields[0].1));
    }
    // A refusal is no conflict.
    let page = ada.get("/vpcs/1/edit").await;
    let fields = [
        ("label", "no label!"),
        ("description", "x"),
        ("seen", &hidden(&page, "seen")),
    ];
    let wrong = ada.submits(&page, "/vpcs/1/edit", &fields).await;
    assert_eq!(wrong.status, 400);
    lacks(&wrong, "Current value:");
}

#[tokio::test]
async fn staff_do_not_close_over_a_reply_they_have_not_seen() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.opens_ticket("Rack broken").await;
    app.user("grace").staff().await;
    let mut grace = entered(&app, "grace").await;
    let close = "/desk/tickets/1/close";
    let page = grace.get("/desk/tickets/1").await;
    let seen = in_form(&page, close, "seen");
    ada.post("/support/tickets/1/replies", json!({"description": "It burns"}))
        .await;
    let late = grace.submits(&page, close, &[("seen", &seen)]).await;
    assert_eq!(late.status, 412);
    has(&late, "It burns");
    assert_eq!(ada.get("/support/tickets/1").await.json()["status"], "new");
    let seen = in_form(&late, close, "seen");
    assert_eq!(grace.submits(&late, close, &[("seen", &seen)]).await.status, 303);
}

#[tokio::test]
async fn a_page_beyond_the_last_says_so_and_leads_back() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    let mut ada = entered(&app, "ada").await;
    for list in ["/vpcs", "/tickets", "/events"] {
        lacks(&ada.get(&format!("{list}?page=9")).await, "This page is empty");
    }
    program.creates_vpc("core", &[]).await;
    program.opens_ticket("Rack broken").await;
    for list in ["/vpcs", "/tickets", "/events"] {
        let page = ada.get(&format!("{list}?page=9")).await;
        assert_eq!(page.status, 200, "{list}");
        has(&page, "This page is empty");
        has(&page, &format!("<a class=\"button main\" href=\"{list}\">"));
    }
}

#[tokio::test]
async fn events_are_whole_sentences() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    program.creates_vpc("core", &[]).await;
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
    let mut ada = entered(&app, "ada").await;
    let page = text(&ada.get("/events").await);
    let list = page.split_once("<ol class=\"events\">").expect("a list").1;
    let list = list.split_once("</ol>").expect("an end").0;
    let plain = |item: &str| -> String {
        let parts = item
            .split('<')
            .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        parts.collect()
    };
    let told: Vec<String> = list
        .split("<li")
        .skip(1)
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
        .map(|said| said.trim_end_matches(" new").to_owned())
        .collect();
    for wanted in [
        "ada created the VPC core",
        "ada created the user bob",
        "ada deleted the user bob",
    ] {
        assert!(told.iter().any(|said| said == wanted), "{wanted}: {told:?}");
    }
    for said in &told {
        for end in [" of", " the", " client", " a", " profile"] {
            let is_whole =
                !said.ends_with(end) || said.ends_with("a profile") || said.ends_with("an OAuth client");
            assert!(is_whole, "it ends in the middle: {said}");
        }
    }
}

#[tokio::test]
async fn what_nobody_typed_in_a_late_form_is_as_the_other_one_made_it() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    program.creates_vpc("core", &[]).await;
    let mut ada = entered(&app, "ada").await;
    let form = "/vpcs/1/edit";
    let page = ada.get(form).await;
    let (seen, was) = (hidden(&page, "seen"), hidden(&page, "was.label"));
    assert_eq!(was, "core");
    program.put("/vpcs/1", json!({"label": "renamed"})).await;
    let fields = [
        ("label", "core"),
        ("was.label", "core"),
        ("description", "mine"),
        ("was.description", ""),
        ("seen", &seen),
    ];
    let late = ada.submits(&page, form, &fields).await;
    assert_eq!(late.status, 412);
    has(&late, "name=\"label\" value=\"renamed\"");
    has(&late, "mine</textarea>");
    lacks(&late, "Current value: ");
    // Sent as it stands, it keeps what the other one did.
    let seen = hidden(&late, "seen");
    let fields = [("label", "renamed"), ("description", "mine"), ("seen", &seen)];
    assert_eq!(ada.submits(&late, form, &fields).await.status, 303);
    let vpc = program.get("/vpcs/1").await.json();
    assert_eq!(
        (&vpc["label"], &vpc["description"]),
        (&json!("renamed"), &json!("mine"))
    );
}

#[tokio::test]
async fn a_reply_that_was_overtaken_comes_back_with_who_did_what() {
    let app = TestApp::new().await;
    app.user("grace").staff().await;
    let program = app.user("ada").await;
    program.opens_ticket("Slow").await;
    let mut grace = entered(&app, "grace").await;
    let here = "/desk/tickets/1";
    let page = grace.get(here).await;
    let since = hidden(&page, "since");
    let more = json!({"description": "And now it is gone."});
    program.post("/support/tickets/1/replies", more).await;
    let to = format!("{here}/replies");
    let late = grace
        .submits(&page, &to, &[("description", "Try again."), ("since", &since)])
        .await;
    assert_eq!(late.status, 412);
    has(&late, "Not sent:");
    has(&late, "New since you opened this page: ");
    has(&late, ">ada replied</a>");
    has(&late, "Try again.</textarea>");
    has(&late, "tabindex=\"-1\" autofocus");
}

#[tokio::test]
async fn a_browser_that_asks_for_where_a_form_went_is_shown_the_page_with_the_form() {
    let app = TestApp::new().await;
    let program = app.user("ada").await;
    program.opens_ticket("Slow").await;
    let mut ada = entered(&app, "ada").await;
    assert_eq!(ada.get("/tickets/1/replies").await.status, 405, "for programs");
    ada.accept = Some("text/html");
    let led = ada.get("/tickets/1/replies").await;
    assert_eq!((led.status.as_u16(), led.header("location")), (303, "/tickets/1"));
}
