//! `garth trace`: the path of a packet from an instance.

use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::arguments;
use super::output::Output;
use super::store_args::StoreArgs;
use crate::model::id::InstanceId;
use crate::model::trace::Outcome;
use crate::rules::traces::{self, TracePath};

#[derive(Args)]
pub struct Options {
    /// ID of the instance that sends the packet
    #[arg(value_name = "INSTANCE", value_parser = arguments::id)]
    instance: i64,
    /// IPv4 or IPv6 address to which it is sent
    #[arg(value_name = "ADDRESS")]
    address: std::net::IpAddr,
}

#[derive(Serialize)]
struct TraceView {
    instance_id: i64,
    address: String,
    outcome: &'static str,
    cause: Option<&'static str>,
    reason: Option<String>,
    hops: Vec<HopView>,
}

#[derive(Serialize)]
struct HopView {
    place: String,
    action: String,
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
    let (outcome, cause, reason) = match traced.trace.outcome {
        Outcome::Delivered => ("delivered", None, None),
        Outcome::Dropped(cause, reason) => ("dropped", Some(cause.word()), Some(reason)),
        Outcome::Uncertain(reason) => ("uncertain", None, Some(reason)),
    };
    let hops = traced.trace.hops.into_iter();
    let view = TraceView {
        instance_id: traced.instance.id.0,
        address: traced.address.to_string(),
        outcome,
        cause,
        reason,
        hops: hops
            .map(|hop| HopView {
                place: hop.place,
                action: hop.action,
            })
            .collect(),
    };
    output.one(&view, &text(&view))?;
    Ok(match outcome {
        "dropped" => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}

fn text(view: &TraceView) -> String {
    let hops = view.hops.iter().enumerate();
    let mut lines: Vec<_> = hops
        .map(|(at, hop)| format!("{:>2}  {}  {}", at + 1, hop.place, hop.action))
        .collect();
    let reason = view.reason.as_deref().unwrap_or_default();
    lines.push(match view.cause {
        Some(cause) => format!("{}: {reason} ({cause})", view.outcome),
        None if reason.is_empty() => view.outcome.to_owned(),
        None => format!("{}: {reason}", view.outcome),
    });
    lines.join("\n")
}
