//! The brand of the provider: values, images, roles and pages.

use garth::model::staff_role::StaffRole;
use hyper::Method;
use serde_json::{Value, json};

use crate::browser::{Browser, hidden_field, text};
use crate::console::{assert_contains, assert_lacks, assert_redirects_to, logged_in};
use crate::harness::{Reply, TestApp, User};

const BRANDING: &str = "/provider/branding";
const LOGO: &str = "/provider/branding/logo";
const SVG: &str =
    r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8H0z"/></svg>"#;
/// One transparent pixel.
const PNG: &[u8] = b"\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\
    \x00\x00\x0bIDATx\x9cc`\x00\x02\x00\x00\x05\x00\x01z^\xab?\x00\x00\x00\x00IEND\xaeB`\x82";

async fn upload(user: &User<'_>, path: &str, media_type: &str, file: impl AsRef<[u8]>) -> Reply {
    let call = user.call(Method::PUT, path).header("content-type", media_type);
    call.body(file.as_ref().to_vec()).await
}

async fn asset(app: &TestApp, path: &str) -> Reply {
    app.anonymous().get(&format!("/{path}")).await
}

fn harbor() -> Value {
    json!({
        "name": "Harbor <Cloud>", "accent_color": "#0B6E4F", "footer": "Harbor Lane Ltd\n<b>Quay</b>",
        "support_links": [
            {"label": "Status & news", "url": "https://status.harbor.example/?a=1&b=2"},
            {"label": "Write to us", "url": "mailto:help@harbor.example"},
        ],
    })
}

#[tokio::test]
async fn an_admin_sets_the_brand_and_resets_it() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let default = json!({
        "name": null, "accent_color": null, "footer": null, "support_links": [], "logo_url": null,
        "favicon_url": null, "updated": null,
    });
    let initial = sam.get(BRANDING).await;
    assert_eq!(initial.json(), default);

    let changed = sam.put(BRANDING, harbor()).await;

    let mut expected = harbor();
    expected["accent_color"] = json!("#0b6e4f");
    expected["logo_url"] = Value::Null;
    expected["favicon_url"] = Value::Null;
    expected["updated"] = json!("2024-06-01T12:00:00");
    assert_eq!(changed.json(), expected);
    assert_eq!(sam.get(BRANDING).await.json(), expected);
    let stale = sam
        .call(Method::PUT, BRANDING)
        .header("if-match", initial.header("etag"))
        .json(&json!({"name": "Late"}))
        .await;
    assert_eq!(stale.status, 412);
    // Omitted fields remain, and null restores a default.
    let changed = sam
        .put(BRANDING, json!({"name": null, "support_links": null}))
        .await
        .json();
    assert_eq!(
        (&changed["name"], &changed["support_links"], &changed["footer"]),
        (&Value::Null, &json!([]), &expected["footer"])
    );
    assert_eq!(upload(&sam, LOGO, "image/svg+xml", SVG).await.status, 200);
    assert_eq!(sam.delete(BRANDING).await.status, 200);
    assert_eq!(sam.get(BRANDING).await.json(), default);
}

#[tokio::test]
async fn invalid_values_are_refused_together() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let link = |label: &str, url: &str| json!({"label": label, "url": url});
    let too_many = vec![link("Help", "https://harbor.example"); 6];
    for (body, errors) in [
        (
            json!({"name": "", "accent_color": "blue", "footer": "x".repeat(501)}),
            vec!["name too_short", "accent_color color_invalid", "footer too_long"],
        ),
        (json!({"name": "two\nlines"}), vec!["name control_characters"]),
        (
            json!({"accent_color": "#ffcc00"}),
            vec!["accent_color color_contrast"],
        ),
        (
            json!({"support_links": [link("", "javascript:alert(1)"), link("Ok", "http://harbor.example")]}),
            vec![
                "support_links[0].label too_short",
                "support_links[0].url link_invalid",
                "support_links[1].url link_invalid",
            ],
        ),
        (
            json!({"support_links": [link("Ok", "https://harbor.example@evil.example")]}),
            vec!["support_links[0].url link_invalid"],
        ),
        (
            json!({"support_links": too_many}),
            vec!["support_links out_of_range"],
        ),
        (json!({"support_links": "x"}), vec!["support_links wrong_type"]),
    ] {
        assert_eq!(sam.put(BRANDING, body).await.errors(), errors);
    }
    let refused = sam
        .put(BRANDING, json!({"accent_color": "#ffcc00"}))
        .await
        .reason();
    let (before, nearest) = refused.rsplit_once(' ').unwrap();
    assert!(
        before.contains(" is 1.34:1") && before.contains("at least 4.5:1"),
        "{refused}"
    );
    assert_eq!(
        sam.put(BRANDING, json!({"accent_color": nearest})).await.status,
        200
    );
    assert_eq!(sam.get(BRANDING).await.json()["name"], Value::Null);
}

