//! The grants page of a user in an account with many objects: filter, pages, and one level for many objects.

use garth::model::input::Input;
use garth::model::token::TokenHash;
use garth::rules::caller::{Caller, Principal, Requirements};
use garth::rules::request::{Prepared, Request};
use garth::rules::{self, Error};
use serde_json::{Value, json};

use super::SESSION;
use super::account::version;
use super::events::newest_changes;
use crate::browser::{Browser, text};
use crate::console::{app_with_ada, assert_contains, assert_lacks, assert_redirects_to, browser};
use crate::harness::{Reply, TestApp, User};

const GRANTS: &str = "/account/users/rita/grants";

/// The version of the account-wide permissions on the grants page.
pub fn global_version(page: &Reply) -> String {
    let html = text(page);
    let value = html.split("name=\"global_version\" value=\"").nth(1);
    let value = value.expect("a version");
    let end = value.find("\">").expect("the end of the element");
    value[..end].replace("&quot;", "\"")
}

/// The value of a hidden field of the form with the grants.
fn hidden(page: &Reply, name: &str) -> String {
    let html = text(page);
    let value = html.split(&format!("name=\"{name}\" value=\"")).nth(1);
    let value = value.expect("a value");
    value[..value.find('"').expect("the end of the value")].to_owned()
}

/// The grants of `rita` through the API: kind, ID and permission.
async fn grants(maker: &User<'_>) -> Vec<(String, i64, Option<String>)> {
    let reply = maker.get(GRANTS).await.json();
    let of_kind = |kind: &str| {
        let list = reply[kind].as_array().expect("a list").clone();
        let kind = kind.to_owned();
        list.into_iter().map(move |entry: Value| {
            let permission = entry["permissions"].as_str().map(str::to_owned);
            (kind.clone(), entry["id"].as_i64().expect("an ID"), permission)
        })
    };
    of_kind("vpc").chain(of_kind("linode")).collect()
}

/// The number of grants of each level: none, read-only and read/write.
async fn levels(maker: &User<'_>) -> [usize; 3] {
    let grants = grants(maker).await;
    [None, Some("read_only"), Some("read_write")].map(|level| {
        grants
            .iter()
            .filter(|(_, _, held)| held.as_deref() == level)
            .count()
    })
}

/// An account with the restricted user `rita`, and these VPCs and instances.
async fn create_objects(maker: &User<'_>, vpcs: &[&str], instances: &[&str]) {
    maker.app.user("rita").restricted().await;
    for label in vpcs {
        maker.create_vpc(label, &[]).await;
    }
    for label in instances {
        let body = json!({"label": label, "type": "g6-nanode-1", "region": "us-east"});
        assert_eq!(maker.post("/linode/instances", body).await.status, 200);
    }
}

/// Opens the confirmation page, and confirms.
async fn set_level(browser: &mut Browser<'_>, fields: &[(&str, &str)]) -> Reply {
    let query = crate::browser::form(fields);
    let page = browser.get(&format!("{GRANTS}/set?{query}")).await;
    assert_eq!(page.status, 200, "{page}");
    let version = version(&page);
    let mut fields = fields.to_vec();
    fields.push(("version", &version));
    browser.submit(&page, &format!("{GRANTS}/set"), &fields).await
}

#[tokio::test]
async fn grants_are_filtered_by_label_kind_and_level() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    create_objects(&maker, &["core", "edge"], &["core-web", "db-1"]).await;
    maker
        .put(GRANTS, json!({"vpc": [{"id": 2, "permissions": "read_only"}], "linode": [{"id": 1, "permissions": "read_write"}]}))
        .await;
    let mut ada = browser(&app, "ada").await;
    let names = [
        "name=\"vpc.1\"",
        "name=\"vpc.2\"",
        "name=\"linode.1\"",
        "name=\"linode.2\"",
    ];
    for (filter, shown) in [
        ("", &[0, 1, 2, 3][..]),
        ("?q=core", &[0, 2]),
        ("?q=CORE&kind=linode", &[2]),
        ("?kind=vpc", &[0, 1]),
        ("?level=none", &[0, 3]),
        ("?level=read_only", &[1]),
        ("?level=read_write&kind=vpc", &[]),
        ("?q=nothing", &[]),
        ("?kind=nonsense", &[]),
    ] {
        let page = ada.get(&format!("{GRANTS}{filter}")).await;
        assert_eq!(page.status, 200, "{filter}");
        for (at, name) in names.iter().enumerate() {
            assert_eq!(
                text(&page).contains(name),
                shown.contains(&at),
                "{filter}: {name} on {page}"
            );
        }
    }
    // The page of the user has the numbers of each level, with links to the lists.
    let page = ada.get("/account/users/rita").await;
    assert_contains(
        &page,
        "href=\"/account/users/rita/grants?kind=vpc&amp;level=read_only\">Read-only: 1<",
    );
    assert_contains(
        &page,
        "href=\"/account/users/rita/grants?kind=linode&amp;level=none\">No access: 1<",
    );
}

