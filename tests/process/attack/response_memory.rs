//! Large answers that are not read: they have a bounded memory together, and it is free again afterwards.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::bystander::{is_not_disturbed, resident, token_of_another_account};
use super::stalled_clients::{large_vpc, readers};
use crate::harness::{Folder, Server};
use crate::process::eventually;

const MIB: u64 = 1024;
/// The memory for answers in this test.
const BUDGET: u64 = 32 * MIB;
/// What else may grow: one page in the making on each thread, and its rows.
const BESIDES: u64 = 96 * MIB;
const READERS: usize = 60;

#[test]
fn readers_of_large_pages_that_do_not_read_take_a_bounded_memory_and_give_it_back() {
    let folder = Folder::new("attack-answers");
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
    let idle = resident(&server);
    let head = client.head("GET", "/v4/vpcs?page_size=500", "");

    let stuck = [2, 3, 4].map(|last| readers(&server, READERS / 3, &head, Ipv4Addr::new(127, 0, 0, last)));
    let most = AtomicU64::new(0);
    is_not_disturbed(&server, &token, |stop: &AtomicBool| {
        while !stop.load(Ordering::SeqCst) {
            most.fetch_max(resident(&server), Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    drop(stuck);
    let most = most.into_inner();
    assert!(
        most < idle + BUDGET + BESIDES,
        "{} MiB while idle, {} MiB at most",
        idle / MIB,
        most / MIB
    );
    eventually("the memory to be free again", || {
        let now = resident(&server);
        (now * 2 <= idle * 3).then_some(())
    });
}