#[tokio::test]
async fn operators_read_the_brand_and_only_admins_change_it() {
    let app = TestApp::new().await;
    let (noor, sam) = (
        app.user("noor").role(StaffRole::Operator).await,
        app.user("sam").role(StaffRole::Support).await,
    );
    assert_eq!(noor.get(BRANDING).await.status, 200);
    assert_eq!(sam.get(BRANDING).await.errors(), ["- role_missing"]);
    for refused in [
        noor.put(BRANDING, harbor()).await,
        noor.delete(BRANDING).await,
        upload(&noor, LOGO, "image/svg+xml", SVG).await,
        noor.delete(LOGO).await,
    ] {
        assert_eq!(refused.errors(), ["- role_missing"]);
    }
    let mut browser = logged_in(&app, "noor").await;
    let page = browser.get("/provider/branding").await;
    assert_contains(&page, "Only admins can change the brand.");
    assert_lacks(&page, "Save</button>");
}

#[tokio::test]
async fn an_image_is_served_for_ever_by_its_hash_and_cannot_run_scripts() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    for (media_type, file, extension) in [
        ("image/svg+xml", SVG.as_bytes(), ".svg"),
        ("image/png", PNG, ".png"),
    ] {
        for slot in ["logo", "favicon"] {
            let set = upload(&sam, &format!("{BRANDING}/{slot}"), media_type, file).await;
            assert_eq!(set.status, 200, "{set}");
            let url = set.json()[format!("{slot}_url")].as_str().unwrap().to_owned();
            assert!(url.starts_with(&format!("/assets/brand/{slot}-")) && url.ends_with(extension));

            let image = asset(&app, &url).await;

            assert_eq!(image.status, 200, "{url}");
            assert_eq!(
                [
                    "content-type",
                    "cache-control",
                    "content-security-policy",
                    "x-content-type-options"
                ]
                .map(|name| image.header(name)),
                [
                    media_type,
                    "public, max-age=31536000, immutable",
                    "default-src 'none'; style-src 'unsafe-inline'; sandbox",
                    "nosniff"
                ]
            );
        }
    }
    let logo_url = || async { sam.get(BRANDING).await.json()["logo_url"].clone() };
    let old = logo_url().await;
    let old = old.as_str().unwrap();
    assert_eq!(asset(&app, old).await.body, PNG);
    assert_eq!(asset(&app, &old.replace(".png", ".svg")).await.status, 404);
    assert_eq!(asset(&app, &old.replace("logo-", "favicon-")).await.status, 200);
    assert_eq!(sam.delete(LOGO).await.status, 200);
    assert_eq!(logo_url().await, Value::Null);
    assert_eq!(asset(&app, old).await.status, 404);
    for unknown in [
        "logo-.svg",
        "logo-x",
        "x-0.svg",
        "accent-ffffff.css",
        "accent.css",
    ] {
        assert_eq!(asset(&app, &format!("/assets/brand/{unknown}")).await.status, 404);
    }
    assert_eq!(sam.delete(LOGO).await.status, 200, "nothing is left to remove");
}

#[tokio::test]
async fn files_that_are_not_images_are_refused() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let mut damaged = PNG.to_vec();
    damaged[43] ^= 1;
    let large = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><!--{}--></svg>",
        "x".repeat(300_000)
    );
    for (media_type, file, status, error) in [
        ("image/png", b"".as_slice(), 400, "brand_image_invalid"),
        ("image/png", b"GIF89a", 400, "brand_image_invalid"),
        ("image/png", &damaged, 400, "brand_image_invalid"),
        ("image/svg+xml", b"<html></html>", 400, "brand_image_invalid"),
        (
            "image/svg+xml",
            b"\xff\xfe<\0s\0v\0g\0",
            400,
            "brand_image_invalid",
        ),
        ("image/svg+xml", large.as_bytes(), 413, "body_too_large"),
        ("image/gif", SVG.as_bytes(), 415, "media_type_unsupported"),
        ("application/json", SVG.as_bytes(), 415, "media_type_unsupported"),
    ] {
        let refused = upload(&sam, LOGO, media_type, file).await;
        assert_eq!(
            (refused.status.as_u16(), refused.errors()),
            (status, vec![format!("- {error}")])
        );
    }
    assert_eq!(sam.get(BRANDING).await.json()["logo_url"], Value::Null);
}

