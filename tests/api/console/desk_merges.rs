//! Merges of tickets in the console.

use crate::console::desk::{app_with_desk, open_three_tickets};
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, logged_in};

#[tokio::test]
async fn staff_find_the_target_and_confirm_the_merge() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let other_account = app.another_account().await;
    app.user("eve")
        .of(other_account)
        .await
        .open_ticket("Disk of another account")
        .await;
    let mut grace = logged_in(&app, "grace").await;
    assert_contains(
        &grace.get("/desk/tickets/1").await,
        "href=\"/desk/tickets/1/merge\"",
    );
    let page = grace.get("/desk/tickets/1/merge").await;
    for target in ["Bill wrong", "Disk slow"] {
        assert_contains(&page, target);
    }
    assert_lacks(&page, "another account");
    for search in ["disk", "%233"] {
        let page = grace.get(&format!("/desk/tickets/1/merge?q={search}")).await;
        assert_contains(&page, "href=\"/desk/tickets/1/merge?into=3\"");
        assert_lacks(&page, "Bill wrong");
    }

    let page = grace.get("/desk/tickets/1/merge?into=3").await;

    assert_contains(&page, "A merge cannot be undone.");
    assert_eq!(ada.count("/support/tickets/3/replies").await, 0);
    let merged = grace
        .submit(&page, "/desk/tickets/1/merge", &[("into", "3")])
        .await;
    assert_redirects_to(&merged, "/desk/tickets/3?done=ticket-merged");
    let source = grace.get("/desk/tickets/1").await;
    assert_contains(
        &source,
        "This ticket was merged into <a href=\"/desk/tickets/3\">ticket 3</a>",
    );
    assert_lacks(&source, "action=\"/desk/tickets/1/reopen\"");
    let target = grace.get("/desk/tickets/3").await;
    assert_contains(
        &target,
        "<dt>Merged tickets</dt><dd><a href=\"/desk/tickets/1\">1</a>",
    );
    // The customer sees both.
    let mut ada_page = logged_in(&app, "ada").await;
    let source = ada_page.get("/tickets/1").await;
    assert_contains(
        &source,
        "This ticket was merged into <a href=\"/tickets/3\">ticket 3</a>",
    );
    assert_lacks(&source, "grace");
    let target = ada_page.get("/tickets/3").await;
    assert_contains(&target, "<dt>Merged tickets</dt><dd><a href=\"/tickets/1\">1</a>");
    assert_contains(&target, "<blockquote>");
}

#[tokio::test]
async fn a_refused_merge_shows_the_reason() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1/merge?into=3").await;
    let mut linus = logged_in(&app, "linus").await;
    let other_page = linus.get("/desk/tickets/3").await;
    linus.submit(&other_page, "/desk/tickets/3/close", &[]).await;
    let refused = grace
        .submit(&page, "/desk/tickets/1/merge", &[("into", "3")])
        .await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "This ticket is closed; reopen it first");
    let refused = grace
        .submit(&page, "/desk/tickets/1/merge", &[("into", "x")])
        .await;
    assert_eq!(refused.status, 400);
    assert_eq!(ada.count("/support/tickets/1/replies").await, 0);
}

#[tokio::test]
async fn a_ticket_that_an_opener_cannot_see_is_listed_with_the_reason() {
    let app = app_with_desk().await;
    app.user("bob").restricted().await.open_ticket("Disk slow").await;
    app.user("cleo").restricted().await.open_ticket("Disk full").await;
    let mut grace = logged_in(&app, "grace").await;

    let page = grace.get("/desk/tickets/1/merge").await;

    assert_contains(&page, "Disk full");
    assert_contains(
        &page,
        "Cannot be chosen: bob, who opened ticket 1, has no access to ticket 2",
    );
    assert_lacks(&page, "into=2");
}
