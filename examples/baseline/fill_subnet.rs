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

/// Makes a store with a VPC, a subnet of ten million addresses, an instance, and configs of it that
/// have taken so many of the addresses
#[derive(Args)]
pub struct FillSubnet {
    /// Folder of the store
    #[arg(long)]
    data: PathBuf,
    /// How many addresses are taken
    #[arg(long)]
    taken: usize,
    /// The first account's token
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

impl FillSubnet {
    const ADDRESSES_PER_TRANSACTION: usize = 2000;

    pub async fn run(self) -> anyhow::Result<()> {
        let store = open(&self.data, context(Clock::System)?, &self.token).await?;
        let hash = self.token.hash();
        let furnish = move |tx: &mut WriteTx| {
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
        store.write(furnish).await.map_err(error_in("furnishing"))?;
        for done in (0..self.taken).step_by(Self::ADDRESSES_PER_TRANSACTION) {
            let some = Self::ADDRESSES_PER_TRANSACTION.min(self.taken - done);
            let take = move |tx: &mut WriteTx| {
                let caller = caller(tx, hash)?;
                for number in done..done + some {
                    let interface = object([("purpose", text("vpc")), ("subnet_id", Input::Integer(1))]);
                    let label = text(&format!("taken-{number}"));
                    let config = object([("label", label), ("interfaces", Input::List(vec![interface]))]);
                    rules::configs::create(tx, &caller, InstanceId(1), &request(config, tx.policy()))?;
                }
                Ok::<_, Error>(())
            };
            store.write(take).await.map_err(error_in("taking addresses"))?;
            eprint!("\r{} of {} addresses taken", done + some, self.taken);
        }
        eprintln!();
        Ok(())
    }
}