/// Hostile parts of an SVG image, which are removed.
const REMOVED: [&str; 27] = [
    "<script>alert(1)</script>",
    "<script href=\"https://evil.example/x.js\"/>",
    "<x:script xmlns:x=\"http://www.w3.org/2000/svg\">alert(1)</x:script>",
    "<rect onload=\"alert(1)\"/>",
    "<g onclick=\"alert(1)\"><rect OnMouseOver=\"alert(1)\"/></g>",
    "<foreignObject><body xmlns=\"http://www.w3.org/1999/xhtml\"><script>alert(1)</script></body></foreignObject>",
    "<h:iframe xmlns:h=\"http://www.w3.org/1999/xhtml\" src=\"https://evil.example\"/>",
    "<image href=\"https://evil.example/track.png\"/>",
    "<image xlink:href=\"data:image/svg+xml;base64,PHN2Zz4=\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"/>",
    "<use href=\"https://evil.example/x.svg#a\"/>",
    "<use href=\"#a\"/>",
    "<a href=\"javascript:alert(1)\"><rect/></a>",
    "<animate attributeName=\"href\" to=\"javascript:alert(1)\"/>",
    "<set attributeName=\"onload\" to=\"alert(1)\"/>",
    "<style>@import url(https://evil.example/x.css);</style>",
    "<style>rect { background: url('https://evil.example/x') }</style>",
    "<style>rect { fill: \\75rl(https://evil.example) }</style>",
    "<style>@font-face { font-family: x; src: local(x) }</style>",
    "<rect style=\"fill:url(https://evil.example/x#a)\"/>",
    "<rect fill=\"url(https://evil.example/x#a)\"/>",
    "<rect fill=\"url( 'https://evil.example' )\"/>",
    "<rect style=\"background-image:url(javascript:alert(1))\"/>",
    "<filter id=\"f\"><feImage href=\"https://evil.example/x.png\"/></filter>",
    "<linearGradient href=\"https://evil.example/x#a\"/>",
    "<handler type=\"application/ecmascript\">alert(1)</handler>",
    "<embed src=\"https://evil.example\"/>",
    "<title><![CDATA[<script>alert(1)</script>]]></title>",
];

/// Hostile SVG images, which are refused as a whole.
const REFUSED: [&str; 8] = [
    "<!DOCTYPE svg [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><svg xmlns=\"http://www.w3.org/2000/svg\"><text>&b;</text></svg>",
    "<!DOCTYPE svg [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><svg xmlns=\"http://www.w3.org/2000/svg\"><text>x</text></svg>",
    "<svg xmlns=\"http://www.w3.org/2000/svg\"><text>&nbsp;</text></svg>",
    "<svg xmlns=\"http://www.w3.org/2000/svg\"><path d=\"M0 0\"></svg>",
    "<svg><path d=\"M0 0\"/></svg>",
    "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>",
    "<svg xmlns=\"http://www.w3.org/2000/svg\"><path/></svg><svg xmlns=\"http://www.w3.org/2000/svg\"><path/></svg>",
    "<html xmlns=\"http://www.w3.org/1999/xhtml\"><svg xmlns=\"http://www.w3.org/2000/svg\"><path/></svg></html>",
];

#[tokio::test]
async fn hostile_parts_of_an_svg_image_are_removed_or_refused() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    for part in REMOVED {
        let file = format!(
            "<?xml version=\"1.0\"?><?xml-stylesheet href=\"https://evil.example\"?>\
             <svg xmlns=\"http://www.w3.org/2000/svg\" onload=\"alert(1)\">{part}<path d=\"M0 0\"/></svg>"
        );
        let set = upload(&sam, LOGO, "image/svg+xml", &file).await;
        assert_eq!(set.status, 200, "{part}: {set}");
        let url = set.json()["logo_url"].as_str().unwrap().to_owned();
        let served = text(&asset(&app, &url).await).to_ascii_lowercase();
        assert!(
            served.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\">")
                && served.ends_with("<path d=\"m0 0\"></path></svg>"),
            "{served}"
        );
        for hostile in [
            "<script",
            "onload",
            "onclick",
            "onmouse",
            "evil",
            "javascript",
            "url(",
            "<use",
            "@",
            "iframe",
        ] {
            assert!(!served.contains(hostile), "{part} became {served}");
        }
    }
    assert_eq!(sam.delete(LOGO).await.status, 200);
    let deep = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\">{}<path/>{}</svg>",
        "<g>".repeat(100),
        "</g>".repeat(100)
    );
    let many = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\">{}</svg>",
        "<path/>".repeat(6_000)
    );
    let wide = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\"><path {}/></svg>",
        "a=\"\" ".repeat(5_000)
    );
    for file in REFUSED.iter().copied().chain([deep.as_str(), &many, &wide]) {
        let refused = upload(&sam, LOGO, "image/svg+xml", file).await;
        assert_eq!(refused.errors(), ["- brand_image_invalid"], "{file:.300}");
    }
    assert_eq!(sam.get(BRANDING).await.json()["logo_url"], Value::Null);
}

