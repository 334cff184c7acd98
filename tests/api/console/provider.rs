//! The administration of the provider in the console: accounts, staff and jobs.

use garth::console::PAGES;
use garth::model::job::JobKind;
use garth::model::staff_role::StaffRole;
use garth::rules::Error;
use garth::web::operation::Audience;
use hyper::Method;
use serde_json::json;

use crate::browser::{hidden_field, text};
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, example, logged_in};
use crate::harness::TestApp;
use crate::hosting::create_instance;

#[tokio::test]
async fn every_page_of_staff_requires_its_role() {
    let app = TestApp::new().await;
    for role in StaffRole::ALL {
        let name = format!("with-{}", role.word());
        app.user(&name).role(role).await;
        let mut browser = logged_in(&app, &name).await;
        let form = browser.get("/desk/canned-replies/new").await;
        for page in PAGES.iter().filter(|page| page.audience == Audience::Staff) {
            if ["followDesk", "sendStaffPassword"].contains(&page.id) {
                continue;
            }
            let path = example(page.path);
            let reply = match page.method {
                Method::GET => browser.get(&path).await,
                _ => browser.submit(&form, &path, &[]).await,
            };
            let is_refused = reply.status == 403 && text(&reply).contains("This requires the role");
            let expected = page.role.is_some_and(|needed| role < needed);
            assert_eq!(is_refused, expected, "{} as {name}: {reply}", page.id);
        }
    }
}

#[tokio::test]
async fn an_admin_creates_an_account_changes_it_suspends_it_and_closes_it() {
    let app = TestApp::new().await;
    app.user("sam").staff().await;
    let mut sam = logged_in(&app, "sam").await;
    let form = sam.get("/provider/accounts/new").await;
    let refused = sam
        .submit(
            &form,
            "/provider/accounts/new",
            &[("email", "x"), ("username", "sam")],
        )
        .await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, ">First user</a>");
    let fields = [
        ("email", "it@harbor.example"),
        ("company", "Harbor <Lane>"),
        ("username", "mara"),
    ];
    let created = sam.submit(&form, "/provider/accounts/new", &fields).await;
    assert_redirects_to(&created, "/provider/accounts/2?done=account-created");
    let page = sam.get("/provider/accounts/2").await;
    for expected in ["Harbor &lt;Lane&gt;", "mara", "Active", "it@harbor.example"] {
        assert_contains(&page, expected);
    }
    assert_contains(
        &page,
        "<th scope=\"row\">VPCs</th><td data-label=\"In use\">0</td>",
    );
    assert_contains(&sam.get("/provider?q=harbor").await, "1 account");
    assert_lacks(&sam.get("/provider?q=harbor").await, "owner@example.com");

    let quotas = sam.get("/provider/accounts/2/quotas").await;
    let limits = [
        ("vpcs_per_region", "7"),
        ("subnets_per_vpc", ""),
        ("attachment_bytes", "many"),
    ];
    let refused = sam.submit(&quotas, "/provider/accounts/2/quotas", &limits).await;
    assert_eq!(refused.status, 400);
    let large = [
        ("vpcs_per_region", "99999999999999999999"),
        ("subnets_per_vpc", "1,000"),
        ("attachment_bytes", "9999999 TiB"),
    ];
    let refused = sam.submit(&quotas, "/provider/accounts/2/quotas", &large).await;
    for expected in [
        "Must be at most 1,000,000",
        ">Ticket attachments</a>",
        "Must be at most 1,024 TiB",
        "There are 2 problems.",
    ] {
        assert_contains(&refused, expected);
    }
    let limits = [limits[0], limits[1], ("attachment_bytes", "10")];
    let refused = sam.submit(&quotas, "/provider/accounts/2/quotas", &limits).await;
    assert_contains(&refused, "Must be a size with a unit, such as 10 GiB");
    let limits = [limits[0], limits[1], ("attachment_bytes", "1.5 GiB")];
    let saved = sam.submit(&quotas, "/provider/accounts/2/quotas", &limits).await;
    assert_redirects_to(&saved, "/provider/accounts/2?done=account-changed");
    let quotas = sam.get("/provider/accounts/2/quotas").await;
    assert_contains(&quotas, "value=\"7\"");
    assert_contains(&quotas, "value=\"1536 MiB\"");
    let page = sam.get("/provider/accounts/2").await;
    for expected in ["<dd>7</dd>", "<dd>1.5 GiB</dd>"] {
        assert_contains(&page, expected);
    }
    let edit = sam.get("/provider/accounts/2/edit").await;
    let fields = [("email", "it@harbor.example"), ("company", "Renamed")];
    let saved = sam.submit(&edit, "/provider/accounts/2/edit", &fields).await;
    assert_redirects_to(&saved, "/provider/accounts/2?done=account-changed");

    for (action, notice, shown) in [
        ("suspend", "account-suspended", "Suspended"),
        ("reactivate", "account-reactivated", "Active"),
        ("close", "account-closed", "Closed"),
    ] {
        let sent = sam
            .submit(
                &page,
                &format!("/provider/accounts/2/{action}"),
                &[("label", "Renamed")],
            )
            .await;
        assert_redirects_to(&sent, &format!("/provider/accounts/2?done={notice}"));
        assert_contains(&sam.get("/provider/accounts/2").await, shown);
    }
    let again = sam.submit(&page, "/provider/accounts/2/suspend", &[]).await;
    assert_redirects_to(&again, "/provider/accounts/2");
    assert_contains(&sam.get("/provider/accounts/2").await, "The account is closed");
}

