//! The activity page: events by day, the filter, and the count of unseen events in the navigation bar.

use std::collections::BTreeSet;

use garth::model::event::Action;
use serde_json::{Value, json};

use crate::browser::{Browser, text};
use crate::console::{app_with_ada, assert_contains, assert_lacks, logged_in};
use crate::openapi::DOCUMENT;

const DAY_SECONDS: i64 = 24 * 60 * 60;

#[tokio::test]
async fn the_navigation_bar_counts_unseen_events() {
    let app = app_with_ada().await;
    let bob = app.user("bob").await;
    let mut ada = logged_in(&app, "ada").await;
    assert!(text(&ada.get("/events").await).contains("No activity yet"));
    bob.create_vpc("core", &["10.0.0.0/24"]).await;
    bob.open_ticket("Help").await;
    let html = text(&ada.get("/tickets").await);
    assert!(html.contains("<span class=\"unseen\">3<"), "{html}");
    let page = ada.get("/events").await;
    let html = text(&page);
    for sentence in [
        "<strong>bob</strong> created the VPC <a href=\"/vpcs/1\">core</a>",
        "<strong>bob</strong> created the subnet <a href=\"/vpcs/1/subnets/1\">a</a> <span class=\"quiet\">(VPC core)</span>",
        "<strong>bob</strong> opened the ticket <a href=\"/tickets/1\">Help</a>",
    ] {
        assert!(html.contains(sentence), "{sentence} is not in {html}");
    }
    let seen = ada
        .submit(
            &page,
            "/events",
            &[("id", &crate::browser::hidden_field(&page, "id"))],
        )
        .await;
    assert_eq!(seen.header("location"), "/events?done=events-seen");
    assert!(!text(&ada.get("/tickets").await).contains("class=\"unseen\""));
    // The user's own actions are not counted.
    let form = ada.get("/tickets/new").await;
    let fields = [("summary", "Mine"), ("description", "All mine.")];
    ada.submit(&form, "/tickets/new", &fields).await;
    assert!(!text(&ada.get("/tickets").await).contains("class=\"unseen\""));
    assert_lacks(&ada.get("/events").await, ">new<");
    bob.create_vpc("edge", &[]).await;
    assert!(text(&ada.get("/tickets").await).contains("<span class=\"unseen\">1<"));
    assert_eq!(text(&ada.get("/events").await).matches(">new<").count(), 1);
    // Events that rita cannot see are not counted.
    app.user("rita").restricted().await;
    let mut rita = logged_in(&app, "rita").await;
    assert!(!text(&rita.get("/tickets").await).contains("class=\"unseen\""));
}

#[tokio::test]
async fn a_reply_and_a_closed_ticket_have_their_own_sentences() {
    let app = app_with_ada().await;
    let (bob, sam) = (app.user("bob").await, app.user("sam").staff().await);
    bob.open_ticket("Help").await;
    let reply = json!({"description": "We look into it."});
    for (path, body) in [
        ("/desk/tickets/1/claim", json!({})),
        ("/desk/tickets/1/replies", reply.clone()),
        ("/desk/tickets/1/close", json!({})),
        ("/desk/tickets/1/reopen", json!({})),
    ] {
        let done = sam.post(path, body).await;
        assert_eq!(done.status, 200, "{path}: {done}");
    }
    let replied = bob.post("/support/tickets/1/replies", reply).await;
    assert_eq!(replied.status, 200, "{replied}");
    let mut ada = logged_in(&app, "ada").await;

    let page = ada.get("/events").await;

    for sentence in [
        "<strong>bob</strong> replied to the ticket <a href=\"/tickets/1\">Help</a>",
        "<strong>Support</strong> reopened the ticket <a",
        "Status: <del>closed</del> → <ins>open</ins>",
        "<strong>Support</strong> closed the ticket <a",
        "Status: <del>open</del> → <ins>closed</ins>",
        "<strong>Support</strong> replied to the ticket <a",
        "<strong>Support</strong> updated the ticket <a",
        "<strong>bob</strong> opened the ticket <a",
    ] {
        assert_contains(&page, sentence);
    }
    assert_lacks(&page, "Reply:");
}

