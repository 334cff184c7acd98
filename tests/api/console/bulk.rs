//! Actions on several objects of a list: confirmation, blocked objects and results.

use garth::model::grant::Permission;
use garth::model::id::{InstanceId, VpcId};
use garth::rules::grants::Grant;
use serde_json::json;

use crate::browser::{Browser, hidden_field, text};
use crate::console::{app_with_ada, assert_contains, assert_lacks, assert_redirects_to, browser, logged_in};
use crate::harness::{Reply, TestApp, User};

/// The hidden fields of the confirmation form, except the form token.
fn hidden_fields(page: &Reply) -> Vec<(String, String)> {
    let html = text(page);
    let names = html.split("type=\"hidden\" name=\"").skip(1);
    let names = names.map(|rest| rest.split('"').next().unwrap_or_default().to_owned());
    let names = names.filter(|name| name != "form_token" && name != "version");
    names
        .map(|name| (name.clone(), hidden_field(page, &name)))
        .collect()
}

/// Confirms the page, with this text if the action is a deletion.
async fn confirm(browser: &mut Browser<'_>, page: &Reply, path: &str, typed: &str) -> Reply {
    let mut fields = hidden_fields(page);
    fields.push(("label".to_owned(), typed.to_owned()));
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    browser.submit(page, path, &fields).await
}

async fn create_instance(maker: &User<'_>, label: &str) {
    let body = json!({"label": label, "type": "g6-nanode-1", "region": "us-east",
        "interfaces": [{"purpose": "vpc", "subnet_id": 1}]});
    let created = maker.post("/linode/instances", body).await;
    assert_eq!(created.status, 200, "{created}");
}

async fn statuses(maker: &User<'_>) -> Vec<String> {
    let found = maker.get("/linode/instances").await.data();
    found
        .iter()
        .map(|one| one["status"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[tokio::test]
async fn selected_vpcs_are_deleted_after_confirmation_except_those_in_use() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    maker.create_vpc("used", &["10.0.0.0/24"]).await;
    for label in ["empty", "other", "third"] {
        maker.create_vpc(label, &["10.1.0.0/24"]).await;
    }
    create_instance(&maker, "web-1").await;
    let mut ada = browser(&app, "ada").await;
    let list = ada.get("/vpcs").await;
    assert_contains(
        &list,
        "<form class=\"inline bulk\" id=\"bulk\" method=\"get\" action=\"/vpcs/bulk\">",
    );
    assert_contains(&list, "form=\"bulk\" name=\"id.2\" aria-label=\"Select empty\"");

    let page = ada.get("/vpcs/bulk?action=delete&id.1=on&id.2=on&id.3=on").await;
    assert_contains(&page, "Delete 2 of 3 VPCs?");
    assert_contains(&page, "<strong>1 VPC</strong> cannot be changed");
    assert_contains(&page, "with 1 subnet");
    assert_lacks(&page, "name=\"id.1\"");
    // Nothing is deleted without the confirmation.
    assert_eq!(maker.count("/vpcs").await, 4);
    let refused = confirm(&mut ada, &page, "/vpcs/bulk", "delete").await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "Does not match “delete 2 VPCs”");
    assert_eq!(maker.count("/vpcs").await, 4);
    let done = confirm(&mut ada, &refused, "/vpcs/bulk", "delete 2 VPCs").await;
    assert_redirects_to(&done, "/vpcs?done=bulk-delete");
    assert_eq!(maker.get("/vpcs").await.ids(), [1, 4]);
}

#[tokio::test]
async fn an_object_that_changed_after_the_confirmation_page_is_not_deleted() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    maker.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    let mut ada = browser(&app, "ada").await;
    let path = "/vpcs/1/subnets/bulk";
    let page = ada.get(&format!("{path}?action=delete&id.1=on&id.2=on")).await;
    maker.put("/vpcs/1/subnets/1", json!({"label": "precious"})).await;
    let partial = confirm(&mut ada, &page, path, "delete 2 subnets").await;
    assert_contains(&partial, "Delete: 1 of 2 subnets");
    assert_contains(&partial, "precious: This was changed after you opened the page.");
    assert_eq!(maker.get("/vpcs/1/subnets").await.ids(), [1]);
}

