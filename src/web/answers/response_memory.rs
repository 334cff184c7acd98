//! A memory budget for responses, from their creation until the client has received them.
//!
//! Each client decides how fast it reads. Without a budget, a few clients that read large responses slowly
//! could use up all memory. Every byte of a response counts until it is written to the socket. A response
//! that exceeds the budget is dropped, and its request is refused. If memory was already scarce when the
//! request began, the request first waits for memory and runs again (decision 0023).

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use http_body_util::BodyExt;
use tokio::sync::Notify;

/// Responses below this size do not count, because the connection limits already bound their total size.
const MIN_CHARGED_BYTES: usize = 4 * 1024;
const GAUGE: &str = "garth_response_memory_bytes";
/// The maximum time that a request waits for free memory.
const MAX_WAIT: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub struct ResponseMemory(Arc<Budget>);

struct Budget {
    max: usize,
    used: Mutex<Used>,
    freed: Notify,
}

#[derive(Default)]
struct Used {
    total: usize,
    by_client: HashMap<IpAddr, Share>,
}

/// The memory of the responses that one client has not received yet.
#[derive(Clone, Copy, Default)]
struct Share {
    bytes: usize,
    /// The size of the client's largest response since `bytes` was last 0.
    largest: usize,
}

impl Used {
    /// Whether a response of this size fits into the budget. A client with other unsent responses gets at most half of
    /// the budget. If no client has unsent responses, any size fits.
    fn fits(&self, client: IpAddr, bytes: usize, max: usize) -> bool {
        let unsent = self.share(client).bytes;
        let all_fit = self.total == 0 || self.total + bytes <= max;
        all_fit && (unsent == 0 || unsent + bytes <= max / 2)
    }

    fn share(&self, client: IpAddr) -> Share {
        self.by_client.get(&client).copied().unwrap_or_default()
    }
}

impl ResponseMemory {
    pub fn new(max: usize) -> Self {
        let (used, freed) = (Mutex::default(), Notify::new());
        Self(Arc::new(Budget { max, used, freed }))
    }

    /// Whether more than a quarter of the budget is used. The next response might then not fit, so its
    /// request might have to run twice.
    pub fn is_scarce(&self) -> bool {
        self.used().total > self.0.max / 4
    }

    /// The size of the client's largest response, if another response of that size would exceed the budget. The caller
    /// then waits before it runs the request.
    pub fn shortfall(&self, client: IpAddr) -> Option<usize> {
        let used = self.used();
        let largest = used.share(client).largest;
        (!used.fits(client, largest, self.0.max)).then_some(largest)
    }

    /// Reserves memory for a response. If the response does not fit, the error is the size of the response.
    pub fn reserve(&self, client: IpAddr, response: &Response) -> Result<MemoryReservation, usize> {
        let bytes = size_of(response);
        let mut used = self.used();
        if bytes > 0 && !used.fits(client, bytes, self.0.max) {
            return Err(bytes);
        }
        Ok(self.charge(&mut used, client, bytes))
    }

    /// Reserves memory for the response to a write, even if the response does not fit. The response must not
    /// be dropped, because it reports a change that is already committed.
    pub fn reserve_unconditionally(&self, client: IpAddr, response: &Response) -> MemoryReservation {
        self.charge(&mut self.used(), client, size_of(response))
    }

    /// Waits until a response of this size fits. Returns false after a timeout.
    pub async fn wait(&self, client: IpAddr, bytes: usize) -> bool {
        let until_it_fits = async {
            loop {
                let freed = self.0.freed.notified();
                tokio::pin!(freed);
                freed.as_mut().enable();
                if self.used().fits(client, bytes, self.0.max) {
                    return;
                }
                freed.await;
            }
        };
        tokio::time::timeout(MAX_WAIT, until_it_fits).await.is_ok()
    }

    fn charge(&self, used: &mut Used, client: IpAddr, bytes: usize) -> MemoryReservation {
        if bytes > 0 {
            used.total += bytes;
            let share = used.by_client.entry(client).or_default();
            share.bytes += bytes;
            share.largest = share.largest.max(bytes);
            metrics::gauge!(GAUGE).set(used.total as f64);
        }
        MemoryReservation {
            memory: self.clone(),
            client,
            bytes,
        }
    }