#[tokio::test]
async fn the_list_of_accounts_counts_vpcs_and_instances() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("sam").staff().await;
    app.another_account().await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    ada.create_vpc("edge", &[]).await;
    create_instance(&ada, 1).await;
    let mut sam = logged_in(&app, "sam").await;
    let list = text(&sam.get("/provider").await);
    for (account, vpcs, instances) in [(1, 2, 1), (2, 0, 0)] {
        let link = format!("href=\"/provider/accounts/{account}\"");
        let row = list.split_once(&link).expect("a row").1;
        let row = row.split_once("</tr>").expect("the end of the row").0;
        for (label, count) in [("VPCs", vpcs), ("Instances", instances)] {
            let cell = format!("data-label=\"{label}\">{count}<");
            assert!(row.contains(&cell), "{row}");
        }
    }
    let page = sam.get("/provider/accounts/1").await;
    let refused = sam
        .submit(&page, "/provider/accounts/1/close", &[("label", "Example")])
        .await;
    assert_redirects_to(&refused, "/provider/accounts/1");
    assert_contains(
        &sam.get("/provider/accounts/1").await,
        "The account has 1 instance and 2 VPCs; a user of the account must delete them first",
    );
}

#[tokio::test]
async fn the_page_of_an_account_shows_its_recent_tickets() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let eve = app.user("eve").of(app.another_account().await).await;
    app.user("sam").staff().await;
    let mut sam = logged_in(&app, "sam").await;
    let path = "/provider/accounts/1";
    let empty = sam.get(path).await;
    assert_lacks(&empty, "Recent tickets");
    assert_contains(&empty, "<h2 id=\"quotas\">Quotas</h2>");
    for number in 1..=6 {
        ada.open_ticket(&format!("Help <{number}>")).await;
    }
    eve.open_ticket("Another account").await;
    ada.post("/support/tickets/6/close", json!({})).await;

    let page = sam.get(path).await;

    let section = text(&page);
    let section = section.split_once("Recent tickets").expect("the section").1;
    let section = section.split_once("</section>").expect("the end").0;
    let shown: Vec<_> = section
        .split("href=\"/desk/tickets/")
        .skip(1)
        .filter_map(|link| link.split('"').next())
        .collect();
    assert_eq!(shown, ["6", "5", "4", "3", "2"]);
    for part in [
        ">Help &lt;6&gt;</a> <span class=\"id\">6</span>",
        "2024-06-01",
        "href=\"/desk?account=1&amp;status=all\">All tickets</a>",
    ] {
        assert!(section.contains(part), "{part}: {section}");
    }
    let all = sam.get("/desk?account=1&status=all").await;
    assert_contains(&all, ">6 tickets<");
}

#[tokio::test]
async fn support_reads_accounts_without_actions() {
    let app = TestApp::new().await;
    app.user("ada").await;
    app.user("noor").role(StaffRole::Support).await;
    let mut noor = logged_in(&app, "noor").await;
    let page = noor.get("/provider/accounts/1").await;
    assert_contains(&page, "ada@example.com");
    for action in [
        "Suspend",
        "/quotas\"",
        "Disable",
        "Password link",
        "/provider/staff",
    ] {
        assert_lacks(&page, action);
    }
    assert_lacks(&noor.get("/hosts").await, "Add host");
}