#[tokio::test]
async fn selected_instances_are_booted_shut_down_and_deleted() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    for label in ["web-1", "web-2", "web-3"] {
        create_instance(&maker, label).await;
    }
    maker.post("/linode/instances/3/boot", json!({})).await;
    let mut ada = browser(&app, "ada").await;
    let page = ada
        .get("/instances/bulk?action=boot&id.1=on&id.2=on&id.3=on")
        .await;
    assert_contains(&page, "Boot 2 of 3 instances?");
    assert_contains(&page, "web-3</a>: It is running, and must be offline.");
    let done = confirm(&mut ada, &page, "/instances/bulk", "").await;
    assert_redirects_to(&done, "/instances?done=bulk-boot");
    assert_eq!(statuses(&maker).await, ["running"; 3]);
    let page = ada.get("/instances/bulk?action=shutdown&id.1=on&id.3=on").await;
    confirm(&mut ada, &page, "/instances/bulk", "").await;
    assert_eq!(statuses(&maker).await, ["offline", "running", "offline"]);
    let page = ada.get("/instances/bulk?action=delete&id.1=on&id.2=on").await;
    confirm(&mut ada, &page, "/instances/bulk", "delete 2 instances").await;
    assert_eq!(maker.get("/linode/instances").await.ids(), [3]);
    for wrong in ["?action=boot", "?action=format&id.3=on", "?id.3=on"] {
        assert_eq!(
            ada.get(&format!("/instances/bulk{wrong}")).await.status,
            400,
            "{wrong}"
        );
    }
    assert_eq!(ada.get("/instances/bulk?action=boot&id.99=on").await.status, 404);
    let many: Vec<_> = (1..102).map(|id| format!("&id.{id}=on")).collect();
    assert_eq!(
        ada.get(&format!("/instances/bulk?action=boot{}", many.concat()))
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn selected_tickets_are_closed() {
    let app = app_with_ada().await;
    let (maker, sam) = (app.user("maker").await, app.user("sam").staff().await);
    for summary in ["One", "Two", "Three"] {
        maker.open_ticket(summary).await;
    }
    assert_eq!(sam.post("/desk/tickets/3/close", json!({})).await.status, 200);
    let mut ada = browser(&app, "ada").await;
    let page = ada
        .get("/tickets/bulk?action=close&id.1=on&id.2=on&id.3=on")
        .await;
    assert_contains(&page, "Three</a>: It is already closed.");
    let done = confirm(&mut ada, &page, "/tickets/bulk", "").await;
    assert_redirects_to(&done, "/tickets?done=bulk-close");
    let open = maker
        .filter("/support/tickets", r#"{"status": {"+neq": "closed"}}"#)
        .await;
    assert!(open.ids().is_empty(), "{open}");
}

#[tokio::test]
async fn a_restricted_user_changes_only_granted_objects() {
    let app = TestApp::new().await;
    let maker = app.user("maker").await;
    for label in ["hidden", "read-only", "writable"] {
        maker.create_vpc(label, &[]).await;
    }
    app.user("rita").restricted().await;
    let grants =
        json!({"vpc": [{"id": 2, "permissions": "read_only"}, {"id": 3, "permissions": "read_write"}]});
    maker.put("/account/users/rita/grants", grants).await;
    let mut rita = logged_in(&app, "rita").await;
    let page = rita.get("/vpcs/bulk?action=delete&id.1=on&id.2=on&id.3=on").await;
    assert_lacks(&page, "hidden</a>");
    assert_contains(&page, "read-only</a>: You have read-only access.");
    // Fields that the page does not have reach the same rules.
    let fields = [
        ("action", "delete"),
        ("id.1", "on"),
        ("id.2", "on"),
        ("id.3", "on"),
        ("label", "delete 3 VPCs"),
    ];
    let partial = rita.submit(&page, "/vpcs/bulk", &fields).await;
    assert_contains(&partial, "Delete: 1 of 2 VPCs");
    assert_eq!(maker.get("/vpcs").await.ids(), [1, 2]);
}

#[tokio::test]
async fn addresses_and_tickets_are_exported_as_csv() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    maker.create_vpc("edge", &[]).await;
    create_instance(&maker, "web-1").await;
    for summary in ["=1+1", "Second"] {
        maker.open_ticket(summary).await;
    }
    let mut ada = browser(&app, "ada").await;
    let header = "\"address\",\"family\",\"kind\",\"vpc_id\",\"subnet_id\",\"instance_id\",\"config_id\",\"interface_id\",\"active\",\"nat_1_1\"\r\n";
    let row = "\"10.0.0.2\",\"ipv4\",\"address\",\"1\",\"1\",\"1\",\"1\",\"1\",\"false\",\"\"\r\n";
    for (path, expected) in [
        ("/vpcs/addresses.csv", format!("{header}{row}")),
        ("/vpcs/1/addresses.csv", format!("{header}{row}")),
        ("/vpcs/2/addresses.csv", header.to_owned()),
    ] {
        let file = ada.get(path).await;
        assert_eq!(file.header("content-type"), "text/csv; charset=utf-8", "{path}");
        assert_eq!(text(&file), expected, "{path}");
    }
    let file = ada.get("/tickets/export.csv?q=Second").await;
    let at = "2024-06-01T12:00:00";
    assert_eq!(
        text(&file),
        format!(
            "\"id\",\"subject\",\"status\",\"regarding_type\",\"regarding_id\",\"replies\",\"opened\",\"opened_by\",\"updated\",\"updated_by\",\"closed\"\r\n\
             \"2\",\"Second\",\"new\",\"\",\"\",\"0\",\"{at}\",\"maker\",\"{at}\",\"maker\",\"\"\r\n"
        )
    );
    assert_contains(&ada.get("/tickets/export.csv").await, "\"'=1+1\"");
    app.user("rita").restricted().await;
    let mut rita = logged_in(&app, "rita").await;
    assert_eq!(text(&rita.get("/vpcs/addresses.csv").await), header);
    assert_eq!(rita.get("/vpcs/1/addresses.csv").await.status, 404);
    assert_eq!(text(&rita.get("/tickets/export.csv").await).lines().count(), 1);
}

#[tokio::test]
async fn an_action_returns_to_the_search_and_the_page_of_its_list() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    for number in 0..53 {
        maker.create_vpc(&format!("net-{number}"), &[]).await;
    }
    let mut ada = browser(&app, "ada").await;
    let list = ada.get("/vpcs?q=net-&sort=-label&page=2").await;
    assert_contains(
        &list,
        "<input type=\"hidden\" name=\"list\" value=\"q=net-&amp;sort=-label&amp;page=2\">",
    );
    let page = ada
        .get("/vpcs/bulk?list=q%3Dnet-%26sort%3D-label%26page%3D2&action=delete&id.1=on")
        .await;
    assert_contains(&page, "href=\"/vpcs?q=net-&amp;sort=-label&amp;page=2\"");
    let done = confirm(&mut ada, &page, "/vpcs/bulk", "delete 1 VPC").await;
    assert_redirects_to(&done, "/vpcs?q=net-&sort=-label&page=2&done=bulk-delete");
    // The field cannot lead to another page.
    let page = ada
        .get("/vpcs/bulk?list=%0D%0ALocation:%20//evil.example%23&action=delete&id.2=on")
        .await;
    let done = confirm(&mut ada, &page, "/vpcs/bulk", "delete 1 VPC").await;
    assert_redirects_to(
        &done,
        "/vpcs?%0D%0ALocation%3A+%2F%2Fevil.example%23=&done=bulk-delete",
    );
}