#[tokio::test]
async fn one_level_is_set_for_the_results_of_a_filter_or_for_selected_rows() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    create_objects(&maker, &["core", "edge", "edge-2"], &["edge-web", "db-1"]).await;
    let mut ada = browser(&app, "ada").await;
    let held = |level: &str| Some(level.to_owned());
    // The confirmation page lists the changes, and changes nothing.
    let page = ada
        .get(&format!("{GRANTS}/set?q=edge&to=read_only&apply=all&vpc.1=on"))
        .await;
    assert_contains(&page, "on 3 objects");
    for label in [">edge <", ">edge-2 <", ">edge-web <"] {
        assert_contains(&page, label);
    }
    assert_lacks(&page, ">core <");
    assert_eq!(levels(&maker).await, [5, 0, 0]);
    let events = maker.count("/account/events").await;
    let done = set_level(&mut ada, &[("q", "edge"), ("to", "read_only"), ("apply", "all")]).await;
    assert_redirects_to(&done, &format!("{GRANTS}?q=edge&done=grants-changed"));
    assert_eq!(
        grants(&maker).await,
        [
            ("vpc".to_owned(), 1, None),
            ("vpc".to_owned(), 2, held("read_only")),
            ("vpc".to_owned(), 3, held("read_only")),
            ("linode".to_owned(), 1, held("read_only")),
            ("linode".to_owned(), 2, None),
        ]
    );
    assert_eq!(maker.count("/account/events").await, events + 1);
    assert_eq!(newest_changes(&mut ada).await, ["Grants: Read-only on 3 objects"]);
    // Selected rows, with and without access.
    let selected = [
        ("to", "read_write"),
        ("apply", "selected"),
        ("vpc.1", "on"),
        ("linode.1", "on"),
    ];
    set_level(&mut ada, &selected).await;
    assert_eq!(levels(&maker).await, [1, 2, 2]);
    // Access is removed from all objects with one level.
    set_level(
        &mut ada,
        &[("level", "read_only"), ("to", "none"), ("apply", "all")],
    )
    .await;
    assert_eq!(levels(&maker).await, [3, 0, 2]);
    assert_contains(
        &ada.get(&format!("{GRANTS}/set?to=none&apply=selected")).await,
        "Nothing is selected",
    );
    let unchanged = ada
        .get(&format!("{GRANTS}/set?to=none&apply=all&level=none"))
        .await;
    assert_contains(&unchanged, "Nothing to change");
    assert_eq!(
        ada.get(&format!("{GRANTS}/set?to=root&apply=all")).await.status,
        400
    );
    // An unrestricted user has no grants.
    assert_eq!(
        ada.get("/account/users/maker/grants/set?to=none&apply=all")
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn a_level_is_not_set_on_objects_that_the_user_has_not_confirmed() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    create_objects(&maker, &["core"], &[]).await;
    let mut ada = browser(&app, "ada").await;
    let page = ada.get(&format!("{GRANTS}/set?to=read_write&apply=all")).await;
    maker.create_vpc("secret", &[]).await;
    let tag = version(&page);
    let fields = [("to", "read_write"), ("apply", "all"), ("version", tag.as_str())];
    let refused = ada.submit(&page, &format!("{GRANTS}/set"), &fields).await;
    assert_eq!(refused.status, 412);
    assert_contains(&refused, ">secret <");
    assert_eq!(levels(&maker).await, [2, 0, 0]);
    // The page now has both objects, and can be confirmed.
    let tag = version(&refused);
    let fields = [("to", "read_write"), ("apply", "all"), ("version", tag.as_str())];
    ada.submit(&refused, &format!("{GRANTS}/set"), &fields).await;
    assert_eq!(levels(&maker).await, [0, 0, 2]);
}