#[tokio::test]
async fn an_admin_gives_a_new_member_of_staff_a_password_and_another_role() {
    let app = TestApp::new().await;
    app.user("sam").staff().await;
    let mut sam = logged_in(&app, "sam").await;
    let form = sam.get("/provider/new-staff").await;
    let fields = [
        ("username", "noor"),
        ("email", "noor@example.com"),
        ("role", "support"),
    ];
    let created = sam.submit(&form, "/provider/new-staff", &fields).await;
    assert_redirects_to(&created, "/provider/staff/noor?done=user-created");
    let page = sam.get("/provider/staff/noor?done=user-created").await;
    assert_contains(&page, "User created. Generate a password link for the user.");
    let link = sam.submit(&page, "/provider/staff/noor/link", &[]).await;
    assert_contains(&link, "/oauth/password/");
    let role = [
        ("email", "noor@example.com"),
        ("role", "operator"),
        ("disabled", "true"),
    ];
    let changed = sam.submit(&page, "/provider/staff/noor", &role).await;
    assert_redirects_to(&changed, "/provider/staff/noor?done=user-changed");
    let list = sam.get("/provider/staff").await;
    assert_contains(&list, "operator");
    assert_contains(&list, "Disabled");

    let own = sam.get("/provider/staff/sam").await;
    let demoted = [("email", "sam@example.com"), ("role", "support")];
    let refused = sam.submit(&own, "/provider/staff/sam", &demoted).await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "sam is the last admin");
    let refused = sam.submit(&own, "/provider/staff/sam/delete", &[]).await;
    assert_redirects_to(&refused, "/provider/staff/sam");
    let deleted = sam.submit(&page, "/provider/staff/noor/delete", &[]).await;
    assert_redirects_to(&deleted, "/provider/staff?done=user-deleted");
}

#[tokio::test]
async fn an_operator_disables_a_user_and_retries_a_job() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    app.user("oscar").role(StaffRole::Operator).await;
    let mut oscar = logged_in(&app, "oscar").await;
    let page = oscar.get("/provider/accounts/1").await;
    let users = "/provider/accounts/1/users/ada";
    let disabled = oscar.submit(&page, &format!("{users}/disable"), &[]).await;
    assert_redirects_to(&disabled, "/provider/accounts/1?done=user-changed");
    assert_eq!(ada.get("/vpcs").await.errors(), ["- user_disabled"]);
    oscar.submit(&page, &format!("{users}/enable"), &[]).await;
    assert_eq!(ada.get("/vpcs").await.status, 200);

    let scheduled = app.store.write(|tx| {
        let due = tx.instant().plus_seconds(3600);
        garth::store::jobs::schedule(tx, JobKind::HostDrain, "9", "", due)?;
        Ok::<_, Error>(())
    });
    scheduled.await.expect("a job is scheduled");
    let page = oscar.get("/provider/jobs").await;
    assert_contains(&page, "host_drain 9");
    let retried = oscar.submit(&page, "/provider/jobs/1/retry", &[]).await;
    assert_redirects_to(&retried, "/provider/jobs?done=job-retried");
    let canceled = oscar.submit(&page, "/provider/jobs/1/cancel", &[]).await;
    assert_redirects_to(&canceled, "/provider/jobs?done=job-canceled");
    assert_contains(&oscar.get("/provider/jobs").await, "No jobs");
    let sam = app.user("sam").staff().await;
    assert_eq!(sam.get("/provider/jobs").await.json()["data"], json!([]));
}

