//! The connection stack and JSON: a page of VPCs in memory, serialized for every request.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::ListenerExt;
use clap::Args;
use garth::api::{ViewContext, VpcView};
use garth::model::page::Paged;
use garth::model::policy::Policy;
use garth::model::token::TokenText;
use garth::model::vpc::Vpc;
use garth::rules;
use garth::rules::lists::ListRequest;
use garth::store::context::Clock;
use garth::web::{WireNames, ranges_json};
use serde::Serialize;

use crate::setup::{caller, context, error_in, listen, open, token};

/// Returns the first page of a store for `/v4/vpcs`, from memory
#[derive(Args)]
pub struct Rows {
    #[arg(long)]
    listen: SocketAddr,
    /// Folder of the store; the page is read once
    #[arg(long)]
    data: PathBuf,
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

impl Rows {
    pub async fn run(self) -> anyhow::Result<()> {
        let store = open(&self.data, context(Clock::System)?, &self.token).await?;
        let hash = self.token.hash();
        let first = move |tx: &mut garth::store::ReadTx| {
            let caller = caller(tx, hash)?;
            rules::vpcs::list(tx, &caller, &ListRequest::default())
        };
        let page = Arc::new(store.read(first).await.map_err(error_in("reading the page"))?);
        let policy = store.policy();
        drop(store);

        let respond =
            move || std::future::ready(([(CONTENT_TYPE, "application/json")], to_json(&page, &policy)));
        let router = Router::new().route("/v4/vpcs", get(respond));
        let listener = listen(self.listen).await?.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await?;
        Ok(())
    }
}

/// A page as Garth serializes it.
pub fn to_json(page: &Paged<Vpc>, policy: &Policy) -> Vec<u8> {
    #[derive(Serialize)]
    struct Envelope<'a> {
        data: Vec<VpcView<'a>>,
        page: i64,
        pages: i64,
        results: i64,
    }
    let names = WireNames::Both;
    let default_ranges = &ranges_json(&policy.default_ranges);
    let context = ViewContext {
        names,
        policy,
        default_ranges,
    };
    let envelope = Envelope {
        data: page.items.iter().map(|vpc| VpcView::new(vpc, &context)).collect(),
        page: page.page.number,
        pages: page.pages(),
        results: page.results,
    };
    let mut bytes = Vec::with_capacity(1024);
    serde_json::to_writer(&mut bytes, &envelope).expect("the page can be serialized");
    bytes
}
