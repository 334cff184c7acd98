//! Pages hear of what happens, and miss nothing.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;

use crate::account::stream::{STREAM_TIMEOUT, Stream};
use crate::browser::text;
use crate::console::entered;
use crate::harness::{Reply, TestApp};

/// A server whose streams are woken by what happens, and by nothing else in the time of a test.
async fn quiet() -> TestApp {
    TestApp::with(|_, options| options.heartbeat = Duration::from_secs(3600)).await
}

/// Where a page follows what happens.
fn live(page: &Reply) -> String {
    let html = text(page);
    let (_, rest) = html
        .split_once("data-live=\"")
        .unwrap_or_else(|| panic!("not live: {html}"));
    rest.split('"')
        .next()
        .expect("a value ends")
        .replace("&amp;", "&")
}

impl Stream {
    /// The next notice, as its id and the lines of its data.
    async fn notice(&mut self) -> Option<(String, Vec<String>)> {
        timeout(STREAM_TIMEOUT, self.first_notice())
            .await
            .expect("a notice in time")
    }

    async fn first_notice(&mut self) -> Option<(String, Vec<String>)> {
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

    async fn told(&mut self) -> Vec<String> {
        self.notice().await.expect("the stream goes on").1
    }
}

#[tokio::test]
async fn a_page_hears_of_its_own_account_from_when_it_was_drawn() {
    let app = quiet().await;
    let ada = app.user("ada").await;
    let eve = app.user("eve").of(app.another_account().await).await;
    ada.opens_ticket("Before").await;
    let mut browser = entered(&app, "ada").await;
    let page = browser.get("/tickets").await;
    // Between the page and its stream.
    eve.opens_ticket("Not hers").await;
    ada.opens_ticket("Between").await;
    let mut stream = Stream::reading(browser.follows(&live(&page), None).await);
    let (id, data) = stream.notice().await.unwrap();
    assert_eq!(data, ["ticket 3"]);
    ada.creates_vpc("core", &[]).await;
    assert_eq!(stream.told().await, ["vpc 1"]);
    drop(stream);

    // A lost connection: the browser says what it was told last, whatever the address says.
    ada.post("/support/tickets/3/replies", json!({"description": "x"}))
        .await;
    let mut stream = Stream::reading(browser.follows(&live(&page), Some(&id)).await);
    assert_eq!(stream.told().await, ["vpc 1"]);
    assert_eq!(stream.told().await, ["ticket 3"]);
}

#[tokio::test]
async fn what_a_user_may_not_see_is_not_told() {
    let app = quiet().await;
    let ada = app.user("ada").await;
    let rita = app.user("rita").restricted().await;
    let mut browser = entered(&app, "rita").await;
    let page = browser.get("/tickets").await;
    let mut stream = Stream::reading(browser.follows(&live(&page), None).await);
    ada.opens_ticket("Not hers").await;
    ada.creates_vpc("core", &[]).await;
    rita.opens_ticket("Hers").await;
    assert_eq!(stream.told().await, ["ticket 2"]);
}

#[tokio::test]
async fn logging_out_ends_what_a_page_hears() {
    let app = quiet().await;
    let ada = app.user("ada").await;
    let mut browser = entered(&app, "ada").await;
    let page = browser.get("/tickets").await;
    let mut stream = Stream::reading(browser.follows(&live(&page), None).await);
    stream.next().await.expect("a beginning");
    browser.get("/logout").await;
    ada.opens_ticket("Secret").await;
    assert_eq!(stream.notice().await, None);
}

#[tokio::test]
async fn the_desk_hears_of_every_account_and_of_what_no_account_is_told() {
    let app = quiet().await;
    let ada = app.user("ada").await;
    let linus = app.user("linus").staff().await;
    app.user("grace").staff().await;
    let mut grace = entered(&app, "grace").await;
    let queue = grace.get("/desk").await;
    // Between the page and its stream.
    ada.opens_ticket("Help").await;
    let mut stream = Stream::reading(grace.follows(&live(&queue), None).await);
    assert_eq!(stream.told().await, ["queue 0"]);
    linus
        .post("/desk/tickets/1/notes", json!({"description": "x"}))
        .await;
    let (mark, data) = stream.notice().await.unwrap();
    assert_eq!(data, ["queue 0"]);
    drop(stream);

    linus.put("/desk/tickets/1", json!({"priority": "high"})).await;
    let mut stream = Stream::reading(grace.follows("/desk/live", Some(&mark)).await);
    let (mark, data) = stream.notice().await.unwrap();
    assert_eq!(data, ["queue 0"]);
    // With nothing new there is nothing to tell.
    let mut stream = Stream::reading(grace.follows("/desk/live", Some(&mark)).await);
    linus.post("/desk/tickets/1/claim", json!({})).await;
    let (later, _) = stream.notice().await.unwrap();
    assert_ne!(later, mark);
}

#[tokio::test]
async fn a_ticket_page_hears_of_its_own_ticket_only() {
    let app = quiet().await;
    let ada = app.user("ada").await;
    app.user("grace").staff().await;
    ada.opens_ticket("One").await;
    ada.opens_ticket("Two").await;
    let mut grace = entered(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let mut stream = Stream::reading(grace.follows(&live(&page), None).await);
    ada.post("/support/tickets/2/replies", json!({"description": "x"}))
        .await;
    assert_eq!(stream.told().await, ["queue 0"]);
    ada.post("/support/tickets/1/replies", json!({"description": "x"}))
        .await;
    assert_eq!(stream.told().await, ["ticket 1", "queue 0"]);
    let none = grace.follows("/desk/live?ticket=77", None).await;
    assert_eq!(none.status(), 404);
}

#[tokio::test]
async fn two_of_the_staff_on_one_ticket_see_each_other() {
    let app = TestApp::with(|_, options| options.heartbeat = Duration::from_millis(200)).await;
    app.user("ada").await.opens_ticket("Help").await;
    app.user("grace").staff().await;
    app.user("linus").staff().await;
    let (mut grace, mut linus) = (entered(&app, "grace").await, entered(&app, "linus").await);
    let of_grace = grace.get("/desk/tickets/1").await;
    assert!(!text(&of_grace).contains("has this ticket open"));
    let mut stream = Stream::reading(grace.follows(&live(&of_grace), None).await);
    stream.next().await.expect("a beginning");

    let of_linus = linus.get("/desk/tickets/1").await;
    assert!(
        text(&of_linus).contains("<strong>grace</strong> has this ticket open, too."),
        "{of_linus}"
    );
    let other = Stream::reading(linus.follows(&live(&of_linus), None).await);
    assert_eq!(stream.told().await, ["ticket 1"]);
    assert!(
        text(&grace.get("/desk/tickets/1").await)
            .contains("<strong>linus</strong> has this ticket open, too.")
    );
    // Tenants are told nothing of who reads.
    let mut ada = entered(&app, "ada").await;
    assert!(!text(&ada.get("/tickets/1").await).contains("linus"));

    drop(other);
    assert_eq!(stream.told().await, ["ticket 1"]);
    assert!(!text(&grace.get("/desk/tickets/1").await).contains("linus"));
    // Whoever vanishes without a word is gone after a while; whoever is there stays.
    let left_behind = app.store.write(|tx| {
        let agent = garth::rules::agent::Agent::at_terminal(tx, "linus")?;
        garth::rules::viewers::register(tx, &agent, garth::model::id::TicketId(1))
    });
    left_behind.await.unwrap();
    assert_eq!(stream.told().await, ["ticket 1"]);
    app.advance(46);
    assert_eq!(stream.told().await, ["ticket 1"]);
    assert!(!text(&grace.get("/desk/tickets/1").await).contains("linus"));
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(text(&linus.get("/desk/tickets/1").await).contains("<strong>grace</strong>"));
}