#[tokio::test]
async fn an_operator_adds_changes_and_retires_a_region() {
    let app = TestApp::new().await;
    app.user("ada").await;
    app.user("sam").role(StaffRole::Operator).await;
    let mut sam = logged_in(&app, "sam").await;
    let form = sam.get("/provider/regions/new").await;
    let refused = sam
        .submit(&form, "/provider/regions/new", &[("id", "SE"), ("country", "")])
        .await;
    assert_eq!(refused.status, 400);
    assert_contains(&refused, "Must be 1 to 32 lowercase letters");
    assert_contains(&refused, "with the names of the API.");
    let fields = [
        ("id", "is-rkv"),
        ("label", "Reykjavik <IS>"),
        ("country", "is"),
        ("status", "ok"),
        ("capabilities[0]", "true"),
        ("capabilities[3]", "true"),
    ];
    let added = sam.submit(&form, "/provider/regions/new", &fields).await;
    assert_redirects_to(&added, "/provider/regions?done=region-saved#region-is-rkv");
    let listed = sam.get("/provider/regions").await;
    assert_contains(&listed, "Reykjavik &lt;IS&gt;");
    assert_contains(&listed, "35 regions");
    for expected in [
        ">Built in<",
        "Added <time",
        "In a region without hosts, instances are simulated.",
        "<td class=\"number\" data-label=\"VPCs\">0</td>",
    ] {
        assert_contains(&listed, expected);
    }
    let mut ada = logged_in(&app, "ada").await;
    assert_contains(&ada.get("/vpcs/new").await, "Reykjavik &lt;IS&gt; (is-rkv)");

    let edit = sam.get("/provider/regions/is-rkv").await;
    let fields = [
        ("label", "Reykjavik"),
        ("country", "is"),
        ("status", "outage"),
        ("capabilities[0]", "true"),
    ];
    let saved = sam.submit(&edit, "/provider/regions/is-rkv", &fields).await;
    assert_redirects_to(&saved, "/provider/regions?done=region-saved#region-is-rkv");
    assert_contains(&sam.get("/provider/regions").await, "Outage");
    // Without the capability, customers cannot create VPCs.
    assert_lacks(&ada.get("/vpcs/new").await, "is-rkv");
    let version = hidden_field(&edit, "version");
    let stale = [("label", "Akureyri"), ("version", version.as_str())];
    let stale = sam.submit(&edit, "/provider/regions/is-rkv", &stale).await;
    assert_eq!(stale.status, 412);

    let retired = sam.submit(&edit, "/provider/regions/us-east/retire", &[]).await;
    assert_redirects_to(&retired, "/provider/regions?done=region-retired#region-us-east");
    assert_lacks(&ada.get("/vpcs/new").await, "(us-east)");
    let again = sam.submit(&edit, "/provider/regions/us-east/retire", &[]).await;
    assert_redirects_to(&again, "/provider/regions/us-east");
    let page = sam.get("/provider/regions/us-east").await;
    assert_contains(&page, "The region is already retired");
    assert_contains(&page, "Reactivate");
    let back = sam
        .submit(&edit, "/provider/regions/us-east/reactivate", &[])
        .await;
    assert_redirects_to(&back, "/provider/regions?done=region-reactivated#region-us-east");
    assert_contains(&ada.get("/vpcs/new").await, "(us-east)");
}

#[tokio::test]
async fn an_operator_adds_changes_and_retires_a_plan() {
    let app = TestApp::new().await;
    app.user("ada").await;
    app.user("sam").role(StaffRole::Operator).await;
    let mut sam = logged_in(&app, "sam").await;
    let form = sam.get("/provider/plans/new").await;
    let fields = [
        ("id", "g1-small"),
        ("label", "Small"),
        ("class", "standard"),
        ("vcpus", "many"),
        ("memory", "2 GB"),
        ("disk", "51,200"),
        ("price.monthly", "ten"),
        ("price.hourly", "0.015"),
    ];
    let refused = sam.submit(&form, "/provider/plans/new", &fields).await;
    assert_eq!(refused.status, 400);
    for expected in ["Must be an integer", "Must be a number", "value=\"51,200\""] {
        assert_contains(&refused, expected);
    }
    let mut fields = fields;
    fields[3].1 = "1";
    fields[6].1 = "10.50";
    let added = sam.submit(&form, "/provider/plans/new", &fields).await;
    assert_redirects_to(&added, "/provider/plans?done=plan-saved#plan-g1-small");
    let listed = sam.get("/provider/plans").await;
    for expected in [
        "Small",
        "$10.50 a month",
        "$0.015 an hour",
        "38 plans",
        ">2 GB<",
        ">50 GB<",
        "Added <time",
    ] {
        assert_contains(&listed, expected);
    }
    let mut ada = logged_in(&app, "ada").await;
    assert_contains(&ada.get("/instances/new").await, "g1-small");

    let changed = [
        ("label", "Nanode"),
        ("price.monthly", "$1,250.00"),
        ("memory", "1 GB"),
    ];
    let form = sam.get("/provider/plans/g6-nanode-1").await;
    let saved = sam.submit(&form, "/provider/plans/g6-nanode-1", &changed).await;
    assert_redirects_to(&saved, "/provider/plans?done=plan-saved#plan-g6-nanode-1");
    let listed = sam.get("/provider/plans").await;
    for expected in ["$1,250.00 a month", "Changed <time", ">1 GB<"] {
        assert_contains(&listed, expected);
    }
    for (field, text, expected) in [
        ("price.monthly", "1e3", "Must be a number such as 12.50"),
        (
            "memory",
            "much",
            "Must be a number of megabytes, or a size such as 4 GB",
        ),
        ("disk", "99999999999999999999", "Must be 1 to 1000000000"),
    ] {
        let refused = sam
            .submit(&form, "/provider/plans/g6-nanode-1", &[(field, text)])
            .await;
        assert_eq!(refused.status, 400);
        assert_contains(&refused, expected);
    }

    let edit = sam.get("/provider/plans/g1-small").await;
    assert_contains(&edit, "value=\"10.5\"");
    fields[1].1 = "Smaller";
    let saved = sam.submit(&edit, "/provider/plans/g1-small", &fields[1..]).await;
    assert_redirects_to(&saved, "/provider/plans?done=plan-saved#plan-g1-small");
    assert_contains(&sam.get("/provider/plans").await, "Smaller");

    let retired = sam.submit(&edit, "/provider/plans/g1-small/retire", &[]).await;
    assert_redirects_to(&retired, "/provider/plans?done=plan-retired#plan-g1-small");
    assert_lacks(&ada.get("/instances/new").await, "g1-small");
    let back = sam
        .submit(&edit, "/provider/plans/g1-small/reactivate", &[])
        .await;
    assert_redirects_to(&back, "/provider/plans?done=plan-reactivated#plan-g1-small");
    assert_contains(&ada.get("/instances/new").await, "g1-small");
}