#[tokio::test]
async fn a_page_of_grants_conflicts_only_with_changes_of_its_rows() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    create_objects(&maker, &["core", "edge"], &[]).await;
    let mut ada = browser(&app, "ada").await;
    let page = ada.get(&format!("{GRANTS}?q=core")).await;
    let version = version(&page);
    // A change of another row is no conflict.
    maker
        .put(GRANTS, json!({"vpc": [{"id": 2, "permissions": "read_only"}]}))
        .await;
    let fields = [
        ("version", version.as_str()),
        ("q", "core"),
        ("vpc.1", "read_only"),
    ];
    let done = ada.submit(&page, GRANTS, &fields).await;
    assert_redirects_to(&done, &format!("{GRANTS}?q=core&done=grants-changed"));
    assert_eq!(levels(&maker).await, [0, 2, 0]);
    // A change of the same row is: the form has the input, and shows the current level.
    let fields = [
        ("version", version.as_str()),
        ("q", "core"),
        ("vpc.1", "read_write"),
    ];
    let refused = ada.submit(&page, GRANTS, &fields).await;
    assert_eq!(refused.status, 412);
    assert_contains(&refused, "name=\"vpc.1\" value=\"read_write\" checked");
    assert_contains(&refused, "Now: Read-only");
    assert_eq!(levels(&maker).await, [0, 2, 0]);
}

#[tokio::test]
async fn after_a_conflict_the_page_has_the_changes_of_both_users() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    create_objects(&maker, &["core", "edge", "lab"], &[]).await;
    let mut ada = browser(&app, "ada").await;
    let page = ada.get(GRANTS).await;
    assert_contains(&page, "name=\"shown\" value=\"vpc.1= vpc.2= vpc.3= \"");
    let body = json!({"vpc": [{"id": 2, "permissions": "read_only"}], "global": {"add_linodes": true}});
    maker.put(GRANTS, body).await;
    let (rows, globals) = (version(&page), global_version(&page));
    let (shown, global_shown) = (hidden(&page, "shown"), hidden(&page, "global_shown"));
    let fields = [
        ("version", rows.as_str()),
        ("global_version", globals.as_str()),
        ("shown", shown.as_str()),
        ("global_shown", global_shown.as_str()),
        ("global.account_access", ""),
        ("global.add_vpcs", "true"),
        ("vpc.1", "read_write"),
        ("vpc.2", ""),
        ("vpc.3", ""),
    ];
    let refused = ada.submit(&page, GRANTS, &fields).await;
    assert_eq!(refused.status, 412);
    for edited in [
        "name=\"vpc.1\" value=\"read_write\" checked",
        "name=\"vpc.2\" value=\"read_only\" checked",
        "name=\"vpc.3\" value=\"\" checked",
        "name=\"global.add_vpcs\" value=\"true\" checked",
        "name=\"global.add_linodes\" value=\"true\" checked",
        "name=\"shown\" value=\"vpc.1= vpc.2=read_only vpc.3= \"",
    ] {
        assert_contains(&refused, edited);
    }
    assert_eq!(levels(&maker).await, [2, 1, 0]);
}

#[tokio::test]
async fn one_form_saves_the_permissions_of_the_account_and_the_rows() {
    let app = app_with_ada().await;
    let maker = app.user("maker").await;
    create_objects(&maker, &["core"], &[]).await;
    let mut ada = browser(&app, "ada").await;
    let page = ada.get(GRANTS).await;
    // All fields of the page belong to one form, which has one button.
    assert_contains(&page, "form=\"grants\" name=\"vpc.1\" value=\"read_only\"");
    assert_contains(&page, "form=\"grants\" name=\"global.account_access\"");
    assert_eq!(
        text(&page).matches(">Save").count(),
        2,
        "one button and its hint: {page}"
    );
    let (rows, globals) = (version(&page), global_version(&page));
    let events = maker.count("/account/events").await;
    let fields = [
        ("version", rows.as_str()),
        ("global_version", globals.as_str()),
        ("global.account_access", "read_only"),
        ("global.add_vpcs", "true"),
        ("vpc.1", "read_only"),
    ];
    let done = ada.submit(&page, GRANTS, &fields).await;
    assert_redirects_to(&done, &format!("{GRANTS}?done=grants-changed"));
    let stored = maker.get(GRANTS).await.json();
    assert_eq!(stored["global"]["account_access"], "read_only");
    assert_eq!(stored["global"]["add_vpcs"], true);
    assert_eq!(levels(&maker).await, [0, 1, 0]);
    assert_eq!(maker.count("/account/events").await, events + 1);
    // If one part was changed in the meantime, neither part is saved, and the page has the input of both.
    let page = ada.get(GRANTS).await;
    let (rows, globals) = (version(&page), global_version(&page));
    maker.put(GRANTS, json!({"global": {"add_linodes": true}})).await;
    let fields = [
        ("version", rows.as_str()),
        ("global_version", globals.as_str()),
        ("global.account_access", ""),
        ("vpc.1", "read_write"),
    ];
    let refused = ada.submit(&page, GRANTS, &fields).await;
    assert_eq!(refused.status, 412);
    assert_contains(&refused, "name=\"vpc.1\" value=\"read_write\" checked");
    assert_lacks(&refused, "name=\"global.add_vpcs\" value=\"true\" checked");
    assert_eq!(levels(&maker).await, [0, 1, 0]);
    assert_eq!(
        maker.get(GRANTS).await.json()["global"]["account_access"],
        "read_only"
    );
}

