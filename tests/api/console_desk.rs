//! The desk in the console.

use garth::console::{PAGES, Who};
use hyper::Method;
use serde_json::json;

use crate::browser::{Browser, hidden, text};
use crate::console::{entered, example, has, has_anchor, lacks, leads_to, links};
use crate::harness::{Reply, TestApp, User};

/// A server with the tenant `ada` and the staff `grace` and `linus`.
async fn with_desk() -> TestApp {
    let app = TestApp::new().await;
    app.user("grace").staff().await;
    app.user("linus").staff().await;
    app
}

#[tokio::test]
async fn the_desk_is_for_staff_and_its_forms_for_its_own_pages() {
    let app = with_desk().await;
    app.user("ada").await;
    let (mut ada, mut grace) = (entered(&app, "ada").await, entered(&app, "grace").await);
    let (of_ada, of_grace) = (
        hidden(&ada.get("/tickets/new").await, "form_token"),
        hidden(&grace.get("/desk/tickets/new").await, "form_token"),
    );
    let mut seen = 0;
    for page in PAGES.iter().filter(|page| page.who == Who::Staff) {
        let path = example(page.path);
        if page.method == Method::GET {
            assert_eq!(ada.get(&path).await.status, 403, "{}", page.id);
        } else {
            assert_eq!(
                ada.post(&path, &[("form_token", &of_ada)]).await.status,
                403,
                "{}",
                page.id
            );
            assert_eq!(
                grace.post(&path, &[("form_token", &of_ada)]).await.status,
                403,
                "{}",
                page.id
            );
            let with_proof = grace.post(&path, &[("form_token", &of_grace)]).await;
            assert!(
                [400, 404].contains(&with_proof.status.as_u16()),
                "{}: {with_proof}",
                page.id
            );
        }
        seen += 1;
    }
    assert!(seen > 15, "the table is almost empty");
    assert_eq!(grace.get("/").await.status, 404, "a browser asks for a page");
    assert_eq!(grace.get("/desk").await.status, 200);
}

async fn three_tickets<'a>(app: &'a TestApp) -> User<'a> {
    let ada = app.user("ada").await;
    for summary in ["Rack broken", "Bill wrong", "Disk slow"] {
        ada.opens_ticket(summary).await;
        app.advance(3600);
    }
    ada
}

#[tokio::test]
async fn the_queue_tells_whose_and_how_old_and_can_be_narrowed() {
    let app = with_desk().await;
    three_tickets(&app).await;
    let mut grace = entered(&app, "grace").await;
    assert!(text(&grace.get("/desk").await).contains("3 tickets"));
    let page = grace.get("/desk/tickets/1").await;
    assert_eq!(
        grace.submits(&page, "/desk/tickets/1/claim", &[]).await.status,
        303
    );
    let mut linus = entered(&app, "linus").await;
    let page = linus.get("/desk/tickets/2").await;
    linus.submits(&page, "/desk/tickets/2/claim", &[]).await;
    linus
        .submits(&page, "/desk/tickets/2/change", &[("priority", "urgent")])
        .await;
    linus.submits(&page, "/desk/tickets/3/close", &[]).await;
    linus
        .submits(&page, "/desk/tickets/1/notes", &[("note", "Zebra crossing")])
        .await;

    let queue = text(&grace.get("/desk").await);
    assert!(
        queue.contains(">You<") && queue.contains("linus") && queue.contains(">3 h<"),
        "{queue}"
    );
    for (query, tickets) in [
        ("", &[1, 2][..]),
        ("claim=mine", &[1]),
        ("claim=others", &[2]),
        ("claim=nobody", &[]),
        ("status=closed", &[3]),
        ("status=all", &[1, 2, 3]),
        ("status=new", &[]),
        ("priority=urgent", &[2]),
        ("account=1", &[1, 2]),
        ("account=999", &[]),
        ("q=zebra", &[1]),
        ("q=rack+bill", &[]),
        ("order=oldest", &[1, 2]),
        ("q=%232", &[2]),
        ("q=%239", &[]),
    ] {
        let html = text(&grace.get(&format!("/desk?{query}")).await);
        let found: Vec<i64> = (1..=3)
            .filter(|id| html.contains(&format!("href=\"/desk/tickets/{id}\"")))
            .collect();
        assert_eq!(found, tickets, "{query}: {html}");
    }
    let newest = text(&grace.get("/desk").await);
    assert!(newest.find("/desk/tickets/2\"") < newest.find("/desk/tickets/1\""));
    let wrong = grace.get("/desk?q=%21%21").await;
    assert_eq!(wrong.status, 400);
    assert!(text(&wrong).contains("<p class=\"reason\">"), "{wrong}");
    // What is not understood is no reason to show everything.
    for account in ["Tidewater", "99999999999999999999"] {
        let wrong = grace.get(&format!("/desk?account={account}")).await;
        assert_eq!(wrong.status, 400, "{account}");
        assert!(text(&wrong).contains("<p class=\"reason\">"), "{wrong}");
    }
    let beyond = text(&grace.get("/desk?page=9").await);
    assert!(beyond.contains("There are fewer tickets"), "{beyond}");
}

