//! The archive in a bucket. `tests/s3/run` also runs the other tests with an archive in a bucket.

use std::time::Duration;

use super::{Archived, under_load};
use crate::harness::{Folder, Server};
use crate::process::{Process, eventually};
use crate::proxy::Proxy;

/// Whether the archives of this run are in a bucket.
fn has_bucket() -> bool {
    std::env::var_os("GARTH_TEST_ARCHIVE").is_some()
}

#[test]
fn a_bucket_without_credentials_is_refused() {
    let archived = Archived::in_folder("credentials");
    let without_keys = |arguments: &str| {
        let mut command = archived.folder.garth(arguments);
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            command.env_remove(name);
        }
        Process::spawn(&mut command).wait()
    };
    for arguments in [
        "serve --listen 127.0.0.1:0 --archive s3://garth-tests/archive",
        "restore s3://garth-tests/archive --list",
        "restore s3://garth-tests/archive",
    ] {
        let output = without_keys(arguments);
        assert_eq!(output.code, Some(1), "{arguments}: {output:?}");
        assert!(
            output
                .stderr
                .contains("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
            "{arguments}: {output:?}"
        );
    }
}

#[test]
fn an_empty_bucket_is_no_archive() {
    if !has_bucket() {
        return;
    }
    let archived = Archived::new("empty");
    let output = archived.try_restore("restored", None);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("no complete snapshot"), "{output:?}");
    assert!(!archived.folder.path("restored/garth.db").exists());
}

#[test]
fn attachments_in_a_bucket_are_not_archived_and_remain_usable() {
    if !has_bucket() {
        return;
    }
    let mut archived = Archived::new("bucket-files");
    archived.folder = Folder::new("files-in-bucket");
    let server = archived.start();
    let mut client = server.client();
    let ticket = client.open_ticket();
    let reply = client.upload(ticket, "a.txt", b"content");
    reply.expect("the server responds").ok();
    archived.wait_until_archived();
    assert_eq!(server.stop().code, Some(0));
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");

    let mut restore = archived.folder.garth_with_files("restore");
    restore
        .arg(&archived.archive)
        .env("GARTH_DATA", archived.folder.path("restored"));
    let output = Process::spawn(&mut restore).wait();
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        output.stderr.contains("The archive has no attachments"),
        "{output:?}"
    );
    let mut serve = archived.folder.serve();
    serve.env("GARTH_DATA", archived.folder.path("restored"));
    let server = Server::start(&mut serve);
    let mut client = server.client();
    let files = client.attachments(ticket);
    assert_eq!(client.download(ticket, &files[0]), b"content");
}

#[test]
fn a_server_serves_while_its_bucket_is_unreachable_and_catches_up() {
    if !has_bucket() {
        return;
    }
    let archived = Archived::new("bucket-outage");
    let endpoint = std::env::var("AWS_ENDPOINT").expect("AWS_ENDPOINT is set");
    let proxy = Proxy::new(endpoint.trim_start_matches("http://").to_owned());
    let mut serve = archived.serve();
    serve.env("AWS_ENDPOINT", format!("http://{}", proxy.address));
    let mut server = Server::start(&mut serve);
    eventually("a snapshot", || archived.generations().pop());
    proxy.cut();
    let load = under_load(server.address, 4, 0, || {
        eventually("the failure to be logged", || {
            let log = server.process.stderr();
            log.contains("archive upload failed").then_some(())
        });
        std::thread::sleep(Duration::from_secs(1));
    });
    let written = load.labels();
    assert!(written.len() > 50, "the server stopped serving");

    proxy.restore();
    eventually("the archive to catch up", || {
        let log = server.process.stderr();
        log.contains("archive reachable again").then_some(())
    });
    server.process.kill();
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");
    assert_eq!(archived.restore("restored", None), written);
}
