//! The connection stack alone: one path with a constant response.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::ListenerExt;
use clap::Args;

use crate::setup::listen;

/// Returns fixed bytes for one path
#[derive(Args)]
pub struct Fixed {
    #[arg(long)]
    listen: SocketAddr,
    /// The path of the response
    #[arg(long)]
    path: String,
    /// File with the body of the response
    #[arg(long)]
    body: PathBuf,
}

impl Fixed {
    pub async fn run(self) -> anyhow::Result<()> {
        let body = std::fs::read(&self.body).with_context(|| format!("reading {}", self.body.display()))?;
        let body = Bytes::from(body);
        let respond = move || std::future::ready(([(CONTENT_TYPE, "application/json")], body.clone()));
        let router = Router::new().route(&self.path, get(respond));

        let listener = listen(self.listen).await?.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await?;
        Ok(())
    }
}