#[tokio::test]
async fn what_a_colleague_has_set_is_not_set_back_unseen() {
    let app = with_desk().await;
    three_tickets(&app).await;
    let (mut grace, mut linus) = (entered(&app, "grace").await, entered(&app, "linus").await);
    let change = "/desk/tickets/1/change";
    let (of_grace, of_linus) = (
        grace.get("/desk/tickets/1").await,
        linus.get("/desk/tickets/1").await,
    );
    has(&of_grace, "<form class=\"handling\"");
    let seen = hidden(&of_grace, "seen");
    let urgent = [("priority", "urgent"), ("seen", seen.as_str())];
    assert_eq!(grace.submits(&of_grace, change, &urgent).await.status, 303);
    let seen = hidden(&of_linus, "seen");
    let other = [
        ("priority", "normal"),
        ("may_close", "no"),
        ("seen", seen.as_str()),
    ];
    let late = linus.submits(&of_linus, change, &other).await;
    assert_eq!(late.status, 412);
    has(&late, "Somebody has changed it");
    let late = linus
        .submits(&of_linus, "/desk/tickets/1/close", &[("seen", seen.as_str())])
        .await;
    assert_eq!(late.status, 412);
    has(&of_linus, "name=\"seen\" value=\"&quot;");
    // The form itself carries what it was drawn from.
    let form = text(&of_linus);
    let form = &form[form.find("class=\"handling\"").unwrap()..];
    let form = &form[..form.find("</form>").unwrap()];
    assert!(form.contains("name=\"seen\""), "{form}");
}

#[tokio::test]
async fn what_a_customer_has_written_is_no_markup_in_the_providers_words() {
    let app = with_desk().await;
    let ada = app.user("ada").await;
    ada.opens_ticket("[Renew](http://evil.test) <b>now</b>").await;
    let mut grace = entered(&app, "grace").await;
    keeps_canned(&mut grace, "About {{ticket.summary}}: [help](https://help.test)").await;
    let page = grace.get("/desk/tickets/1?canned=1").await;
    let since = hidden(&page, "since");
    let fields = [("canned_reply_id", "1"), ("since", since.as_str())];
    assert_eq!(
        grace
            .submits(&page, "/desk/tickets/1/replies", &fields)
            .await
            .status,
        303
    );
    let mut ada = entered(&app, "ada").await;
    let thread = text(&ada.get("/tickets/1").await);
    // A bare address may be a link, to what it says.
    assert!(!thread.contains(">Renew</a>"), "{thread}");
    assert!(thread.contains("href=\"https://help.test"), "{thread}");
}

#[tokio::test]
async fn a_claim_is_taken_over_only_if_asked_for_and_given_back() {
    let app = with_desk().await;
    three_tickets(&app).await;
    let (mut grace, mut linus) = (entered(&app, "grace").await, entered(&app, "linus").await);
    let page = grace.get("/desk/tickets/1").await;
    let of_linus = linus.get("/desk/tickets/1").await;
    assert_eq!(
        grace.submits(&page, "/desk/tickets/1/claim", &[]).await.status,
        303
    );
    let refused = linus.submits(&of_linus, "/desk/tickets/1/claim", &[]).await;
    assert_eq!(refused.status, 400);
    let html = text(&refused);
    assert!(
        html.contains("grace has taken this ticket") && html.contains("Take over from grace"),
        "{html}"
    );
    assert_eq!(
        linus
            .submits(&of_linus, "/desk/tickets/1/claim", &[("take_over", "yes")])
            .await
            .status,
        303
    );
    let html = text(&linus.get("/desk/tickets/1").await);
    assert!(
        html.contains("took the ticket over from grace") && html.contains("Give back"),
        "{html}"
    );
    assert_eq!(
        grace.submits(&page, "/desk/tickets/1/release", &[]).await.status,
        400
    );
    assert_eq!(
        linus
            .submits(&of_linus, "/desk/tickets/1/release", &[])
            .await
            .status,
        303
    );
    assert!(text(&linus.get("/desk/tickets/1").await).contains(">Claim<"));
}

