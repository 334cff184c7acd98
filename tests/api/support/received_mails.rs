//! Messages that arrive by mail become replies and tickets.

use garth::files::Files;
use garth::mail::delivery::{Delivery, Envelope, deliver};
use garth::model::id::{TicketId, UserId};
use garth::model::policy::{MailPolicy, Policy};
use garth::model::reply_address::MailAddress;
use garth::rules::received_mails::reply_address;
use garth::uploads::Uploads;
use garth::web::Options;
use serde_json::json;

use crate::harness::TestApp;

pub const AUTHSERV_ID: &str = "mx.example.net";
pub const DESK: &str = "support@desk.example.net";
/// The sizes of the parts of a message with a PNG image.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAACklEQVR4nGMAAQAABQABDQottAAAAABJRU5ErkJggg==";

pub fn enable_mail(policy: &mut Policy, _: &mut Options) {
    policy.mail = Some(MailPolicy {
        reply_address: MailAddress::parse(DESK).expect("an address"),
        authserv_id: AUTHSERV_ID.to_owned(),
    });
}

pub async fn send(app: &TestApp, recipient: &str, message: &str) -> Delivery {
    let delivered = send_to_all(app, &[recipient], message).await.pop();
    delivered.expect("one recipient")
}

async fn send_to_all(app: &TestApp, recipients: &[&str], message: &str) -> Vec<Delivery> {
    let uploads = Uploads {
        store: app.store.clone(),
        files: Files::open(None, app.folder()).expect("the attachment storage"),
        scanner: None,
    };
    let envelope = Envelope {
        recipients: recipients
            .iter()
            .map(|recipient| (*recipient).to_owned())
            .collect(),
        sender: Some("ada@example.com".to_owned()),
        message: message.as_bytes().to_vec(),
    };
    let delivered = deliver(&uploads, AUTHSERV_ID, envelope).await;
    delivered
        .into_iter()
        .map(|delivery| delivery.expect("a result"))
        .collect()
}

/// A verified message.
pub fn message(from: &str, id: &str, text: &str) -> String {
    format!(
        "Authentication-Results: {AUTHSERV_ID}; dmarc=pass header.from=example.com\r\nFrom: {from}\r\n\
         Subject: It is slow\r\nMessage-ID: <{id}>\r\n\r\n{text}\r\n"
    )
}

pub async fn signed(app: &TestApp, ticket: i64, user: i64) -> String {
    let sign = move |tx: &mut garth::store::WriteTx| reply_address(tx, TicketId(ticket), UserId(user));
    app.store
        .write(sign)
        .await
        .expect("an address")
        .expect("mail is enabled")
}

#[tokio::test]
async fn a_message_of_a_user_opens_a_ticket_once() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let mail = message(
        "Ada <ADA@example.com>",
        "1@example.com",
        "Since noon.\r\n\r\n-- \r\nAda",
    );
    for expected in [Delivery::Accepted("ticket"), Delivery::Dropped("duplicate")] {
        assert_eq!(send(&app, DESK, &mail).await, expected);
    }
    let tickets = ada.get("/support/tickets").await.json();
    assert_eq!(tickets["results"], 1);
    let ticket = &tickets["data"][0];
    assert_eq!(
        (&ticket["summary"], &ticket["description"], &ticket["opened_by"]),
        (&json!("It is slow"), &json!("Since noon."), &json!("ada"))
    );
}

#[tokio::test]
async fn a_message_without_a_message_id_has_one_effect() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let mail = message("ada@example.com", "x", "Since noon.").replace("Message-ID: <x>\r\n", "");
    assert!(!mail.contains("Message-ID"));
    for expected in [Delivery::Accepted("ticket"), Delivery::Dropped("duplicate")] {
        assert_eq!(send(&app, DESK, &mail).await, expected);
    }
    let other = mail.replace("noon", "midnight");
    assert_eq!(send(&app, DESK, &other).await, Delivery::Accepted("ticket"));
    assert_eq!(ada.get("/support/tickets").await.json()["results"], 2);
}

