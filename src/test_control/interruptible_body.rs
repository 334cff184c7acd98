//! The body of a request, which ends with an error if the server stops before the client has sent all of it.
//!
//! A restart waits for the running requests. A client that does not send the rest of its body must not delay it.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::watch;

pub struct InterruptibleBody {
    inner: Body,
    /// Is complete when the server stops.
    stopped: Pin<Box<dyn Future<Output = ()> + Send>>,
}

#[derive(Debug, thiserror::Error)]
#[error("test control replaced the content of the store before the body was complete")]
struct Interrupted;

impl InterruptibleBody {
    pub fn wrap(inner: Body, mut stopping: watch::Receiver<bool>) -> Body {
        let stopped = async move {
            // The sender exists as long as the server.
            let _ = stopping.wait_for(|stopping| *stopping).await;
        };
        Body::new(Self {
            inner,
            stopped: Box::pin(stopped),
        })
    }
}

impl HttpBody for InterruptibleBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(context) {
            return Poll::Ready(frame);
        }
        match this.stopped.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(axum::Error::new(Interrupted)))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
