//! Clients that do not read large responses: the memory is limited, and free again afterwards.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::bystander::{assert_undisturbed, resident_kib, token_of_another_account};
use super::stalled_clients::{large_vpc, stalled_clients};
use crate::harness::{Folder, Server};
use crate::process::eventually;

const KIB_PER_MIB: u64 = 1024;
/// The limit for responses in this test.
const RESPONSE_KIB: u64 = 32 * KIB_PER_MIB;
/// The allowed growth for other purposes: one page with its rows on each thread.
const OTHER_KIB: u64 = 96 * KIB_PER_MIB;
const CLIENTS: usize = 60;

#[test]
fn unread_responses_use_limited_memory_and_release_it() {
    let folder = Folder::new("attack-responses");
    let mut serve = folder.serve();
    serve.args(["--limits-response-memory-mib", "32"]);
    let server = Server::start(&mut serve);
    let token = token_of_another_account(&folder);
    let mut client = server.client();
    for at in 0..12 {
        client
            .post("/v4/vpcs", large_vpc(&format!("large-{at}"), 1_000))
            .ok();
    }
    let page = client.get("/v4/vpcs?page_size=500");
    assert!(
        page.body.len() > 2_000_000,
        "the page is large: {}",
        page.body.len()
    );
    let idle = resident_kib(&server);
    let head = client.head("GET", "/v4/vpcs?page_size=500", "");

    let stalled =
        [2, 3, 4].map(|last| stalled_clients(&server, CLIENTS / 3, &head, Ipv4Addr::new(127, 0, 0, last)));
    let peak = AtomicU64::new(0);
    assert_undisturbed(&server, &token, |stop: &AtomicBool| {
        while !stop.load(Ordering::SeqCst) {
            peak.fetch_max(resident_kib(&server), Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    drop(stalled);
    let peak = peak.into_inner();
    assert!(
        peak < idle + RESPONSE_KIB + OTHER_KIB,
        "{} MiB while idle, {} MiB at most",
        idle / KIB_PER_MIB,
        peak / KIB_PER_MIB
    );
    eventually("the memory to be free again", || {
        let now = resident_kib(&server);
        (now * 2 <= idle * 3).then_some(())
    });
}