#[tokio::test]
async fn a_message_to_several_tickets_is_a_reply_to_each_and_opens_none() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    ada.open_ticket("First").await;
    ada.open_ticket("Second").await;
    let (first, second) = (signed(&app, 1, 1).await, signed(&app, 2, 1).await);
    let mail = message("ada@example.com", "1@example.com", "Both are solved.");
    let (reply, duplicate) = (Delivery::Accepted("reply"), Delivery::Dropped("duplicate"));
    let delivered = send_to_all(&app, &[DESK, &second, &first], &mail).await;
    assert_eq!(delivered, [duplicate, reply, reply]);
    let again = send_to_all(&app, &[&first, DESK, &second], &mail).await;
    assert_eq!(again, [duplicate; 3]);
    for ticket in [1, 2] {
        let replies = ada
            .get(&format!("/support/tickets/{ticket}/replies"))
            .await
            .json();
        assert_eq!(replies["results"], 1, "{ticket}");
    }
    assert_eq!(ada.get("/support/tickets").await.json()["results"], 2);
}

#[tokio::test]
async fn a_user_without_a_password_does_not_block_the_owner_of_the_address() {
    let app = TestApp::with(enable_mail).await;
    let rob = app.user("rob").await;
    let eve = app.user("eve").of(app.another_account().await).await;
    let mail = |id: &str| message("rob@example.com", id, "Since noon.");
    let new = json!({"username": "rob-too", "email": "ROB@example.com", "restricted": false});
    assert_eq!(eve.post("/account/users", new).await.status, 200);
    assert_eq!(
        send(&app, DESK, &mail("1@example.com")).await,
        Delivery::Refused("sender_ambiguous")
    );
    app.set_password("rob").await;
    assert_eq!(
        send(&app, DESK, &mail("2@example.com")).await,
        Delivery::Accepted("ticket")
    );
    assert_eq!(rob.get("/support/tickets").await.json()["results"], 1);
    assert_eq!(eve.get("/support/tickets").await.json()["results"], 0);
    app.set_password("rob-too").await;
    assert_eq!(
        send(&app, DESK, &mail("3@example.com")).await,
        Delivery::Refused("sender_ambiguous")
    );
}

#[tokio::test]
async fn a_message_of_many_parts_is_refused() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let head = "Content-Type: multipart/mixed; boundary=b\r\nMIME-Version: 1.0\r\n";
    let body = "--b\r\n\r\nx\r\n".repeat(1001);
    let mail = format!("{head}{}", message("ada@example.com", "1@example.com", &body));
    assert_eq!(send(&app, DESK, &mail).await, Delivery::Refused("too_complex"));
    assert_eq!(ada.get("/support/tickets").await.json()["results"], 0);
}

#[tokio::test]
async fn a_reply_to_the_signed_address_is_a_reply_of_its_user() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let staff = app.user("sam").staff().await;
    ada.open_ticket("Help").await;
    let (to_ada, to_sam) = (signed(&app, 1, 1).await, signed(&app, 1, 2).await);
    let quoted = "Yes.\r\n\r\nOn 1 June 2024, Support <s@example.net> wrote:\r\n\r\n> Slow?";
    let mail = message("ada@example.com", "2@example.com", quoted);
    assert_eq!(send(&app, &to_ada, &mail).await, Delivery::Accepted("reply"));
    let mail = message("sam@example.com", "3@example.com", "We are on it.");
    assert_eq!(send(&app, &to_sam, &mail).await, Delivery::Accepted("reply"));

    let replies = ada.get("/support/tickets/1/replies").await.json();
    let texts: Vec<_> = replies["data"].as_array().expect("replies").iter().collect();
    let shown = texts
        .iter()
        .map(|reply| (&reply["description"], &reply["created_by"]))
        .collect::<Vec<_>>();
    assert_eq!(
        shown,
        [
            (&json!("Yes."), &json!("ada")),
            (&json!("We are on it."), &json!("Support"))
        ]
    );
    assert_eq!(staff.get("/desk/tickets/1").await.json()["status"], "open");
}

