//! Runs one code path a number of times on one thread, for Callgrind to count instructions.
//!
//! The overhead is the same for any number of runs, so the difference of two counts is the cost of the path.

use std::hint::black_box;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use garth::api::{ViewContext, VpcView};
use garth::model::id::VpcId;
use garth::model::input::Input;
use garth::model::time::Time;
use garth::model::token::TokenText;
use garth::rules::caller::{Caller, Principal};
use garth::rules::lists::ListRequest;
use garth::rules::{self, Error};
use garth::store::context::Clock;
use garth::store::{ReadTx, WriteTx};
use garth::web::{WireNames, ranges_json};

use crate::rows::to_json;
use crate::setup::{caller, context, error_in, object, open, request, text, token};

/// Runs one path this number of times
#[derive(Args)]
pub struct Instructions {
    path: Path,
    #[arg(long)]
    times: usize,
    /// Folder of the store; `prepare` creates it
    #[arg(long)]
    data: PathBuf,
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN")]
    token: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Path {
    /// Creates the store that the other paths read
    Prepare,
    /// Parses a token and loads its identity
    Token,
    /// Confirms the cached identity of a token
    TokenAgain,
    /// Views a VPC with three subnets
    View,
    /// Lists a hundred VPCs with a subnet each
    List,
    /// Creates a VPC with a subnet
    Create,
    /// Serializes a VPC with three subnets as JSON
    JsonOne,
    /// Serializes a page of a hundred VPCs as JSON
    JsonPage,
}

impl Instructions {
    pub async fn run(self) -> anyhow::Result<()> {
        let first = token(&self.token).map_err(anyhow::Error::msg)?;
        // A fixed clock writes the same digits every time.
        let clock = Clock::fixed(Time::parse("2026-01-01T00:00:00").expect("a valid time"));
        let store = open(&self.data, context(clock)?, &first).await?;
        let (path, times, raw, hash) = (self.path, self.times, self.token, first.hash());
        match path {
            Path::Prepare => {
                let write = move |tx: &mut WriteTx| {
                    let caller = caller(tx, hash)?;
                    prepare(tx, &caller)
                };
                store.write(write).await.map_err(error_in("preparing"))?;
                store.close().await?;
            }
            Path::Create => {
                let write = move |tx: &mut WriteTx| {
                    let caller = caller(tx, hash)?;
                    (0..times).try_for_each(|number| create(tx, &caller, &format!("new-{number:06}"), 1))
                };
                store.write(write).await.map_err(error_in("creating"))?;
            }
            _ => {
                let read_path = move |tx: &mut ReadTx| {
                    let caller = caller(tx, hash)?;
                    read(tx, path, times, &raw, &caller)
                };
                store.read(read_path).await.map_err(error_in("reading"))?;
            }
        }
        Ok(())
    }
}

fn prepare(tx: &mut WriteTx, caller: &Caller) -> Result<(), Error> {
    create(tx, caller, "core", 3)?;
    (1..100).try_for_each(|number| create(tx, caller, &format!("vpc-{number:06}"), 1))
}

// Callgrind counts within this function and `read`, so they must not be inlined.
#[inline(never)]
fn create(tx: &mut WriteTx, caller: &Caller, label: &str, subnets: usize) -> Result<(), Error> {
    let subnet = |number| {
        let range = format!("10.0.{number}.0/24");
        object([
            ("label", text(&format!("subnet-{number}"))),
            ("ipv4", text(&range)),
        ])
    };
    let vpc = object([
        ("label", text(label)),
        ("region", text("us-ord")),
        ("subnets", Input::List((0..subnets).map(subnet).collect())),
    ]);
    black_box(rules::vpcs::create(tx, caller, &request(vpc, tx.policy()))?);
    Ok(())
}

#[inline(never)]
fn read(tx: &mut ReadTx, path: Path, times: usize, raw: &str, caller: &Caller) -> Result<(), Error> {
    let vpc = rules::vpcs::view(tx, caller, VpcId(1))?;
    let page = rules::vpcs::list(tx, caller, &ListRequest::default())?;
    let policy = tx.policy();
    let names = WireNames::Both;
    let default_ranges = &ranges_json(&policy.default_ranges);
    let context = ViewContext {
        names,
        policy,
        default_ranges,
    };
    for _ in 0..times {
        match path {
            Path::Token => {
                let token = TokenText::parse(black_box(raw)).expect("a valid token");
                black_box(crate::setup::caller(tx, token.hash())?);
            }
            Path::TokenAgain => drop(black_box(caller.clone().confirm(tx)?)),
            Path::View => drop(black_box(rules::vpcs::view(tx, caller, black_box(VpcId(1)))?)),
            Path::List => drop(black_box(rules::vpcs::list(tx, caller, &ListRequest::default())?)),
            Path::JsonOne => {
                let view = VpcView::new(black_box(&vpc), &context);
                drop(black_box(serde_json::to_vec(&view)));
            }
            Path::JsonPage => drop(black_box(to_json(black_box(&page), policy))),
            Path::Prepare | Path::Create => {}
        }
    }
    Ok(())
}
