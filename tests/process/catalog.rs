//! The commands for regions and plans, next to a running server, and in an archive.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Folder, Server};
use crate::process::Process;

#[test]
fn commands_change_regions_and_plans_of_a_running_server_and_an_archive_preserves_them() {
    let folder = Folder::new("catalog");
    let server = folder.start();

    let region = folder.json("region add is-rkv --country is --capability VPCs --capability Linodes");
    let plan = folder.json("plan add g1-small --memory 2048 --disk 51200 --vcpus 1 --monthly 10.5");

    assert_eq!(
        (&region["capabilities"], &region["source"]),
        (&json!(["VPCs", "Linodes"]), &json!("store"))
    );
    assert_eq!(plan["price"], json!({"hourly": 0.0158, "monthly": 10.5}));
    let started = Instant::now();
    for path in ["/v4/regions/is-rkv", "/v4/linode/types/g1-small"] {
        while server.client().get(path).status != 200 {
            assert!(
                started.elapsed() < Duration::from_secs(5),
                "the server has no {path}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    assert_eq!(
        folder.json("region update is-rkv --status outage")["status"],
        "outage"
    );
    assert_eq!(
        folder.json("plan update g1-small --label Small")["label"],
        "Small"
    );
    assert_eq!(folder.json("region retire us-east")["retired"], true);
    assert_eq!(folder.json("plan retire g1-small")["retired"], true);
    assert!(folder.run("region list").contains("is-rkv"));
    assert!(folder.run("plan list").contains("g1-small"));
    for (arguments, expected) in [
        ("region add SE --country is", "lowercase letters"),
        ("region add is-rkv --country is", "has this ID"),
        ("region update is-rkv", "at least one of"),
        ("region update mars --status ok", "region mars"),
        ("region retire us-east", "already retired"),
        ("plan add g1-tiny --memory 1", "required"),
        ("plan update g1-small", "at least one"),
        ("plan update g1-small --disk 0", "Must be 1"),
    ] {
        let failed = Process::spawn(&mut folder.garth(arguments)).wait();
        assert_ne!(failed.code, Some(0), "{arguments}");
        assert!(failed.stderr.contains(expected), "{arguments}: {}", failed.stderr);
    }
    assert_eq!(folder.json("region reactivate us-east")["retired"], false);
    let archive = folder.path("archive.garth");
    folder.run(&format!("backup {}", archive.display()));
    let before = (folder.json("region list"), folder.json("plan list"));

    let restored = Folder::new("catalog-restored");
    restored.run(&format!("restore {}", archive.display()));

    assert_eq!((restored.json("region list"), restored.json("plan list")), before);
    let server = Server::start(&mut restored.serve());
    let region = server.client_with("none").get("/v4/regions/is-rkv");
    assert!(region.text().contains("outage"));
}
