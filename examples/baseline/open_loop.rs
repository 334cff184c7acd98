//! Sends requests at a constant rate, independent of responses (open loop).
//!
//! wrk waits for a response before it sends the next request, so it never exceeds the server's throughput.
//! Here each request has a scheduled time. A free connection sends it then, and its latency counts from that
//! time, including the wait for a connection.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until};

/// Sends requests at a constant rate
#[derive(Args)]
pub struct OpenLoop {
    /// Host and port
    #[arg(long)]
    to: String,
    #[arg(long)]
    path: String,
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN")]
    token: String,
    /// Requests per second
    #[arg(long)]
    rate: f64,
    /// Duration of the measurement
    #[arg(long)]
    seconds: f64,
    /// Duration of the load before the measurement, which fills the queues
    #[arg(long)]
    before: f64,
    #[arg(long)]
    connections: usize,
}

#[derive(Default)]
struct Counts {
    good: Vec<u64>,
    refused: Vec<u64>,
    other: u64,
    broken: u64,
}

struct Plan {
    start: Instant,
    rate: f64,
    counted_from: Instant,
    end: Instant,
    next: AtomicU64,
    counts: Mutex<Counts>,
}

impl OpenLoop {
    pub async fn run(self) -> anyhow::Result<()> {
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.path, self.to, self.token
        );
        let mut streams = Vec::with_capacity(self.connections);
        for _ in 0..self.connections {
            streams.push(connect(&self.to).await.context("connecting")?);
        }
        let start = Instant::now();
        let counted_from = start + Duration::from_secs_f64(self.before);
        let plan = Arc::new(Plan {
            start,
            rate: self.rate,
            counted_from,
            end: counted_from + Duration::from_secs_f64(self.seconds),
            next: AtomicU64::new(0),
            counts: Mutex::default(),
        });
        let request = Arc::new(request.into_bytes());
        for stream in streams {
            tokio::spawn(send_requests(
                stream,
                self.to.clone(),
                request.clone(),
                plan.clone(),
            ));
        }
        sleep_until(plan.end).await;
        // Later responses do not count.
        let mut counts = plan.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let Counts {
            good,
            refused,
            other,
            broken,
        } = &mut *counts;
        println!(
            "RESULT good={} refused={} other={other} broken={broken} {} {}",
            good.len(),
            refused.len(),
            percentiles("good", good),
            percentiles("refused", refused)
        );
        std::process::exit(0);
    }
}

async fn connect(to: &str) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn send_requests(mut stream: TcpStream, to: String, request: Arc<Vec<u8>>, plan: Arc<Plan>) {
    let mut buffer = Vec::new();
    loop {
        let number = plan.next.fetch_add(1, Ordering::Relaxed);
        let due = plan.start + Duration::from_secs_f64(number as f64 / plan.rate);
        sleep_until(due).await;
        let result = send_request(&mut stream, &request, &mut buffer).await;
        let now = Instant::now();
        if now >= plan.counted_from && now < plan.end {
            let took = (now - due).as_micros() as u64;
            let mut counts = plan.counts.lock().unwrap_or_else(PoisonError::into_inner);
            match result {
                Ok(200) => counts.good.push(took),
                Ok(429 | 503) => counts.refused.push(took),
                Ok(_) => counts.other += 1,
                Err(_) => counts.broken += 1,
            }
        }
        if result.is_err() {
            match connect(&to).await {
                Ok(new) => stream = new,
                Err(_) => return,
            }
        }
    }
}

/// Sends a request; returns the status of the response, whose body is discarded.
async fn send_request(stream: &mut TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> std::io::Result<u16> {
    stream.write_all(request).await?;
    buffer.clear();
    let malformed = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let head = loop {
        if stream.read_buf(buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let text = std::str::from_utf8(&buffer[..head]).map_err(|_| malformed())?;
    let status = text
        .get(9..12)
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(malformed)?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let message_length = head + length.ok_or_else(malformed)?;
    while buffer.len() < message_length {
        if stream.read_buf(buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(status)
}

/// The median and the 99th percentile.
fn percentiles(name: &str, times: &mut [u64]) -> String {
    times.sort_unstable();
    let within = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    format!("{name}_median={} {name}_late={}", within(50), within(99))
}
