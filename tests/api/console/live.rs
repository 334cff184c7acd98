//! The event streams of open pages.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::account::stream::{STREAM_TIMEOUT, Stream};
use crate::browser::text;
use crate::console::logged_in;
use crate::harness::{Reply, TestApp};

/// A server without heartbeats, so that only changes notify its streams.
async fn without_heartbeat() -> TestApp {
    TestApp::with(|_, options| options.heartbeat = Duration::from_secs(3600)).await
}

/// The URL of the stream of a page.
fn stream_url(page: &Reply) -> String {
    let html = text(page);
    let (_, rest) = html
        .split_once("data-live=\"")
        .unwrap_or_else(|| panic!("no stream: {html}"));
    rest.split('"')
        .next()
        .expect("a value ends")
        .replace("&amp;", "&")
}

impl Stream {
    /// The next message, as its ID and the lines of its data.
    async fn message(&mut self) -> Option<(String, Vec<String>)> {
        timeout(STREAM_TIMEOUT, self.first_message())
            .await
            .expect("a message in time")
    }

    async fn first_message(&mut self) -> Option<(String, Vec<String>)> {
        loop {
            let message = self.next().await?;
            let part = |name: &str| {
                message
                    .iter()
                    .filter_map(|line| line.strip_prefix(name).map(str::to_owned))
                    .collect::<Vec<_>>()
            };
            let data = part("data: ");
            if !data.is_empty() {
                assert_eq!(part("event: "), ["change"]);
                return Some((part("id: ").concat(), data));
            }
        }
    }

    async fn changes(&mut self) -> Vec<String> {
        self.message().await.expect("the stream stays open").1
    }
}

#[tokio::test]
async fn a_page_receives_the_changes_of_its_account_since_it_was_rendered() {
    let app = without_heartbeat().await;
    let ada = app.user("ada").await;
    let eve = app.user("eve").of(app.another_account().await).await;
    ada.open_ticket("Before").await;
    let mut browser = logged_in(&app, "ada").await;
    let page = browser.get("/tickets").await;
    // Changes between the page and its stream.
    eve.open_ticket("Not hers").await;
    ada.open_ticket("Between").await;
    let mut stream = Stream::from_response(browser.open_stream(&stream_url(&page), None).await);
    let (id, data) = stream.message().await.unwrap();
    assert_eq!(data, ["ticket 3"]);
    ada.create_vpc("core", &[]).await;
    assert_eq!(stream.changes().await, ["vpc 1"]);
    drop(stream);

    // After a lost connection, the ID of the last message overrides the URL.
    ada.post("/support/tickets/3/replies", json!({"description": "x"}))
        .await;
    let mut stream = Stream::from_response(browser.open_stream(&stream_url(&page), Some(&id)).await);
    assert_eq!(stream.changes().await, ["vpc 1"]);
    assert_eq!(stream.changes().await, ["ticket 3"]);
}

#[tokio::test]
async fn a_stream_has_no_changes_that_the_user_cannot_see() {
    let app = without_heartbeat().await;
    let ada = app.user("ada").await;
    let rita = app.user("rita").restricted().await;
    let mut browser = logged_in(&app, "rita").await;
    let page = browser.get("/tickets").await;
    let mut stream = Stream::from_response(browser.open_stream(&stream_url(&page), None).await);
    ada.open_ticket("Not hers").await;
    ada.create_vpc("core", &[]).await;
    rita.open_ticket("Hers").await;
    assert_eq!(stream.changes().await, ["ticket 2"]);
}

#[tokio::test]
async fn logging_out_ends_the_stream() {
    let app = without_heartbeat().await;
    let ada = app.user("ada").await;
    let mut browser = logged_in(&app, "ada").await;
    let page = browser.get("/tickets").await;
    let mut stream = Stream::from_response(browser.open_stream(&stream_url(&page), None).await);
    stream.next().await.expect("a beginning");
    browser.get("/logout").await;
    ada.open_ticket("Secret").await;
    assert_eq!(stream.message().await, None);
}

