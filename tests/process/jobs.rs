//! Background jobs as operators see them: `garth jobs`, and the metrics.

use rusqlite::Connection as Store;
use serde_json::{Value, json};

use crate::client::Client;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::{Process, eventually};
use crate::settings::free_address;

/// Adds a job that cannot succeed and has failed so many times.
fn add_broken_job(folder: &Folder, subject: &str, attempts: i64) {
    let store = Store::open(folder.data().join("garth.db")).expect("the store is there");
    let sql = "INSERT INTO job (kind, subject, payload, due, available, attempts)
        VALUES ('instance_power', ?1, 'nonsense', 1, 1, ?2)";
    store.execute(sql, (subject, attempts)).expect("the row is good");
}

fn job(folder: &Folder, subject: &str) -> Option<Value> {
    let listed = folder.json("jobs list");
    let jobs = listed.as_array().expect("a list").iter();
    jobs.into_iter().find(|job| job["subject"] == subject).cloned()
}

#[test]
fn jobs_that_repeat_are_listed_and_a_stop_leaves_no_lease() {
    let folder = Folder::new("jobs-listed");
    let server = folder.start();
    eventually("the first runs to end", || {
        let listed = folder.json("jobs list");
        let jobs = listed.as_array().expect("a list").clone();
        let calm = jobs.len() == 5 && jobs.iter().all(|job| job["status"] == "scheduled");
        calm.then_some(())
    });
    let words = folder.run("jobs list");
    assert!(
        words.contains("KIND") && words.contains("upload_sweep"),
        "{words}"
    );
    let listed = folder.json("jobs list");
    let id = listed[0]["id"].as_i64().expect("an ID");
    for words in [format!("jobs drop {id} --yes"), format!("jobs drop {id}")] {
        let refused = Process::spawn(&mut folder.garth(&words)).ended();
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
    let listed = folder.json("jobs list");
    for job in listed.as_array().expect("a list") {
        assert_eq!(job["lease_owner"], Value::Null, "{job}");
    }
}

#[test]
fn a_job_that_fails_is_retried_and_a_dead_one_is_shown_revived_and_dropped() {
    let folder = Folder::new("jobs-failing");
    assert_eq!(folder.start().stop().code, Some(0));
    add_broken_job(&folder, "7", 0);
    add_broken_job(&folder, "8", 9);
    let metrics = free_address();
    let mut serve = folder.serve();
    let server = Server::start(serve.args(["--metrics-listen", &metrics.to_string()]));

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
    let figures = || Client::new(metrics, TOKEN).get("/metrics").text().to_owned();
    eventually("the dead job to be counted", || {
        figures()
            .contains("garth_jobs_dead{kind=\"instance_power\"} 1\n")
            .then_some(())
    });
    let figures = figures();
    assert!(
        figures.contains("garth_jobs_retried_total{kind=\"instance_power\"}"),
        "{figures}"
    );
    assert!(
        figures.contains("garth_jobs_completed_total{kind=\"upload_sweep\"} 1\n"),
        "{figures}"
    );
    assert!(
        figures.contains("garth_jobs_due{kind=\"upload_sweep\"} 0\n"),
        "{figures}"
    );
    assert!(
        figures.contains("garth_jobs_running{kind=\"upload_sweep\"} 0\n"),
        "{figures}"
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
    let unconfirmed = Process::spawn(&mut folder.garth(&format!("jobs drop {id}"))).ended();
    assert!(
        unconfirmed.code == Some(1) && unconfirmed.stderr.contains("--yes"),
        "{unconfirmed:?}"
    );
    assert!(job(&folder, "8").is_some());
    assert_eq!(folder.json(&format!("jobs drop {id} --yes")), json!({}));
    assert_eq!(job(&folder, "8"), None);
    let missing = Process::spawn(&mut folder.garth("jobs retry 999")).ended();
    assert!(missing.stderr.contains("job 999: not found"), "{missing:?}");
    let log = server.stop().stderr;
    assert!(
        log.contains("job failed permanently") && log.contains("job failed, will be retried"),
        "{log}"
    );
}
