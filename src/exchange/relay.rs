//! Reads a response to its end, even if the client hangs up before.
//!
//! The client gets the last part of the body after the exchange was passed to the recorder, so that the exchanges of a
//! client that sends one request after the other are recorded in this order.

use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::capture::CapturingBody;

/// The number of parts of a body that wait for the client.
const WAITING_PARTS: usize = 16;
/// The last part is sent after this time, even if the exchange is not recorded yet.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// The body for the client. An event stream ends with its client, because it has no other end. `recorded` is notified
/// when the exchange was passed to the recorder.
pub fn relay(headers: &HeaderMap, body: CapturingBody, recorded: oneshot::Receiver<()>) -> Body {
    let kind = headers.get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return Body::new(body);
    }
    let (sender, receiver) = mpsc::channel(WAITING_PARTS);
    tokio::spawn(read_to_end(body, sender, recorded));
    Body::from_stream(unfold(receiver, |mut receiver| async {
        let part = receiver.recv().await?;
        Some((part, receiver))
    }))
}

async fn read_to_end(
    body: CapturingBody,
    client: mpsc::Sender<Result<Bytes, axum::Error>>,
    recorded: oneshot::Receiver<()>,
) {
    let mut parts = Body::new(body).into_data_stream();
    let mut last = None;
    while let Some(part) = parts.next().await {
        if let Some(earlier) = last.replace(part) {
            // The recording is complete without the client, too.
            let _ = client.send(earlier).await;
        }
    }
    drop(parts);
    let _ = timeout(MAX_DELAY, recorded).await;
    if let Some(last) = last {
        let _ = client.send(last).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_body_is_read_to_its_end_without_its_client() {
        let parts = (0..100).map(|_| Ok::<_, axum::Error>(Bytes::from("part")));
        let body = Body::from_stream(futures_util::stream::iter(parts));
        let (body, captured) = CapturingBody::new(body);
        let (_recorder, recorded) = oneshot::channel();
        drop(relay(&HeaderMap::new(), body, recorded));
        let captured = captured.await.expect("the copy is sent");
        assert!(captured.is_complete);
        assert_eq!(captured.size, 400);
    }

    #[tokio::test]
    async fn the_last_part_is_sent_after_the_exchange_is_recorded() {
        let parts = ["first", "last"].map(|part| Ok::<_, axum::Error>(Bytes::from(part)));
        let body = Body::from_stream(futures_util::stream::iter(parts));
        let (body, captured) = CapturingBody::new(body);
        let (recorder, recorded) = oneshot::channel();
        let mut received = relay(&HeaderMap::new(), body, recorded).into_data_stream();
        let first = received.next().await.expect("a part").expect("no error");
        assert_eq!(first, "first");
        captured.await.expect("the copy is sent before the last part");
        let soon = timeout(Duration::from_millis(50), received.next()).await;
        assert!(soon.is_err(), "the last part waits");
        recorder.send(()).expect("the relay waits");
        let last = received.next().await.expect("a part").expect("no error");
        assert_eq!(last, "last");
        assert!(received.next().await.is_none());
    }
}