/// The events on a page, as text without elements, in order.
async fn sentences(browser: &mut Browser<'_>, path: &str) -> Vec<String> {
    let page = browser.get(path).await;
    assert_eq!(page.status, 200, "{path}: {page}");
    let html = text(&page);
    let items = html.split("<li class=\"unread\"><span>").skip(1);
    items
        .map(|item| {
            let item = item.split("<time").next().unwrap_or_default();
            let parts = item
                .split('<')
                .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
            parts.collect::<String>().replace(" new", "").trim().to_owned()
        })
        .collect()
}

#[tokio::test]
async fn events_are_grouped_by_day_in_utc() {
    let app = app_with_ada().await;
    let bob = app.user("bob").await;
    bob.create_vpc("first", &[]).await;
    app.advance(DAY_SECONDS / 2 - 1);
    bob.create_vpc("same-day", &[]).await;
    app.advance(1);
    bob.create_vpc("next-day", &[]).await;
    let mut ada = logged_in(&app, "ada").await;
    let page = ada.get("/events").await;
    let html = text(&page);
    let position = |part: &str| html.find(part).unwrap_or_else(|| panic!("no {part}: {html}"));
    let order = [
        "<h2>Sunday, June 2, 2024</h2>",
        ">next-day<",
        ">00:00 UTC<",
        "<h2>Saturday, June 1, 2024</h2>",
        ">same-day<",
        ">23:59 UTC<",
        ">first<",
        ">12:00 UTC<",
    ];
    assert!(order.map(position).is_sorted(), "{html}");
    assert_eq!(html.matches("<h2>").count(), 2, "{html}");
    assert_contains(&page, "3 events");
}

#[tokio::test]
async fn events_are_filtered_by_object_action_user_and_day() {
    let app = app_with_ada().await;
    let (bob, eve) = (app.user("bob").await, app.user("eve").await);
    bob.create_vpc("core", &["10.0.0.0/24"]).await;
    eve.open_ticket("Help").await;
    app.advance(DAY_SECONDS);
    let body = json!({"label": "web", "type": "g6-nanode-1", "region": "us-east"});
    assert_eq!(eve.post("/linode/instances", body).await.status, 200);
    bob.delete("/vpcs/1/subnets/1").await;
    let mut ada = logged_in(&app, "ada").await;
    let all = [
        "bob deleted the subnet a (VPC core)",
        "eve created the instance web",
        "eve opened the ticket Help",
        "bob created the subnet a (VPC core)",
        "bob created the VPC core",
    ];
    for (filter, expected) in [
        ("", &all[..]),
        ("?kind=subnet", &[all[0], all[3]]),
        ("?kind=instance", &[all[1]]),
        ("?kind=account", &[]),
        ("?kind=nonsense", &[]),
        ("?action=create", &[all[1], all[2], all[3], all[4]]),
        ("?action=delete", &[all[0]]),
        ("?kind=subnet&action=create", &[all[3]]),
        ("?kind=vpc&action=boot", &[]),
        ("?user=eve", &[all[1], all[2]]),
        ("?user=BO", &[all[0], all[3], all[4]]),
        ("?from=2024-06-02", &[all[0], all[1]]),
        ("?to=2024-06-01", &[all[2], all[3], all[4]]),
        ("?from=2024-06-01&to=2024-06-02", &all[..]),
        ("?from=2024-06-02&to=2024-06-01", &[]),
        ("?from=2024-06-02&user=bob", &[all[0]]),
        // The browser sends the offset of its time zone. The events are at 12:00 UTC.
        ("?from=2024-06-02&from_offset=600", &[all[0], all[1]]),
        ("?from=2024-06-02&from_offset=-721", &[]),
        ("?to=2024-06-01&to_offset=721", &[]),
        ("?to=2024-06-01&to_offset=-719", &[all[2], all[3], all[4]]),
        ("?to=2024-06-01&to_offset=99999999999", &[]),
        ("?to=2024-06-01&to_offset=east", &[all[2], all[3], all[4]]),
        ("?to_offset=721", &all[..]),
    ] {
        assert_eq!(
            sentences(&mut ada, &format!("/events{filter}")).await,
            expected,
            "{filter}"
        );
    }
    // The deleted subnet has no link.
    let page = ada.get("/events?kind=subnet&action=delete").await;
    assert_contains(&page, "deleted the subnet <em>a</em>");
    assert_contains(&page, "<option value=\"subnet\" selected>Subnets</option>");
    // A filter does not offer to mark all events as seen, because its first event is not the newest one.
    assert_lacks(&page, "Mark all as seen");
    assert_contains(&ada.get("/events").await, "Mark all as seen");
    assert_contains(&ada.get("/events?user=no-such-user").await, "Clear filter");
    assert_contains(&ada.get("/events?from_offset=120").await, "Mark all as seen");
    let invalid = ada.get("/events?from=2023-02-29").await;
    assert_eq!(invalid.status, 200);
    assert_contains(&invalid, "Must be a day, such as 2024-05-31");
    // A restricted user sees no more with a filter than without.
    app.user("rita").restricted().await;
    let mut rita = logged_in(&app, "rita").await;
    assert!(sentences(&mut rita, "/events?action=create").await.is_empty());
}

