//! The first page: for tenants, and for staff.

use garth::model::job::JobKind;
use garth::model::staff_role::StaffRole;
use garth::rules::jobs;
use serde_json::json;

use crate::browser::text;
use crate::console::{app_with_ada, assert_contains, assert_lacks, links, logged_in};
use crate::harness::{Reply, TestApp};
use crate::hosting::{add_host, create_instance};

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The target of the link with this number and label.
fn link_of(page: &Reply, count: usize, label: &str) -> String {
    let html = text(page);
    let after = format!("\"><strong>{count}</strong> {label}<");
    let before = html
        .split_once(&after)
        .unwrap_or_else(|| panic!("no {after}: {html}"))
        .0;
    let url = before.rsplit("href=\"").next().expect("a link");
    url.replace("&amp;", "&")
}

#[tokio::test]
async fn tenants_see_networks_instances_tickets_and_activity() {
    let app = app_with_ada().await;
    let (bob, sam) = (app.user("bob").await, app.user("sam").staff().await);
    let mut ada = logged_in(&app, "ada").await;
    let page = ada.get("/home").await;
    for text in ["No VPCs.", "No instances.", "No open tickets.", "No activity yet"] {
        assert_contains(&page, text);
    }
    assert_contains(&page, "href=\"/vpcs/new\">Create VPC<");
    bob.create_vpc("core", &["10.0.0.0/24"]).await;
    for label in ["web-1", "web-2"] {
        let body = json!({"label": label, "type": "g6-nanode-1", "region": "us-east",
            "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
        assert_eq!(bob.post("/linode/instances", body).await.status, 200);
    }
    bob.post("/linode/instances/1/boot", json!({})).await;
    for summary in ["Answered", "Assigned", "Closed"] {
        bob.open_ticket(summary).await;
    }
    let replied = sam
        .post("/desk/tickets/1/replies", json!({"description": "Try again."}))
        .await;
    assert_eq!(replied.status, 200, "{replied}");
    // An assignment is no answer: the ticket still waits for the provider.
    assert_eq!(sam.post("/desk/tickets/2/claim", json!({})).await.status, 200);
    assert_eq!(sam.post("/desk/tickets/3/close", json!({})).await.status, 200);

    let page = ada.get("/home").await;
    for text in [
        "href=\"/vpcs\">VPCs <span class=\"badge\">1<",
        "2 of 252",
        "href=\"/instances?status=running\"><strong>1</strong> running",
        "href=\"/instances?status=offline\"><strong>1</strong> offline",
        "href=\"/tickets?waiting_for=us\">Waiting for you <span class=\"badge\">1<",
        "href=\"/tickets?waiting_for=provider\">Waiting for ",
        "booted the instance",
    ] {
        assert_contains(&page, text);
    }
    for (side, shown, hidden) in [
        ("us", "Answered", "Assigned"),
        ("provider", "Assigned", "Answered"),
    ] {
        let list = ada.get(&format!("/tickets?waiting_for={side}")).await;
        assert_contains(&list, &format!(">{shown}</a>"));
        assert_lacks(&list, &format!(">{hidden}</a>"));
        let waits_for = if side == "us" { "You" } else { "Support" };
        assert_contains(&list, &format!("<td data-label=\"Waiting for\">{waits_for}</td>"));
        assert_lacks(&list, ">Closed</a>");
    }
    for (ticket, side) in [(1, Some("You")), (2, Some("Support")), (3, None)] {
        let page = ada.get(&format!("/tickets/{ticket}")).await;
        match side {
            Some(side) => assert_contains(&page, &format!("<dt>Waiting for</dt><dd>{side}</dd>")),
            None => assert_lacks(&page, "<dt>Waiting for</dt>"),
        }
    }
    // All links of the page lead to pages.
    for link in links(&page)
        .iter()
        .filter(|link| link.starts_with('/') && !link.starts_with("/logout"))
    {
        assert_eq!(ada.get(link).await.status, 200, "{link}");
    }
    // A restricted user sees nothing of this.
    app.user("rita").restricted().await;
    let page = logged_in(&app, "rita").await.get("/home").await;
    for text in ["No VPCs.", "No instances.", "No open tickets.", "No activity yet"] {
        assert_contains(&page, text);
    }
}

#[tokio::test]
async fn staff_see_the_queue_by_age_and_hosts_with_problems() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.open_ticket("Old").await;
    app.advance(8 * DAY_SECONDS);
    ada.open_ticket("Recent").await;
    app.advance(2 * DAY_SECONDS);
    ada.open_ticket("New").await;
    ada.open_ticket("Answered").await;
    sam.post("/desk/tickets/4/replies", json!({"description": "Done."}))
        .await;
    sam.post("/desk/tickets/2/claim", json!({})).await;
    let mut grace = logged_in(&app, "sam").await;
    let page = grace.get("/desk/home").await;
    for (count, label) in [
        (4, "open"),
        (3, "need an answer"),
        (2, "new"),
        (3, "unassigned"),
        (1, "assigned to me"),
        (2, "aged under 1 day"),
        (1, "aged 1 to 7 days"),
        (1, "aged over 7 days"),
    ] {
        // The list has as many tickets as the number.
        let list = grace.get(&link_of(&page, count, label)).await;
        let tickets = if count == 1 { "ticket" } else { "tickets" };
        assert_contains(&list, &format!(">{count} {tickets}<"));
    }
    // The longest wait leads to the same ticket as the first row of its list.
    let waiting = link_of(&page, 3, "need an answer");
    assert_eq!(waiting, "/desk?status=waiting");
    let waiting = text(&grace.get(&waiting).await);
    let first = waiting.split("<a href=\"/desk/tickets/").nth(1);
    assert!(first.is_some_and(|ticket| ticket.starts_with("1\"")), "{waiting}");
    let oldest = grace.get(&link_of(&page, 1, "aged over 7 days")).await;
    assert_contains(&oldest, ">Old</a>");
    assert_contains(&page, ">10 d<");
    // A merge is no answer, so that the ticket has waited for as long as before.
    app.advance(DAY_SECONDS);
    sam.post("/desk/tickets/3/merge", json!({"into": 1})).await;
    let mut grace = logged_in(&app, "sam").await;
    let merged = grace.get("/desk/home").await;
    assert_contains(
        &merged,
        "<a href=\"/desk/tickets/1\">The longest wait for an answer is <time",
    );
    assert_contains(&merged, ">11 d<");
    assert_contains(&page, "There are no hosts.");
    assert_contains(&page, "No dead jobs.");

    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    let healthy = add_host(&sam, 2, 5).await;
    create_instance(&ada, 1).await;
    for (agent, warnings) in [(&agent, json!(["the MTU is small"])), (&healthy, json!([]))] {
        let report = json!({"ports": [], "warnings": warnings});
        assert_eq!(agent.report_with(report).await.status, 200);
    }
    let page = grace.get("/desk/home").await;
    assert_contains(
        &page,
        "href=\"/hosts?problems=1\"><strong>1</strong> with problems",
    );
    let list = grace.get("/hosts?problems=1").await;
    assert_contains(&list, "href=\"/hosts/1\"");
    assert_lacks(&list, "href=\"/hosts/2\"");
    // An agent that no longer reports is a problem.
    app.advance(DAY_SECONDS / 4);
    assert_contains(&grace.get("/desk/home").await, "<strong>2</strong> with problems");
}

#[tokio::test]
async fn staff_see_hosts_that_wait_for_their_agents() {
    let app = TestApp::new().await;
    let sam = app.user("sam").staff().await;
    let mut grace = logged_in(&app, "sam").await;
    add_host(&sam, 1, 5).await;
    let page = grace.get("/desk/home").await;
    assert_contains(&page, "No host has problems.");
    assert_lacks(&page, "its agent");
    for (number, expected) in [
        (2, "1 host waits for its agent."),
        (3, "2 hosts wait for their agents."),
    ] {
        let body = json!({"label": format!("rack-{number}"), "region": "us-east",
            "underlay_address": format!("172.31.0.{number}")});
        assert_eq!(sam.post("/hosts", body).await.status, 200);
        let page = grace.get("/desk/home").await;
        assert_contains(&page, &format!("<a href=\"/hosts\">{expected}</a>"));
        assert_lacks(&page, "No host has problems.");
    }
}

#[tokio::test]
async fn staff_see_jobs_that_are_no_longer_retried() {
    let app = TestApp::with(|policy, _| policy.settle_ms = 10_000).await;
    let (ada, _) = (app.user("ada").await, app.user("sam").staff().await);
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    let mut wait = 5;
    loop {
        app.advance(wait);
        let failed = app.store.write(|tx| {
            let job = jobs::claim(tx, &[JobKind::InstancePower], "node", 1)?.pop();
            jobs::fail(tx, &job.expect("the job is due"), "the <disk> is full")
        });
        let Some(retry) = failed.await.expect("the failure is recorded") else {
            break;
        };
        wait = retry.seconds() - app.store.context().clock.now().seconds();
    }
    let mut grace = logged_in(&app, "sam").await;
    let page = grace.get("/desk/home").await;
    assert_contains(&page, "Dead jobs <span class=\"badge\">1<");
    assert_contains(&page, "href=\"/provider/jobs\"");
    let jobs = grace.get("/provider/jobs").await;
    assert_contains(&jobs, "instance_power");
    assert_contains(&jobs, "the &lt;disk&gt; is full");

    // The role `support` has no access to jobs.
    app.user("noor").role(StaffRole::Support).await;
    let mut noor = logged_in(&app, "noor").await;
    assert_lacks(&noor.get("/desk/home").await, "Dead jobs");
}
