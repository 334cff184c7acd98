//! Garth with a store that commits each write alone.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use garth::api;
use garth::cli::{Settings, policy_of};
use garth::files::Files;
use garth::model::token::TokenText;
use garth::store::context::{Clock, RandomSource};
use garth::store::{Store, StoreContext};
use garth::web::{self, App, Options};
use tokio::sync::watch;

use crate::setup::{create_first_account, listen, token};

/// Serves Garth with one transaction per write
#[derive(Args)]
pub struct Ungrouped {
    #[arg(long)]
    listen: SocketAddr,
    /// Folder of its store
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    quota_vpcs_per_region: Option<i64>,
    /// The token of the first account
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

impl Ungrouped {
    pub async fn run(self) -> anyhow::Result<()> {
        let mut settings = Settings::default();
        settings.quota.vpcs_per_region = self.quota_vpcs_per_region;
        let context = StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy: policy_of(&settings)?.into(),
        };
        let store = Store::open_embedded_batching(&self.data, context, 1)?;
        create_first_account(&store, &self.token).await?;

        let (_stop, stopping) = watch::channel(false);
        let files = Files::open(None, &self.data)?;
        let app = App::new(store, files, Options::default(), stopping.clone());
        let router = api::router(&app);
        web::server::serve(listen(self.listen).await?, app, router, stopping).await;
        Ok(())
    }
}
