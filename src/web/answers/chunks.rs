//! Splits a large response body into chunks. The server frees each chunk after sending it. A chunk has spare
//! capacity for one more item, so that its buffer rarely has to grow.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use serde::Serialize;

use crate::web::answer::JSON;

/// The size in bytes at which a chunk is complete.
const MIN_CHUNK_BYTES: usize = 256 * 1024;

/// A response body under construction.
pub struct Chunks {
    complete: VecDeque<Bytes>,
    current: Vec<u8>,
}

impl Chunks {
    /// `size` is the expected size of the body in bytes. It sets the capacity of the buffer, so that the buffer does
    /// not have to grow.
    pub fn with_capacity(size: usize) -> Self {
        Self {
            complete: VecDeque::new(),
            current: Vec::with_capacity(size.min(MIN_CHUNK_BYTES + MIN_CHUNK_BYTES / 4)),
        }
    }

    pub fn text(&mut self, text: &str) {
        self.current.extend_from_slice(text.as_bytes());
    }

    pub fn json(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut self.current, value).expect("views can be serialized as JSON");
        if self.current.len() >= MIN_CHUNK_BYTES {
            let next = Vec::with_capacity(MIN_CHUNK_BYTES + MIN_CHUNK_BYTES / 4);
            let complete = std::mem::replace(&mut self.current, next);
            self.complete.push_back(complete.into());
        }
    }

    pub fn into_response(mut self) -> Response {
        self.complete.push_back(self.current.into());
        let length = self.complete.iter().map(Bytes::len).sum();
        let body = match self.complete.len() {
            1 => Body::from(self.complete.remove(0).unwrap_or_default()),
            _ => Body::new(Unsent {
                chunks: self.complete,
                length,
            }),
        };
        let mut response = Response::new(body);
        response.headers_mut().insert(header::CONTENT_TYPE, JSON);
        let length = HeaderValue::from(length);
        response.headers_mut().insert(header::CONTENT_LENGTH, length);
        response
    }
}

/// The chunks that the connection has not read yet, and their total length.
struct Unsent {
    chunks: VecDeque<Bytes>,
    length: usize,
}

impl HttpBody for Unsent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let chunk = self.chunks.pop_front();
        self.length -= chunk.as_ref().map_or(0, Bytes::len);
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.chunks.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.length as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn a_long_response_is_split_into_chunks() {
        let mut chunks = Chunks::with_capacity(100);
        let mut expected = String::new();
        for number in 0..200_000 {
            chunks.json(&number);
            chunks.text(",");
            expected += &format!("{number},");
        }
        assert!(chunks.complete.len() > 3);
        let response = chunks.into_response();
        assert_eq!(response.headers()["content-length"], expected.len().to_string());
        assert_eq!(response.body().size_hint().exact(), Some(expected.len() as u64));
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        assert!(body == expected.as_bytes());
    }
}