#[tokio::test]
async fn a_note_cannot_be_taken_for_a_reply() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    let mut grace = entered(&app, "grace").await;
    let page = grace.get("/desk/tickets/1").await;
    let html = text(&page);
    for wanted in [
        "Send reply to customer",
        "ada will read this",
        "Save internal note",
        "only staff will read this",
        "name=\"note\"",
    ] {
        assert!(html.contains(wanted), "{wanted} is not in {html}");
    }
    // Each box has a field of its own: what is in one is nothing to the other.
    let crossed = grace
        .submits(&page, "/desk/tickets/1/replies", &[("note", "secret")])
        .await;
    assert_eq!(crossed.status, 400);
    let crossed = grace
        .submits(&page, "/desk/tickets/1/notes", &[("description", "hello")])
        .await;
    assert_eq!(crossed.status, 400);
    assert!(text(&crossed).contains("id=\"f-note-wrong\""), "{crossed}");

    grace
        .submits(&page, "/desk/tickets/1/notes", &[("note", "He owes us *money*")])
        .await;
    grace
        .submits(
            &page,
            "/desk/tickets/1/replies",
            &[("description", "We look into it.")],
        )
        .await;
    let html = text(&grace.get("/desk/tickets/1").await);
    assert!(
        html.contains("message note") && html.contains("He owes us <em>money</em>"),
        "{html}"
    );
    assert!(
        html.contains("message staff") && html.contains("We look into it."),
        "{html}"
    );
    let mut of_ada = entered(&app, "ada").await;
    let html = text(&of_ada.get("/tickets/1").await);
    assert!(
        html.contains("We look into it.") && !html.contains("money") && !html.contains("grace"),
        "{html}"
    );
    assert_eq!(ada.count("/support/tickets/1/replies").await, 1);
}

#[tokio::test]
async fn nobody_answers_over_a_colleagues_head_and_no_words_are_lost() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    let (mut grace, mut linus) = (entered(&app, "grace").await, entered(&app, "linus").await);
    let (of_grace, of_linus) = (
        grace.get("/desk/tickets/1").await,
        linus.get("/desk/tickets/1").await,
    );
    let since = hidden(&of_grace, "since");
    assert_eq!(
        linus
            .submits(
                &of_linus,
                "/desk/tickets/1/replies",
                &[("description", "Mine"), ("since", &hidden(&of_linus, "since"))]
            )
            .await
            .status,
        303
    );
    let late = grace
        .submits(
            &of_grace,
            "/desk/tickets/1/replies",
            &[("description", "Mine too"), ("since", &since)],
        )
        .await;
    assert_eq!(late.status, 412);
    let html = text(&late);
    assert!(
        html.contains("Mine too</textarea>") && html.contains("linus replied</a>"),
        "{html}"
    );
    assert_eq!(ada.count("/support/tickets/1/replies").await, 1);
    // Now she has seen it.
    let fields = [("description", "Mine too"), ("since", &hidden(&late, "since"))];
    assert_eq!(
        grace
            .submits(&late, "/desk/tickets/1/replies", &fields)
            .await
            .status,
        303
    );
}

#[tokio::test]
async fn what_was_sent_already_is_not_sent_again() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    let mut grace = entered(&app, "grace").await;
    keeps_canned(&mut grace, "Hello {{customer.username}}").await;
    for (path, field, said) in [
        (
            "/desk/tickets/1/replies",
            "description",
            "We look into it.\r\nBye",
        ),
        ("/desk/tickets/1/notes", "note", "Rack 4"),
        ("/desk/tickets/2/replies", "canned_reply_id", "1"),
    ] {
        let here = path.rsplit_once('/').expect("a path").0;
        let steps = async |grace: &mut Browser<'_>| {
            let page = text(&grace.get(here).await);
            page.matches("class=\"message staff\"").count() + page.matches("class=\"message note\"").count()
        };
        let before = steps(&mut grace).await;
        let old = grace.get(here).await;
        let since = hidden(&old, "since");
        let fields = [(field, said), ("since", since.as_str())];
        assert_eq!(grace.submits(&old, path, &fields).await.status, 303);
        // A browser that goes back shows the box as it was, on the page as it was or as it is now.
        let fresh = hidden(&grace.get(here).await, "since");
        assert_ne!(since, fresh);
        for since in [since.as_str(), &fresh] {
            let again = grace
                .submits(&old, path, &[(field, said), ("since", since)])
                .await;
            leads_to(&again, &format!("{here}?done=sent-already"));
        }
        has(
            &grace.get(&format!("{here}?done=sent-already")).await,
            "was not sent again",
        );
        assert_eq!(steps(&mut grace).await, before + 1, "{path}");
        // It is old when the customer has answered, but one that was not there yet when the page was drawn is not said again.
        let number = here.rsplit_once('/').expect("a path").1;
        let answer = json!({"description": "And now?"});
        ada.post(&format!("/support/tickets/{number}/replies"), answer)
            .await;
        let again = grace.submits(&old, path, &fields).await;
        leads_to(&again, &format!("{here}?done=sent-already"));
    }
    let page = grace.get("/desk/tickets/1").await;
    let since = hidden(&page, "since");
    let fields = [
        ("description", "We look into it.\nBye"),
        ("since", since.as_str()),
    ];
    leads_to(
        &grace.submits(&page, "/desk/tickets/1/replies", &fields).await,
        "/desk/tickets/1?done=reply-sent",
    );
    // The same words of somebody else are their own, and programs say what they like.
    let mut linus = entered(&app, "linus").await;
    let page = linus.get("/desk/tickets/1").await;
    leads_to(
        &linus
            .submits(&page, "/desk/tickets/1/replies", &fields[..1])
            .await,
        "/desk/tickets/1?done=reply-sent",
    );
    let before = ada.count("/support/tickets/3/replies").await;
    let program = app.user("hopper").staff().await;
    for _ in 0..2 {
        let said = program
            .post("/desk/tickets/3/replies", json!({"description": "Hello"}))
            .await;
        assert_eq!(said.status, 200, "{said}");
    }
    assert_eq!(ada.count("/support/tickets/3/replies").await, before + 2);
}