#[tokio::test]
async fn pages_show_the_name_the_colors_the_images_and_the_links() {
    let app = TestApp::new().await;
    app.user("ada").await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let (mut anonymous, mut ada, mut staff) = (
        Browser::new(&app),
        logged_in(&app, "ada").await,
        logged_in(&app, "sam").await,
    );
    for page in [anonymous.get("/login").await, ada.get("/vpcs").await] {
        assert_contains(&page, " – Garth</title>");
        assert_lacks(&page, "/assets/brand/");
        assert_lacks(&page, "brand-links");
    }
    sam.put(BRANDING, harbor()).await;
    upload(&sam, LOGO, "image/svg+xml", SVG).await;
    let set = upload(&sam, "/provider/branding/favicon", "image/png", PNG)
        .await
        .json();
    let link =
        "<a href=\"https://status.harbor.example/?a=1&amp;b=2\" rel=\"noopener\">Status &amp; news</a>";

    for page in [
        anonymous.get("/login").await,
        anonymous.get("/logout").await,
        ada.get("/vpcs").await,
        ada.get("/vpcs/999").await,
    ] {
        for expected in [
            " – Harbor &lt;Cloud&gt;</title>",
            "<link rel=\"stylesheet\" href=\"/assets/brand/accent-0b6e4f.css\">",
            &format!(
                "<img class=\"brand-logo\" src=\"{}\" alt=\"\">",
                set["logo_url"].as_str().unwrap()
            ),
            &format!(
                "href=\"{}\" type=\"image/png\">",
                set["favicon_url"].as_str().unwrap()
            ),
            link,
            "<a href=\"mailto:help@harbor.example\"",
            "Harbor Lane Ltd\n&lt;b&gt;Quay&lt;/b&gt;",
        ] {
            assert_contains(&page, expected);
        }
        for default in ["Garth</title>", "<svg class=\"mark\"", "/favicon.ico"] {
            assert_lacks(&page, default);
        }
    }
    let desk = staff.get("/desk").await;
    assert_contains(&desk, "<span>Harbor &lt;Cloud&gt;</span>");
    assert_lacks(&desk, link);
    // The reference is about Garth.
    assert_contains(&anonymous.get("/docs").await, "Garth API reference");
    let style = asset(&app, "/assets/brand/accent-0b6e4f.css").await;
    assert_eq!(
        (style.header("content-type"), style.header("cache-control")),
        ("text/css; charset=utf-8", "public, max-age=31536000, immutable")
    );
    assert!(text(&style).contains("--accent: #0b6e4f;"));

    sam.delete(BRANDING).await;

    assert_contains(&ada.get("/vpcs").await, " – Garth</title>");
    assert_contains(&anonymous.get("/login").await, " – Garth</title>");
}

