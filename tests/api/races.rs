//! Concurrent requests: the rules hold in any order.

use std::collections::BTreeSet;
use std::thread;

use futures_util::future::join_all;
use garth::model::cidr::Cidr;
use garth::rules::Error;
use garth::store::tokens::identity_version;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::harness::{Reply, TestApp, User, tally};

const CLIENTS: usize = 64;

/// Runs a closure on 64 threads concurrently, and returns all responses.
pub fn run_concurrently(work: impl AsyncFn(usize) -> Reply + Sync) -> Vec<Reply> {
    run_with_clients(CLIENTS, work)
}

/// Like `run_concurrently`, on any number of threads.
fn run_with_clients(clients: usize, work: impl AsyncFn(usize) -> Reply + Sync) -> Vec<Reply> {
    let (handle, start) = (Handle::current(), std::sync::Barrier::new(clients));
    block_in_place(|| {
        thread::scope(|scope| {
            let spawn = |number| {
                let (handle, start, work) = (&handle, &start, &work);
                scope.spawn(move || {
                    start.wait();
                    handle.block_on(work(number))
                })
            };
            let threads: Vec<_> = (0..clients).map(spawn).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("no client panics"))
                .collect()
        })
    })
}

/// The number of successes; all other requests must have failed with this code.
fn successes(replies: &[Reply], code: &str) -> usize {
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        assert_eq!(
            (reply.status.as_u16(), reply.errors()),
            (400, vec![code.to_owned()])
        );
    }
    replies.iter().filter(|reply| reply.status == 200).count()
}

