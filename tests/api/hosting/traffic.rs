//! Traffic of instances, as agents report it.

use garth::model::job::JobKind;
use serde_json::{Value, json};

use super::{Agent, add_host, create_instance, run_jobs};
use crate::harness::{TestApp, User};

/// Reports the counters of the port of interface 1: received and sent bytes, and dropped frames.
async fn report(agent: &Agent<'_>, received: u64, sent: u64, dropped: u64) {
    let traffic = json!({"received_bytes": received, "received_packets": received / 100,
        "sent_bytes": sent, "sent_packets": sent / 100});
    agent
        .report(json!([{"interface_id": 1, "status": "up", "traffic": traffic, "drops": {"mac": dropped}}]))
        .await;
}

/// The received and sent bytes of instance 1 in June 2024. The current transfer must be their sum.
async fn used(user: &User<'_>) -> (u64, u64) {
    let month = user.get("/linode/instances/1/transfer/2024/6").await.json();
    let number = |value: &Value| value.as_u64().expect("a number");
    let (received, sent) = (number(&month["bytes_in"]), number(&month["bytes_out"]));
    assert_eq!(month["bytes_total"], received + sent);
    let transfer = user.get("/linode/instances/1/transfer").await.json();
    assert_eq!(
        transfer,
        json!({"used": received + sent, "quota": 1000, "billable": 0})
    );
    (received, sent)
}

#[tokio::test]
async fn the_transfer_of_an_instance_is_that_of_its_port() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    assert_eq!(used(&ada).await, (0, 0));
    report(&agent, 1000, 700, 0).await;
    assert_eq!(used(&ada).await, (1000, 700));
    report(&agent, 1000, 700, 0).await;
    assert_eq!(used(&ada).await, (1000, 700), "a repeated report");
    report(&agent, 4_500_000_000, 900, 3).await;
    assert_eq!(used(&ada).await, (4_500_000_000, 900));
    assert_eq!(ada.get("/account/transfer").await.json()["used"], 4);
    let eve = app.user("eve").of(app.another_account().await).await;
    assert_eq!(eve.get("/account/transfer").await.json()["used"], 0);

    // 2024-07-01.
    app.advance(30 * 86_400);
    report(&agent, 4_500_000_100, 900, 3).await;
    let july = ada.get("/linode/instances/1/transfer/2024/7").await.json();
    assert_eq!(july, json!({"bytes_in": 100, "bytes_out": 0, "bytes_total": 100}));
    let june = ada.get("/linode/instances/1/transfer/2024/6").await.json();
    assert_eq!(june["bytes_in"], 4_500_000_000_u64);
    assert_eq!(ada.get("/linode/instances/1/transfer").await.json()["used"], 100);
    assert_eq!(ada.delete("/linode/instances/1").await.status, 200);
}

#[tokio::test]
async fn a_restart_of_the_host_or_of_the_instance_counts_nothing_twice() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    report(&agent, 1000, 1000, 0).await;

    report(&agent, 30, 20, 0).await;
    assert_eq!(used(&ada).await, (1030, 1020), "the host was restarted");
    report(&agent, 0, 0, 0).await;
    report(&agent, 40, 20, 0).await;
    assert_eq!(
        used(&ada).await,
        (1040, 1020),
        "the agent could not read the counters once"
    );
    ada.post("/linode/instances/1/reboot", json!({})).await;
    report(&agent, 50, 20, 0).await;
    assert_eq!(used(&ada).await, (1050, 1020), "the port remains during a reboot");
    ada.post("/linode/instances/1/shutdown", json!({})).await;
    ada.post("/linode/instances/1/boot", json!({})).await;
    report(&agent, 60, 20, 0).await;
    assert_eq!(
        used(&ada).await,
        (1060, 1020),
        "the agent did not see that the port was removed"
    );
    ada.post("/linode/instances/1/shutdown", json!({})).await;
    ada.post("/linode/instances/1/boot", json!({})).await;
    report(&agent, 7, 5, 0).await;
    assert_eq!(used(&ada).await, (1067, 1025), "the agent created a new port");
}

#[tokio::test]
async fn an_instance_keeps_its_traffic_when_it_moves() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let one = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    report(&one, 1000, 1000, 0).await;
    let two = add_host(&sam, 2, 5).await;

    let mut expected = 1000;
    for (from, to) in [(&one, &two), (&two, &one)] {
        let path = |action| format!("/hosts/{}/{action}", from.id);
        sam.post(&path("drain"), json!({})).await;
        run_jobs(&app, &[JobKind::HostDrain]).await;
        report(from, 2000, 2000, 0).await;
        assert_eq!(
            used(&ada).await,
            (expected, expected),
            "a late report of the old host"
        );
        sam.post(&path("undrain"), json!({})).await;
        report(to, 10, 10, 0).await;
        expected += 10;
        assert_eq!(
            used(&ada).await,
            (expected, expected),
            "a new port on host {}",
            to.id
        );
        report(to, 25, 25, 0).await;
        expected += 15;
        assert_eq!(used(&ada).await, (expected, expected));
    }
    ada.post("/linode/instances/1/shutdown", json!({})).await;
    assert_eq!(
        ada.delete("/linode/instances/1/configs/1/interfaces/1")
            .await
            .status,
        200
    );
    assert_eq!(
        used(&ada).await,
        (expected, expected),
        "the interface was deleted"
    );
    assert_eq!(sam.delete("/hosts/2").await.status, 200);
}

#[tokio::test]
async fn no_report_can_overflow_the_sums() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agent = add_host(&sam, 1, 5).await;
    create_instance(&ada, 1).await;
    let mut last = 0;
    for received in [u64::MAX, 1, u64::MAX, 2, u64::MAX] {
        report(&agent, received, received, received).await;
        let (received, _) = used(&ada).await;
        assert!(received >= last, "{received} after {last}");
        last = received;
    }
    assert_eq!(ada.get("/account/transfer").await.status, 200);
}