#[tokio::test]
async fn the_page_previews_saves_and_resets_the_brand() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let mut browser = logged_in(&app, "sam").await;
    let page = browser.get("/provider/branding").await;
    let fields = [
        ("name", "Harbor Cloud"),
        ("accent_color", "#0b6e4f"),
        ("footer", "Harbor Lane\r\nLtd"),
        ("support_links[0].label", ""),
        ("support_links[0].url", ""),
        ("support_links[1].label", "Status"),
        ("support_links[1].url", "https://status.harbor.example"),
    ];

    let preview = browser.submit(&page, "/provider/branding/preview", &fields).await;

    for expected in [
        "These values are not saved yet.",
        "href=\"/assets/brand/preview-0b6e4f.css\"",
        "Preview of the dark theme",
        "<span>Harbor Cloud</span>",
        "value=\"Harbor Cloud\"",
        ">Status</a>",
    ] {
        assert_contains(&preview, expected);
    }
    assert_eq!(preview.status, 200);
    assert_eq!(sam.get(BRANDING).await.json()["updated"], Value::Null);
    let style = text(&asset(&app, "/assets/brand/preview-0b6e4f.css").await);
    assert!(
        style.contains(".brand-preview.dark {") && style.contains("--accent: #0b6e4f;"),
        "{style}"
    );
    let bad = browser
        .submit(
            &page,
            "/provider/branding/preview",
            &[("accent_color", "#ffcc00")],
        )
        .await;
    assert_eq!(bad.status, 400);
    assert_contains(&bad, "must be at least 4.5:1");

    let saved = browser.submit(&preview, "/provider/branding", &fields).await;

    assert_redirects_to(&saved, "/provider/branding?done=branding-saved");
    let stored = sam.get(BRANDING).await.json();
    assert_eq!(
        (&stored["name"], &stored["footer"], &stored["support_links"]),
        (
            &json!("Harbor Cloud"),
            &json!("Harbor Lane\nLtd"),
            &json!([{"label": "Status", "url": "https://status.harbor.example"}])
        )
    );
    let version = hidden_field(&page, "version");
    let stale = browser
        .submit(
            &page,
            "/provider/branding",
            &[("name", "Late"), ("version", &version)],
        )
        .await;
    assert_eq!(stale.status, 412);
    let refused = browser
        .submit(
            &page,
            "/provider/branding",
            &[("support_links[0].url", "http://x")],
        )
        .await;
    assert_contains(&refused, ">Support link 1, URL</a>");
    let reset = browser
        .submit(&page, "/provider/branding/reset", &[("version", "")])
        .await;
    assert_redirects_to(&reset, "/provider/branding?done=branding-reset");
    assert_eq!(sam.get(BRANDING).await.json()["name"], Value::Null);
}

/// Sends the form of the page with texts and files, as a browser does.
async fn send(
    browser: &mut Browser<'_>,
    path: &str,
    texts: &[(&str, &str)],
    files: &[(&str, &str, &[u8])],
) -> Reply {
    let page = browser.get("/provider/branding").await;
    let hidden = ["form_token", "version"].map(|name| (name, hidden_field(&page, name)));
    let hidden = hidden.iter().map(|(name, value)| (*name, value.as_str()));
    let texts = hidden.chain(texts.iter().copied()).map(|(name, value)| {
        let disposition = format!("form-data; name=\"{name}\"");
        (disposition, value.as_bytes())
    });
    let files = files.iter().map(|(field, name, content)| {
        let disposition = format!("form-data; name=\"{field}\"; filename=\"{name}\"");
        (disposition, *content)
    });
    let parts: Vec<_> = texts.chain(files).collect();
    let parts: Vec<(&str, &[u8])> = parts
        .iter()
        .map(|(head, content)| (head.as_str(), *content))
        .collect();
    browser.send_parts(path, &parts).await
}

#[tokio::test]
async fn the_page_saves_texts_and_images_together() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let mut browser = logged_in(&app, "sam").await;
    let texts = [("name", "Harbor"), ("accent_color", "#0b6e4f")];
    let files = [
        ("logo", "logo.svg", SVG.as_bytes()),
        // No file is chosen.
        ("favicon", "", b"".as_slice()),
    ];

    let saved = send(&mut browser, "/provider/branding", &texts, &files).await;

    assert_redirects_to(&saved, "/provider/branding?done=branding-saved");
    let stored = sam.get(BRANDING).await.json();
    assert_eq!(
        (&stored["name"], &stored["accent_color"], &stored["favicon_url"]),
        (&json!("Harbor"), &json!("#0b6e4f"), &Value::Null)
    );
    assert!(stored["logo_url"].is_string());
    // Without a file, the image remains.
    let renamed = send(&mut browser, "/provider/branding", &[("name", "Quay")], &[]).await;
    assert_redirects_to(&renamed, "/provider/branding?done=branding-saved");
    let renamed = sam.get(BRANDING).await.json();
    assert_eq!(
        (&renamed["name"], &renamed["logo_url"]),
        (&json!("Quay"), &stored["logo_url"])
    );
    let page = browser.get("/provider/branding").await;
    assert_contains(&page, "form=\"remove-logo\"");
    assert_lacks(&page, "form=\"remove-favicon\"");
    let removed = browser
        .submit(&page, "/provider/branding/images/logo/delete", &[("version", "")])
        .await;
    assert_redirects_to(&removed, "/provider/branding?done=branding-saved");
    let stored = sam.get(BRANDING).await.json();
    assert_eq!(
        (&stored["name"], &stored["logo_url"]),
        (&json!("Quay"), &Value::Null)
    );
}

