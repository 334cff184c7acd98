//! Subnets with a given number of assigned addresses.

use std::path::PathBuf;

use clap::Args;
use garth::model::id::InstanceId;
use garth::model::input::Input;
use garth::model::token::{TokenHash, TokenText};
use garth::rules::{self, Error};
use garth::store::context::Clock;
use garth::store::{Store, WriteTx};

use crate::setup::{caller, context, error_in, object, open, request, text, token};

/// Creates a store with a VPC of two subnets. Subnet 1 is a /8. Subnet 2 has IPv4 and IPv6. Instances 1 to 64 have one
/// config each, with an interface on subnet 2. The config of each of the instances 65 to 128 has no interface. Configs of
/// more instances use addresses of subnet 1, and addresses and IPv6 networks of subnet 2.
#[derive(Args)]
pub struct FillSubnet {
    /// Folder of the store
    #[arg(long)]
    data: PathBuf,
    /// Number of addresses of subnet 1 in use
    #[arg(long)]
    taken: usize,
    /// Number of addresses and IPv6 networks of subnet 2 in use, not counting those of the instances 1 to 64
    #[arg(long, default_value_t = 0)]
    taken_dual: usize,
    /// The token of the first account
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

/// The instances of the load that have an interface on subnet 2, and those without an interface.
const LOADED_INSTANCES: usize = 64;
/// The maximum number of configs of an instance.
const CONFIGS_PER_INSTANCE: usize = 100;
const INSTANCES_PER_TRANSACTION: usize = 20;

impl FillSubnet {
    pub async fn run(self) -> anyhow::Result<()> {
        let store = open(&self.data, context(Clock::System)?, &self.token).await?;
        let hash = self.token.hash();
        let prepare = move |tx: &mut WriteTx| {
            let caller = caller(tx, hash)?;
            let range = |range: &str| Input::List(vec![object([("range", text(range))])]);
            let wide = object([("label", text("wide")), ("ipv4", text("10.0.0.0/8"))]);
            let dual = object([
                ("label", text("dual")),
                ("ipv4", text("172.16.0.0/12")),
                ("ipv6", range("/52")),
            ]);
            let vpc = [
                ("label", text("core")),
                ("region", text("us-ord")),
                ("ipv6", range("/52")),
                ("subnets", Input::List(vec![wide, dual])),
            ];
            rules::vpcs::create(tx, &caller, &request(object(vpc), tx.policy()))?;
            for number in 0..2 * LOADED_INSTANCES {
                let subnet = (number < LOADED_INSTANCES).then_some(2);
                add_instance(tx, hash, 1, subnet)?;
            }
            Ok::<_, Error>(())
        };
        store.write(prepare).await.map_err(error_in("preparing"))?;
        fill(&store, hash, self.taken_dual, 2).await?;
        fill(&store, hash, self.taken, 1).await
    }
}

/// Assigns a number of addresses of a subnet to new instances.
async fn fill(store: &Store, hash: TokenHash, count: usize, subnet: i64) -> anyhow::Result<()> {
    let step = CONFIGS_PER_INSTANCE * INSTANCES_PER_TRANSACTION;
    for start in (0..count).step_by(step) {
        let end = count.min(start + step);
        let assign = move |tx: &mut WriteTx| {
            for first in (start..end).step_by(CONFIGS_PER_INSTANCE) {
                add_instance(tx, hash, CONFIGS_PER_INSTANCE.min(end - first), Some(subnet))?;
            }
            Ok::<_, Error>(())
        };
        store
            .write(assign)
            .await
            .map_err(error_in("assigning addresses"))?;
        eprint!("\r{end} of {count} addresses of subnet {subnet} in use");
    }
    if count > 0 {
        eprintln!();
    }
    Ok(())
}

/// Adds an instance with a number of configs, each with an interface on a subnet, if given.
fn add_instance(tx: &mut WriteTx, hash: TokenHash, configs: usize, subnet: Option<i64>) -> Result<(), Error> {
    let caller = caller(tx, hash)?;
    let instance = [("type", text("g6-nanode-1")), ("region", text("us-ord"))];
    let instance = rules::instances::create(tx, &caller, &request(object(instance), tx.policy()))?;
    let id: InstanceId = instance.id;
    for number in 0..configs {
        let interface =
            subnet.map(|id| object([("purpose", text("vpc")), ("subnet_id", Input::Integer(id))]));
        let interfaces = Input::List(interface.into_iter().collect());
        let label = text(&format!("config-{number}"));
        let config = object([("label", label), ("interfaces", interfaces)]);
        rules::configs::create(tx, &caller, id, &request(config, tx.policy()))?;
    }
    Ok(())
}
