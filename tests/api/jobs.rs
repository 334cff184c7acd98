//! Background jobs: leased by one node at a time, retried with back-off, and dead after too many failures.

use garth::model::id::JobId;
use garth::model::job::{Job, JobKind, JobSummary};
use garth::model::staff_role::StaffRole;
use garth::rules::jobs;
use garth::store::{self, StoreError};
use serde_json::json;

use crate::harness::{TestApp, User};

const POWER: &[JobKind] = &[JobKind::InstancePower];

/// A server on which power changes take ten seconds.
async fn slow_app() -> TestApp {
    TestApp::with(|policy, _| policy.settle_ms = 10_000).await
}

async fn create_instance(user: &User<'_>) {
    let body = json!({"type": "g6-nanode-1", "region": "us-east"});
    assert_eq!(user.post("/linode/instances", body).await.status, 200);
}

async fn claim(app: &TestApp, node: &'static str) -> Vec<Job> {
    let claimed = app.store.write(move |tx| jobs::claim(tx, POWER, node, 10)).await;
    claimed.expect("jobs can be claimed")
}

async fn run(app: &TestApp, job: &Job) -> bool {
    let job = job.clone();
    let ran = app.store.write(move |tx| jobs::run(tx, &job)).await;
    ran.expect("the job runs")
}

async fn listed(app: &TestApp) -> Vec<JobSummary> {
    app.store.read(jobs::list).await.expect("jobs can be listed")
}

/// The progress of the newest event.
async fn progress(user: &User<'_>) -> String {
    let events = user.get("/account/events").await.json();
    events["data"][0]["status"].as_str().expect("a status").to_owned()
}

#[tokio::test]
async fn a_lease_excludes_other_nodes_until_it_expires() {
    let app = slow_app().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    assert!(claim(&app, "early").await.is_empty(), "it is not due");
    app.advance(5);

    let first = claim(&app, "first").await;
    assert_eq!(first.len(), 1);
    assert!(claim(&app, "second").await.is_empty(), "the first node has it");
    app.advance(jobs::LEASE_SECONDS);
    let second = claim(&app, "second").await;
    assert_eq!((second.len(), second[0].attempts), (1, 2));

    assert!(!run(&app, &first[0]).await, "the first node has lost its lease");
    assert_eq!(progress(&ada).await, "scheduled", "and has changed nothing");
    assert!(run(&app, &second[0]).await);
    assert_eq!(progress(&ada).await, "started");
    assert!(!run(&app, &second[0]).await, "a job runs once");
}

#[tokio::test]
async fn a_renewed_lease_remains_and_a_released_one_ends() {
    let app = slow_app().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    app.advance(5);
    let leased = claim(&app, "first").await;
    app.advance(jobs::LEASE_SECONDS - 1);
    let job = leased[0].clone();
    let renewed = app.store.write(move |tx| jobs::renew(tx, &job)).await;
    assert!(renewed.expect("it can be renewed"));
    app.advance(jobs::LEASE_SECONDS - 1);
    assert!(claim(&app, "second").await.is_empty());

    let released = app.store.write(|tx| jobs::release(tx, "first")).await;
    released.expect("it can be released");
    let second = claim(&app, "second").await;
    assert_eq!(second[0].attempts, 1, "a released attempt does not count");
    let job = leased[0].clone();
    let renewed = app.store.write(move |tx| jobs::renew(tx, &job)).await;
    assert!(!renewed.expect("the store responds"), "the lease is lost");
}

#[tokio::test]
async fn a_failing_job_is_retried_with_back_off_then_dead_and_can_be_retried() {
    let app = slow_app().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    app.advance(5);
    let mut waits = Vec::new();
    loop {
        let job = claim(&app, "node").await.pop().expect("the job is due");
        let failed = app
            .store
            .write(move |tx| jobs::fail(tx, &job, "the weather"))
            .await;
        let Some(retry) = failed.expect("the failure is recorded") else {
            break;
        };
        let wait = retry.seconds() - app.store.context().clock.now().seconds();
        app.advance(wait - 1);
        assert!(claim(&app, "node").await.is_empty(), "the job is not due yet");
        app.advance(1);
        waits.push(wait);
    }
    assert_eq!(waits, [5, 10, 20, 40, 80, 160, 320, 640, 1280]);
    app.advance(1_000_000);
    assert!(claim(&app, "node").await.is_empty());
    let dead = &listed(&app).await[0];
    assert_eq!(
        (dead.dead, dead.attempts, dead.last_error.as_deref()),
        (true, 10, Some("the weather"))
    );
    let counts = app.store.read(jobs::count).await.expect("jobs are counted");
    assert_eq!((counts[0].due, counts[0].dead), (0, 1));

    let id = dead.id;
    let retried = app.store.write(move |tx| jobs::retry(tx, id)).await;
    assert!(retried.expect("it can be retried"));
    let job = claim(&app, "node").await.pop().expect("it is due again");
    assert_eq!(job.attempts, 1);
    let busy = app.store.write(move |tx| jobs::retry(tx, id)).await;
    assert!(!busy.expect("the store responds"), "it is running");
    assert!(run(&app, &job).await);
}

