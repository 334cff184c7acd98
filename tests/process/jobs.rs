//! Background jobs as operators see them: `garth jobs`, and the metrics.

use rusqlite::Connection as Store;
use serde_json::{Value, json};

use crate::client::Client;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::{Process, eventually};

/// Adds a job that always fails, after this number of failed attempts.
fn add_broken_job(folder: &Folder, subject: &str, attempts: i64) {
    let store = Store::open(folder.data().join("garth.db")).expect("the store exists");
    let sql = "INSERT INTO job (kind, subject, payload, due, available, attempts)
        VALUES ('instance_power', ?1, 'nonsense', 1, 1, ?2)";
    store.execute(sql, (subject, attempts)).expect("the row is valid");
}

fn job(folder: &Folder, subject: &str) -> Option<Value> {
    find_job(folder, "subject", subject)
}

fn job_of_kind(folder: &Folder, kind: &str) -> Option<Value> {
    find_job(folder, "kind", kind)
}

fn find_job(folder: &Folder, field: &str, value: &str) -> Option<Value> {
    let listed = folder.json("jobs list");
    let mut jobs = listed.as_array().expect("a list").iter();
    jobs.find(|job| job[field] == value).cloned()
}

#[test]
fn recurring_jobs_are_listed_and_cannot_be_dropped() {
    let folder = Folder::new("jobs-listed");
    let server = folder.start();
    eventually("the first runs to finish", || {
        let listed = folder.json("jobs list");
        let jobs = listed.as_array().expect("a list").clone();
        let idle = jobs.len() == 5 && jobs.iter().all(|job| job["status"] == "scheduled");
        idle.then_some(())
    });
    let table = folder.run("jobs list");
    assert!(
        table.contains("KIND") && table.contains("upload_sweep"),
        "{table}"
    );
    let listed = folder.json("jobs list");
    let id = listed[0]["id"].as_i64().expect("an ID");
    for arguments in [format!("jobs drop {id} --yes"), format!("jobs drop {id}")] {
        let refused = Process::spawn(&mut folder.garth(&arguments)).wait();
        assert!(
            refused.code == Some(1) && refused.stderr.contains("is recurring and cannot be dropped"),
            "{refused:?}"
        );
    }
    assert_eq!(
        folder.run(&format!("jobs retry {id}")),
        format!("job {id} is due now\n")
    );
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn shutdown_releases_the_lease_of_a_running_job() {
    let folder = Folder::new("jobs-interrupted");
    let server = folder.start();
    let mut client = server.client();
    let ticket = client.open_ticket();
    let uploaded = client.upload(ticket, "a.txt", b"text");
    uploaded.expect("the server responds").ok();
    let scrub = |status: &str| job_of_kind(&folder, "attachment_scrub").filter(|job| job["status"] == status);
    let first = eventually("the first scrub to finish", || scrub("scheduled"));
    // After each file, the scrub waits in proportion to the size of the file. Here it runs until the
    // shutdown.
    let store = Store::open(folder.data().join("garth.db")).expect("the store exists");
    let changed = store.execute_batch(
        "UPDATE attachment SET size = 1000000000000000;
         UPDATE attachment_check SET verified = 0;",
    );
    changed.expect("the rows are valid");
    folder.run(&format!("jobs retry {}", first["id"]));
    eventually("the second scrub to begin", || scrub("running"));

    assert_eq!(server.stop().code, Some(0));
    let job = job_of_kind(&folder, "attachment_scrub").expect("a recurring job");
    assert_eq!(job["lease_owner"], Value::Null, "{job}");
    assert_eq!(
        job["attempts"], 0,
        "the interrupted attempt does not count: {job}"
    );
}

#[test]
fn failed_jobs_are_retried_and_dead_jobs_can_be_retried_or_dropped() {
    let folder = Folder::new("jobs-failing");
    assert_eq!(folder.start().stop().code, Some(0));
    add_broken_job(&folder, "7", 0);
    add_broken_job(&folder, "8", 9);
    let server = Server::start_with_metrics(&mut folder.serve());

    let dead = eventually("the last attempt to fail", || {
        job(&folder, "8").filter(|job| job["status"] == "dead")
    });
    assert_eq!(dead["attempts"], 10);
    let error = dead["last_error"].as_str().expect("an error");
    assert!(error.contains("nonsense"), "{error}");
    let retried = eventually("the first attempt to fail", || {
        job(&folder, "7").filter(|job| job["last_error"] != Value::Null)
    });
    assert_eq!(retried["status"], "scheduled");
    let metrics_page = || {
        Client::new(server.metrics_address(), TOKEN)
            .get("/metrics")
            .text()
            .to_owned()
    };
    eventually("the dead job to be counted", || {
        metrics_page()
            .contains("garth_jobs_dead{kind=\"instance_power\"} 1\n")
            .then_some(())
    });
    let metrics_page = metrics_page();
    assert!(
        metrics_page.contains("garth_jobs_retried_total{kind=\"instance_power\"}"),
        "{metrics_page}"
    );
    assert!(
        metrics_page.contains("garth_jobs_completed_total{kind=\"upload_sweep\"} 1\n"),
        "{metrics_page}"
    );
    assert!(
        metrics_page.contains("garth_jobs_due{kind=\"upload_sweep\"} 0\n"),
        "{metrics_page}"
    );
    assert!(
        metrics_page.contains("garth_jobs_running{kind=\"upload_sweep\"} 0\n"),
        "{metrics_page}"
    );

    let id = dead["id"].as_i64().expect("an ID");
    assert_eq!(folder.json("jobs list --dead").as_array().map(Vec::len), Some(1));
    assert_eq!(
        folder.run(&format!("jobs retry {id}")),
        format!("job {id} is due now\n")
    );
    eventually("another first attempt to fail", || {
        job(&folder, "8").filter(|job| job["attempts"] == 1 && job["status"] == "scheduled")
    });
    let unconfirmed = Process::spawn(&mut folder.garth(&format!("jobs drop {id}"))).wait();
    assert!(
        unconfirmed.code == Some(1) && unconfirmed.stderr.contains("--yes"),
        "{unconfirmed:?}"
    );
    assert!(job(&folder, "8").is_some());
    assert_eq!(folder.json(&format!("jobs drop {id} --yes")), json!({}));
    assert_eq!(job(&folder, "8"), None);
    let missing = Process::spawn(&mut folder.garth("jobs retry 999")).wait();
    assert!(missing.stderr.contains("job 999: not found"), "{missing:?}");
    let log = server.stop().stderr;
    assert!(
        log.contains("job failed permanently") && log.contains("job failed, will be retried"),
        "{log}"
    );
}
