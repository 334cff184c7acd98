//! The form for a new ticket: errors, subjects and the preview.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::text;
use crate::console::{app_with_ada, links, logged_in};

#[tokio::test]
async fn ticket_errors_are_at_their_field_and_preserve_the_input() {
    let app = app_with_ada().await;
    let mut ada = logged_in(&app, "ada").await;
    let form = ada.get("/tickets/new").await;
    let long = "x".repeat(65);
    let fields = [
        ("summary", long.as_str()),
        ("description", "All I <typed>"),
        ("about_kind", "vpc_id"),
        ("about_id", "77"),
    ];
    let refused = ada.submit(&form, "/tickets/new", &fields).await;
    assert_eq!(refused.status, 400);
    let html = text(&refused);
    for expected in [
        "id=\"f-summary-wrong\"",
        "id=\"f-about-id-wrong\"",
        "href=\"#f-summary\"",
        "href=\"#f-about-id\"",
        "All I &lt;typed&gt;</textarea>",
        "value=\"77\"",
        "<option value=\"vpc_id\" selected>",
        &format!("value=\"{long}\""),
    ] {
        assert!(html.contains(expected), "{expected} is not in {html}");
    }
    let refused = ada
        .submit(
            &form,
            "/tickets/new",
            &[("summary", "a"), ("description", "b"), ("about", "vpc_id:9")],
        )
        .await;
    assert_eq!(refused.status, 400);
    assert!(text(&refused).contains("href=\"#f-about\""), "{refused}");

    let ticket = app.with_ticket_of(&mut ada).await;
    let page = ada.get(&format!("/tickets/{ticket}")).await;
    let refused = ada
        .submit(
            &page,
            &format!("/tickets/{ticket}/replies"),
            &[("description", "  ")],
        )
        .await;
    assert_eq!(refused.status, 400);
    assert!(text(&refused).contains("id=\"f-description-wrong\""), "{refused}");
    // The text of a late reply can still be copied.
    ada.submit(&page, &format!("/tickets/{ticket}/close"), &[]).await;
    let late = ada
        .submit(
            &page,
            &format!("/tickets/{ticket}/replies"),
            &[("description", "Wait!")],
        )
        .await;
    assert_eq!(late.status, 400);
    assert!(
        text(&late).contains("This ticket is closed") && text(&late).contains("Wait!</textarea>"),
        "{late}"
    );
}

#[tokio::test]
async fn only_visible_resources_can_be_selected_for_a_ticket() {
    let app = app_with_ada().await;
    let owner = app.user("owner").await;
    let (core, edge) = (
        owner.create_vpc("core", &[]).await,
        owner.create_vpc("edge", &[]).await,
    );
    let grace = app.user("grace").staff().await;
    let entry = json!({"account_id": app.account.0, "type": "domain", "id": 7, "label": "shop.example"});
    assert_eq!(grace.post("/desk/entities", entry).await.status, 200);
    app.user("rita").may(Grant::Vpc(core, Permission::ReadOnly)).await;

    let mut ada = logged_in(&app, "ada").await;
    let all = text(&ada.get("/tickets/new").await);
    let mut rita = logged_in(&app, "rita").await;
    let few = text(&rita.get("/tickets/new").await);
    let option = |value: &str| format!("<option value=\"{value}\"");
    for (value, for_rita) in [
        (format!("vpc_id:{core}"), true),
        (format!("vpc_id:{edge}"), false),
        ("domain_id:7".to_owned(), false),
    ] {
        assert!(all.contains(&option(&value)), "{value}: {all}");
        assert_eq!(few.contains(&option(&value)), for_rita, "{value}: {few}");
    }
    let narrowed = text(&ada.get("/tickets/new?find=EDG").await);
    assert!(
        narrowed.contains(&option(&format!("vpc_id:{edge}")))
            && !narrowed.contains(&option(&format!("vpc_id:{core}")))
    );
    // The page of a VPC links to the form.
    let links = links(&ada.get(&format!("/vpcs/{core}")).await);
    let link = links.iter().find(|link| link.starts_with("/tickets/new"));
    let from_page = text(&ada.get(link.expect("a link to open a ticket")).await);
    assert!(
        from_page.contains(&format!("{} selected", option(&format!("vpc_id:{core}")))),
        "{from_page}"
    );
    // The draft of a ticket about an object is not shown in the form for another ticket.
    assert!(
        from_page.contains(&format!("data-draft=\"ticket-vpc_id:{core}\"")),
        "{from_page}"
    );
    let of_quota = ada.get("/tickets/new?summary=Quota+increase").await;
    let sent = [("description", "More, please."), ("draft", "Quota increase")];
    let refused = ada.submit(&of_quota, "/tickets/new", &sent).await;
    for form in [&of_quota, &refused] {
        assert!(
            text(form).contains("data-draft=\"ticket-Quota increase\""),
            "{form}"
        );
    }
    assert!(text(&ada.get("/tickets/new").await).contains("data-draft=\"ticket\""));

    let form = ada.get("/tickets/new").await;
    let fields = [
        ("summary", "s"),
        ("description", "d"),
        ("about", &format!("vpc_id:{core}")),
    ];
    assert_eq!(ada.submit(&form, "/tickets/new", &fields).await.status, 303);
    assert!(text(&ada.get("/tickets/1").await).contains(&format!("<a href=\"/vpcs/{core}\">core</a>")));
}

#[tokio::test]
async fn a_preview_does_not_send() {
    let app = app_with_ada().await;
    let mut ada = logged_in(&app, "ada").await;
    let ticket = app.with_ticket_of(&mut ada).await;
    let page = ada.get(&format!("/tickets/{ticket}")).await;
    let fields = [("description", "**loud**"), ("act", "preview")];
    let shown = ada
        .submit(&page, &format!("/tickets/{ticket}/replies"), &fields)
        .await;
    let html = text(&shown);
    assert_eq!(shown.status, 200);
    assert!(
        html.contains("<strong>loud</strong>") && html.contains("**loud**</textarea>"),
        "{html}"
    );
    assert_eq!(app.with_token("x").get("/support/tickets").await.status, 401);
    assert!(!text(&ada.get(&format!("/tickets/{ticket}")).await).contains("loud"));
}

#[tokio::test]
async fn an_id_without_a_type_is_an_error_that_preserves_the_input() {
    let app = app_with_ada().await;
    app.user("linus").staff().await;
    for (name, path) in [("ada", "/tickets/new"), ("linus", "/desk/tickets/new")] {
        let mut browser = logged_in(&app, name).await;
        let form = browser.get(path).await;
        let fields = [
            ("account_id", "1"),
            ("summary", "No network"),
            ("description", "All I typed"),
            ("about_kind", ""),
            ("about_id", "77"),
        ];
        let refused = browser.submit(&form, path, &fields).await;
        assert_eq!(refused.status, 400, "{path}");
        let html = text(&refused);
        for wanted in [
            "<a href=\"#f-about-kind\">Type</a>: Choose the type of the resource, or leave its ID empty",
            "id=\"f-about-kind-wrong\"",
            "<details class=\"more\" open>",
            "value=\"77\"",
            "value=\"No network\"",
            "All I typed</textarea>",
        ] {
            assert!(html.contains(wanted), "{wanted} is not in {html}");
        }
    }
    let ada = app.user("eve").await;
    assert_eq!(ada.count("/support/tickets").await, 0, "no ticket was opened");
}