#[tokio::test]
async fn only_what_the_customer_would_notice_stands_in_the_way_of_an_answer() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    let (mut grace, mut linus) = (entered(&app, "grace").await, entered(&app, "linus").await);
    let (reply, note) = ("/desk/tickets/1/replies", "/desk/tickets/1/notes");
    let page = grace.get("/desk/tickets/1").await;
    let since = hidden(&page, "since");
    let says = |text: &'static str| [("description", text), ("since", since.as_str())];
    // Notes and priorities are nothing to the customer.
    let of_linus = page_of(&mut linus, 1).await;
    linus.submits(&of_linus, note, &[("note", "He owes us")]).await;
    let high = [("priority", "high")];
    linus.submits(&of_linus, "/desk/tickets/1/change", &high).await;
    leads_to(
        &grace.submits(&page, reply, &says("One")).await,
        "/desk/tickets/1?done=reply-sent",
    );
    // What one has done oneself, one knows.
    leads_to(
        &grace.submits(&page, reply, &says("Two")).await,
        "/desk/tickets/1?done=reply-sent",
    );
    // A colleague's claim, a file, a reply, and the end of it are.
    let mut seen = hidden(&grace.get("/desk/tickets/1").await, "since");
    for (at, doing) in ["claim", "file", "reply", "close"].into_iter().enumerate() {
        let text = format!("Text {at}");
        match doing {
            "file" => drop(ada.attaches(1, "log.txt", "hop").await),
            "reply" => drop(
                ada.post("/support/tickets/1/replies", json!({"description": "x"}))
                    .await,
            ),
            deed => {
                let page = page_of(&mut linus, 1).await;
                drop(
                    linus
                        .submits(&page, &format!("/desk/tickets/1/{deed}"), &[])
                        .await,
                );
            }
        }
        let late = grace
            .submits(&page, reply, &[("description", &text), ("since", &seen)])
            .await;
        assert_eq!(late.status, 412, "{doing}");
        has(&late, &format!("{text}</textarea>"));
        let noted = grace
            .submits(&page, note, &[("note", &text), ("since", &seen)])
            .await;
        leads_to(&noted, "/desk/tickets/1?done=note-saved");
        seen = hidden(&late, "since");
    }
}

#[tokio::test]
async fn what_is_typed_in_one_box_outlives_the_others() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    let mut grace = entered(&app, "grace").await;
    keeps_canned(&mut grace, "Hello {{customer.username}}").await;
    let page = page_of(&mut grace, 1).await;
    // All boxes are in one form, so that a browser sends them together.
    let html = text(&page);
    let form = html.split_once("<form class=\"compose\"").expect("a form").1;
    let form = form.split_once("</form>").expect("an end").0;
    for name in ["description", "note", "canned", "since"] {
        assert_eq!(
            form.matches(&format!("name=\"{name}\"")).count(),
            1,
            "{name}: {form}"
        );
    }
    assert!(form.contains("formaction=\"/desk/tickets/1/notes\""), "{form}");

    let (replies, notes) = ("/desk/tickets/1/replies", "/desk/tickets/1/notes");
    let typed = [("description", "To *her*"), ("note", "To us"), ("canned", "1")];
    for (path, button, shown) in [
        (replies, ("act", "preview"), "To <em>her</em>"),
        (notes, ("act", "preview"), "<p>To us</p>"),
        (replies, ("act", "canned"), "<p>Hello ada</p>"),
    ] {
        let fields = [&typed[..], &[button]].concat();
        let preview = grace.submits(&page, path, &fields).await;
        assert_eq!(preview.status, 200);
        for wanted in [
            shown,
            "\nTo *her*</textarea>",
            "\nTo us</textarea>",
            "<p>Hello ada</p>",
        ] {
            has(&preview, wanted);
        }
    }
    let used = grace
        .submits(&page, replies, &[&typed[..], &[("use", "1")]].concat())
        .await;
    has(&used, "\nTo *her*\n\nHello ada</textarea>");
    has(&used, "\nTo us</textarea>");
    assert_eq!(ada.count("/support/tickets/1/replies").await, 0);

    // What is refused stays, and so does what is in the other box.
    let wrong = [("description", " "), ("note", "To us")];
    let refused = grace.submits(&page, replies, &wrong).await;
    assert_eq!(refused.status, 400);
    has(&refused, "\nTo us</textarea>");
    has(&refused, "id=\"f-description-wrong\"");
    // What is sent is gone from its box alone.
    let sent = grace.submits(&page, notes, &typed).await;
    assert_eq!(sent.status, 200);
    has(&sent, "Your note was saved.");
    has(&sent, "\nTo *her*</textarea>");
    lacks(&sent, "To us</textarea>");
    let canned = [&typed[..], &[("canned_reply_id", "1")]].concat();
    let sent = grace.submits(&page, replies, &canned).await;
    has(&sent, "Your reply was sent.");
    has(&sent, "\nTo *her*</textarea>");
    has(&sent, "\nTo us</textarea>");
    leads_to(
        &grace.submits(&page, replies, &typed[..1]).await,
        "/desk/tickets/1?done=reply-sent",
    );
    let said = ada.get("/support/tickets/1/replies").await;
    let said: Vec<_> = said
        .data()
        .iter()
        .map(|reply| reply["description"].clone())
        .collect();
    assert_eq!(said, ["Hello ada", "To *her*"]);
}