#[tokio::test]
async fn other_messages_have_no_effect() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let bob = app.user("bob").restricted().await;
    ada.open_ticket("Help").await;
    let (to_ada, to_bob) = (signed(&app, 1, 1).await, signed(&app, 1, 2).await);
    let verified = message("ada@example.com", "4@example.com", "Hello");
    let forged = verified.replace("dmarc=pass", "dmarc=fail");
    let automatic = format!("Auto-Submitted: auto-replied\r\n{verified}");
    let stranger = message("eve@example.com", "5@example.com", "Hello");
    let from_bob = message("bob@example.com", "6@example.com", "Hello");
    let from_desk = verified
        .replace("ada@example.com", DESK)
        .replace("=example.com", "=desk.example.net");
    let wrong = to_ada.replace("+1-", "+2-");
    for (recipient, mail, expected) in [
        (to_ada.as_str(), &forged, Delivery::Dropped("sender_unverified")),
        (&to_ada, &automatic, Delivery::Dropped("automatic")),
        (&to_ada, &stranger, Delivery::Refused("sender_differs")),
        (&to_ada, &from_desk, Delivery::Dropped("loop")),
        (&to_bob, &from_bob, Delivery::Refused("no_permission")),
        (&wrong, &verified, Delivery::Refused("address_invalid")),
        (
            "sales@example.net",
            &verified,
            Delivery::Refused("address_unknown"),
        ),
        (DESK, &stranger, Delivery::Dropped("stranger")),
        (DESK, &"no header".to_owned(), Delivery::Dropped("no_sender")),
    ] {
        assert_eq!(send(&app, recipient, mail).await, expected, "{mail}");
    }
    assert_eq!(ada.get("/support/tickets/1/replies").await.json()["results"], 0);
    assert_eq!(ada.get("/support/tickets").await.json()["results"], 1);

    ada.post("/support/tickets/1/close", json!({})).await;
    assert_eq!(
        send(&app, &to_ada, &verified).await,
        Delivery::Refused("ticket_closed")
    );
    drop(bob);
}

#[tokio::test]
async fn messages_of_users_without_access_are_returned() {
    let app = TestApp::with(enable_mail).await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("Help").await;
    let to_ada = signed(&app, 1, 1).await;
    sam.post("/provider/accounts/1/suspend", json!({})).await;
    let mail = message("ada@example.com", "7@example.com", "Hello");
    for recipient in [to_ada.as_str(), DESK] {
        let delivery = send(&app, recipient, &mail).await;
        assert_eq!(delivery, Delivery::Refused("no_access"), "{recipient}");
    }
    sam.post("/provider/accounts/1/reactivate", json!({})).await;
    assert_eq!(send(&app, &to_ada, &mail).await, Delivery::Accepted("reply"));
}

#[tokio::test]
async fn files_are_attached_and_refused_files_are_in_a_note() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    let staff = app.user("sam").staff().await;
    let head = "Content-Type: multipart/mixed; boundary=b\r\nMIME-Version: 1.0\r\n";
    let body = format!(
        "--b\r\n\r\nSee the files.\r\n--b\r\nContent-Type: image/png; name=a.png\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{PNG}\r\n--b\r\nContent-Type: application/zip; name=b.zip\r\n\r\n\
         PK\r\n--b--"
    );
    let mail = format!("{head}{}", message("ada@example.com", "7@example.com", &body));
    for expected in [Delivery::Accepted("ticket"), Delivery::Dropped("duplicate")] {
        assert_eq!(send(&app, DESK, &mail).await, expected);
    }
    let files = ada.get("/support/tickets/1/attachments").await.json();
    assert_eq!(
        (&files["results"], &files["data"][0]["name"]),
        (&json!(1), &json!("a.png"))
    );
    let history = staff.get("/desk/tickets/1/history").await.json();
    let notes = history["data"]
        .as_array()
        .expect("steps")
        .iter()
        .filter(|step| step["action"] == "note");
    let notes: Vec<_> = notes
        .map(|step| step["description"].as_str().expect("a text"))
        .collect();
    assert!(notes.len() == 1 && notes[0].contains("b.zip: "), "{notes:?}");
}

