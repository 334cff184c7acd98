//! The count of unseen events in the navigation bar.

use crate::browser::text;
use crate::console::{app_with_ada, logged_in};

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
        "<strong>bob</strong> created the subnet <a href=\"/vpcs/1\">a</a>",
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
    bob.create_vpc("edge", &[]).await;
    assert!(text(&ada.get("/tickets").await).contains("<span class=\"unseen\">1<"));
    // Events that rita cannot see are not counted.
    app.user("rita").restricted().await;
    let mut rita = logged_in(&app, "rita").await;
    assert!(!text(&rita.get("/tickets").await).contains("class=\"unseen\""));
}
