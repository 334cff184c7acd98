//! The desk's pages about a customer: address maps, and tickets that staff open for the customer.

use garth::model::grant::Permission;
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::{hidden_field, text};
use crate::console::desk::{app_with_desk, page_of};
use crate::console::{
    assert_contains, assert_has_anchor, assert_lacks, assert_redirects_to, links, logged_in,
};
use crate::harness::User;

/// Tickets about the first VPC, about two instances, and without a resource.
async fn open_four_tickets(ada: &User<'_>) {
    for about in [Some("vpc_id"), Some("linode_id"), Some("linode_id"), None]
        .into_iter()
        .enumerate()
    {
        let mut ticket = json!({"summary": "It is slow", "description": "Since noon"});
        if let (at, Some(field)) = about {
            ticket[field] = json!(at.max(1));
        }
        assert_eq!(ada.post("/support/tickets", ticket).await.status, 200);
    }
}

#[tokio::test]
async fn staff_see_the_addresses_of_an_instance_and_the_holder_of_an_address() {
    let app = app_with_desk().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.9.0.0/16"]).await;
    ada.create_instance_on(1).await;
    ada.create_instance_on(2).await;
    open_four_tickets(&ada).await;
    let mut grace = logged_in(&app, "grace").await;
    let subnet_page = |ticket: i64, subnet: i64| format!("/desk/tickets/{ticket}/vpc/subnets/{subnet}");
    // In the sidebar: the addresses of the instance, with links.
    let page = page_of(&mut grace, 2).await;
    assert_contains(
        &page,
        &format!(
            "<a href=\"{}#interface-1\"><code>10.0.0.2</code></a>",
            subnet_page(2, 1)
        ),
    );
    assert_contains(&page, "in subnet a <code>10.0.0.0/24</code>");
    assert_lacks(&page, "10.9.0.2");
    let page = page_of(&mut grace, 3).await;
    assert_contains(
        &page,
        &format!(
            "<a href=\"{}?interface=2#interface-2\"><code>10.9.0.2</code></a>",
            subnet_page(3, 2)
        ),
    );
    // The links lead to single addresses.
    for (ticket, way) in [
        (1, "/desk/tickets/1"),
        (1, "/desk/tickets/1/vpc"),
        (2, "/desk/tickets/2/vpc"),
    ] {
        let links = links(&grace.get(way).await);
        assert!(links.contains(&subnet_page(ticket, 1)), "{way}: {links:?}");
    }
    let small = grace.get(&subnet_page(1, 1)).await;
    assert_has_anchor(&small, "interface-1");
    for page in [small, grace.get(&subnet_page(1, 2)).await] {
        assert_eq!(page.status, 200);
        for link in links(&page) {
            assert!(!link.starts_with("/vpcs"), "staff cannot go there: {link}");
        }
        assert_lacks(&page, ">Edit<");
    }
    let large = grace.get(&format!("{}?interface=2", subnet_page(3, 2))).await;
    assert_has_anchor(&large, "interface-2");
    // Other VPCs are not found.
    let eve = app.user("eve").of(app.another_account().await).await;
    eve.create_vpc("hers", &["10.0.0.0/24"]).await;
    for nowhere in [
        subnet_page(1, 3),
        subnet_page(4, 1),
        format!("{}?in=10.9.0.0/24", subnet_page(1, 1)),
    ] {
        assert_eq!(grace.get(&nowhere).await.status, 404, "{nowhere}");
    }
    let mut ada = logged_in(&app, "ada").await;
    assert_eq!(ada.get(&subnet_page(1, 1)).await.status, 403);
}

#[tokio::test]
async fn the_form_for_a_customer_ticket_shows_the_account() {
    let app = app_with_desk().await;
    let ada = app.user("ada").await;
    let vpc = ada.create_vpc("core", &[]).await;
    let mut grace = logged_in(&app, "grace").await;
    let form = grace.get("/desk/tickets/new").await;
    assert_contains(&form, "name=\"act\" value=\"account\"");
    let path = "/desk/tickets/new";
    let typed = [
        ("account_id", "1"),
        ("summary", "Works"),
        ("description", "At *night*"),
        ("priority", "high"),
    ];
    let shown = grace
        .submit(&form, path, &[&typed[..], &[("act", "account")]].concat())
        .await;
    assert_eq!(shown.status, 200);
    assert_contains(&shown, "<strong>Example</strong> · owner@example.com");
    assert_contains(&shown, &format!("<option value=\"vpc_id:{vpc}\""));
    assert_contains(&shown, "value=\"Works\"");
    assert_contains(&shown, "At *night*</textarea>");
    assert_contains(&shown, "<option value=\"high\" selected>");
    // The script loads the same content with a query.
    assert_contains(
        &grace.get("/desk/tickets/new?account_id=1").await,
        "<strong>Example</strong> · owner@example.com",
    );
    for name in ["exam", "EXAMPLE", "owner@example.com"] {
        assert_contains(
            &grace.get(&format!("/desk/tickets/new?account_id={name}")).await,
            "<strong>Example</strong> · owner@example.com",
        );
    }
    for unknown in ["77", "Tidewater"] {
        let page = grace
            .get(&format!("/desk/tickets/new?account_id={unknown}"))
            .await;
        assert_contains(&page, "No account matches.");
    }
    assert_lacks(&form, "No account matches.");
    // A complete name has priority over parts of names.
    app.another_account().await;
    let page = grace.get("/desk/tickets/new?account_id=example").await;
    assert_contains(&page, "<strong>Example</strong>");
    let page = grace.get("/desk/tickets/new?account_id=example.com").await;
    assert_contains(&page, "2 accounts match.");
    assert_eq!(ada.count("/support/tickets").await, 0);
}

