//! The commands for the provider's brand, next to a running server, and in an archive.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Folder, Server};
use crate::process::Process;

const SVG: &str =
    r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M0 0h8v8H0z"/></svg>"#;

#[test]
fn commands_set_the_brand_of_a_running_server_and_an_archive_preserves_it() {
    let folder = Folder::new("branding");
    let server = folder.start();
    let default = json!({
        "name": null, "accent_color": null, "footer": null, "support_links": [], "logo": null, "favicon": null,
    });
    assert_eq!(folder.json("branding show"), default);
    let logo = folder.write("logo.svg", SVG);

    let set = folder.json(
        "branding set --name Harbor --accent-color #0b6e4f --footer Quay \
         --support-link Status=https://status.harbor.example/?a=b",
    );

    assert_eq!(
        (&set["name"], &set["accent_color"], &set["support_links"]),
        (
            &json!("Harbor"),
            &json!("#0b6e4f"),
            &json!([{"label": "Status", "url": "https://status.harbor.example/?a=b"}])
        )
    );
    let set = folder.json(&format!("branding logo {}", logo.display()));
    let url = format!("/assets/brand/{}", set["logo"].as_str().expect("a logo"));
    assert!(folder.run("branding show").contains("support link: Status"));
    let started = Instant::now();
    while !server.client().get("/login").text().contains("– Harbor</title>") {
        assert!(
            started.elapsed() < Duration::from_secs(5),
            "the server shows an earlier brand"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.client().get(&url).status, 200);
    for (arguments, expected) in [
        ("branding set", "at least one of"),
        ("branding set --accent-color #ffcc00", "must be at least 4.5:1"),
        ("branding set --support-link Status", "LABEL=URL"),
        ("branding set --support-link Status=http://x", "https://"),
        ("branding logo", "required"),
        ("branding favicon missing.png", "cannot read"),
    ] {
        let failed = Process::spawn(&mut folder.garth(arguments)).wait();
        assert_ne!(failed.code, Some(0), "{arguments}");
        assert!(failed.stderr.contains(expected), "{arguments}: {}", failed.stderr);
    }
    let archive = folder.path("archive.garth");
    folder.run(&format!("backup {}", archive.display()));
    let before = folder.json("branding show");
    assert_eq!(folder.json("branding logo --remove")["logo"], Value::Null);
    assert_eq!(folder.json("branding reset"), default);

    let restored = Folder::new("branding-restored");
    restored.run(&format!("restore {}", archive.display()));

    assert_eq!(restored.json("branding show"), before);
    let server = Server::start(&mut restored.serve());
    assert_eq!(server.client_with("none").get(&url).status, 200);
}
