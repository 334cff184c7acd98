//! Tags, targets, saved views and reports of the desk in the console.

use garth::model::target::{TargetMinutes, Targets};
use serde_json::json;

use crate::browser::{hidden_field, text};
use crate::console::desk::{app_with_desk, open_three_tickets};
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, logged_in};
use crate::harness::TestApp;

/// The tickets of a page, in order.
fn tickets(html: &str) -> Vec<i64> {
    let links = html.split("<a href=\"/desk/tickets/").skip(1);
    links
        .filter_map(|link| link.split('"').next()?.parse().ok())
        .collect()
}

#[tokio::test]
async fn staff_tag_a_ticket_and_filter_the_queue_by_the_tag() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let version = hidden_field(&page, "version");
    let change = "/desk/tickets/1/change";
    let fields = [
        ("priority", "normal"),
        ("tags", "Rack 4, billing,"),
        ("version", version.as_str()),
    ];
    assert_eq!(grace.submit(&page, change, &fields).await.status, 303);

    let tagged = grace.get("/desk/tickets/1").await;
    assert_contains(&tagged, "value=\"billing, rack 4\"");
    assert_contains(&tagged, "set the tags to billing, rack 4");
    let queue = text(&grace.get("/desk?tag=RACK+4").await);
    assert_eq!(tickets(&queue), [1]);
    assert!(queue.contains("<span class=\"tag\">rack 4</span>"), "{queue}");
    assert_eq!(tickets(&text(&grace.get("/desk?tag=missing").await)), [0; 0]);
    let wrong = grace.submit(&page, change, &[("tags", "ok, no")]).await;
    assert_eq!(wrong.status, 400);
    assert_contains(&wrong, "3 to 50 characters");
    // A form without the field does not remove the tags.
    grace.submit(&page, change, &[("priority", "high")]).await;
    assert_contains(&grace.get("/desk/tickets/1").await, "value=\"billing, rack 4\"");
    let mut ada = logged_in(&app, "ada").await;
    assert_lacks(&ada.get("/tickets/1").await, "rack 4");
}

#[tokio::test]
async fn the_queue_shows_and_sorts_by_the_time_left() {
    let app = TestApp::with(|policy, _| {
        policy.support.targets = Targets {
            first_response: TargetMinutes([None, Some(240), None, Some(90)]),
            resolution: TargetMinutes::default(),
        };
    })
    .await;
    app.user("grace").staff().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/3").await;
    grace
        .submit(&page, "/desk/tickets/3/change", &[("priority", "urgent")])
        .await;
    // Ticket 1 has one hour left, ticket 2 two hours, and ticket 3 half an hour.
    for query in ["", "?order=left"] {
        let queue = text(&grace.get(&format!("/desk{query}")).await);
        assert_eq!(tickets(&queue), [3, 1, 2], "{query}");
        for word in [
            "Time left",
            ">30 min<",
            ">1 h<",
            ">2 h<",
            ">first response<",
            "<option value=\"\"",
        ] {
            assert!(queue.contains(word), "{word}: {queue}");
        }
    }
    assert_eq!(tickets(&text(&grace.get("/desk?order=newest").await)), [3, 2, 1]);
    assert_eq!(tickets(&text(&grace.get("/desk?status=all").await)), [3, 2, 1]);
    app.advance(3600);
    assert_contains(&grace.get("/desk").await, "Overdue by 30 min");
    let page = grace.get("/desk/tickets/3").await;
    assert_contains(&page, "First response");
    assert_contains(&page, "Overdue by 30 min");
    let reply = [("description", "Yes.")];
    grace.submit(&page, "/desk/tickets/3/replies", &reply).await;
    assert_contains(&grace.get("/desk/tickets/3").await, "Missed by 30 min");
    // A closed ticket waits for no response.
    let page = grace.get("/desk/tickets/2").await;
    grace.submit(&page, "/desk/tickets/2/close", &[]).await;
    assert_contains(
        &grace.get("/desk/tickets/2").await,
        "Ended when the ticket was closed",
    );
    let queue = grace.get("/desk?status=closed").await;
    assert_contains(&queue, ">1 ticket");
    assert_contains(
        &queue,
        "data-label=\"Time left\"><span><span class=\"quiet\">–</span>",
    );
    // A search says that it omits closed tickets.
    let found = grace.get("/desk?q=disk").await;
    assert_contains(
        &found,
        "href=\"/desk?q=disk&amp;status=all\">Search closed tickets, too",
    );
    assert_lacks(
        &grace.get("/desk?q=disk&status=all").await,
        "Search closed tickets, too",
    );
}