#[tokio::test]
async fn the_pages_of_a_filtered_list_keep_the_filter() {
    let app = app_with_ada().await;
    let bob = app.user("bob").await;
    let subnet = |at: usize| json!({"label": format!("s{at}"), "ipv4": format!("10.0.{at}.0/24")});
    let subnets: Vec<_> = (0..41).map(subnet).collect();
    let body = json!({"label": "core", "region": "us-east", "subnets": subnets});
    assert_eq!(bob.post("/vpcs", body).await.status, 200);
    let mut ada = logged_in(&app, "ada").await;
    let first = ada.get("/events?kind=subnet&user=bob").await;
    assert_contains(&first, "41 events");
    assert_contains(&first, "href=\"/events?kind=subnet&amp;user=bob&amp;page=2\"");
    assert_eq!(
        sentences(&mut ada, "/events?kind=subnet&user=bob&page=2").await,
        ["bob created the subnet s0 (VPC core)"]
    );
    // Live updates reload the same page with the same filter.
    let second = ada.get("/events?kind=subnet&user=bob&page=2").await;
    assert_contains(&second, "hx-get=\"/events?kind=subnet&amp;user=bob&amp;page=2\"");
}

#[test]
fn the_filter_knows_all_documented_actions() {
    let documented = &DOCUMENT["components"]["schemas"]["Event"]["properties"]["action"]["enum"];
    let documented: BTreeSet<&str> = documented
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let known: BTreeSet<&str> = Action::ALL.iter().map(|action| action.word()).collect();
    assert_eq!(known, documented);
}

#[tokio::test]
async fn the_activity_of_one_object_has_the_subnets_of_a_vpc() {
    let app = app_with_ada().await;
    let bob = app.user("bob").await;
    bob.create_vpc("core", &["10.0.0.0/24"]).await;
    bob.create_vpc("edge", &["10.1.0.0/24"]).await;
    bob.open_ticket("Help").await;
    let mut ada = logged_in(&app, "ada").await;
    for (page, link) in [
        ("/vpcs/2", "/events?object=vpc-2"),
        ("/vpcs/1/subnets/1", "/events?object=subnet-1"),
        ("/tickets/1", "/events?object=ticket-1"),
    ] {
        assert_contains(&ada.get(page).await, &format!("href=\"{link}\">Activity<"));
    }
    bob.delete("/vpcs/2/subnets/2").await;
    let of_edge = [
        "bob deleted the subnet a (VPC edge)",
        "bob created the subnet a (VPC edge)",
        "bob created the VPC edge",
    ];
    assert_eq!(sentences(&mut ada, "/events?object=vpc-2").await, of_edge);
    let of_subnet = ["bob created the subnet a (VPC core)"];
    assert_eq!(sentences(&mut ada, "/events?object=subnet-1").await, of_subnet);
    let created = &of_edge[1..];
    assert_eq!(
        sentences(&mut ada, "/events?object=vpc-2&action=create").await,
        created
    );
    let page = ada.get("/events?object=vpc-2").await;
    assert_contains(&page, "Only the activity of the VPC <strong>edge</strong>");
    assert_contains(&page, "type=\"hidden\" name=\"object\" value=\"vpc-2\"");
    // An object that does not exist has no activity; a value that is no object has no effect.
    assert!(sentences(&mut ada, "/events?object=vpc-9").await.is_empty());
    assert_eq!(sentences(&mut ada, "/events?object=nonsense").await.len(), 6);
}

