//! A subnet with a given number of assigned addresses.

use std::path::PathBuf;

use clap::Args;
use garth::model::id::InstanceId;
use garth::model::input::Input;
use garth::model::token::TokenText;
use garth::rules::{self, Error};
use garth::store::WriteTx;
use garth::store::context::Clock;

use crate::setup::{caller, context, error_in, object, open, request, text, token};

/// Creates a store with a VPC, a /8 subnet, an instance, and configs that use this number of addresses
#[derive(Args)]
pub struct FillSubnet {
    /// Folder of the store
    #[arg(long)]
    data: PathBuf,
    /// Number of addresses in use
    #[arg(long)]
    taken: usize,
    /// The token of the first account
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

impl FillSubnet {
    const ADDRESSES_PER_TRANSACTION: usize = 2000;

    pub async fn run(self) -> anyhow::Result<()> {
        let store = open(&self.data, context(Clock::System)?, &self.token).await?;
        let hash = self.token.hash();
        let prepare = move |tx: &mut WriteTx| {
            let caller = caller(tx, hash)?;
            let subnet = object([("label", text("wide")), ("ipv4", text("10.0.0.0/8"))]);
            let vpc = [
                ("label", text("core")),
                ("region", text("us-ord")),
                ("subnets", Input::List(vec![subnet])),
            ];
            rules::vpcs::create(tx, &caller, &request(object(vpc), tx.policy()))?;
            let instance = [("type", text("g6-nanode-1")), ("region", text("us-ord"))];
            rules::instances::create(tx, &caller, &request(object(instance), tx.policy()))?;
            Ok::<_, Error>(())
        };
        store.write(prepare).await.map_err(error_in("preparing"))?;
        for start in (0..self.taken).step_by(Self::ADDRESSES_PER_TRANSACTION) {
            let count = Self::ADDRESSES_PER_TRANSACTION.min(self.taken - start);
            let assign = move |tx: &mut WriteTx| {
                let caller = caller(tx, hash)?;
                for number in start..start + count {
                    let interface = object([("purpose", text("vpc")), ("subnet_id", Input::Integer(1))]);
                    let label = text(&format!("taken-{number}"));
                    let config = object([("label", label), ("interfaces", Input::List(vec![interface]))]);
                    rules::configs::create(tx, &caller, InstanceId(1), &request(config, tx.policy()))?;
                }
                Ok::<_, Error>(())
            };
            store
                .write(assign)
                .await
                .map_err(error_in("assigning addresses"))?;
            eprint!("\r{} of {} addresses in use", start + count, self.taken);
        }
        eprintln!();
        Ok(())
    }
}