#[tokio::test]
async fn a_job_whose_handler_fails_changes_nothing() {
    let app = slow_app().await;
    let now = app.store.context().clock.now();
    let bad = move |tx: &mut store::WriteTx| {
        store::jobs::schedule(tx, JobKind::InstancePower, "1", "nonsense", now)
    };
    app.store.write(bad).await.expect("it is scheduled");
    let job = claim(&app, "node").await.pop().expect("the job is due");
    let ran = app
        .store
        .write({
            let job = job.clone();
            move |tx| jobs::run(tx, &job)
        })
        .await;
    let error = ran.expect_err("the payload is wrong");
    assert!(
        matches!(error, garth::rules::Error::Store(StoreError::Unexpected(_))),
        "{error:?}"
    );
    assert_eq!(
        listed(&app).await[0].lease_owner.as_deref(),
        Some("node"),
        "the job is unchanged"
    );
}

#[tokio::test]
async fn a_subject_has_one_job_per_kind_which_is_deleted_with_its_instance() {
    let app = slow_app().await;
    let ada = app.user("ada").await;
    create_instance(&ada).await;
    let again = |tx: &mut store::WriteTx| {
        let now = tx.instant();
        store::jobs::schedule(tx, JobKind::InstancePower, "1", "finish 1", now)
    };
    app.store.write(again).await.expect("the store responds");
    assert_eq!(listed(&app).await.len(), 1);
    assert!(claim(&app, "node").await.is_empty(), "the first job remains");

    ada.delete("/linode/instances/1").await;
    assert_eq!(listed(&app).await.len(), 0);
    assert_eq!(ada.get("/linode/instances").await.ids(), [0; 0]);
}

#[tokio::test]
async fn repeating_kinds_are_scheduled_on_start_and_after_each_run() {
    let app = TestApp::new().await;
    let start = async |kinds: &'static [JobKind]| {
        let started = app.store.write(move |tx| jobs::start(tx, kinds, true)).await;
        started.expect("jobs are prepared");
    };
    let words = async || -> Vec<String> { listed(&app).await.into_iter().map(|job| job.kind).collect() };
    start(&JobKind::ALL).await;
    assert_eq!(
        words().await,
        [
            "identity_retention",
            "event_retention",
            "upload_sweep",
            "attachment_scrub",
            "database_check"
        ]
    );
    start(&JobKind::ALL).await;
    assert_eq!(words().await.len(), 5, "a second start adds no jobs");

    let retention = [JobKind::EventRetention];
    let claimed = app
        .store
        .write(move |tx| jobs::claim(tx, &retention, "node", 9))
        .await;
    let job = claimed.expect("it can be claimed").pop().expect("the job is due");
    assert!(run(&app, &job).await);
    let next = listed(&app)
        .await
        .into_iter()
        .find(|job| job.kind == "event_retention");
    let wait = next.expect("it repeats").due.seconds() - app.store.context().clock.now().seconds();
    assert_eq!(wait, 3600);

    start(&[JobKind::InstancePower, JobKind::UploadSweep]).await;
    assert_eq!(
        words().await,
        ["upload_sweep"],
        "kinds that are turned off are removed"
    );
    let id: JobId = listed(&app).await[0].id;
    let discarded = app.store.write(move |tx| jobs::discard(tx, id)).await;
    assert!(
        !discarded.expect("the store responds"),
        "a dropped recurring job would never run again"
    );
}

#[tokio::test]
async fn operators_list_retry_and_cancel_jobs() {
    let app = slow_app().await;
    let (ada, sam) = (
        app.user("ada").await,
        app.user("sam").role(StaffRole::Operator).await,
    );
    create_instance(&ada).await;
    app.advance(10);
    let job = claim(&app, "node").await.remove(0);
    let path = format!("/provider/jobs/{}", job.id);
    assert_eq!(sam.get(&path).await.json()["status"], "running");
    let running = sam.post(&format!("{path}/retry"), json!({})).await;
    assert_eq!(running.errors(), ["- job_running"]);
    let dead = Job { attempts: 1, ..job };
    let failed = app.store.write(move |tx| {
        Ok::<_, garth::rules::Error>(store::jobs::fail(tx, &dead, "the disk is full", None)?)
    });
    assert!(failed.await.expect("the failure is recorded"));

    let listed = sam.filter("/provider/jobs", r#"{"status": "dead"}"#).await.data();

    let fields = ["kind", "subject", "attempts", "last_error", "recurring"].map(|name| &listed[0][name]);
    assert_eq!(
        json!(fields),
        json!(["instance_power", "1", 1, "the disk is full", false])
    );
    assert_eq!(
        sam.filter("/provider/jobs", r#"{"status": "running"}"#)
            .await
            .data()
            .len(),
        0
    );
    let retried = sam.post(&format!("{path}/retry"), json!({})).await.json();
    assert_eq!(
        (&retried["status"], &retried["attempts"]),
        (&json!("scheduled"), &json!(0))
    );
    assert_eq!(claim(&app, "other").await.len(), 1);

    let canceled = sam.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!(canceled.status, 200, "{canceled}");
    assert_eq!(sam.get(&path).await.status, 404);
    let recurring = app
        .store
        .write(|tx| jobs::start(tx, &[JobKind::EventRetention], true));
    recurring.await.expect("a recurring job is scheduled");
    let id = sam.get("/provider/jobs").await.ids()[0];
    let refused = sam.post(&format!("/provider/jobs/{id}/cancel"), json!({})).await;
    assert_eq!(refused.errors(), ["- job_recurring"]);
}