/// Creates VPCs in one transaction.
async fn create_many_vpcs(app: &TestApp, browser: &Browser<'_>, count: usize) {
    let hash = TokenHash::of(&browser.cookies[SESSION]);
    let identity = app
        .store
        .read(move |tx| rules::sessions::identify(tx, hash))
        .await;
    let caller = Caller::admit(identity.expect("a session"), Requirements::default()).expect("a tenant");
    let created = app.store.write(move |tx| {
        for at in 0..count {
            let text = |text: &str| Input::Text(text.to_owned());
            let fields = [("label", text(&format!("v{at:04}"))), ("region", text("us-east"))];
            let fields = fields.map(|(name, value)| (name.to_owned(), value));
            let request = Request {
                expected: None,
                body: Ok(Input::Object(fields.to_vec())),
            };
            let request = Prepared::prepare(request, tx.policy());
            rules::vpcs::create(tx, &caller, &request)?;
        }
        Ok::<_, Error>(())
    });
    created.await.expect("VPCs can be created");
}

#[tokio::test]
async fn five_thousand_grants_have_small_pages_and_are_changed_page_by_page() {
    const MAX_PAGE_BYTES: usize = 300_000;
    let app = TestApp::with(|policy, _| policy.quota.vpcs_per_region = 10_000).await;
    let maker = app.user("maker").await;
    app.user("ada").await;
    app.set_password("ada").await;
    let mut ada = browser(&app, "ada").await;
    create_objects(&maker, &[], &["web-1", "web-2"]).await;
    create_many_vpcs(&app, &ada, 4_998).await;
    set_level(&mut ada, &[("to", "read_only"), ("apply", "all")]).await;
    assert_eq!(levels(&maker).await, [0, 5_000, 0]);
    for path in [
        GRANTS.to_owned(),
        format!("{GRANTS}?page=125"),
        format!("{GRANTS}?q=v4&level=read_only"),
        format!("{GRANTS}/set?to=none&apply=all"),
        "/account/users/rita".to_owned(),
    ] {
        let page = ada.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.body.len() < MAX_PAGE_BYTES,
            "{path}: {} bytes",
            page.body.len()
        );
    }
    // The second page is saved with one change. All other grants stay as they are.
    let page = ada.get(&format!("{GRANTS}?page=2")).await;
    let (html, version) = (text(&page), version(&page));
    let names = html.split("type=\"radio\" form=\"grants\" name=\"vpc.").skip(1);
    let mut names: Vec<String> = names
        .map(|rest| format!("vpc.{}", &rest[..rest.find('"').expect("a name")]))
        .collect();
    names.dedup();
    assert_eq!(names.len(), 40);
    let mut fields = vec![
        ("version", version.as_str()),
        ("page", "2"),
        (names[7].as_str(), "read_write"),
    ];
    fields.extend(
        names
            .iter()
            .filter(|name| *name != &names[7])
            .map(|name| (name.as_str(), "read_only")),
    );
    let done = ada.submit(&page, GRANTS, &fields).await;
    assert_redirects_to(&done, &format!("{GRANTS}?page=2&done=grants-changed"));
    assert_eq!(levels(&maker).await, [0, 4_999, 1]);
    assert_contains(&ada.get(&format!("{GRANTS}?level=read_write")).await, ">v0047 <");
}