async fn ranges(user: &User<'_>, vpc: i64) -> Vec<Cidr> {
    let subnets = user
        .get(&format!("/vpcs/{vpc}/subnets?page_size=500"))
        .await
        .data();
    subnets
        .iter()
        .map(|subnet| Cidr::parse(subnet["ipv4"].as_str().unwrap()).unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_one_of_several_identical_ranges_is_created() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for round in 0..8 {
        let vpc = ada.create_vpc(&format!("vpc-{round}"), &[]).await;
        let replies = run_concurrently(async |number| {
            let body = json!({"label": format!("s-{number}"), "ipv4": "10.0.0.0/24"});
            ada.post(&format!("/vpcs/{vpc}/subnets"), body).await
        });
        assert_eq!(successes(&replies, "ipv4 cidr_overlap"), 1);
        assert_eq!(ada.count(&format!("/vpcs/{vpc}/subnets")).await, 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn created_ranges_do_not_overlap_and_refused_ones_overlap_a_created_one() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for round in 0..8usize {
        let vpc = ada.create_vpc(&format!("vpc-{round}"), &[]).await;
        let range = |number: usize| {
            let prefix = 17 + (number * 7 + round) % 8;
            let third = ((number * 37 + round * 11) % 256) & (0xff00 >> (prefix - 16));
            format!("10.{}.{third}.0/{prefix}", number % 2)
        };
        let replies = run_concurrently(async |number| {
            let body = json!({"label": format!("s-{number}"), "ipv4": range(number)});
            ada.post(&format!("/vpcs/{vpc}/subnets"), body).await
        });
        let succeeded = successes(&replies, "ipv4 cidr_overlap");
        let remaining = ranges(&ada, vpc.0).await;
        assert_eq!(remaining.len(), succeeded);
        assert!(succeeded > 1, "several requests succeeded");
        for (index, range) in remaining.iter().enumerate() {
            assert!(
                remaining[..index].iter().all(|other| !other.overlaps(*range)),
                "{range} overlaps another"
            );
        }
        for (number, reply) in replies
            .iter()
            .enumerate()
            .filter(|(_, reply)| reply.status != 200)
        {
            let lost = Cidr::parse(&range(number)).unwrap();
            assert!(
                remaining.iter().any(|remaining| remaining.overlaps(lost)),
                "{lost} had no reason to lose: {reply}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn only_one_of_several_identical_labels_is_created() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for round in 0..8 {
        let replies = run_concurrently(async |number| {
            let label = format!("{}-{round}", if number % 2 == 0 { "same" } else { "SAME" });
            ada.post("/vpcs", json!({"label": label, "region": "us-east"}))
                .await
        });
        assert_eq!(successes(&replies, "label label_taken"), 1);
        assert_eq!(ada.count("/vpcs").await, round + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_uploads_do_not_exceed_the_attachment_quota() {
    let app = TestApp::with(|policy, _| {
        policy.quota.attachment_bytes = 79;
        policy.support.attachments_per_ticket = 1000;
    })
    .await;
    let ada = app.user("ada").await;
    ada.open_ticket("Look").await;

    let replies =
        run_concurrently(async |number| ada.attach_file(1, &format!("{number}.txt"), "0123456789").await);

    assert_eq!(successes(&replies, "file quota_exceeded"), 7);
    let usage = ada.get("/account/quotas").await.json()["attachment_bytes"].take();
    assert_eq!(usage, json!({"limit": 79, "used": 70}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_creates_fill_the_quota_exactly() {
    let app = TestApp::with(|policy, _| {
        policy.quota.vpcs_per_region = 10;
        policy.quota.subnets_per_vpc = 7;
    })
    .await;
    let ada = app.user("ada").await;
    for region in ["us-east", "us-mia", "fr-par"] {
        let replies = run_concurrently(async |number| {
            ada.post(
                "/vpcs",
                json!({"label": format!("{region}-{number}"), "region": region}),
            )
            .await
        });
        assert_eq!(successes(&replies, "- quota_exceeded"), 10);
    }
    for vpc in 1..=3 {
        let replies = run_concurrently(async |number| {
            let body = json!({"label": format!("s-{number}"), "ipv4": format!("10.{number}.0.0/16")});
            ada.post(&format!("/vpcs/{vpc}/subnets"), body).await
        });
        assert_eq!(successes(&replies, "- quota_exceeded"), 7);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_concurrent_mix_leaves_consistent_data_and_events() {
    let app = TestApp::with(|policy, _| policy.quota.vpcs_per_region = 20).await;
    let ada = app.user("ada").await;
    for _ in 0..6 {
        run_concurrently(async |number| {
            let label = format!("vpc-{}", number % 24);
            let known = ada.get("/vpcs?page_size=500").await.ids();
            let some = known.get(number % known.len().max(1)).copied().unwrap_or(0);
            match number % 5 {
                0 | 1 => {
                    let subnets =
                        json!([{"label": "a", "ipv4": "10.0.0.0/24"}, {"label": "b", "ipv4": "10.0.1.0/24"}]);
                    ada.post(
                        "/vpcs",
                        json!({"label": label, "region": "us-east", "subnets": subnets}),
                    )
                    .await
                }
                2 => ada.delete(&format!("/vpcs/{some}")).await,
                3 => ada.put(&format!("/vpcs/{some}"), json!({"label": label})).await,
                _ => {
                    let range = format!("10.0.{}.0/23", (number % 8) & 6);
                    let body = json!({"label": format!("s-{number}"), "ipv4": range});
                    ada.post(&format!("/vpcs/{some}/subnets"), body).await
                }
            }
        });
    }

    let vpcs = ada.get("/vpcs?page_size=500").await.data();
    let labels = tally(
        vpcs.iter()
            .map(|vpc| vpc["label"].as_str().unwrap().to_lowercase()),
    );
    assert!(
        vpcs.len() <= 20 && labels.values().all(|count| *count == 1),
        "{labels:?}"
    );
    for vpc in &vpcs {
        let remaining = ranges(&ada, vpc["id"].as_i64().unwrap()).await;
        for (index, range) in remaining.iter().enumerate() {
            assert!(remaining[..index].iter().all(|other| !other.overlaps(*range)));
        }
    }
    let events = all_events(&ada).await;
    assert!(events.is_sorted_by_key(|event| event["id"].as_i64()));
    let recorded = |action: &str| -> BTreeSet<i64> {
        let recorded = events.iter().filter(|event| event["action"] == action);
        let ids: Vec<i64> = recorded
            .map(|event| event["entity"]["id"].as_i64().unwrap())
            .collect();
        let set: BTreeSet<i64> = ids.iter().copied().collect();
        assert_eq!(set.len(), ids.len(), "{action} is recorded once for each");
        set
    };
    let left = |created: &str, deleted: &str| -> Vec<i64> {
        recorded(created)
            .difference(&recorded(deleted))
            .copied()
            .collect()
    };
    let ids =
        |items: Vec<&Value>| -> Vec<i64> { items.iter().map(|item| item["id"].as_i64().unwrap()).collect() };
    assert_eq!(left("vpc_create", "vpc_delete"), ids(vpcs.iter().collect()));
    let mut subnets = ids(vpcs
        .iter()
        .flat_map(|vpc| vpc["subnets"].as_array().unwrap())
        .collect());
    subnets.sort_unstable();
    assert_eq!(left("subnet_create", "subnet_delete"), subnets);
}

async fn all_events(user: &User<'_>) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    loop {
        let last = events.last().map_or(0, |event| event["id"].as_i64().unwrap());
        let page = user
            .get(&format!("/account/events?after={last}&page_size=500"))
            .await
            .data();
        if page.is_empty() {
            return events;
        }
        events.extend(page);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_subnet_can_be_filled_and_no_address_is_assigned_twice() {
    let app =
        TestApp::with(|policy, _| policy.public_ranges = vec![Cidr::parse("198.18.0.0/16").unwrap()]).await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let replies = run_with_clients(256, async |_| ada.create_instance_on(1).await);

    let succeeded = successes(&replies, "interfaces[0].ipv4.vpc addresses_exhausted");
    assert_eq!(succeeded, 252, "all but the first two and the last two");
    let ips = ada.get("/vpcs/ips?page_size=500").await.data();
    let addresses = tally(ips.iter().map(|ip| ip["address"].as_str().unwrap().to_owned()));
    assert_eq!((ips.len(), addresses.len()), (252, 252));
    assert_eq!(
        ada.count("/compute/instances").await,
        252,
        "a failed request leaves no rows"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_address_belongs_to_one_instance_and_its_configs_share_it() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let interface = |address: &str| json!([{"purpose": "vpc", "subnet_id": 1, "ipv4": {"vpc": address}}]);
    let replies = run_concurrently(async |_| {
        let body = json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interface("10.0.0.9")});
        ada.post("/compute/instances", body).await
    });
    assert_eq!(successes(&replies, "interfaces[0].ipv4.vpc address_taken"), 1);
    let winner = ada.get("/compute/instances").await.ids()[0];

    let replies = run_concurrently(async |number| {
        let body = json!({"label": format!("c{number}"), "devices": {}, "interfaces": interface("10.0.0.9")});
        ada.post(&format!("/compute/instances/{winner}/configs"), body)
            .await
    });
    assert!(
        replies.iter().all(|reply| reply.status == 200),
        "an instance may repeat its own address"
    );
    let other = ada
        .post(
            "/compute/instances",
            json!({"type": "g6-nanode-1", "region": "us-east"}),
        )
        .await;
    let body = json!({"label": "late", "devices": {}, "interfaces": interface("10.0.0.9")});
    let late = ada
        .post(
            &format!("/compute/instances/{}/configs", other.json()["id"]),
            body,
        )
        .await;
    assert_eq!(late.errors(), ["interfaces[0].ipv4.vpc address_taken"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn attaching_and_deleting_never_leave_a_dangling_interface() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for round in 1..=8 {
        let vpc = ada.create_vpc(&format!("vpc-{round}"), &["10.0.0.0/24"]).await;
        let subnet = ada.get(&format!("/vpcs/{vpc}/subnets")).await.ids()[0];
        let replies = run_concurrently(async |number| match number % 8 {
            0 => ada.delete(&format!("/vpcs/{vpc}/subnets/{subnet}")).await,
            1 => ada.delete(&format!("/vpcs/{vpc}")).await,
            _ => ada.create_instance_on(subnet).await,
        });
        let codes = tally(
            replies
                .iter()
                .filter(|reply| reply.status == 400)
                .flat_map(Reply::errors),
        );
        let known = ["- subnet_in_use", "interfaces[0].subnet_id subnet_invalid"];
        assert!(
            codes.keys().all(|code| known.contains(&code.as_str())),
            "{codes:?}"
        );
        let ips = ada
            .filter(
                "/vpcs/ips?page_size=500",
                &json!({"subnet_id": subnet}).to_string(),
            )
            .await;
        let there = ada.get(&format!("/vpcs/{vpc}/subnets/{subnet}")).await.status == 200;
        assert!(
            there || ips.data().is_empty(),
            "an interface is on a deleted subnet"
        );
        for instance in ada.get("/compute/instances?page_size=500").await.ids() {
            assert_eq!(
                ada.delete(&format!("/compute/instances/{instance}")).await.status,
                200
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_panicking_write_does_not_roll_back_other_writes() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let account = app.account;
    let replies = run_concurrently(async |number| {
        if number % 4 == 0 {
            let broken = app.store.write(move |tx| -> garth::rules::Result<()> {
                let email = garth::model::user::Email::parse("x@example.com").unwrap();
                garth::rules::accounts::create(tx, &format!("half of {account}"), &email)?;
                panic!("on purpose")
            });
            assert!(broken.await.is_err());
        }
        ada.post(
            "/vpcs",
            json!({"label": format!("vpc-{number}"), "region": "us-east"}),
        )
        .await
    });
    assert!(replies.iter().all(|reply| reply.status == 200));
    let accounts = app.store.read(garth::rules::accounts::list).await.unwrap();
    assert_eq!(accounts.len(), 1, "the failed write is rolled back");
}

#[tokio::test]
async fn a_read_without_queries_leaves_no_open_transaction() {
    let app = TestApp::new().await;
    let one = async |number: usize| match number % 3 {
        0 => {
            let version = app
                .store
                .read(|tx| Ok::<_, Error>(identity_version(tx, None)?))
                .await;
            assert!(version.is_ok(), "{version:?}");
        }
        1 => assert!(app.store.read(|_| Ok::<_, Error>(())).await.is_ok()),
        _ => drop(app.another_account().await),
    };
    join_all((0..300).map(one)).await;
}
