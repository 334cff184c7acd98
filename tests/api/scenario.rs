//! Runs a conversation on a ticket twice: with and without internal notes.

use hyper::{HeaderMap, Method};
use serde_json::json;

use crate::harness::{Reply, TestApp, User};

/// Everything that a tenant can read about tickets and events.
async fn all_a_tenant_sees(ada: &User<'_>, responses: &mut Vec<(String, Vec<u8>, Vec<String>)>) {
    for path in [
        "/support/tickets",
        "/support/tickets?page_size=1",
        "/support/tickets/1",
        "/support/tickets/1/replies",
        "/support/tickets/1/attachments",
        "/support/tickets/1/attachments/1",
        "/account/events",
        "/account/events?after=0",
    ] {
        let reply = ada.get(path).await;
        record(path, reply, responses);
    }
    let updated = ada.filter("/support/tickets", r#"{"+order_by":"updated"}"#).await;
    record("by updated", updated, responses);
}

fn record(request: &str, reply: Reply, responses: &mut Vec<(String, Vec<u8>, Vec<String>)>) {
    responses.push((request.to_owned(), reply.body.to_vec(), headers(&reply.headers)));
}

fn headers(headers: &HeaderMap) -> Vec<String> {
    let own = |name: &str| name != "x-request-id" && name != "date";
    let lines = headers.iter().filter(|(name, _)| own(name.as_str()));
    lines.map(|(name, value)| format!("{name}: {value:?}")).collect()
}

/// Runs the conversation; returns the responses to the tenant after each step.
async fn run_conversation(with_notes: bool) -> Vec<(String, Vec<u8>, Vec<String>)> {
    let app = TestApp::with(|policy, _| policy.support.reopen_days = Some(7)).await;
    let ada = app.user("ada").await;
    let (sam, pat) = (app.user("sam").staff().await, app.user("pat").staff().await);
    let mut responses = Vec::new();
    let note = async |agent: &User<'_>, text: &str| {
        if with_notes {
            let noted = agent
                .post("/desk/tickets/1/notes", json!({"description": text}))
                .await;
            assert_eq!(noted.status, 200);
        }
        app.advance(60);
    };

    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let body = json!({"summary": "Cannot reach it", "description": "Since noon.", "vpc_id": 1});
    record("open", ada.post("/support/tickets", body).await, &mut responses);
    note(&sam, "Another one of these.").await;
    record(
        "attach",
        ada.attach_file(1, "trace.txt", "10.0.0.1 *").await,
        &mut responses,
    );
    all_a_tenant_sees(&ada, &mut responses).await;
    sam.post("/desk/tickets/1/claim", json!({})).await;
    note(&sam, "Customer is wrong about the time.").await;
    sam.get("/desk/tickets/1/attachments/1").await;
    sam.post("/desk/tickets/1/replies", json!({"description": "Looking."}))
        .await;
    all_a_tenant_sees(&ada, &mut responses).await;
    note(&pat, "I can take it.").await;
    pat.post("/desk/tickets/1/claim", json!({"take_over": true}))
        .await;
    let reply = json!({"description": "Any news?"});
    record(
        "reply",
        ada.post("/support/tickets/1/replies", reply).await,
        &mut responses,
    );
    note(&pat, "Impatient.").await;
    all_a_tenant_sees(&ada, &mut responses).await;
    record(
        "close",
        ada.post("/support/tickets/1/close", json!({})).await,
        &mut responses,
    );
    note(&pat, "Good.").await;
    let reply = json!({"description": "One more thing."});
    record(
        "reopen",
        ada.post("/support/tickets/1/replies", reply).await,
        &mut responses,
    );
    note(&sam, "Ah well.").await;
    pat.put("/desk/tickets/1", json!({"closable": false})).await;
    pat.post("/desk/tickets/1/close", json!({})).await;
    ada.open_ticket("Something else").await;
    all_a_tenant_sees(&ada, &mut responses).await;

    let notes = sam
        .filter("/desk/tickets/1/history", r#"{"action":"note"}"#)
        .await;
    assert_eq!(notes.json()["results"], if with_notes { 6 } else { 0 });
    let tag = ada.call(Method::GET, "/support/tickets/1").await;
    assert!(!tag.header("etag").is_empty());
    responses
}

#[tokio::test]
async fn notes_do_not_change_responses_to_tenants() {
    let (with, without) = (run_conversation(true).await, run_conversation(false).await);
    assert_eq!(with.len(), without.len());
    for (with, without) in with.iter().zip(&without) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&with.1), text(&without.1), "{}", with.0);
        assert_eq!(with.2, without.2, "{}", with.0);
    }
}
