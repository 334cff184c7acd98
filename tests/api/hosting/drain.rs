//! Draining moves instances to other hosts.

use garth::model::id::{HostId, InstanceId};
use garth::model::job::JobKind;
use garth::rules::drain;
use serde_json::json;

use super::{add_host, create_instance, run_jobs, status_of};
use crate::harness::TestApp;

#[tokio::test]
async fn draining_moves_all_instances_and_leaves_nothing_behind() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let one = add_host(&sam, 1, 20).await;
    for _ in 0..12 {
        create_instance(&ada, 1).await;
    }
    one.apply().await;
    let two = add_host(&sam, 2, 20).await;
    let in_use = sam.delete("/hosts/1").await;
    assert_eq!(in_use.json()["errors"][0]["code"], "host_in_use");

    let draining = sam.post("/hosts/1/drain", json!({})).await;
    assert_eq!(
        (&draining.json()["status"], &draining.json()["instances"]),
        (&json!("draining"), &json!(12))
    );
    run_jobs(&app, &[JobKind::HostDrain]).await;
    assert_eq!(
        sam.get("/hosts/1").await.json()["instances"],
        2,
        "some instances at a time"
    );
    assert_eq!(status_of(&ada, 1).await, "rebooting");
    two.apply().await;
    assert_eq!(status_of(&ada, 1).await, "running");
    app.advance(2);
    run_jobs(&app, &[JobKind::HostDrain]).await;
    assert_eq!(sam.get("/hosts/1").await.json()["instances"], 0);
    assert_eq!(one.state().await["vpcs"], json!([]));
    two.apply().await;
    assert_eq!(
        two.state().await["vpcs"][0]["ports"].as_array().unwrap().len(),
        12
    );
    app.advance(2);
    run_jobs(&app, &[JobKind::HostDrain]).await;
    assert_eq!(sam.delete("/hosts/1").await.status, 200);
    let events = ada.get("/account/events?page_size=500").await.data();
    let reboots = events.iter().filter(|event| event["action"] == "linode_reboot");
    assert_eq!(reboots.count(), 12);
}

#[tokio::test]
async fn instances_remain_if_no_other_host_has_capacity() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let one = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    one.apply().await;
    sam.post("/hosts/1/drain", json!({})).await;
    run_jobs(&app, &[JobKind::HostDrain]).await;
    assert_eq!(
        (
            status_of(&ada, 1).await.as_str(),
            &sam.get("/hosts/1").await.json()["instances"]
        ),
        ("running", &json!(1))
    );
    let created = create_instance(&ada, 1).await;
    assert_eq!(
        created.json()["status"],
        "offline",
        "a draining host gets no instances"
    );

    let available = sam.post("/hosts/1/undrain", json!({})).await;
    assert_eq!(available.json()["status"], "online");
    app.advance(2);
    run_jobs(&app, &[JobKind::HostDrain]).await;
    assert_eq!(ada.post("/linode/instances/2/boot", json!({})).await.status, 200);
}

#[tokio::test]
async fn the_progress_of_draining_has_the_instances_that_do_not_start() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let one = add_host(&sam, 1, 5).await;
    for _ in 0..3 {
        create_instance(&ada, 1).await;
    }
    one.apply().await;
    let two = add_host(&sam, 2, 5).await;
    let host = HostId(1);
    let instances = app
        .store
        .read(move |tx| drain::instances(tx, host))
        .await
        .unwrap();
    assert_eq!(instances, [1, 2, 3].map(InstanceId));
    let progress = async || {
        let instances = instances.clone();
        let read = app.store.read(move |tx| drain::progress(tx, host, &instances));
        let progress = read.await.unwrap();
        (
            progress.remaining,
            progress.starting,
            progress.running,
            progress.offline,
        )
    };
    assert_eq!(progress().await, (3, 0, 0, vec![]));
    sam.post("/hosts/1/drain", json!({})).await;
    run_jobs(&app, &[JobKind::HostDrain]).await;
    assert_eq!(progress().await, (0, 3, 0, vec![]));

    let ports = json!([{"interface_id": 1, "status": "up"}, {"interface_id": 2, "status": "error", "reason": "no VXLAN"}]);
    two.report(ports).await;
    ada.delete("/linode/instances/3").await;
    assert_eq!(
        progress().await,
        (0, 1, 1, vec![]),
        "a deleted instance is not counted"
    );
    app.advance(121);
    run_jobs(&app, &[JobKind::InstancePower]).await;
    let label = ada.get("/linode/instances/2").await.json()["label"].clone();
    let label = label.as_str().unwrap().to_owned();
    assert_eq!(progress().await, (0, 0, 1, vec![label]));
}

#[tokio::test]
async fn a_host_that_cannot_be_drained_has_the_reason() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let one = add_host(&sam, 1, 5).await;
    let obstacle = async || {
        let read = |tx: &mut garth::store::ReadTx| {
            let host = garth::rules::hosts::view(tx, HostId(1))?;
            drain::obstacle(tx, &host)
        };
        app.store.read(read).await.unwrap()
    };
    sam.post("/hosts/1/drain", json!({})).await;
    assert_eq!(obstacle().await, None, "there is nothing to move");
    sam.post("/hosts/1/undrain", json!({})).await;
    create_instance(&ada, 1).await;
    one.apply().await;
    sam.post("/hosts/1/drain", json!({})).await;
    assert_eq!(obstacle().await.as_deref(), Some("us-east has no other host"));

    let two = add_host(&sam, 2, 1).await;
    assert_eq!(obstacle().await, None, "host 2 has capacity");
    create_instance(&ada, 1).await;
    let new = json!({"label": "rack-3", "region": "us-east", "underlay_address": "172.31.0.3"});
    sam.post("/hosts", new).await;
    let expected = |two: &str| {
        format!("no other host in us-east is usable: {two}, the agent of rack-3 has not reported yet")
    };
    assert_eq!(
        obstacle().await,
        Some(expected("rack-2 is full (1 of 1 instances)"))
    );
    sam.post("/hosts/2/drain", json!({})).await;
    assert_eq!(obstacle().await, Some(expected("rack-2 is draining")));
    app.advance(61);
    assert_eq!(obstacle().await, Some(expected("rack-2 is offline")));
    two.report(json!([])).await;
    sam.post("/hosts/2/join-token", json!({"revoke": true})).await;
    assert_eq!(
        obstacle().await,
        Some(expected("the credential of rack-2 is revoked"))
    );
}
