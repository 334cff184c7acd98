//! Draining moves instances to other hosts.

use garth::model::job::JobKind;
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
