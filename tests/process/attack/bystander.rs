//! Another tenant during an attack: the time of its creates, and the health check.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::connection::{Connection, number};
use crate::harness::{Folder, Server};

/// The number of measurements with and without the attack.
const ROUNDS: usize = 4;
const CREATES: usize = 15;
/// Maximum slowdown of a create during an attack.
const MAX_RATIO: f64 = 2.0;
/// The number of attempts. The best one counts, because the machine may be busy.
const ATTEMPTS: usize = 3;

/// A token of a user of another account.
pub fn token_of_another_account(folder: &Folder) -> String {
    let account = number(&folder.json("account create --email else@example.com")["id"]);
    folder.run(&format!(
        "user create --account {account} --username else --email else@example.com"
    ));
    folder.create_token("else").1
}

/// Runs an attack with pauses. It must not slow down the health check, or the creates of the bystander, too
/// much.
pub fn assert_undisturbed(server: &Server, token: &str, attack: impl Fn(&AtomicBool) + Sync) {
    let mut measured = Vec::new();
    for _ in 0..ATTEMPTS {
        let (baseline, attacked) = measure(server, token, &attack);
        let ratio = attacked.as_secs_f64() / baseline.as_secs_f64();
        if ratio <= MAX_RATIO {
            return;
        }
        measured.push(format!("{baseline:?} without, {attacked:?} with the attack"));
    }
    panic!("a create takes too long: {measured:?}");
}

fn measure(server: &Server, token: &str, attack: &(impl Fn(&AtomicBool) + Sync)) -> (Duration, Duration) {
    let mut client = server.client_with(token);
    let (mut baseline, mut attacked) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        baseline.extend(time_creates(&mut client));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| attack(&stop));
            // Wait until the attack has started.
            std::thread::sleep(Duration::from_millis(300));
            attacked.extend(time_creates(&mut client));
            assert_healthy(server);
            stop.store(true, Ordering::SeqCst);
        });
    }
    (median(baseline), median(attacked))
}

fn time_creates(client: &mut Client) -> Vec<Duration> {
    let timed = |number| {
        let since = Instant::now();
        let id = client.create_vpc(&format!("bystander-{number}"));
        let took = since.elapsed();
        client.delete(&format!("/v4/vpcs/{id}")).ok();
        took
    };
    (0..CREATES).map(timed).collect()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The health check responds within a second, on a new connection.
pub fn assert_healthy(server: &Server) {
    let since = Instant::now();
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection
        .send("GET /healthz HTTP/1.1\r\nhost: garth\r\n\r\n")
        .expect("the request can be sent");
    let reply = connection.reply_to("GET").expect("the health check responds");
    assert_eq!(reply.status, 200);
    let took = since.elapsed();
    assert!(took < Duration::from_secs(1), "the health check took {took:?}");
}

/// The resident memory of a server, in KiB.
pub fn resident_kib(server: &Server) -> u64 {
    let path = format!("/proc/{}/status", server.process.id());
    let status = std::fs::read_to_string(path).expect("the server runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let digits = line.and_then(|line| line.trim().strip_suffix(" kB"));
    digits
        .and_then(|digits| digits.parse().ok())
        .expect("a number of kB")
}