#[tokio::test]
async fn an_action_without_a_selection_leads_back_to_the_list() {
    let app = app_with_ada().await;
    let mut ada = browser(&app, "ada").await;
    for (list, label) in [("/vpcs", "VPCs"), ("/tickets", "Tickets")] {
        let action = if list == "/vpcs" { "delete" } else { "close" };
        let page = ada.get(&format!("{list}/bulk?action={action}")).await;
        assert_eq!(page.status, 400, "{page}");
        assert_contains(&page, "Nothing is selected");
        assert_contains(&page, &format!("href=\"{list}\">Back to {label}<"));
    }
}

#[tokio::test]
async fn staff_close_selected_tickets() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    for summary in ["First", "Second", "Third", "Fourth"] {
        maker.open_ticket(summary).await;
    }
    let staff = app.user("sam").staff().await;
    staff.post("/desk/tickets/4/close", json!({})).await;
    let mut sam = logged_in(&app, "sam").await;
    let queue = sam.get("/desk").await;
    assert_contains(&queue, "id=\"bulk\" method=\"get\" action=\"/desk/bulk\"");
    assert_contains(&queue, "name=\"id.2\" aria-label=\"Select Second\"");

    let page = sam
        .get("/desk/bulk?action=close&id.1=on&id.2=on&id.3=on&id.4=on&id.9=on")
        .await;
    assert_contains(&page, "Close 3 of 4 tickets?");
    assert_contains(&page, "Customers see that their tickets are closed.");
    assert_contains(&page, "Fourth</a>: It is already closed.");
    let closed = sam.get("/desk?status=closed").await;
    assert_contains(&closed, "value=\"tag\">Tag<");
    assert_lacks(&closed, "value=\"close\">Close<");
    assert_eq!(maker.get("/support/tickets/1").await.json()["status"], "new");
    // A ticket that changes after the confirmation page is not closed.
    let reply = json!({"description": "Wait"});
    maker.post("/support/tickets/3/replies", reply).await;
    let done = confirm(&mut sam, &page, "/desk/bulk", "").await;
    assert_contains(&done, "Close: 2 of 3 tickets");
    assert_contains(&done, "Third: ");
    for (id, is_closed) in [(1, true), (2, true), (3, false)] {
        let ticket = maker.get(&format!("/support/tickets/{id}")).await.json();
        assert_eq!(ticket["status"] == "closed", is_closed, "{ticket}");
    }

    assert_eq!(sam.get("/desk/bulk?action=delete&id.3=on").await.status, 400);
    // The list of a tenant has its own page.
    let mut ada = browser(&app, "ada").await;
    assert_eq!(ada.get("/desk/bulk?action=close&id.3=on").await.status, 403);
}

