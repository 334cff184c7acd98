//! Cuts a response or its connection on purpose. Test control uses this to inject faults (decision 0035).

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::{Stream, StreamExt, stream};
use http_body_util::{BodyDataStream, Either};
use hyper::body::Body as HttpBody;

/// The part of a response that is sent before the connection is closed. It is an extension of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nothing is sent.
    Everything,
    /// The headers and this number of bytes of the body are sent.
    BodyAfter(u64),
}

/// The error with which the connection is closed.
#[derive(Debug, thiserror::Error)]
#[error("the connection was closed by an injected fault")]
pub struct ConnectionCut;

impl From<Infallible> for ConnectionCut {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// The time for the first part of a body to be sent, before the connection is closed.
const FLUSH_TIME: Duration = Duration::from_millis(20);

/// Applies the cut of a response, if it has one. It must be the last step, because a compressed body has other bytes.
pub fn apply<B>(
    response: Result<hyper::Response<B>, Infallible>,
) -> Result<hyper::Response<Either<B, Body>>, ConnectionCut>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let mut response = response?;
    match response.extensions_mut().remove::<Cut>() {
        None => Ok(response.map(Either::Left)),
        Some(Cut::Everything) => Err(ConnectionCut),
        Some(Cut::BodyAfter(bytes)) => {
            let truncate = |body| Either::Right(Body::from_stream(truncated(body, bytes)));
            Ok(response.map(truncate))
        }
    }
}

/// Marks a response to be cut.
pub fn mark(mut response: Response, cut: Cut) -> Response {
    response.extensions_mut().insert(cut);
    response
}

/// The first bytes of a body, and then an error. A shorter body is complete.
fn truncated<B>(body: B, max_bytes: u64) -> impl Stream<Item = Result<Bytes, axum::BoxError>>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    let data = BodyDataStream::new(Box::pin(body));
    stream::unfold((data, max_bytes), |(mut data, left)| async move {
        if left == 0 {
            tokio::time::sleep(FLUSH_TIME).await;
            return Some((Err(ConnectionCut.into()), (data, left)));
        }
        let chunk = data.next().await?.map_err(Into::into).map(|mut chunk: Bytes| {
            chunk.truncate(usize::try_from(left).unwrap_or(usize::MAX));
            chunk
        });
        let sent = chunk.as_ref().map_or(0, Bytes::len) as u64;
        Some((chunk, (data, left - sent)))
    })
}