/// The changes of the newest event on the activity page, as text without elements.
pub async fn newest_changes(browser: &mut Browser<'_>) -> Vec<String> {
    let html = text(&browser.get("/events").await);
    let newest = html.split("<ol class=\"events\">").nth(1).unwrap_or_default();
    let newest = newest.split("</time>").nth(1).unwrap_or_default();
    let Some(list) = newest.strip_prefix("<ul class=\"changes\">") else {
        return Vec::new();
    };
    let list = list.split("</ul>").next().unwrap_or_default();
    let items = list.split("<li>").skip(1);
    let plain = |item: &str| {
        let parts = item
            .split('<')
            .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
        parts.collect::<String>()
    };
    items.map(plain).collect()
}

#[tokio::test]
async fn the_event_of_a_config_shows_added_and_deleted_interfaces() {
    let app = app_with_ada().await;
    let bob = app.user("bob").await;
    bob.create_vpc("core", &["10.0.0.0/24"]).await;
    assert_eq!(bob.create_instance_on(1).await.status, 200);
    let mut ada = logged_in(&app, "ada").await;
    let interfaces = "/linode/instances/1/configs/1/interfaces";
    let vlan = json!({"purpose": "vlan", "label": "office", "ipam_address": "10.1.0.1/24"});
    let created = bob.post(interfaces, vlan).await;
    assert_eq!(created.status, 200, "{created}");
    let id = &created.json()["id"];
    let added = format!("Interface {id}: empty → vlan office 10.1.0.1/24");
    assert_eq!(newest_changes(&mut ada).await, [added]);
    let deleted = bob.delete(&format!("{interfaces}/{id}")).await;
    assert_eq!(deleted.status, 200, "{deleted}");
    let removed = format!("Interface {id}: vlan office 10.1.0.1/24 → empty");
    assert_eq!(newest_changes(&mut ada).await, [removed]);
}

