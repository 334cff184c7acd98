//! A connection on which a response can be read although the request can no longer be written.
//!
//! A service can refuse a long body before it has read it, and close the connection. The HTTP client would report the
//! error of the write and ignore the response.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub struct EarlyResponse<S> {
    stream: S,
    /// Whether a write has failed. Later bytes are discarded.
    is_closed: bool,
}

impl<S> EarlyResponse<S> {
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            is_closed: false,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for EarlyResponse<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for EarlyResponse<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.is_closed {
            match ready!(Pin::new(&mut self.stream).poll_write(context, data)) {
                Ok(written) => return Poll::Ready(Ok(written)),
                Err(_) => self.is_closed = true,
            }
        }
        Poll::Ready(Ok(data.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_closed {
            self.is_closed = ready!(Pin::new(&mut self.stream).poll_flush(context)).is_err();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.is_closed {
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut self.stream).poll_shutdown(context),
        }
    }
}