#[tokio::test]
async fn what_has_come_in_is_told_at_the_box() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    let (mut grace, mut linus) = (entered(&app, "grace").await, entered(&app, "linus").await);
    let page = page_of(&mut grace, 1).await;
    let since = hidden(&page, "since");
    let asks = format!("/desk/tickets/1?after={since}");
    assert!(links_to(&page, &asks), "{page}");
    assert_eq!(arrived(&page), "");
    for (who, path, field) in [
        (&mut linus, "notes", ("note", "Rack 4")),
        (&mut grace, "replies", ("description", "Mine")),
    ] {
        let page = page_of(who, 1).await;
        let sent = who
            .submits(&page, &format!("/desk/tickets/1/{path}"), &[field])
            .await;
        assert_eq!(sent.status, 303);
    }
    ada.post("/support/tickets/1/replies", json!({"description": "And?"}))
        .await;
    ada.attaches(1, "log.txt", "hop").await;
    let now = grace.get(&asks).await;
    let told = arrived(&now);
    for wanted in [
        "linus wrote an internal note",
        "ada replied",
        "ada attached log.txt",
    ] {
        assert!(told.contains(&format!(">{wanted}</a>")), "{wanted}: {told}");
    }
    assert!(
        !told.contains("grace"),
        "what one does oneself is no news: {told}"
    );
    let places: Vec<_> = told
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert_eq!(places.len(), 3, "{told}");
    for place in places {
        has_anchor(&now, place);
    }
}

/// Whether the page asks there for what is new.
fn links_to(page: &Reply, address: &str) -> bool {
    text(page).contains(&format!("hx-get=\"{address}\""))
}

/// What is told at the box.
fn arrived(page: &Reply) -> String {
    let html = text(page);
    let told = html.split_once("<div class=\"arrived\" id=\"arrived\" role=\"status\">");
    let told = told.unwrap_or_else(|| panic!("no place in {html}")).1;
    told.split_once("</div>").expect("an end").0.to_owned()
}

/// Tickets about the first VPC, two instances, and nothing.
async fn four_tickets_about(ada: &User<'_>) {
    for about in [Some("vpc_id"), Some("linode_id"), Some("linode_id"), None]
        .into_iter()
        .enumerate()
    {
        let mut ticket = json!({"summary": "It is slow", "description": "Since noon"});
        if let (at, Some(field)) = about {
            ticket[field] = json!(at.max(1));
        }
        assert_eq!(ada.post("/support/tickets", ticket).await.status, 200);
    }
}

#[tokio::test]
async fn staff_see_which_address_an_instance_has_and_who_has_an_address() {
    let app = with_desk().await;
    let ada = app.user("ada").await;
    ada.creates_vpc("core", &["10.0.0.0/24", "10.9.0.0/16"]).await;
    ada.creates_instance_on(1).await;
    ada.creates_instance_on(2).await;
    four_tickets_about(&ada).await;
    let mut grace = entered(&app, "grace").await;
    let beside = |ticket: i64, subnet: i64| format!("/desk/tickets/{ticket}/vpc/subnets/{subnet}");
    // Beside the thread: the instance's own addresses, each with the way to it.
    let page = page_of(&mut grace, 2).await;
    has(
        &page,
        &format!(
            "<a href=\"{}#interface-1\"><code>10.0.0.2</code></a>",
            beside(2, 1)
        ),
    );
    has(&page, "in a <code>10.0.0.0/24</code>");
    lacks(&page, "10.9.0.2");
    let page = page_of(&mut grace, 3).await;
    has(
        &page,
        &format!(
            "<a href=\"{}?interface=2#interface-2\"><code>10.9.0.2</code></a>",
            beside(3, 2)
        ),
    );
    // And down to single addresses.
    for (ticket, way) in [
        (1, "/desk/tickets/1"),
        (1, "/desk/tickets/1/vpc"),
        (2, "/desk/tickets/2/vpc"),
    ] {
        let links = links(&grace.get(way).await);
        assert!(links.contains(&beside(ticket, 1)), "{way}: {links:?}");
    }
    let small = grace.get(&beside(1, 1)).await;
    has_anchor(&small, "interface-1");
    for page in [small, grace.get(&beside(1, 2)).await] {
        assert_eq!(page.status, 200);
        for link in links(&page) {
            assert!(!link.starts_with("/vpcs"), "staff cannot go there: {link}");
        }
        lacks(&page, ">Edit<");
    }
    let large = grace.get(&format!("{}?interface=2", beside(3, 2))).await;
    has_anchor(&large, "interface-2");
    // Only what the ticket is about.
    let eve = app.user("eve").of(app.another_account().await).await;
    eve.creates_vpc("hers", &["10.0.0.0/24"]).await;
    for nowhere in [
        beside(1, 3),
        beside(4, 1),
        format!("{}?in=10.9.0.0/24", beside(1, 1)),
    ] {
        assert_eq!(grace.get(&nowhere).await.status, 404, "{nowhere}");
    }
    let mut ada = entered(&app, "ada").await;
    assert_eq!(ada.get(&beside(1, 1)).await.status, 403);
}

