//! Staff see the events of an account, with the members of staff who caused them.

use garth::model::staff_role::StaffRole;
use serde_json::{Value, json};

use crate::browser::text;
use crate::console::{assert_contains, assert_lacks, links, logged_in};
use crate::harness::{Reply, TestApp};

const EVENTS: &str = "/provider/accounts/1/events";
const ACTIVITY: &str = "/provider/accounts/1/activity";

/// In account 1, ada creates a VPC, an instance and a ticket. Then noor answers the ticket, and sam changes the account
/// and disables a user. Account 2 has an event, too.
async fn set_up() -> TestApp {
    let app = TestApp::new().await;
    let (ada, sam, noor) = (
        app.user("ada").await,
        app.user("sam").staff().await,
        app.user("noor").role(StaffRole::Support).await,
    );
    app.user("bob").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    assert_eq!(ada.create_instance_on(1).await.status, 200);
    ada.open_ticket("It is slow").await;
    let eve = app.user("eve").of(app.another_account().await).await;
    eve.create_vpc("other-net", &[]).await;
    let answer = json!({"description": "We look into it."});
    assert_eq!(noor.post("/desk/tickets/1/replies", answer).await.status, 200);
    let change = json!({"company": "Renamed"});
    assert_eq!(sam.put("/provider/accounts/1", change).await.status, 200);
    let disable = json!({"disabled": true});
    assert_eq!(
        sam.put("/provider/accounts/1/users/bob", disable).await.status,
        200
    );
    app
}

/// The action and the user of each event.
fn actions(reply: &Reply) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let events = reply.data();
    let pairs = events.iter();
    pairs
        .map(|event| (text(&event["action"]), text(&event["username"])))
        .collect()
}

fn pair(action: &str, username: &str) -> (String, String) {
    (action.to_owned(), username.to_owned())
}

#[tokio::test]
async fn staff_see_the_events_of_an_account_with_their_authors_among_staff() {
    let app = set_up().await;
    let (ada, noor) = (
        app.user("adam").await,
        app.user("nora").role(StaffRole::Support).await,
    );

    let listed = noor.get(EVENTS).await;

    assert_eq!(listed.status, 200, "{listed}");
    assert_eq!(
        actions(&listed)[..3],
        [
            pair("user_update", "sam"),
            pair("account_update", "sam"),
            pair("ticket_update", "noor")
        ]
    );
    assert!(actions(&listed).contains(&pair("vpc_create", "ada")));
    let of_tenant = ada.get("/account/events").await;
    assert_eq!(of_tenant.ids(), listed.ids());
    assert_eq!(actions(&of_tenant)[0], pair("user_update", "Support"));
    let mut expected = of_tenant.json();
    for (event, (_, username)) in expected["data"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .zip(actions(&listed))
    {
        event["username"] = json!(username);
    }
    assert_eq!(listed.json(), expected);

    let by_user = noor.filter(EVENTS, r#"{"username": "sam"}"#).await;
    assert_eq!(actions(&by_user).len(), 2);
    let by_provider = noor.filter(EVENTS, r#"{"username": "Support"}"#).await;
    assert_eq!(actions(&by_provider), []);
    assert_eq!(noor.filter(EVENTS, r#"{"seen": true}"#).await.ids(), [0; 0]);
    let oldest = r#"{"+order_by": "id", "+order": "asc"}"#;
    let mut ids = listed.ids();
    ids.reverse();
    assert_eq!(noor.filter(EVENTS, oldest).await.ids(), ids);
    let after = noor.get(&format!("{EVENTS}?after={}", ids[0])).await;
    assert_eq!(after.ids(), ids[1..]);
    let second = noor.get(&format!("{EVENTS}?page_size=2&page=2")).await;
    assert_eq!(second.ids(), listed.ids()[2..4]);
    let of_other = noor.get("/provider/accounts/2/events").await;
    assert_eq!(actions(&of_other), [pair("vpc_create", "eve")]);
    assert_eq!(noor.get("/provider/accounts/99/events").await.status, 404);
}

#[tokio::test]
async fn an_event_of_a_deleted_member_of_staff_has_the_name_of_the_provider() {
    let app = set_up().await;
    let sam = app.user("samira").staff().await;
    assert_eq!(sam.delete("/provider/staff/noor").await.status, 200);
    let tickets = sam.filter(EVENTS, r#"{"action": "ticket_update"}"#).await;
    assert_eq!(actions(&tickets), [pair("ticket_update", "Support")]);
}

#[tokio::test]
async fn the_activity_of_an_account_links_only_to_pages_of_staff() {
    let app = set_up().await;
    let mut noor = logged_in(&app, "noor").await;
    assert!(links(&noor.get("/provider/accounts/1").await).contains(&ACTIVITY.to_owned()));

    let page = noor.get(ACTIVITY).await;

    for expected in [
        "<strong>sam</strong> <span class=\"tag\">Staff</span> updated the account",
        "<del>Example</del>",
        "<ins>Renamed</ins>",
        "<strong>ada</strong> created the VPC <a href=\"/provider/accounts/1/vpcs/1\">core</a>",
        "replied to the ticket <a href=\"/desk/tickets/1\">It is slow</a>",
        "<a href=\"/provider/accounts/1/instances?id=1\">",
        "updated the user <em>bob</em>",
    ] {
        assert_contains(&page, expected);
    }
    assert_lacks(&page, "other-net");
    let html = text(&page);
    let list = html.split("id=\"list\"").nth(1).expect("the list");
    let list = list.split("</main>").next().expect("an end");
    let of_events: Vec<_> = links(&page)
        .into_iter()
        .filter(|link| list.contains(&format!("href=\"{link}\"")))
        .collect();
    assert!(of_events.len() >= 4, "{of_events:?}");
    for link in of_events {
        let reply = noor.get(&link).await;
        assert_eq!(reply.status, 200, "{link}: {reply}");
    }
    let filtered = noor.get(&format!("{ACTIVITY}?user=sam&kind=account")).await;
    assert_contains(&filtered, "1 event<");
    assert_contains(&filtered, &format!("action=\"{ACTIVITY}\""));
    let none = noor.get(&format!("{ACTIVITY}?user=Support")).await;
    assert_contains(&none, "No events match the filter.");
    assert_contains(&none, &format!("href=\"{ACTIVITY}\""));
    assert_eq!(noor.get("/provider/accounts/99/activity").await.status, 404);

    // A deleted object has no page.
    let ada = app.user("adam").await;
    assert_eq!(ada.delete("/linode/instances/1").await.status, 200);
    assert_eq!(ada.delete("/vpcs/1").await.status, 200);
    let page = noor.get(ACTIVITY).await;
    assert_contains(&page, "created the VPC <em>core</em>");
    assert_lacks(&page, "/provider/accounts/1/vpcs/1");
}

#[tokio::test]
async fn the_page_of_an_account_leads_to_the_form_for_a_ticket() {
    let app = set_up().await;
    let mut noor = logged_in(&app, "noor").await;
    let form_url = "/desk/tickets/new?account_id=1";
    assert!(links(&noor.get("/provider/accounts/1").await).contains(&form_url.to_owned()));
    assert_contains(&noor.get(form_url).await, "<strong>Renamed</strong>");
}