#[tokio::test]
async fn the_event_of_an_update_shows_the_old_and_the_new_values() {
    let app = app_with_ada().await;
    let bob = app.user("bob").await;
    app.user("rita").restricted().await;
    app.user("sam").staff().await;
    bob.create_vpc("core", &["10.0.0.0/24"]).await;
    assert_eq!(bob.create_instance_on(1).await.status, 200);
    let mut ada = logged_in(&app, "ada").await;
    let config = "/linode/instances/1/configs/1";
    let address = |address: &str| json!({"ipv4": {"vpc": address}});
    for (path, body, expected) in [
        ("/vpcs/1", json!({"label": "core"}), vec![]),
        (
            "/vpcs/1",
            json!({"label": "edge", "description": "<b> \\n"}),
            vec!["Label: core → edge", "Description: empty → &lt;b&gt; \\n"],
        ),
        (
            "/vpcs/1",
            json!({"description": ""}),
            vec!["Description: &lt;b&gt; \\n → empty"],
        ),
        (
            "/vpcs/1/subnets/1",
            json!({"label": "front"}),
            vec!["Label: a → front"],
        ),
        (
            "/linode/instances/1",
            json!({"tags": ["blue", "prod"], "alerts": {"cpu": 5}}),
            vec!["Tags: empty → blue, prod", "Alerts.cpu: 90 → 5"],
        ),
        (config, json!({"comments": "New"}), vec!["Comments: empty → New"]),
        (
            "/linode/instances/1/configs/1/interfaces/1",
            address("10.0.0.9"),
            vec!["Interface 1: vpc 10.0.0.2 in subnet 1 → vpc 10.0.0.9 in subnet 1"],
        ),
        (
            "/account/users/rita",
            json!({"email": "rita@new.example"}),
            vec!["Email: rita@example.com → rita@new.example"],
        ),
        (
            "/account/users/rita/grants",
            json!({"global": {"add_vpcs": true}, "vpc": [{"id": 1, "permissions": "read_only"}]}),
            vec!["Create VPCs: No → Yes", "VPC edge (1): No access → Read-only"],
        ),
        (
            "/account/users/rita/grants",
            json!({"global": {"account_access": "read_write", "add_vpcs": false}, "vpc": [{"id": 1, "permissions": null}]}),
            vec![
                "Account and support: No access → Read/write",
                "Create VPCs: Yes → No",
                "VPC edge (1): Read-only → No access",
            ],
        ),
        ("/account", json!({"city": "Oslo"}), vec!["City: empty → Oslo"]),
        (
            "/account/settings",
            json!({"network_helper": false}),
            vec!["Network helper: true → false"],
        ),
    ] {
        let changed = bob.put(path, body).await;
        assert_eq!(changed.status, 200, "{path}: {changed}");
        assert_eq!(newest_changes(&mut ada).await, expected, "{path}");
    }
    // Responses of the API do not have the changes.
    let event = &bob.get("/account/events").await.data()[0];
    assert_eq!(event["action"], "account_settings_update");
    assert!(
        event.get("changes").is_none() && event["message"] == "",
        "{event}"
    );
}

#[tokio::test]
async fn the_events_of_the_provider_show_what_changed() {
    let app = app_with_ada().await;
    app.user("bob").await;
    let sam = app.user("sam").staff().await;
    let mut ada = logged_in(&app, "ada").await;
    for (path, body, expected) in [
        (
            "/provider/accounts/1",
            json!({"company": "Harbor"}),
            "Company: Example → Harbor",
        ),
        (
            "/provider/accounts/1/quotas",
            json!({"vpcs_per_region": 7}),
            "VPCs per region: default → 7",
        ),
        (
            "/provider/accounts/1/users/bob",
            json!({"disabled": true}),
            "Disabled: false → true",
        ),
    ] {
        let changed = sam.put(path, body).await;
        assert_eq!(changed.status, 200, "{path}: {changed}");
        assert_eq!(newest_changes(&mut ada).await, [expected], "{path}");
    }
}

#[tokio::test]
async fn objects_that_no_longer_exist_have_no_links() {
    let app = app_with_ada().await;
    let bob = app.user("bob").await;
    bob.create_vpc("core", &["10.0.0.0/24"]).await;
    bob.create_vpc("other", &["10.0.0.0/24"]).await;
    bob.create_instance_on(2).await;
    bob.open_ticket("Help").await;
    assert_eq!(bob.delete("/vpcs/1").await.status, 200);
    let mut ada = logged_in(&app, "ada").await;
    for path in ["/events", "/home"] {
        let page = ada.get(path).await;
        for lost in ["href=\"/vpcs/1\"", "href=\"/vpcs/1/subnets/1\""] {
            assert_lacks(&page, lost);
        }
        for link in ["/vpcs/2", "/vpcs/2/subnets/2", "/instances/1", "/tickets/1"] {
            assert_contains(&page, &format!("href=\"{link}\""));
        }
    }
    assert_contains(&ada.get("/events").await, "<em>core</em>");
    assert_eq!(bob.delete("/linode/instances/1").await.status, 200);
    assert_lacks(&ada.get("/events").await, "href=\"/instances/1\"");
}
