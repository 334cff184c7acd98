//! Request bodies that the handler has not read completely.
//!
//! A keep-alive connection can only be reused after the whole body was read. So the server reads and discards the
//! remainder of a body. If the remainder is too large or too slow, the response has `Connection: close` instead.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, Version, header};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

use crate::web::body::expects_continue;

/// The maximum size of a discarded remainder.
const MAX_DISCARDED_BYTES: usize = 2 * 1024 * 1024;
/// The maximum time for reading the remainder.
const MAX_DISCARD_TIME: Duration = Duration::from_secs(2);

/// Receives the remainder of a request body, if the handler drops the body before its end.
pub struct Unread {
    remainder: Arc<Mutex<Option<Body>>>,
    /// Whether the client has sent `Expect: 100-continue`, and waits for a 100 response before it sends the
    /// body.
    expects_continue: bool,
}

impl Unread {
    /// Tracks the body of a request. Returns `None` if the request has no body, or if it uses HTTP/2, where
    /// the server can cancel a body without closing the connection.
    pub fn watch(request: Request) -> (Request, Option<Unread>) {
        if request.version() > Version::HTTP_11 || request.body().is_end_stream() {
            return (request, None);
        }
        let expects_continue = expects_continue(request.headers());
        let remainder = Arc::default();
        let unread = Unread {
            remainder,
            expects_continue,
        };
        let slot = unread.remainder.clone();
        let request = request.map(|body| {
            Body::new(WatchedBody {
                body: Some(body),
                slot,
            })
        });
        (request, Some(unread))
    }

    /// Discards the remainder of the body, or adds `Connection: close` to the response.
    pub async fn finish(self, response: &mut Response) {
        let remainder = self
            .remainder
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some(body) = remainder else { return };
        let discarded = !self.expects_continue
            && tokio::time::timeout(MAX_DISCARD_TIME, discard(body))
                .await
                .unwrap_or(false);
        if !discarded {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
    }
}

/// Reads and discards a body. Returns whether the body ended within the limits.
async fn discard(mut body: Body) -> bool {
    let declared = body.size_hint().lower();
    let mut allowance = MAX_DISCARDED_BYTES;
    if declared > allowance as u64 {
        return false;
    }
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        match allowance.checked_sub(bytes) {
            Some(remaining) => allowance = remaining,
            None => return false,
        }
    }
    true
}

struct WatchedBody {
    /// `None` after the end of the body.
    body: Option<Body>,
    slot: Arc<Mutex<Option<Body>>>,
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(body) = self.body.as_mut() else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

impl Drop for WatchedBody {
    fn drop(&mut self) {
        let remainder = self.body.take().filter(|body| !body.is_end_stream());
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = remainder;
    }
}
