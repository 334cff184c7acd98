//! A body that passes its bytes on and copies them. Only the copy has a size limit.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

/// Of a longer body, only the size and the SHA-256 are recorded.
const MAX_COPIED_BYTES: usize = 8 * 1024 * 1024;

/// The copy of a body.
#[derive(Default)]
pub struct Captured {
    /// `None` if the body was too long.
    pub bytes: Option<Vec<u8>>,
    pub size: u64,
    pub is_complete: bool,
    hash: Sha256,
}

impl Captured {
    fn new() -> Self {
        Self {
            bytes: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// A complete body.
    pub fn of(data: &Bytes) -> Self {
        let mut captured = Self::new();
        captured.add(data);
        captured.is_complete = true;
        captured
    }

    fn add(&mut self, data: &Bytes) {
        self.size += data.len() as u64;
        self.hash.update(data);
        let has_space = |bytes: &Vec<u8>| bytes.len() + data.len() <= MAX_COPIED_BYTES;
        self.bytes = self.bytes.take().filter(has_space);
        if let Some(bytes) = &mut self.bytes {
            bytes.extend_from_slice(data);
        }
    }

    pub fn sha256(&self) -> String {
        crate::model::token::hex(&self.hash.clone().finalize())
    }
}

/// Copies a body, and sends the copy when the body ends or is dropped.
pub struct CapturingBody {
    inner: Body,
    captured: Captured,
    done: Option<oneshot::Sender<Captured>>,
}

impl CapturingBody {
    pub fn new(inner: Body) -> (Self, oneshot::Receiver<Captured>) {
        let (done, receiver) = oneshot::channel();
        let body = Self {
            inner,
            captured: Captured::new(),
            done: Some(done),
        };
        (body, receiver)
    }

    fn finish(&mut self, is_complete: bool) {
        if let Some(done) = self.done.take() {
            let mut captured = std::mem::take(&mut self.captured);
            captured.is_complete = is_complete;
            // The receiver is dropped only when the recording has ended.
            let _ = done.send(captured);
        }
    }
}

impl HttpBody for CapturingBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let polled = ready!(Pin::new(&mut this.inner).poll_frame(context));
        match &polled {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    this.captured.add(data);
                }
            }
            Some(Err(_)) => this.finish(false),
            None => this.finish(true),
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for CapturingBody {
    fn drop(&mut self) {
        // The length of a body can be known before its end, and then the end is not polled.
        self.finish(self.inner.is_end_stream());
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_long_body_is_passed_on_and_only_its_hash_is_recorded() {
        for (length, is_copied) in [(MAX_COPIED_BYTES, true), (MAX_COPIED_BYTES + 1, false)] {
            let sent = vec![b'x'; length];
            let (body, captured) = CapturingBody::new(Body::from(sent.clone()));
            let passed = body.collect().await.expect("the body is complete").to_bytes();
            assert_eq!(passed.len(), length);
            let captured = captured.await.expect("the copy is sent");
            assert!(captured.is_complete);
            assert_eq!(captured.bytes.is_some(), is_copied);
            assert_eq!(captured.size, length as u64);
            let expected = crate::model::token::hex(&Sha256::digest(&sent));
            assert_eq!(captured.sha256(), expected);
        }
    }

    #[tokio::test]
    async fn a_body_that_is_dropped_early_is_incomplete() {
        let chunks = ["a", "b"].map(|chunk| Ok::<_, axum::Error>(Bytes::from(chunk)));
        let body = Body::from_stream(futures_util::stream::iter(chunks));
        let (mut body, captured) = CapturingBody::new(body);
        let first = body.frame().await.expect("a frame").expect("no error");
        assert_eq!(first.into_data().expect("data"), "a");
        drop(body);
        let captured = captured.await.expect("the copy is sent");
        assert!(!captured.is_complete);
        assert_eq!(captured.bytes.as_deref(), Some(b"a".as_slice()));
    }
}