#[tokio::test]
async fn the_form_for_an_account_has_its_own_draft() {
    let app = app_with_desk().await;
    app.user("ada").await;
    let mut grace = logged_in(&app, "grace").await;
    let (path, account) = ("/desk/tickets/new", "data-draft-account=\"1\"");
    let form = grace.get(path).await;
    assert_contains(&form, "data-draft=\"desk-ticket\"");
    assert_lacks(&form, "data-draft-account");
    let typed = [("account_id", "1"), ("summary", ""), ("description", "At night")];
    // Without a link, an error does not make it the draft of the account.
    let wrong = grace.submit(&form, path, &typed).await;
    assert_eq!(wrong.status, 400);
    assert_lacks(&wrong, "data-draft-account");
    let form = grace.get("/desk/tickets/new?account_id=1").await;
    assert_contains(&form, account);
    let linked = [&typed[..], &[("linked_account", "1")]].concat();
    let wrong = grace.submit(&form, path, &linked).await;
    assert_eq!(wrong.status, 400);
    assert_contains(&wrong, account);
}

#[tokio::test]
async fn a_customer_ticket_that_is_submitted_twice_is_opened_once() {
    let app = app_with_desk().await;
    let ada = app.user("ada").await;
    let mut grace = logged_in(&app, "grace").await;
    let path = "/desk/tickets/new";
    let form = grace.get(path).await;
    let newest = hidden_field(&form, "newest");
    let typed = |newest: &str, summary: &str| {
        [
            ("account_id", "1"),
            ("summary", summary),
            ("description", "At night"),
            ("newest", newest),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let mut send = async |newest: &str, summary: &str| {
        let fields = typed(newest, summary);
        let fields: Vec<_> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        grace.submit(&form, path, &fields).await
    };
    assert_redirects_to(
        &send(&newest, "Works").await,
        "/desk/tickets/1?done=ticket-opened-for-customer",
    );
    // Submit it on the original page, and on a page that was rendered again.
    for newest in [newest.as_str(), "1"] {
        let again = send(newest, "Works").await;
        assert_redirects_to(&again, "/desk/tickets/1?done=ticket-opened-before");
    }
    assert_redirects_to(
        &send(&newest, "More works").await,
        "/desk/tickets/2?done=ticket-opened-for-customer",
    );
    assert_eq!(ada.count("/support/tickets").await, 2);
}

#[tokio::test]
async fn staff_open_close_and_reopen_tickets_for_customers() {
    let app = app_with_desk().await;
    let ada = app.user("ada").await;
    let vpc = ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let mut grace = logged_in(&app, "grace").await;
    let form = grace.get("/desk/tickets/new?account_id=1").await;
    assert!(
        text(&form).contains(&format!("<option value=\"vpc_id:{vpc}\"")),
        "{form}"
    );
    let wrong = grace
        .submit(
            &form,
            "/desk/tickets/new",
            &[("summary", "Works"), ("description", "x"), ("account_id", "77")],
        )
        .await;
    assert_eq!(wrong.status, 400);
    assert!(
        text(&wrong).contains("Account not found") && text(&wrong).contains("value=\"Works\""),
        "{wrong}"
    );
    let named = grace
        .submit(
            &form,
            "/desk/tickets/new",
            &[
                ("summary", "Works"),
                ("description", "x"),
                ("account_id", "Harbor"),
            ],
        )
        .await;
    assert_eq!(named.status, 400);
    assert!(
        text(&named).contains("Choose an account from the list"),
        "{named}"
    );
    // A part of a name must be confirmed, unless the page has shown the account: it can match an account that staff did
    // not mean.
    let part = [("summary", "Works"), ("description", "x"), ("account_id", "exam")];
    let part = grace.submit(&form, "/desk/tickets/new", &part).await;
    assert_eq!(part.status, 400);
    assert_contains(&part, "Check that this is the account");
    assert_contains(
        &part,
        "name=\"account_id\" list=\"accounts\" required autocomplete=\"off\" value=\"1\"",
    );
    let about = format!("vpc_id:{vpc}");
    let fields = [
        ("summary", "Works"),
        ("description", "At night"),
        ("account_id", "exam"),
        ("shown_account", "1"),
        ("about", about.as_str()),
        ("priority", "high"),
        ("closable", "on"),
    ];
    let opened = grace.submit(&form, "/desk/tickets/new", &fields).await;
    assert_eq!(
        opened.header("location"),
        "/desk/tickets/1?done=ticket-opened-for-customer"
    );
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(
        (
            &ticket["closable"],
            &ticket["entity"]["label"],
            &ticket["opened_by"]
        ),
        (&json!(true), &json!("core"), &json!("Support"))
    );

    let page = grace.get("/desk/tickets/1").await;
    let html = text(&page);
    assert!(
        html.contains("priority high") && html.contains("/desk/tickets/1/vpc"),
        "{html}"
    );
    let map = text(&grace.get("/desk/tickets/1/vpc").await);
    assert!(map.contains("10.0.0.0/24") && map.contains("core"), "{map}");
    ada.open_ticket("About nothing").await;
    assert_eq!(grace.get("/desk/tickets/2/vpc").await.status, 404);

    assert_eq!(
        grace.submit(&page, "/desk/tickets/1/close", &[]).await.status,
        303
    );
    let html = text(&grace.get("/desk/tickets/1").await);
    assert!(
        html.contains("Reopen")
            && !html.contains("Send reply to customer")
            && html.contains("Save internal note"),
        "{html}"
    );
    assert!(
        html.contains(
            "This ticket is closed. Reopen it to reply or to assign it. You can still write internal notes."
        ),
        "{html}"
    );
    let late = grace
        .submit(&page, "/desk/tickets/1/replies", &[("description", "Long words")])
        .await;
    assert_eq!(late.status, 400);
    assert!(text(&late).contains("Long words</textarea>"), "{late}");
    assert_eq!(
        grace.submit(&page, "/desk/tickets/1/reopen", &[]).await.status,
        303
    );
    grace
        .submit(
            &page,
            "/desk/tickets/1/change",
            &[("priority", "low"), ("may_close", "no")],
        )
        .await;
    let html = text(&grace.get("/desk/tickets/1").await);
    for step in [
        "closed the ticket",
        "reopened the ticket",
        "changed the priority from high to low",
        "stopped the customer from closing the ticket",
    ] {
        assert!(html.contains(step), "{step} is not in {html}");
    }
}

#[tokio::test]
async fn a_ticket_shows_the_address_map_of_its_vpc() {
    let app = app_with_desk().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.9.0.0/16"]).await;
    ada.create_vpc("edge", &["192.168.0.0/24"]).await;
    ada.create_instance_on(1).await;
    let alone = json!({"label": "alone", "type": "g6-nanode-1", "region": "us-east"});
    ada.post("/compute/instances", alone).await;
    open_four_tickets(&ada).await;
    let mut grace = logged_in(&app, "grace").await;
    for ticket in [1, 2] {
        let path = format!("/desk/tickets/{ticket}");
        let there = format!("{path}/vpc");
        let (page, whole) = (grace.get(&path).await, grace.get(&there).await);
        for page in [&page, &whole] {
            assert_contains(page, "<title>a 10.0.0.0/24: 1 of 252 in use (&lt;1%)</title>");
            assert_contains(page, "<title>b 10.9.0.0/16: 0 of 65,532 in use</title>");
            assert_lacks(page, "192.168.0.0/24");
            let links = links(page);
            assert!(
                !links.iter().any(|link| link.starts_with("/vpcs")),
                "staff cannot go there: {links:?}"
            );
            assert!(links.contains(&format!("{there}/subnets/2")), "{links:?}");
        }
    }
    for ticket in [3, 4] {
        assert_lacks(&grace.get(&format!("/desk/tickets/{ticket}")).await, "Map of ");
        let nothing = grace.get(&format!("/desk/tickets/{ticket}/vpc")).await;
        assert_eq!(nothing.status, 404);
    }
    // A deleted VPC has no map.
    ada.delete("/vpcs/2").await;
    ada.delete("/compute/instances/1").await;
    ada.delete("/vpcs/1").await;
    let page = grace.get("/desk/tickets/1").await;
    assert_eq!(page.status, 200);
    assert_lacks(&page, "Map of ");
}

#[tokio::test]
async fn a_ticket_shows_the_20_newest_vpcs_of_its_instance() {
    let app = app_with_desk().await;
    let ada = app.user("ada").await;
    for number in 1..=22 {
        ada.create_vpc(&format!("vpc-number-{number}"), &["10.0.0.0/24"])
            .await;
    }
    ada.create_instance_on(1).await;
    for subnet in 2..=21 {
        let config = json!({"label": "boot", "interfaces": [{"purpose": "vpc", "subnet_id": subnet}]});
        let created = ada.post("/linode/instances/1/configs", config).await;
        assert_eq!(created.status, 200, "{created}");
    }
    let ticket = json!({"summary": "It is slow", "description": "Since noon", "linode_id": 1});
    assert_eq!(ada.post("/support/tickets", ticket).await.status, 200);
    let mut grace = logged_in(&app, "grace").await;
    for path in ["/desk/tickets/1", "/desk/tickets/1/vpc"] {
        let page = grace.get(path).await;
        assert_contains(&page, "vpc-number-2");
        assert_contains(&page, "vpc-number-21");
        assert_contains(&page, "Older VPCs of the instance, not shown: 1");
        assert_lacks(&page, "vpc-number-1<");
        assert_lacks(&page, "vpc-number-1 ");
    }
    for (subnet, status) in [(1, 200), (21, 200), (22, 404), (23, 404)] {
        let page = grace.get(&format!("/desk/tickets/1/vpc/subnets/{subnet}")).await;
        assert_eq!(page.status, status, "subnet {subnet}");
    }
}

#[tokio::test]
async fn a_ticket_says_which_users_can_read_it() {
    let app = app_with_desk().await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    let reader = Grant::AccountAccess(Permission::ReadOnly);
    let cleo = app.user("cleo").restricted().may(reader).await;
    let dora = app.user("dora").restricted().await;
    let eve = app.user("eve").of(app.another_account().await).await;
    bob.open_ticket("Opened by bob").await;
    ada.open_ticket("Opened by ada").await;
    let provider = json!({"account_id": 1, "summary": "Works", "description": "."});
    app.user("sam")
        .staff()
        .await
        .post("/desk/tickets", provider)
        .await;
    let mut grace = logged_in(&app, "grace").await;
    let section = |names: &str| {
        format!(
            "<dt>Who can read this ticket</dt><dd>{names}<br>\
             <span class=\"quiet small\">Internal notes: staff only</span></dd>"
        )
    };
    for (ticket, names) in [(1, "ada, bob, cleo"), (2, "ada, cleo"), (3, "ada, cleo")] {
        let page = grace.get(&format!("/desk/tickets/{ticket}")).await;
        assert_contains(&page, &section(names));
        for (user, name) in [
            (&ada, "ada"),
            (&bob, "bob"),
            (&cleo, "cleo"),
            (&dora, "dora"),
            (&eve, "eve"),
        ] {
            let is_readable = user.get(&format!("/support/tickets/{ticket}")).await.status == 200;
            assert_eq!(is_readable, names.contains(name), "{name}, ticket {ticket}");
        }
    }
    for number in 10..=19 {
        app.user(&format!("user-{number}")).await;
    }
    let names = "ada, bob, cleo, user-10, user-11, user-12, user-13, user-14, user-15, user-16 and 3 more";
    assert_contains(&grace.get("/desk/tickets/1").await, &section(names));
}

#[tokio::test]
async fn an_account_without_users_has_no_readers() {
    let app = app_with_desk().await;
    let provider = json!({"account_id": 1, "summary": "Works", "description": "."});
    app.user("sam")
        .staff()
        .await
        .post("/desk/tickets", provider)
        .await;
    let mut grace = logged_in(&app, "grace").await;
    assert_contains(&grace.get("/desk/tickets/1").await, "No user of the account");
}

#[tokio::test]
async fn the_queue_marks_the_tickets_of_suspended_and_closed_accounts() {
    let app = app_with_desk().await;
    app.user("ada").await.open_ticket("Help").await;
    let grace = app.user("gray").staff().await;
    let mut browser = logged_in(&app, "grace").await;
    for (action, tag) in [
        (None, None),
        (Some("suspend"), Some("<span class=\"tag bad\">Suspended</span>")),
        (Some("close"), Some("<span class=\"tag\">Closed</span>")),
    ] {
        if let Some(action) = action {
            let done = grace
                .post(&format!("/provider/accounts/1/{action}"), json!({}))
                .await;
            assert_eq!(done.status, 200, "{action}: {done}");
        }
        for path in ["/desk", "/desk/tickets/1"] {
            let page = browser.get(path).await;
            let is_warned = text(&page).contains("Its users cannot read replies.");
            assert_eq!(is_warned, action.is_some() && path != "/desk", "{path}: {page}");
            for other in ["tag bad\">Suspended", "tag\">Closed"] {
                let is_expected = tag.is_some_and(|tag| tag.contains(other));
                assert_eq!(
                    text(&page).contains(other),
                    is_expected,
                    "{path}, {other}: {page}"
                );
            }
        }
    }
}
