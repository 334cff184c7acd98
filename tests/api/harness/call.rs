//! Requests of a test. Each response is validated against `openapi.yaml`.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::{Method, Request, Response};
use serde_json::Value;

use super::{Reply, TestApp, User};
use crate::openapi;

/// A request to send.
pub struct Call<'a> {
    pub(super) user: &'a User<'a>,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    pub(super) chunked: bool,
}

impl<'a> Call<'a> {
    pub fn app(&self) -> &'a TestApp {
        self.user.app
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    /// A form with one file.
    pub fn file(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let disposition = format!("form-data; name=\"file\"; filename=\"{name}\"");
        self.form(&[(&disposition, bytes.as_ref())])
    }

    /// A form with these parts.
    pub fn form(self, parts: &[(&str, &[u8])]) -> Self {
        let mut body = Vec::new();
        for (disposition, bytes) in parts {
            let head = format!("--edge\r\nContent-Disposition: {disposition}\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(bytes);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--edge--\r\n");
        self.header("content-type", "multipart/form-data; boundary=edge")
            .body(body)
    }

    pub fn body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends no `Content-Length`.
    pub fn chunked(mut self) -> Self {
        self.chunked = true;
        self
    }

    /// Sends the request. Returns the response without reading its body or checking anything.
    pub async fn send(&self) -> Response<Incoming> {
        self.try_send().await.expect("the server responds")
    }

    /// Like `send`. Fails if the server closes the connection instead of sending a response.
    pub async fn try_send(&self) -> Result<Response<Incoming>, hyper_util::client::legacy::Error> {
        let path = match self.path.starts_with("/v4") || self.path.starts_with("//") {
            true => self.path.replacen("//", "/", 1),
            false => format!("/v4{}", self.path),
        };
        let uri = format!("http://{}{path}", self.user.app.address);
        let mut request = Request::builder().method(self.method.clone()).uri(uri);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let body = match self.chunked {
            false => Full::new(self.body.clone()).boxed_unsync(),
            true => {
                let body = self.body.clone();
                let pieces = (0..body.len()).step_by(10_000);
                let piece = move |from: usize| body.slice(from..body.len().min(from + 10_000));
                let frames = pieces.map(move |from| Ok(Frame::data(piece(from))));
                StreamBody::new(futures_util::stream::iter(frames)).boxed_unsync()
            }
        };
        let request = request.body(body).expect("a request");
        self.user.app.client.request(request).await
    }
}

impl<'a> IntoFuture for Call<'a> {
    type Output = Reply;
    type IntoFuture = Pin<Box<dyn Future<Output = Reply> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let response = self.send().await;
            let (head, body) = response.into_parts();
            let body = body.collect().await.expect("the response is complete").to_bytes();
            let reply = Reply {
                status: head.status,
                headers: head.headers,
                body,
            };
            openapi::validate(&self.method, &self.path, &self.body, &reply);
            reply
        })
    }
}