#[tokio::test]
async fn staff_see_for_whom_they_open_a_ticket_before_it_is_sent() {
    let app = with_desk().await;
    let ada = app.user("ada").await;
    let vpc = ada.creates_vpc("core", &[]).await;
    let mut grace = entered(&app, "grace").await;
    let form = grace.get("/desk/tickets/new").await;
    has(&form, "name=\"act\" value=\"account\"");
    let here = "/desk/tickets/new";
    let typed = [
        ("account_id", "1"),
        ("summary", "Works"),
        ("description", "At *night*"),
        ("priority", "high"),
    ];
    let shown = grace
        .submits(&form, here, &[&typed[..], &[("act", "account")]].concat())
        .await;
    assert_eq!(shown.status, 200);
    has(&shown, "<strong>Example</strong> · owner@example.com");
    has(&shown, &format!("<option value=\"vpc_id:{vpc}\""));
    has(&shown, "value=\"Works\"");
    has(&shown, "At *night*</textarea>");
    has(&shown, "<option value=\"high\" selected>");
    // The script asks for the same by the address.
    has(
        &grace.get("/desk/tickets/new?account_id=1").await,
        "<strong>Example</strong> · owner@example.com",
    );
    for nobody in ["77", "Tidewater"] {
        let page = grace.get(&format!("/desk/tickets/new?account_id={nobody}")).await;
        has(&page, "No account has this number.");
    }
    lacks(&form, "No account has this number.");
    assert_eq!(ada.count("/support/tickets").await, 0);
}

