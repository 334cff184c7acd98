//! The queue of the desk: filters, search, and the accounts with open tickets.

use garth::model::id::TicketId;
use garth::model::ticket::Side;
use garth::model::time::Time;
use garth::rules::lists::ListRequest;
use garth::rules::{Error, desk};
use hyper::Method;
use serde_json::json;

use super::desk::post;
use crate::harness::TestApp;

#[tokio::test]
async fn the_queue_has_all_accounts_and_can_be_filtered() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let grace = app.user("grace").of(app.another_account().await).await;
    ada.open_ticket("One").await;
    grace.open_ticket("Two").await;
    app.advance(3600);
    ada.post(
        "/support/tickets",
        json!({"summary": "Three", "description": ".", "domain_id": 4}),
    )
    .await;
    let sam = app.user("sam").staff().await;
    post(&sam, "/desk/tickets/2/claim").await;
    ada.post("/support/tickets/1/close", json!({})).await;

    assert_eq!(sam.get("/desk/tickets").await.ids(), [3, 2, 1]);
    for (filter, ids) in [
        (r#"{"account_id":1}"#, vec![3, 1]),
        (r#"{"account.id":2}"#, vec![2]),
        (r#"{"claimed_by":"sam"}"#, vec![2]),
        (r#"{"claimed_by":null}"#, vec![3, 1]),
        (r#"{"status":"new"}"#, vec![3]),
        (
            r#"{"opened":{"+lt":"2024-06-01T12:30:00"},"status":{"+neq":"closed"}}"#,
            vec![2],
        ),
        (r#"{"entity.type":"domain","entity.id":4}"#, vec![3]),
        (r#"{"summary":{"+contains":"thr"}}"#, vec![3]),
    ] {
        assert_eq!(sam.filter("/desk/tickets", filter).await.ids(), ids, "{filter}");
    }
}

#[tokio::test]
async fn tickets_wait_for_staff_while_the_last_message_is_from_the_customer() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    let waiting = async || {
        let read = app.store.read(garth::rules::desk::waiting).await.unwrap();
        let oldest = read.oldest.map(|time| time.to_string());
        (read.count, oldest.unwrap_or_default())
    };
    assert_eq!(waiting().await, (0, String::new()));
    ada.open_ticket("One").await;
    app.advance(60);
    ada.open_ticket("Two").await;
    let provider = json!({"account_id": 1, "summary": "Three", "description": "."});
    sam.post("/desk/tickets", provider).await;
    assert_eq!(waiting().await, (2, "2024-06-01T12:00:00".to_owned()));

    // A claim and a note are no answers.
    post(&sam, "/desk/tickets/1/claim").await;
    sam.post("/desk/tickets/1/notes", json!({"description": "."}))
        .await;
    assert_eq!(waiting().await, (2, "2024-06-01T12:00:00".to_owned()));
    sam.post("/desk/tickets/1/replies", json!({"description": "Done."}))
        .await;
    assert_eq!(waiting().await, (1, "2024-06-01T12:01:00".to_owned()));
    app.advance(60);
    for ticket in [1, 3] {
        let path = format!("/support/tickets/{ticket}/replies");
        ada.post(&path, json!({"description": "Not yet."})).await;
    }
    assert_eq!(waiting().await, (3, "2024-06-01T12:01:00".to_owned()));
    post(&ada, "/support/tickets/2/close").await;
    assert_eq!(waiting().await, (2, "2024-06-01T12:02:00".to_owned()));
}

#[tokio::test]
async fn the_queue_is_sorted_by_the_longest_wait() {
    let app = TestApp::new().await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    for summary in ["One", "Two", "Three", "Four"] {
        ada.open_ticket(summary).await;
        app.advance(60);
    }
    let provider = json!({"account_id": 1, "summary": "Five", "description": "."});
    sam.post("/desk/tickets", provider).await;
    post(&sam, "/desk/tickets/4/close").await;
    for ticket in [1, 2] {
        let path = format!("/desk/tickets/{ticket}/replies");
        sam.post(&path, json!({"description": "Done."})).await;
    }
    for tickets in [&[2][..], &[2, 5]] {
        app.advance(60);
        for ticket in tickets {
            let path = format!("/support/tickets/{ticket}/replies");
            ada.post(&path, json!({"description": "Not yet."})).await;
        }
    }
    // An assignment is no answer.
    post(&sam, "/desk/tickets/3/claim").await;

    let listed = async |number: i64, size: i64, side: Option<Side>| {
        let request = ListRequest::first(size).at(number);
        let read = app.store.read(move |tx| {
            let found = desk::list_by_wait(tx, &request, None, side)?;
            let since = desk::waiting_since(tx, &found.items)?;
            Ok::<_, Error>((found, since))
        });
        let (found, since) = read.await.expect("a page");
        let row = |id: TicketId| {
            let since = since.get(&id).map_or_else(|| "-".to_owned(), Time::to_string);
            format!("{id} {}", since.replace("2024-06-01T", ""))
        };
        let rows: Vec<_> = found.items.iter().map(|desk| row(desk.ticket.id)).collect();
        (rows.join(", "), found.results)
    };
    let waiting = "3 12:02:00, 2 12:05:00, 5 12:06:00";
    assert_eq!(listed(1, 10, None).await, (format!("{waiting}, 1 -, 4 -"), 5));
    assert_eq!(listed(1, 10, Some(Side::Provider)).await, (waiting.to_owned(), 3));
    assert_eq!(listed(2, 2, None).await, ("5 12:06:00, 1 -".to_owned(), 5));
    let longest = app.store.read(desk::waiting).await.expect("the longest wait");
    assert_eq!(
        (longest.count, longest.oldest_ticket),
        (3, Some(TicketId(3))),
        "{longest:?}"
    );
}

#[tokio::test]
async fn search_finds_words_in_all_texts_of_a_ticket() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let sam = app.user("sam").staff().await;
    for (summary, description) in [
        ("Router down", "The edge router in Gießen does not answer."),
        ("Invoice", "Please send it to billing@example.com."),
        ("Über alles", "Nothing else: O'Reilly said \"so\" (10.0.0.1)."),
    ] {
        let body = json!({"summary": summary, "description": description});
        ada.post("/support/tickets", body).await;
    }
    ada.post(
        "/support/tickets/2/replies",
        json!({"description": "The Router says no."}),
    )
    .await;
    sam.post(
        "/desk/tickets/3/notes",
        json!({"description": "Smells of a router, too."}),
    )
    .await;
    for (query, ids) in [
        ("router", vec![3, 2, 1]),
        ("ROUTER%20gie%C3%9Fen", vec![1]),
        ("invoice%20router", vec![2]),
        ("rout", vec![3, 2, 1]),
        ("%C3%BCber", vec![3]),
        ("%C3%9CBER", vec![3]),
        ("o%27reilly", vec![3]),
        ("10.0.0.1", vec![3]),
        ("example.com", vec![2]),
        ("ticket", vec![]),
        ("router%20OR%20nothing", vec![]),
        ("%22", vec![0]),
        ("", vec![3, 2, 1]),
    ] {
        let reply = sam.get(&format!("/desk/tickets?q={query}")).await;
        if ids == [0] {
            assert_eq!(reply.errors(), ["q search_invalid"], "{query}");
        } else {
            assert_eq!(reply.ids(), ids, "{query}");
        }
    }
    let both = sam
        .call(Method::GET, "/desk/tickets?q=router&page_size=1&page=2")
        .header("x-filter", r#"{"id":{"+gt":1}}"#);
    let both = both.await;
    assert_eq!((both.ids(), both.json()["results"].clone()), (vec![2], json!(2)));
    let many = vec!["a"; 17].join("+");
    assert_eq!(sam.get(&format!("/desk/tickets?q={many}")).await.status, 400);
}

#[tokio::test]
async fn staff_see_accounts_with_their_open_tickets() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.another_account().await;
    ada.open_ticket("One").await;
    ada.open_ticket("Two").await;
    post(&ada, "/support/tickets/1/close").await;
    let sam = app.user("sam").staff().await;

    let accounts = sam.get("/desk/accounts").await;
    assert_eq!(accounts.ids(), [1, 2]);
    let one = sam.get("/desk/accounts/1").await.json();
    assert_eq!(
        one,
        json!({"id": 1, "company": "Example", "email": "owner@example.com", "created": "2024-06-01T12:00:00",
            "tickets_open": 1, "tickets": 2, "users": 1})
    );
    assert_eq!(
        sam.filter("/desk/accounts", r#"{"company":"Other"}"#).await.ids(),
        [2]
    );
}