#[tokio::test]
async fn users_who_can_change_no_object_have_no_selection() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    maker.create_vpc("core", &["10.0.0.0/24"]).await;
    create_instance(&maker, "web-1").await;
    app.user("rita").restricted().await;
    let mut rita = logged_in(&app, "rita").await;
    for (path, read, write) in [
        (
            "/vpcs",
            Grant::Vpc(VpcId(1), Permission::ReadOnly),
            Grant::Vpc(VpcId(1), Permission::ReadWrite),
        ),
        (
            "/instances",
            Grant::Linode(InstanceId(1), Permission::ReadOnly),
            Grant::Linode(InstanceId(1), Permission::ReadWrite),
        ),
    ] {
        app.grant("rita", read).await;
        let page = rita.get(path).await;
        assert_contains(&page, &format!("href=\"{path}/1\""));
        for hidden in ["Selected:", "type=\"checkbox\""] {
            assert_lacks(&page, hidden);
        }
        app.grant("rita", write).await;
        let page = rita.get(path).await;
        for shown in ["Selected:", "type=\"checkbox\""] {
            assert_contains(&page, shown);
        }
    }
    let mut ada = browser(&app, "ada").await;
    assert_contains(&ada.get("/vpcs").await, "Selected:");
}

#[tokio::test]
async fn staff_tag_selected_tickets() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    for summary in ["First", "Second", "Third"] {
        maker.open_ticket(summary).await;
    }
    let staff = app.user("sam").staff().await;
    staff.put("/desk/tickets/1", json!({"tags": ["network"]})).await;
    let mut sam = logged_in(&app, "sam").await;
    let page = sam.get("/desk/bulk?action=tag&id.1=on&id.2=on").await;
    assert_contains(&page, "Tag 2 tickets?");
    let mut fields = hidden_fields(&page);
    fields.push(("tag".to_owned(), "no".to_owned()));
    let send = async |sam: &mut Browser<'_>, fields: &[(String, String)]| {
        let fields = fields.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        sam.submit(&page, "/desk/bulk", &fields.collect::<Vec<_>>()).await
    };
    let refused = send(&mut sam, &fields).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "A tag of a ticket must be 3 to 50 characters");

    fields.last_mut().expect("the tag").1 = "Billing".to_owned();
    let tagged = send(&mut sam, &fields).await;

    assert_redirects_to(&tagged, "/desk?done=bulk-tag");
    for (id, tags) in [
        (1, json!(["billing", "network"])),
        (2, json!(["billing"])),
        (3, json!([])),
    ] {
        let ticket = staff.get(&format!("/desk/tickets/{id}")).await.json();
        assert_eq!(ticket["tags"], tags);
    }
}