#[tokio::test]
async fn a_ticket_for_a_customer_that_is_sent_again_by_going_back_is_opened_once() {
    let app = with_desk().await;
    let ada = app.user("ada").await;
    let mut grace = entered(&app, "grace").await;
    let here = "/desk/tickets/new";
    let form = grace.get(here).await;
    let newest = hidden(&form, "newest");
    let typed = |newest: &str, summary: &str| {
        [
            ("account_id", "1"),
            ("summary", summary),
            ("description", "At night"),
            ("newest", newest),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let mut send = async |newest: &str, summary: &str| {
        let fields = typed(newest, summary);
        let fields: Vec<_> = fields.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        grace.submits(&form, here, &fields).await
    };
    leads_to(
        &send(&newest, "Works").await,
        "/desk/tickets/1?done=customer-told",
    );
    // On the page as it was, and on one that was drawn anew.
    for newest in [newest.as_str(), "1"] {
        let again = send(newest, "Works").await;
        leads_to(&again, "/desk/tickets/1?done=ticket-opened-before");
    }
    leads_to(
        &send(&newest, "More works").await,
        "/desk/tickets/2?done=customer-told",
    );
    assert_eq!(ada.count("/support/tickets").await, 2);
}

#[tokio::test]
async fn the_desk_says_who_it_was_and_how_many_there_are_in_its_own_words() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    let (mut grace, mut linus) = (entered(&app, "grace").await, entered(&app, "linus").await);
    let page = page_of(&mut grace, 1).await;
    grace
        .submits(&page, "/desk/tickets/1/replies", &[("description", "Hello")])
        .await;
    // A note changes nothing that the customer is told of.
    let of_linus = page_of(&mut linus, 1).await;
    linus
        .submits(&of_linus, "/desk/tickets/1/notes", &[("note", "x")])
        .await;
    for page in [page_of(&mut linus, 1).await, linus.get("/desk").await] {
        has(&page, ">by grace</span>");
        lacks(&page, "by Support");
    }
    has(&ada_page(&app).await, "by Support");
    // Other tickets are counted, and all of them a click away.
    for at in 0..30 {
        ada.opens_ticket(&format!("More {at}")).await;
    }
    let page = page_of(&mut linus, 1).await;
    has(&page, "Other open tickets <span class=\"tag\">32</span>");
    has(
        &page,
        "<a href=\"/desk?account=1\">All open tickets of this account</a>",
    );
    // Complaints know buttons, and not the names of fields.
    let of_linus = page_of(&mut linus, 1).await;
    let of_grace = page_of(&mut grace, 1).await;
    grace.submits(&of_grace, "/desk/tickets/1/claim", &[]).await;
    let late = linus.submits(&of_linus, "/desk/tickets/1/claim", &[]).await;
    assert_eq!(late.status, 400);
    has(&late, "grace has taken this ticket");
    lacks(&late, "take_over takes");
    let new = linus.get("/desk/tickets/new").await;
    for (account, about, id) in [
        ("", "", ""),
        ("x", "", ""),
        ("1", "vpc_id", "99"),
        ("1", "linode_id", "x"),
    ] {
        let fields = [
            ("account_id", account),
            ("about_kind", about),
            ("about_id", id),
            ("summary", "s"),
            ("description", "d"),
        ];
        let wrong = linus.submits(&new, "/desk/tickets/new", &fields).await;
        assert_eq!(wrong.status, 400);
        let html = text(&wrong);
        let alert = html.split_once("role=\"alert\"").expect("an alert").1;
        let alert = alert.split_once("</ul>").expect("an end").0;
        let said: String = alert
            .split('<')
            .filter_map(|part| part.split_once('>'))
            .map(|(_, text)| text)
            .collect();
        assert!(!said.contains('_'), "{said}");
    }
}

async fn ada_page(app: &TestApp) -> Reply {
    entered(app, "ada").await.get("/tickets/1").await
}

/// Makes the first canned reply.
async fn keeps_canned(browser: &mut Browser<'_>, text: &str) {
    let (here, form) = (
        "/desk/canned-replies/new",
        browser.get("/desk/canned-replies/new").await,
    );
    let kept = browser
        .submits(&form, here, &[("label", "Hi"), ("description", text)])
        .await;
    assert_eq!(kept.status, 303);
}

async fn page_of(browser: &mut Browser<'_>, ticket: i64) -> Reply {
    browser.get(&format!("/desk/tickets/{ticket}")).await
}

#[tokio::test]
async fn canned_replies_are_kept_previewed_and_sent() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    let mut grace = entered(&app, "grace").await;
    assert!(text(&grace.get("/desk/canned-replies").await).contains("No canned replies yet"));
    let form = grace.get("/desk/canned-replies/new").await;
    let wrong = grace
        .submits(
            &form,
            "/desk/canned-replies/new",
            &[("label", "Hi"), ("description", "{{nobody}}")],
        )
        .await;
    assert_eq!(wrong.status, 400);
    assert!(
        text(&wrong).contains("id=\"f-description-wrong\"") && text(&wrong).contains("{{nobody}}</textarea>"),
        "{wrong}"
    );
    let fields = [
        ("label", "Hi"),
        (
            "description",
            "Hello **{{customer.username}}**, about #{{ticket.id}}.",
        ),
    ];
    assert_eq!(
        grace
            .submits(&form, "/desk/canned-replies/new", &fields)
            .await
            .status,
        303
    );

    let page = grace.get("/desk/tickets/2?canned=1").await;
    let html = text(&page);
    assert!(
        html.contains("Hello <strong>ada</strong>, about #2.") && html.contains("Send to customer as it is"),
        "{html}"
    );
    assert_eq!(ada.count("/support/tickets/2/replies").await, 0);
    let replies = "/desk/tickets/2/replies";
    let used = grace.submits(&page, replies, &[("use", "1")]).await;
    has(&used, "Hello **ada**, about #2.</textarea>");
    let sent = grace
        .submits(&page, "/desk/tickets/2/replies", &[("canned_reply_id", "1")])
        .await;
    assert_eq!(sent.status, 303);
    let replies = ada.get("/support/tickets/2/replies").await;
    assert_eq!(replies.data()[0]["description"], "Hello **ada**, about #2.");

    let edit = grace.get("/desk/canned-replies/1").await;
    let fields = [
        ("label", "Hello"),
        ("description", "Hi"),
        ("seen", &hidden(&edit, "seen")),
    ];
    assert_eq!(
        grace
            .submits(&edit, "/desk/canned-replies/1", &fields)
            .await
            .status,
        303
    );
    let stale = grace.submits(&edit, "/desk/canned-replies/1", &fields).await;
    assert_eq!(stale.status, 412);
    assert_eq!(
        grace
            .submits(&edit, "/desk/canned-replies/1/delete", &[])
            .await
            .status,
        303
    );
    assert_eq!(grace.get("/desk/canned-replies/1").await.status, 404);
}

