//! Reads a response to its end, even if the client hangs up before.

use axum::body::Body;
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use tokio::sync::mpsc;

use super::capture::CapturingBody;

/// The number of parts of a body that wait for the client.
const WAITING_PARTS: usize = 16;

/// The body for the client. An event stream ends with its client, because it has no other end.
pub fn relay(headers: &HeaderMap, body: CapturingBody) -> Body {
    let kind = headers.get(header::CONTENT_TYPE);
    if kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return Body::new(body);
    }
    let (sender, receiver) = mpsc::channel(WAITING_PARTS);
    tokio::spawn(read_to_end(body, sender));
    Body::from_stream(unfold(receiver, |mut receiver| async {
        let part = receiver.recv().await?;
        Some((part, receiver))
    }))
}

async fn read_to_end(body: CapturingBody, client: mpsc::Sender<Result<Bytes, axum::Error>>) {
    let mut parts = Body::new(body).into_data_stream();
    while let Some(part) = parts.next().await {
        // The recording is complete without the client, too.
        let _ = client.send(part).await;
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
        drop(relay(&HeaderMap::new(), body));
        let captured = captured.await.expect("the copy is sent");
        assert!(captured.is_complete);
        assert_eq!(captured.size, 400);
    }
}