    fn release(&self, client: IpAddr, bytes: usize) {
        let mut used = self.used();
        used.total -= bytes;
        if let Some(share) = used.by_client.get_mut(&client) {
            share.bytes -= bytes;
            if share.bytes == 0 {
                used.by_client.remove(&client);
            }
        }
        metrics::gauge!(GAUGE).set(used.total as f64);
        drop(used);
        self.0.freed.notify_waiters();
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks a response whose body is a shared buffer, not a copy of it. Such a response does not count toward
/// the budget.
#[derive(Clone, Copy)]
pub struct SharedBody;

/// The number of bytes of a response that count toward the budget. A stream counts as zero, because its bytes
/// are produced while the client reads them.
fn size_of(response: &Response) -> usize {
    if response.extensions().get::<SharedBody>().is_some() {
        return 0;
    }
    let size = response.body().size_hint().exact().unwrap_or(0);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if size < MIN_CHARGED_BYTES { 0 } else { size }
}

/// A reservation of bytes, released on drop.
pub struct MemoryReservation {
    memory: ResponseMemory,
    client: IpAddr,
    bytes: usize,
}

impl MemoryReservation {
    /// Attaches the reservation to the body. Each chunk of the body releases its part after the chunk is
    /// sent.
    pub fn attach(mut self, response: Response) -> Response {
        if self.bytes == 0 {
            return response;
        }
        response.map(|body| {
            Body::new(body.map_frame(move |frame| {
                frame.map_data(|bytes| {
                    let _charge = self.split(bytes.len());
                    Bytes::from_owner(ChargedBytes { bytes, _charge })
                })
            }))
        })
    }

    fn split(&mut self, bytes: usize) -> MemoryReservation {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        MemoryReservation {
            memory: self.memory.clone(),
            client: self.client,
            bytes,
        }
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.memory.release(self.client, self.bytes);
        }
    }
}

/// A chunk of a body with its reservation. Hyper drops both after sending the chunk.
struct ChargedBytes {
    bytes: Bytes,
    _charge: MemoryReservation,
}

impl AsRef<[u8]> for ChargedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const ADA: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const BOB: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    fn response_of(bytes: usize) -> Response {
        Response::new(Body::from(vec![b'x'; bytes]))
    }

    fn try_respond(memory: &ResponseMemory, client: IpAddr, bytes: usize) -> Option<Response> {
        let response = response_of(bytes);
        let charge = memory.reserve(client, &response).ok()?;
        Some(charge.attach(response))
    }

    #[tokio::test(start_paused = true)]
    async fn only_unsent_responses_use_the_budget() {
        let memory = ResponseMemory::new(100_000);
        let first = try_respond(&memory, ADA, 60_000).expect("the response fits");
        assert!(memory.is_scarce());
        assert!(try_respond(&memory, BOB, 60_000).is_none());
        assert!(
            try_respond(&memory, BOB, 1_000).is_some(),
            "small responses always fit"
        );
        assert!(
            !memory.wait(BOB, 60_000).await,
            "the client has read nothing, so no memory was freed"
        );

        let sent = first.into_body().collect().await.expect("a body").to_bytes();
        assert_eq!(sent.len(), 60_000);
        assert_eq!(memory.used().total, 60_000, "the response is still in memory");
        drop(sent);
        assert!(memory.wait(BOB, 60_000).await);
        assert!(
            try_respond(&memory, BOB, 60_000).is_some(),
            "a dropped response uses no memory"
        );
        let mut shared = response_of(500_000);
        shared.extensions_mut().insert(SharedBody);
        let charge = memory.reserve(BOB, &shared);
        assert!(
            charge.is_ok_and(|charge| charge.bytes == 0),
            "a shared body reserves no memory"
        );
        assert!(
            try_respond(&memory, BOB, 500_000).is_some(),
            "a response can exceed the budget if no other response is unsent"
        );
        assert_eq!(memory.used().total, 0);
        assert!(memory.used().by_client.is_empty());
    }

    #[test]
    fn one_client_cannot_use_the_whole_budget() {
        let memory = ResponseMemory::new(100_000);
        let first = try_respond(&memory, ADA, 30_000);
        let second = try_respond(&memory, ADA, 30_000);
        let third = try_respond(&memory, BOB, 30_000);
        assert!(first.is_some() && second.is_none() && third.is_some());
        assert_eq!(
            memory.shortfall(ADA),
            Some(30_000),
            "another response of this size would not fit"
        );
        let written = memory.reserve_unconditionally(ADA, &response_of(90_000));
        assert_eq!(memory.used().total, 150_000);
        drop((first, third, written));
        assert_eq!(memory.used().total, 0);
    }
}
