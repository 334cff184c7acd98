//! Announcements in the console of the provider.

use crate::console::account::version;
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, logged_in};
use crate::harness::TestApp;

#[tokio::test]
async fn the_list_says_whether_customers_see_an_announcement() {
    let app = TestApp::new().await;
    app.user("sam").staff().await;
    app.user("ada").await;
    let (mut sam, mut ada) = (logged_in(&app, "sam").await, logged_in(&app, "ada").await);
    let form = sam.get("/provider/announcements/new").await;
    for (title, starts, ends) in [
        ("Later", "2030-01-15 09:00", ""),
        ("Now", "", ""),
        ("Over", "2020-01-01T00:00:00", "2020-01-02T00:00:00"),
    ] {
        let fields = [
            ("title", title),
            ("text", "From 20:00 to 22:00."),
            ("severity", "minor"),
            ("starts", starts),
            ("ends", ends),
        ];
        let saved = sam.submit(&form, "/provider/announcements/new", &fields).await;
        assert_redirects_to(&saved, "/provider/announcements?done=announcement-saved");
    }
    assert_contains(&form, "All customers see the announcement");
    for expected in [
        "<option value=\"minor\" selected>Minor</option>",
        "<option value=\"critical\">Critical</option>",
        "major is shown as a warning, and critical as an error",
    ] {
        assert_contains(&form, expected);
    }
    for (starts, ends, expected) in [
        (
            "2030-01-15 09:00",
            "2030-01-15 09:00",
            "Must be after “Shown from”",
        ),
        ("", "2020-01-01 00:00", "Must be in the future"),
        ("soon", "", "Must be a time in UTC, such as 2026-01-15 09:00"),
    ] {
        let fields = [
            ("title", "Wrong"),
            ("text", "Wrong."),
            ("severity", "minor"),
            ("starts", starts),
            ("ends", ends),
        ];
        let refused = sam.submit(&form, "/provider/announcements/new", &fields).await;
        assert_eq!(refused.status, 400);
        assert_contains(&refused, expected);
    }
    let list = sam.get("/provider/announcements").await;
    // The script adds the time zone, because the times of the form are in UTC.
    for time in ["2030-01-15 09:00", "2020-01-02 00:00"] {
        assert_contains(&list, &format!("data-shown=\"zoned\">{time} UTC</time>"));
    }
    assert_contains(&list, ">Minor</td>");
    for state in ["Not shown yet", "Shown</span>", "Ended"] {
        assert_contains(&list, state);
    }
    let home = ada.get("/vpcs").await;
    assert_contains(&home, "Now");
    assert_lacks(&home, "Later");

    // Without a start, a changed announcement is shown from now on.
    let edit = sam.get("/provider/announcements/1").await;
    assert_contains(&edit, "value=\"2030-01-15 09:00\"");
    let tag = version(&edit);
    let fields = [
        ("version", tag.as_str()),
        ("title", "Later"),
        ("text", "Soon."),
        ("severity", "minor"),
        ("starts", ""),
        ("ends", ""),
    ];
    let saved = sam.submit(&edit, "/provider/announcements/1", &fields).await;
    assert_redirects_to(&saved, "/provider/announcements?done=announcement-saved");
    assert_contains(&ada.get("/vpcs").await, "Later");
}
