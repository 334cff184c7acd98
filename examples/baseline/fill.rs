//! Stores with a given number of rows, created by Garth's own rules, so that pages show realistic data.
//!
//! Many creates share a transaction, which makes this faster than a server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use garth::model::id::VpcId;
use garth::model::input::Input;
use garth::model::region::Region;
use garth::model::time::Time;
use garth::model::token::TokenText;
use garth::rules::caller::Caller;
use garth::rules::{self, Error};
use garth::store::context::Clock;
use garth::store::{Database, Store, WriteTx};
use indicatif::{ProgressBar, ProgressStyle};

use crate::setup::{caller, context, create_first_account, error_in, object, request, text, token};

/// Creates a store with this number of rows of one kind, and their events
#[derive(Args)]
pub struct Fill {
    kind: RowKind,
    #[arg(long)]
    rows: usize,
    /// Folder of the store
    #[arg(long, required_unless_present = "database")]
    data: Option<PathBuf>,
    /// URL of a database, instead of a folder
    #[arg(long, conflicts_with = "data")]
    database: Option<String>,
    /// The token of the first account
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RowKind {
    /// VPCs in all regions in turn; every tenth has a subnet
    Vpcs,
    /// The subnets of one VPC
    Subnets,
    /// Tickets; every second is closed
    Tickets,
}

impl Fill {
    const ROWS_PER_TRANSACTION: usize = 1000;
    /// All stores have the same times, so that two of them are comparable.
    const START_TIME: &'static str = "2026-01-01T00:00:00";

    pub async fn run(self) -> anyhow::Result<()> {
        let start_time = Time::parse(Self::START_TIME).expect("a valid time");
        let context = context(Clock::fixed(start_time))?;
        let store = match (&self.data, &self.database) {
            (_, Some(url)) => Store::open_shared(&Database::at(url), context)?,
            (Some(folder), None) => Store::open_embedded(folder, context)?,
            (None, None) => anyhow::bail!("--data or --database is required"),
        };
        create_first_account(&store, &self.token).await?;
        let (kind, hash) = (self.kind, self.token.hash());
        let prepare = move |tx: &mut WriteTx| {
            let caller = caller(tx, hash)?;
            kind.prepare(tx, &caller)
        };
        store.write(prepare).await.map_err(error_in("preparing"))?;

        let bar = ProgressBar::new(self.rows as u64);
        bar.set_style(ProgressStyle::with_template(
            "{wide_bar} {human_pos} of {human_len} {msg} {eta}",
        )?);
        bar.set_message(format!("{kind:?}").to_lowercase());
        for start in (0..self.rows).step_by(Self::ROWS_PER_TRANSACTION) {
            let count = Self::ROWS_PER_TRANSACTION.min(self.rows - start);
            let create = move |tx: &mut WriteTx| {
                let caller = caller(tx, hash)?;
                (start..start + count).try_for_each(|number| kind.create(tx, &caller, number))
            };
            store.write(create).await.map_err(error_in("creating rows"))?;
            // Ten rows per second: only a small part of the rows is recent.
            store.context().clock.advance(count as i64 / 10);
            bar.inc(count as u64);
        }
        bar.finish();
        store.close().await?;
        Ok(())
    }
}

impl RowKind {
    fn prepare(self, tx: &mut WriteTx, caller: &Caller) -> Result<(), Error> {
        if self == RowKind::Subnets {
            let vpc = object([("label", text("wide")), ("region", text("us-ord"))]);
            rules::vpcs::create(tx, caller, &request(vpc, tx.policy()))?;
        }
        Ok(())
    }

    fn create(self, tx: &mut WriteTx, caller: &Caller, number: usize) -> Result<(), Error> {
        match self {
            RowKind::Vpcs => create_vpc(tx, caller, number),
            RowKind::Subnets => create_subnet(tx, caller, number),
            RowKind::Tickets => create_ticket(tx, caller, number),
        }
    }
}

fn create_vpc(tx: &mut WriteTx, caller: &Caller, number: usize) -> Result<(), Error> {
    let regions: Vec<_> = tx
        .policy()
        .regions
        .iter()
        .filter(|region| region.has_capability(Region::VPCS))
        .collect();
    let region = text(&regions[number % regions.len()].id);
    let subnets = match number % 10 {
        0 => vec![object([("label", text("first")), ("ipv4", text("10.0.0.0/24"))])],
        _ => Vec::new(),
    };
    let vpc = object([
        ("label", text(&format!("vpc-{number}"))),
        ("region", region),
        ("subnets", Input::List(subnets)),
    ]);
    rules::vpcs::create(tx, caller, &request(vpc, tx.policy())).map(drop)
}

fn create_subnet(tx: &mut WriteTx, caller: &Caller, number: usize) -> Result<(), Error> {
    // A /29 has eight addresses, and 10.0.0.0/8 has two million of them.
    let address = std::net::Ipv4Addr::from((10 << 24) + number as u32 * 8);
    let subnet = object([
        ("label", text(&format!("subnet-{number}"))),
        ("ipv4", text(&format!("{address}/29"))),
    ]);
    rules::subnets::create(tx, caller, VpcId(1), &request(subnet, tx.policy())).map(drop)
}

fn create_ticket(tx: &mut WriteTx, caller: &Caller, number: usize) -> Result<(), Error> {
    let ticket = object([
        ("summary", text(&format!("Question {number}"))),
        ("description", text(&format!("Details of question {number}."))),
    ]);
    let ticket = rules::tickets::create(tx, caller, &request(ticket, tx.policy()))?;
    match number % 2 {
        0 => Ok(()),
        _ => rules::tickets::close(tx, caller, ticket.id, &request(object([]), tx.policy())),
    }
}
