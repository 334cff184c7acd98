//! Request bodies that the handler has not read completely.
//!
//! A keep-alive connection can only be reused after the end of the body. A small rest is read and discarded.
//! If there is more, the response announces that the connection closes.

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

/// Limits on the discarded rest: size and time.
const MAX_DISCARDED_BYTES: usize = 2 * 1024 * 1024;
const MAX_DISCARD_TIME: Duration = Duration::from_secs(2);

/// Receives a body that the handler drops before its end.
pub struct Unread {
    left: Arc<Mutex<Option<Body>>>,
    /// The client sent `Expect: 100-continue` and has not sent its body yet.
    expects_continue: bool,
}

impl Unread {
    /// Tracks the body of a request; `None` if it has none, or for HTTP/2, which does not need this.
    pub fn watch(request: Request) -> (Request, Option<Unread>) {
        if request.version() > Version::HTTP_11 || request.body().is_end_stream() {
            return (request, None);
        }
        let expects_continue = expects_continue(request.headers());
        let left = Arc::default();
        let unread = Unread {
            left,
            expects_continue,
        };
        let slot = unread.left.clone();
        let request = request.map(|body| {
            Body::new(WatchedBody {
                body: Some(body),
                slot,
            })
        });
        (request, Some(unread))
    }

    /// Discards the rest of a body, or adds `Connection: close` to the response.
    pub async fn finish(self, response: &mut Response) {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(body) = left else { return };
        let discarded = !self.expects_continue
            && tokio::time::timeout(MAX_DISCARD_TIME, discard_rest(body))
                .await
                .unwrap_or(false);
        if !discarded {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(header::CONNECTION, close);
        }
    }
}

/// Whether the body ended within the limits.
async fn discard_rest(mut body: Body) -> bool {
    let announced = body.size_hint().lower();
    let mut room = MAX_DISCARDED_BYTES;
    if announced > room as u64 {
        return false;
    }
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return false };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        match room.checked_sub(bytes) {
            Some(left) => room = left,
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
        let left = self.body.take().filter(|body| !body.is_end_stream());
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = left;
    }
}