#[tokio::test]
async fn the_page_keeps_the_texts_if_it_refuses_or_previews_an_image() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    let mut browser = logged_in(&app, "sam").await;
    let texts = [("name", "Harbor Cloud")];
    for (file, expected) in [
        (b"GIF89a".as_slice(), "neither a PNG image nor"),
        (&[b' '; 262_145], "at most 262144 bytes"),
        (&[b' '; 400_000], "at most 262144 bytes"),
    ] {
        let files = [("logo", "logo.svg", file)];
        let refused = send(&mut browser, "/provider/branding", &texts, &files).await;
        assert_eq!(refused.status, 400);
        assert_contains(&refused, expected);
        assert_contains(&refused, ">Logo</a>");
        assert_contains(&refused, "value=\"Harbor Cloud\"");
    }
    let files = [
        ("logo", "logo.svg", SVG.as_bytes()),
        ("favicon", "x.gif", b"GIF89a".as_slice()),
    ];
    let wrong = [("name", "Harbor Cloud"), ("accent_color", "#ffcc00")];
    let refused = send(&mut browser, "/provider/branding", &wrong, &files).await;
    assert_contains(&refused, "There are 2 problems.");
    assert_contains(&refused, "must be at least 4.5:1");
    assert_contains(&refused, "Chosen, not saved yet.");
    let html = text(&refused);
    assert_eq!(html.matches("class=\"reason\"").count(), 2, "{html}");
    assert_eq!(html.matches("aria-invalid").count(), 2, "{html}");

    let preview = send(&mut browser, "/provider/branding/preview", &texts, &files[..1]).await;

    assert_eq!(preview.status, 200);
    for expected in [
        "These values are not saved yet.",
        "Chosen, not saved yet.",
        "<img class=\"brand-logo\" src=\"data:image/svg+xml;base64,",
        "<span>Harbor Cloud</span>",
        "value=\"Harbor Cloud\"",
    ] {
        assert_contains(&preview, expected);
    }
    assert!(
        preview
            .header("content-security-policy")
            .contains("img-src 'self' data:;")
    );
    // The image of the preview is in the form, and cannot be forged.
    let chosen = hidden_field(&preview, "chosen_logo");
    let forged = send(
        &mut browser,
        "/provider/branding",
        &[("chosen_logo", "R0lGODlh")],
        &[],
    )
    .await;
    assert_eq!(forged.status, 400);
    assert_contains(&forged, "neither a PNG image nor");
    let again = [("name", "Harbor Cloud"), ("chosen_logo", &chosen)];
    let again = send(&mut browser, "/provider/branding/preview", &again, &[]).await;
    assert_eq!(hidden_field(&again, "chosen_logo"), chosen);
    let large = vec![b' '; 4 * 1024 * 1024 + 1];
    let files = [("logo", "logo.svg", large.as_slice())];
    let too_large = send(&mut browser, "/provider/branding", &texts, &files).await;
    assert_eq!(too_large.status, 413);
    let forged = [("form_token", "x"), ("name", "Harbor Cloud")];
    let parts = forged.map(|(name, value)| (format!("form-data; name=\"{name}\""), value.as_bytes()));
    let parts = [
        (parts[0].0.as_str(), parts[0].1),
        (parts[1].0.as_str(), parts[1].1),
    ];
    let forged = browser.send_parts("/provider/branding", &parts).await;
    assert_eq!(forged.status, 403);
    assert_eq!(sam.get(BRANDING).await.json()["updated"], Value::Null);

    let saved = send(
        &mut browser,
        "/provider/branding",
        &[("chosen_logo", &chosen)],
        &[],
    )
    .await;
    assert_redirects_to(&saved, "/provider/branding?done=branding-saved");
    assert!(sam.get(BRANDING).await.json()["logo_url"].is_string());
}

#[tokio::test]
async fn the_page_of_a_suspended_account_links_to_the_support_of_the_brand() {
    let app = TestApp::new().await;
    let sam = app.user("sam").role(StaffRole::Admin).await;
    app.user("ada").await;
    let mut ada = logged_in(&app, "ada").await;
    sam.put(BRANDING, harbor()).await;
    sam.post("/provider/accounts/1/suspend", json!({})).await;
    let page = ada.get("/vpcs").await;
    assert_contains(&page, "Account suspended");
    assert_contains(&page, "href=\"mailto:help@harbor.example\"");
}