#[tokio::test]
async fn staff_open_tickets_for_customers_and_close_and_reopen_them() {
    let app = with_desk().await;
    let ada = app.user("ada").await;
    let vpc = ada.creates_vpc("core", &["10.0.0.0/24"]).await;
    let mut grace = entered(&app, "grace").await;
    let form = grace.get("/desk/tickets/new?account_id=1").await;
    assert!(
        text(&form).contains(&format!("<option value=\"vpc_id:{vpc}\"")),
        "{form}"
    );
    let wrong = grace
        .submits(
            &form,
            "/desk/tickets/new",
            &[("summary", "Works"), ("description", "x"), ("account_id", "77")],
        )
        .await;
    assert_eq!(wrong.status, 400);
    assert!(
        text(&wrong).contains("There is no such account") && text(&wrong).contains("value=\"Works\""),
        "{wrong}"
    );
    let about = format!("vpc_id:{vpc}");
    let fields = [
        ("summary", "Works"),
        ("description", "At night"),
        ("account_id", "1"),
        ("about", about.as_str()),
        ("priority", "high"),
        ("closable", "on"),
    ];
    let opened = grace.submits(&form, "/desk/tickets/new", &fields).await;
    assert_eq!(opened.header("location"), "/desk/tickets/1?done=customer-told");
    let ticket = ada.get("/support/tickets/1").await.json();
    assert_eq!(
        (
            &ticket["closable"],
            &ticket["entity"]["label"],
            &ticket["opened_by"]
        ),
        (&json!(true), &json!("core"), &json!("Support"))
    );

    let page = grace.get("/desk/tickets/1").await;
    let html = text(&page);
    assert!(
        html.contains("priority high") && html.contains("/desk/tickets/1/vpc"),
        "{html}"
    );
    let map = text(&grace.get("/desk/tickets/1/vpc").await);
    assert!(map.contains("10.0.0.0/24") && map.contains("core"), "{map}");
    ada.opens_ticket("About nothing").await;
    assert_eq!(grace.get("/desk/tickets/2/vpc").await.status, 404);

    assert_eq!(
        grace.submits(&page, "/desk/tickets/1/close", &[]).await.status,
        303
    );
    let html = text(&grace.get("/desk/tickets/1").await);
    assert!(
        html.contains("Reopen")
            && !html.contains("Send reply to customer")
            && html.contains("Save internal note"),
        "{html}"
    );
    let late = grace
        .submits(&page, "/desk/tickets/1/replies", &[("description", "Long words")])
        .await;
    assert_eq!(late.status, 400);
    assert!(text(&late).contains("Long words</textarea>"), "{late}");
    assert_eq!(
        grace.submits(&page, "/desk/tickets/1/reopen", &[]).await.status,
        303
    );
    grace
        .submits(
            &page,
            "/desk/tickets/1/change",
            &[("priority", "low"), ("may_close", "no")],
        )
        .await;
    let html = text(&grace.get("/desk/tickets/1").await);
    for step in [
        "closed the ticket",
        "reopened the ticket",
        "set the priority from high to low",
        "kept the customer from closing it",
    ] {
        assert!(html.contains(step), "{step} is not in {html}");
    }
}

#[tokio::test]
async fn every_download_by_staff_is_in_the_history() {
    let app = with_desk().await;
    let ada = three_tickets(&app).await;
    ada.attaches(1, "log.txt", "hello").await;
    let mut grace = entered(&app, "grace").await;
    assert!(text(&grace.get("/desk/tickets/1").await).contains("/desk/tickets/1/attachments/1"));
    for _ in 0..2 {
        let file = grace.get("/desk/tickets/1/attachments/1").await;
        assert_eq!((file.status.as_u16(), &file.body[..]), (200, &b"hello"[..]));
    }
    assert_eq!(
        text(&grace.get("/desk/tickets/1").await)
            .matches("downloaded")
            .count(),
        2
    );
    assert_eq!(grace.get("/desk/tickets/2/attachments/1").await.status, 404);
}

#[tokio::test]
async fn a_ticket_shows_the_addresses_of_the_vpc_it_is_about() {
    let app = with_desk().await;
    let ada = app.user("ada").await;
    ada.creates_vpc("core", &["10.0.0.0/24", "10.9.0.0/16"]).await;
    ada.creates_vpc("edge", &["192.168.0.0/24"]).await;
    ada.creates_instance_on(1).await;
    let alone = json!({"label": "alone", "type": "g6-nanode-1", "region": "us-east"});
    ada.post("/compute/instances", alone).await;
    four_tickets_about(&ada).await;
    let mut grace = entered(&app, "grace").await;
    for ticket in [1, 2] {
        let here = format!("/desk/tickets/{ticket}");
        let there = format!("{here}/vpc");
        let (page, whole) = (grace.get(&here).await, grace.get(&there).await);
        for page in [&page, &whole] {
            has(page, "<title>a 10.0.0.0/24: 1 of 252 in use (&lt;1 %)</title>");
            has(page, "<title>b 10.9.0.0/16: 0 of 65,532 in use</title>");
            lacks(page, "192.168.0.0/24");
            let links = links(page);
            assert!(
                !links.iter().any(|link| link.starts_with("/vpcs")),
                "staff cannot go there: {links:?}"
            );
            assert!(links.contains(&format!("{there}/subnets/2")), "{links:?}");
        }
    }
    for ticket in [3, 4] {
        lacks(&grace.get(&format!("/desk/tickets/{ticket}")).await, "Map of ");
        let nothing = grace.get(&format!("/desk/tickets/{ticket}/vpc")).await;
        assert_eq!(nothing.status, 404);
    }
    // What is gone is only named.
    ada.delete("/vpcs/2").await;
    ada.delete("/compute/instances/1").await;
    ada.delete("/vpcs/1").await;
    let page = grace.get("/desk/tickets/1").await;
    assert_eq!(page.status, 200);
    lacks(&page, "Map of ");
}