#[tokio::test]
async fn staff_attach_files_by_mail() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    ada.open_ticket("Help").await;
    let to_sam = signed(&app, 1, 2).await;
    let head = "Content-Type: multipart/mixed; boundary=b\r\nMIME-Version: 1.0\r\n";
    let body = format!(
        "--b\r\n\r\nSee the file.\r\n--b\r\nContent-Type: image/png; name=a.png\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{PNG}\r\n--b--"
    );
    let mail = format!("{head}{}", message("sam@example.com", "8@example.com", &body));
    for expected in [Delivery::Accepted("reply"), Delivery::Dropped("duplicate")] {
        assert_eq!(send(&app, &to_sam, &mail).await, expected);
    }
    let files = ada.get("/support/tickets/1/attachments").await.data();
    let shown: Vec<_> = files
        .iter()
        .map(|file| (&file["name"], &file["created_by"]))
        .collect();
    assert_eq!(shown, [(&json!("a.png"), &json!("Support"))]);
}

#[tokio::test]
async fn a_reply_to_a_merged_ticket_goes_to_the_ticket_that_continues_it() {
    let app = TestApp::with(enable_mail).await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    for summary in ["First", "Second", "Third"] {
        ada.open_ticket(summary).await;
    }
    for (source, target) in [(3, 2), (2, 1)] {
        let path = format!("/desk/tickets/{source}/merge");
        assert_eq!(sam.post(&path, json!({"into": target})).await.status, 200);
    }
    for (number, user, from) in [(11, 1, "ada@example.com"), (12, 2, "sam@example.com")] {
        let recipient = signed(&app, 3, user).await;
        let mail = message(from, &format!("{number}@example.com"), "Still slow.");
        assert_eq!(send(&app, &recipient, &mail).await, Delivery::Accepted("reply"));
    }
    let replies = ada.get("/support/tickets/1/replies").await.data();
    let authors: Vec<_> = replies[1..].iter().map(|reply| &reply["created_by"]).collect();
    assert_eq!(authors, ["ada", "Support"]);
    assert_eq!(ada.count("/support/tickets/3/replies").await, 1);
}

#[tokio::test]
async fn a_user_can_send_a_limited_number_of_messages_in_an_hour() {
    let app = TestApp::with(enable_mail).await;
    let ada = app.user("ada").await;
    ada.open_ticket("Help").await;
    let recipient = signed(&app, 1, 1).await;
    for number in 0..120 {
        let mail = message("ada@example.com", &format!("{number}@example.com"), "Again");
        assert_eq!(
            send(&app, &recipient, &mail).await,
            Delivery::Accepted("reply"),
            "{number}"
        );
    }
    let mail = message("ada@example.com", "last@example.com", "Again");
    assert_eq!(
        send(&app, &recipient, &mail).await,
        Delivery::Deferred("too_many")
    );
    app.advance(3601);
    assert_eq!(send(&app, &recipient, &mail).await, Delivery::Accepted("reply"));
}

#[tokio::test]
async fn quoted_text_is_shown_to_staff_and_to_the_author_only() {
    let app = TestApp::with(enable_mail).await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);
    let _sam = app.user("sam").staff().await;
    let text = "Yes.\r\n\r\nOn 1 June 2024, Support <s@example.net> wrote:\r\n\r\n> Is it <slow>?";
    let opening = message("ada@example.com", "1@example.com", &text.replace("slow", "new"));
    assert_eq!(send(&app, DESK, &opening).await, Delivery::Accepted("ticket"));
    let to_ada = signed(&app, 1, 1).await;
    let reply = message("ada@example.com", "2@example.com", text);
    assert_eq!(send(&app, &to_ada, &reply).await, Delivery::Accepted("reply"));

    for (user, path, sees) in [
        ("ada", "/tickets/1", true),
        ("bob", "/tickets/1", false),
        ("sam", "/desk/tickets/1", true),
    ] {
        let mut browser = crate::console::logged_in(&app, user).await;
        let page = browser.get(path).await;
        let html = crate::browser::text(&page);
        assert!(html.contains("Yes."), "{user}: {html}");
        assert_eq!(
            html.matches("<summary>Quoted text</summary>").count(),
            if sees { 2 } else { 0 },
            "{user}"
        );
        for quoted in ["&gt; Is it &lt;slow&gt;?", "&gt; Is it &lt;new&gt;?"] {
            assert_eq!(html.contains(quoted), sees, "{user}: {html}");
        }
    }
    drop((ada, bob));
}