#[tokio::test]
async fn the_desk_receives_changes_of_all_accounts_and_internal_changes() {
    let app = without_heartbeat().await;
    let ada = app.user("ada").await;
    let linus = app.user("linus").staff().await;
    app.user("grace").staff().await;
    let mut grace = logged_in(&app, "grace").await;
    let queue = grace.get("/desk").await;
    // Changes between the page and its stream.
    ada.open_ticket("Help").await;
    let mut stream = Stream::from_response(grace.open_stream(&stream_url(&queue), None).await);
    assert_eq!(stream.changes().await, ["queue 0"]);
    linus
        .post("/desk/tickets/1/notes", json!({"description": "x"}))
        .await;
    let (mark, data) = stream.message().await.unwrap();
    assert_eq!(data, ["queue 0"]);
    drop(stream);

    linus.put("/desk/tickets/1", json!({"priority": "high"})).await;
    let mut stream = Stream::from_response(grace.open_stream("/desk/live", Some(&mark)).await);
    let (mark, data) = stream.message().await.unwrap();
    assert_eq!(data, ["queue 0"]);
    // Without a change there is no message.
    let mut stream = Stream::from_response(grace.open_stream("/desk/live", Some(&mark)).await);
    linus.post("/desk/tickets/1/claim", json!({})).await;
    let (later, _) = stream.message().await.unwrap();
    assert_ne!(later, mark);
}

#[tokio::test]
async fn a_ticket_page_receives_changes_of_its_ticket_only() {
    let app = without_heartbeat().await;
    let ada = app.user("ada").await;
    app.user("grace").staff().await;
    ada.open_ticket("One").await;
    ada.open_ticket("Two").await;
    let mut grace = logged_in(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let mut stream = Stream::from_response(grace.open_stream(&stream_url(&page), None).await);
    ada.post("/support/tickets/2/replies", json!({"description": "x"}))
        .await;
    assert_eq!(stream.changes().await, ["queue 0"]);
    ada.post("/support/tickets/1/replies", json!({"description": "x"}))
        .await;
    assert_eq!(stream.changes().await, ["ticket 1", "queue 0"]);
    let none = grace.open_stream("/desk/live?ticket=77", None).await;
    assert_eq!(none.status(), 404);
}

#[tokio::test]
async fn staff_see_the_other_viewers_of_a_ticket() {
    let app = TestApp::with(|_, options| options.heartbeat = Duration::from_millis(200)).await;
    app.user("ada").await.open_ticket("Help").await;
    app.user("grace").staff().await;
    app.user("linus").staff().await;
    let (mut grace, mut linus) = (logged_in(&app, "grace").await, logged_in(&app, "linus").await);
    let grace_page = grace.get("/desk/tickets/1").await;
    assert!(!text(&grace_page).contains("also viewing this ticket"));
    let mut stream = Stream::from_response(grace.open_stream(&stream_url(&grace_page), None).await);
    stream.next().await.expect("a beginning");

    let linus_page = linus.get("/desk/tickets/1").await;
    assert!(
        text(&linus_page).contains("<strong>grace</strong> is also viewing this ticket."),
        "{linus_page}"
    );
    let other = Stream::from_response(linus.open_stream(&stream_url(&linus_page), None).await);
    assert_eq!(stream.changes().await, ["ticket 1"]);
    assert!(
        text(&grace.get("/desk/tickets/1").await)
            .contains("<strong>linus</strong> is also viewing this ticket.")
    );
    // Tenants do not see the viewers.
    let mut ada = logged_in(&app, "ada").await;
    assert!(!text(&ada.get("/tickets/1").await).contains("linus"));

    drop(other);
    assert_eq!(stream.changes().await, ["ticket 1"]);
    assert!(!text(&grace.get("/desk/tickets/1").await).contains("<strong>linus</strong>"));
    // A viewer whose tab was lost expires. A viewer with an open tab remains.
    let left_behind = app.store.write(|tx| {
        let agent = garth::rules::agent::Agent::at_terminal(tx, "linus")?;
        garth::rules::viewers::register(tx, &agent, garth::model::id::TicketId(1))
    });
    left_behind.await.unwrap();
    assert_eq!(stream.changes().await, ["ticket 1"]);
    app.advance(46);
    assert_eq!(stream.changes().await, ["ticket 1"]);
    assert!(!text(&grace.get("/desk/tickets/1").await).contains("<strong>linus</strong>"));
    let renewed = async {
        while !text(&linus.get("/desk/tickets/1").await).contains("<strong>grace</strong>") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(STREAM_TIMEOUT, renewed)
        .await
        .expect("grace remains a viewer");
}