#[tokio::test]
async fn the_forms_of_plans_say_what_an_empty_field_means() {
    let app = TestApp::new().await;
    app.user("sam").role(StaffRole::Operator).await;
    let mut sam = logged_in(&app, "sam").await;
    let form = sam.get("/provider/plans/new").await;
    for hint in [
        ">In gigabytes a month. Garth only shows it. Empty: 0.<",
        ">In megabits per second. Garth only shows it. Empty: 0.<",
        ">Empty: 0.<",
        ">In dollars, such as 0.018. Empty: 0.15% of the price per month.<",
        ">In dollars, such as 12.50. Empty: free.<",
    ] {
        assert_contains(&form, hint);
    }
    let mut fields = vec![
        ("id", "g1.small"),
        ("label", "Small"),
        ("class", "standard"),
        ("vcpus", "1"),
        ("memory", "2 GB"),
        ("disk", "50 GB"),
        ("price.hourly", ""),
        ("price.monthly", "24"),
    ];
    // The browser shows the row of the plan, whose ID can have a dot.
    let added = sam.submit(&form, "/provider/plans/new", &fields).await;
    assert_redirects_to(&added, "/provider/plans?done=plan-saved#plan-g1.small");
    let list = sam.get("/provider/plans").await;
    for expected in [
        "<tr id=\"plan-g1.small\">",
        "$0.036 an hour",
        "<td class=\"number\" data-label=\"Transfer\">0 GB</td>",
    ] {
        assert_contains(&list, expected);
    }

    let edit = sam.get("/provider/plans/g1.small").await;
    for expected in [
        ">In gigabytes a month. Garth only shows it. Empty: unchanged.<",
        ">In dollars, such as 0.018. Empty: unchanged.<",
        "value=\"0.036\"",
    ] {
        assert_contains(&edit, expected);
    }
    assert_lacks(&edit, "0.15%");
    fields[7].1 = "30";
    let saved = sam.submit(&edit, "/provider/plans/g1.small", &fields[1..]).await;
    assert_redirects_to(&saved, "/provider/plans?done=plan-saved#plan-g1.small");
    let list = sam.get("/provider/plans").await;
    assert_contains(&list, "$30.00 a month");
    assert_contains(&list, "$0.036 an hour");
}

#[tokio::test]
async fn the_list_of_staff_names_the_permissions_of_each_role() {
    let app = TestApp::new().await;
    app.user("sam").staff().await;
    let mut sam = logged_in(&app, "sam").await;
    for path in ["/provider/staff", "/provider/new-staff"] {
        let page = sam.get(path).await;
        for permission in [
            "Support answers tickets, and reads hosts, accounts",
            "Operators also manage hosts, regions, plans, background jobs and announcements",
            "the details and quotas of accounts",
            "allow suppressed addresses",
            "Admins also manage staff; create, export and close accounts",
            "make password links",
            "change the branding and the mail templates",
        ] {
            assert_contains(&page, permission);
        }
    }
}
