//! `garth trace`: the path of a packet from an instance.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::arguments;
use super::output::Output;
use super::store_args::StoreArgs;
use crate::api::TraceView;
use crate::model::id::InstanceId;
use crate::model::trace::{Outcome, Trace};
use crate::rules::traces::{self, TracePath};

/// The exit code of a trace that failed, for example because the instance does not exist.
pub const EXIT_FAILED: u8 = 2;

#[derive(Args)]
pub struct Options {
    /// ID of the instance that sends the packet
    #[arg(value_name = "INSTANCE", value_parser = arguments::id)]
    instance: i64,
    /// IPv4 or IPv6 address to which it is sent
    #[arg(value_name = "ADDRESS")]
    address: std::net::IpAddr,
}

/// Prints the path. The exit code is 1 if the packet is dropped.
pub async fn run(store: &StoreArgs, output: Output, options: Options) -> anyhow::Result<ExitCode> {
    let store = store.open()?;
    let at = TracePath {
        instance: InstanceId(options.instance),
        address: options.address.to_string(),
    };
    let traced = store.read(move |tx| traces::view(tx, &at)).await;
    let traced = traced.with_context(|| format!("instance {}", options.instance))?;
    output.one(&TraceView::new(&traced), &text(&traced.trace))?;
    Ok(match traced.trace.outcome {
        Outcome::Dropped(..) => ExitCode::FAILURE,
        Outcome::Delivered | Outcome::Leaves(_) | Outcome::Uncertain(_) => ExitCode::SUCCESS,
    })
}

fn text(trace: &Trace) -> String {
    let hops = trace.hops.iter().enumerate();
    let mut lines: Vec<_> = hops
        .map(|(at, hop)| format!("{:>2}  {}  {}", at + 1, hop.place, hop.action))
        .collect();
    for report in &trace.reports {
        lines.push(match report.is_stale() {
            true => format!("warning: {}; its state may have changed", report.text()),
            false => report.text(),
        });
    }
    let outcome = trace.outcome.word();
    lines.push(match (trace.outcome.cause(), trace.outcome.reason()) {
        (Some(cause), Some(reason)) => format!("{outcome}: {reason} ({})", cause.word()),
        (_, Some(reason)) => format!("{outcome}: {reason}"),
        (_, None) => outcome.to_owned(),
    });
    lines.join("\n")
}