#[tokio::test]
async fn without_targets_the_queue_has_no_column_for_them() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let queue = grace.get("/desk?order=left").await;
    assert_lacks(&queue, "Time left");
    assert_eq!(tickets(&text(&queue)), [3, 2, 1]);
    // The default is the order by priority.
    let page = grace.get("/desk/tickets/1").await;
    grace
        .submit(&page, "/desk/tickets/1/change", &[("priority", "high")])
        .await;
    assert_eq!(tickets(&text(&grace.get("/desk").await)), [1, 3, 2]);
    assert_eq!(tickets(&text(&grace.get("/desk?order=newest").await)), [3, 2, 1]);
}

#[tokio::test]
async fn the_queue_marks_the_tickets_that_need_an_answer() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    let mark = "<span class=\"tag free\">Needs an answer · <time ";
    let queue = text(&grace.get("/desk").await);
    assert_eq!(queue.matches(mark).count(), 3);
    let wait = "title=\"2024-06-01 12:00:00 UTC\" data-shown=\"age\">3 h</time></span>";
    assert!(
        queue.contains(&format!("{mark}datetime=\"2024-06-01T12:00:00Z\" {wait}")),
        "{queue}"
    );
    let page = grace.get("/desk/tickets/1").await;
    grace
        .submit(&page, "/desk/tickets/1/replies", &[("description", "Yes.")])
        .await;
    let page = grace.get("/desk/tickets/2").await;
    grace.submit(&page, "/desk/tickets/2/close", &[]).await;
    assert_eq!(
        text(&grace.get("/desk?status=all").await).matches(mark).count(),
        1
    );
}

#[tokio::test]
async fn the_longest_wait_comes_first_among_the_tickets_that_need_an_answer() {
    let app = TestApp::with(|policy, _| {
        policy.support.targets = Targets {
            first_response: TargetMinutes([None, Some(240), None, Some(90)]),
            resolution: TargetMinutes::default(),
        };
    })
    .await;
    app.user("grace").staff().await;
    let ada = open_three_tickets(&app).await;
    let mut grace = logged_in(&app, "grace").await;
    // Ticket 1 waits again, since a message after an answer. The assignment of ticket 2 is no answer.
    let reply = json!({"description": "It is still broken."});
    let page = grace.get("/desk/tickets/1").await;
    grace
        .submit(
            &page,
            "/desk/tickets/1/replies",
            &[("description", "Restart it.")],
        )
        .await;
    ada.post("/support/tickets/1/replies", reply).await;
    app.advance(3600);
    grace.submit(&page, "/desk/tickets/2/claim", &[]).await;
    assert_eq!(
        tickets(&text(&grace.get("/desk?status=waiting").await)),
        [2, 3, 1]
    );
    let queue = grace.get("/desk?status=waiting").await;
    assert_contains(&queue, "<option value=\"\" selected>Longest wait</option>");
    assert_contains(&queue, "<option value=\"left\">Time left</option>");
    // The other orders are still available, and the values in saved views and URLs have the same meaning.
    for (query, expected) in [
        ("status=waiting&order=longest_wait", [2, 3, 1]),
        ("order=longest_wait", [2, 3, 1]),
        ("status=waiting&order=waiting", [3, 1, 2]),
        ("status=waiting&order=newest", [3, 2, 1]),
        ("status=waiting&order=oldest", [1, 2, 3]),
    ] {
        let queue = text(&grace.get(&format!("/desk?{query}")).await);
        assert_eq!(tickets(&queue), expected, "{query}");
    }
    // An answered ticket comes after those that wait.
    let page = grace.get("/desk/tickets/2").await;
    grace
        .submit(&page, "/desk/tickets/2/replies", &[("description", "Done.")])
        .await;
    for (query, expected) in [
        ("order=longest_wait", &[3, 1, 2][..]),
        ("status=waiting", &[3, 1]),
    ] {
        let queue = text(&grace.get(&format!("/desk?{query}")).await);
        assert_eq!(tickets(&queue), expected, "{query}");
    }
    let form = grace.get("/desk/views/new?order=longest_wait").await;
    let fields = [("order", "longest_wait"), ("label", "Waits")];
    let saved = grace.submit(&form, "/desk/views/new", &fields).await;
    assert_redirects_to(&saved, "/desk?order=longest_wait&done=view-saved");
}

