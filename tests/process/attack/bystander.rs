//! Another tenant, who works while somebody attacks: how long its creates take, and whether health checks are answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::connection::{Connection, number};
use crate::harness::{Folder, Server};

/// How often each side is measured.
const ROUNDS: usize = 4;
const CREATES: usize = 15;
/// A create may take so many times as long while somebody attacks.
const MAX_RATIO: f64 = 2.0;
/// On a machine that does something else as well, one measurement says little: the best of these counts.
const ATTEMPTS: usize = 3;

/// A user of an account of its own.
pub fn token_of_another_account(folder: &Folder) -> String {
    let account = number(&folder.json("account create --email else@example.com")["id"]);
    folder.run(&format!(
        "user create --account {account} --username else --email else@example.com"
    ));
    folder.make_token("else").1
}

/// Runs an attack on and off. It must not slow down the bystander's creates out of proportion, nor the health check.
pub fn is_not_disturbed(server: &Server, token: &str, attack: impl Fn(&AtomicBool) + Sync) {
    let mut measured = Vec::new();
    for _ in 0..ATTEMPTS {
        let (alone, beside) = measure(server, token, &attack);
        let ratio = beside.as_secs_f64() / alone.as_secs_f64();
        if ratio <= MAX_RATIO {
            return;
        }
        measured.push(format!("{alone:?} alone, {beside:?} beside the attack"));
    }
    panic!("a create takes too long: {measured:?}");
}

fn measure(server: &Server, token: &str, attack: &(impl Fn(&AtomicBool) + Sync)) -> (Duration, Duration) {
    let mut client = server.client_with(token);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.extend(creates(&mut client));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| attack(&stop));
            // The attack has begun by then.
            std::thread::sleep(Duration::from_millis(300));
            beside.extend(creates(&mut client));
            is_healthy(server);
            stop.store(true, Ordering::SeqCst);
        });
    }
    (median(alone), median(beside))
}

fn creates(client: &mut Client) -> Vec<Duration> {
    let timed = |number| {
        let since = Instant::now();
        let id = client.creates_vpc(&format!("bystander-{number}"));
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

/// The health check answers within a second, on a connection of its own.
pub fn is_healthy(server: &Server) {
    let since = Instant::now();
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection
        .send("GET /healthz HTTP/1.1\r\nhost: garth\r\n\r\n")
        .expect("a request can be sent");
    let reply = connection.reply_to("GET").expect("health is answered");
    assert_eq!(reply.status, 200);
    let took = since.elapsed();
    assert!(took < Duration::from_secs(1), "the health check took {took:?}");
}

/// The memory that a server has, in KiB.
pub fn resident(server: &Server) -> u64 {
    let path = format!("/proc/{}/status", server.process.id());
    let status = std::fs::read_to_string(path).expect("the server runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let digits = line.and_then(|line| line.trim().strip_suffix(" kB"));
    digits
        .and_then(|digits| digits.parse().ok())
        .expect("a number of kB")
}
