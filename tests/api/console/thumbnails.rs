//! Images among the files of a ticket.

use crate::console::desk::{app_with_desk, open_three_tickets};
use crate::console::{assert_contains, assert_lacks, logged_in};

/// The header of a PNG image with these dimensions.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend_from_slice(&width.to_be_bytes());
    bytes.extend_from_slice(&height.to_be_bytes());
    bytes
}

#[tokio::test]
async fn images_are_shown_to_the_customer_and_to_staff() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    ada.attach_file(1, "shot.png", png(640, 480)).await;
    ada.attach_file(1, "notes.txt", "words").await;
    ada.attach_file(1, "scan.tif", "II*\0").await;
    for (name, page) in [("ada", "/tickets/1"), ("grace", "/desk/tickets/1")] {
        let mut browser = logged_in(&app, name).await;
        let shown = browser.get(page).await;
        let image_url = format!("{page}/attachments/1/image");
        assert_contains(&shown, &format!("<img src=\"{image_url}\""));
        for other in [2, 3] {
            assert_lacks(&shown, &format!("{page}/attachments/{other}/image"));
            let refused = browser.get(&format!("{page}/attachments/{other}/image")).await;
            assert_eq!(refused.status, 404, "{other}");
        }

        let image = browser.get(&image_url).await;

        assert_eq!(image.status, 200, "{image}");
        assert_eq!(image.body, png(640, 480));
        for (header, value) in [
            ("content-type", "image/png"),
            ("content-disposition", "inline"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; sandbox"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(image.header(header), value);
        }
    }
    // A thumbnail is no download.
    let staff = app.user("sam").staff().await;
    let steps = staff.get("/desk/tickets/1/history").await.data();
    assert!(steps.iter().all(|step| step["action"] != "download"), "{steps:?}");
}

#[tokio::test]
async fn large_images_and_images_of_other_users_are_not_shown() {
    let app = app_with_desk().await;
    let ada = open_three_tickets(&app).await;
    let mut heavy = png(640, 480);
    heavy.resize(2 * 1024 * 1024 + 1, 0);
    ada.attach_file(1, "heavy.png", heavy).await;
    ada.attach_file(1, "bomb.png", png(50_000, 50_000)).await;
    ada.attach_file(1, "short.png", &png(1, 1)[..12]).await;
    ada.attach_file(1, "shot.png", png(640, 480)).await;
    let mut browser = logged_in(&app, "ada").await;
    let page = browser.get("/tickets/1").await;
    assert_lacks(&page, "/tickets/1/attachments/1/image");
    for id in [1, 2, 3] {
        let image = browser.get(&format!("/tickets/1/attachments/{id}/image")).await;
        assert_eq!(image.status, 404, "{id}");
    }
    assert_eq!(browser.get("/tickets/1/attachments/4/image").await.status, 200);
    assert_eq!(browser.get("/tickets/2/attachments/4/image").await.status, 404);
    app.user("bob").restricted().await;
    let mut bob = logged_in(&app, "bob").await;
    assert_eq!(bob.get("/tickets/1/attachments/4/image").await.status, 404);
}