#[tokio::test]
async fn a_paused_target_is_not_overdue_in_the_queue() {
    let app = TestApp::with(|policy, _| {
        policy.support.targets = Targets {
            first_response: TargetMinutes::default(),
            resolution: TargetMinutes([None, Some(60), None, None]),
        };
    })
    .await;
    app.user("grace").staff().await;
    app.user("ada").await.open_ticket("Disk slow").await;
    let mut grace = logged_in(&app, "grace").await;
    app.advance(2 * 3600);
    let late = "<span class=\"tag bad\">Overdue by 1 h</span>";
    assert_contains(&grace.get("/desk").await, late);
    let page = grace.get("/desk/tickets/1").await;
    grace
        .submit(
            &page,
            "/desk/tickets/1/replies",
            &[("description", "Restart it.")],
        )
        .await;
    app.advance(3600);

    let queue = grace.get("/desk").await;

    assert_contains(&queue, "<span class=\"quiet\">Paused, overdue by 1 h</span>");
    assert_lacks(&queue, late);
    assert_contains(
        &grace.get("/desk/tickets/1").await,
        "<span class=\"quiet\">paused</span>",
    );
}

#[tokio::test]
async fn the_queue_of_an_account_shows_its_name_and_opens_tickets_for_it() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    app.another_account().await;
    let mut grace = logged_in(&app, "grace").await;
    let link = "id=\"new-ticket\" href=\"/desk/tickets/new?account_id=1\"";
    for filter in ["1", "Example+%231"] {
        let queue = grace.get(&format!("/desk?account={filter}")).await;
        assert_eq!(tickets(&text(&queue)), [3, 2, 1]);
        assert_contains(&queue, "name=\"account\" value=\"Example #1\"");
        assert_contains(&queue, link);
    }
    for all in ["/desk", "/desk?account=example.com"] {
        assert_lacks(&grace.get(all).await, link);
    }
}

#[tokio::test]
async fn staff_save_use_and_delete_a_view() {
    let app = app_with_desk().await;
    open_three_tickets(&app).await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    assert_lacks(&grace.get("/desk").await, "Save this view");
    let queue = grace.get("/desk?status=new&q=rack").await;
    assert_contains(&queue, "href=\"/desk/views/new?q=rack&amp;status=new\"");
    let form = grace.get("/desk/views/new?q=rack&status=new").await;
    let fields = [
        ("q", "rack"),
        ("status", "new"),
        ("label", "Racks"),
        ("shared", "true"),
    ];
    let saved = grace.submit(&form, "/desk/views/new", &fields).await;
    assert_eq!(
        (saved.status.as_u16(), saved.header("location")),
        (303, "/desk?q=rack&status=new&done=view-saved")
    );
    let again = grace.submit(&form, "/desk/views/new", &fields).await;
    assert_eq!(again.status, 400);
    assert_contains(&again, "value=\"rack\"");
    for browser in [&mut grace, &mut linus] {
        assert_contains(
            &browser.get("/desk").await,
            "href=\"/desk?q=rack&amp;status=new\">Racks</a>",
        );
    }
    let current = grace.get("/desk?q=rack&status=new").await;
    assert_contains(&current, "aria-current=\"page\">Racks</a>");
    assert_lacks(&current, "Save this view");
    let list = linus.get("/desk/views").await;
    assert_contains(&list, "Search: rack, Status: new");
    assert_eq!(linus.submit(&list, "/desk/views/1/delete", &[]).await.status, 303);
    assert_contains(&linus.get("/desk/views").await, "No saved views yet");
}

#[tokio::test]
async fn a_report_has_a_plot_tables_and_a_csv_file() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let staff = app.user("sam").staff().await;
    staff.put("/desk/tickets/1", json!({"tags": ["=rack"]})).await;
    ada.post("/support/tickets/1/close", json!({})).await;
    let mut grace = logged_in(&app, "grace").await;

    let page = grace.get("/desk/reports?from=2024-06-01&to=2024-06-02").await;

    for part in [
        "<title id=\"plot-title\">Tickets opened and closed by day</title>",
        "3 tickets were opened and 1 were closed",
        "First response times are those of 0 of the 3 tickets",
        "<th scope=\"row\">2024-06-02</th>",
        "href=\"/desk?status=all&amp;tag=%3Drack\"",
        "href=\"/desk/reports/export.csv?from=2024-06-01&amp;to=2024-06-02\"",
    ] {
        assert_contains(&page, part);
    }
    assert_eq!(text(&page).matches("<rect class=\"opened\" x=").count(), 1);
    let csv = grace
        .get("/desk/reports/export.csv?from=2024-06-01&to=2024-06-02")
        .await;
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8");
    let csv = text(&csv);
    for row in [
        "\"total\",\"\",\"3\",\"1\",\"0\",\"\",\"\"",
        "\"tag\",\"'=rack\",\"1\",\"1\",\"0\",\"\",\"\"",
        "\"day\",\"2024-06-02\",\"0\",\"0\",\"\",\"\",\"\"",
    ] {
        assert!(csv.lines().any(|line| line == row), "{row}: {csv}");
    }
    let wrong = grace.get("/desk/reports?from=never").await;
    assert_eq!(wrong.status, 400);
    assert_contains(&wrong, "Must be a day in UTC");
}
