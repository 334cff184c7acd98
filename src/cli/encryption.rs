//! `garth host encryption`: the encryption between the hosts of a region.

use anyhow::Context;
use clap::Args;

use super::arguments::integer;
use super::output::Output;
use super::store_args::OpenStore;
use crate::api::EncryptionView;
use crate::model::encryption::MAX_KEY_DAYS;
use crate::model::input::Input;
use crate::rules::encryption::{self, EncryptionState};
use crate::rules::request::Request;

#[derive(Args)]
pub struct Options {
    /// ID of the region
    #[arg(value_name = "REGION")]
    region: String,
    /// Encrypt the packets between hosts
    ///
    /// Traffic between hosts stops until their agents have exchanged keys, which takes some seconds. Hosts whose agent
    /// does not report a key get no packets from other hosts.
    #[arg(long, conflicts_with = "off")]
    on: bool,
    /// Do not encrypt the packets between hosts
    #[arg(long, conflicts_with = "rotate")]
    off: bool,
    /// Days after which new keys replace the keys of all hosts
    #[arg(long, value_name = "N", value_parser = integer(1..=MAX_KEY_DAYS))]
    key_days: Option<i64>,
    /// Replace the keys of all hosts now, without a loss of packets
    #[arg(long)]
    rotate: bool,
}

fn text(state: &EncryptionState) -> String {
    let setting = &state.setting;
    let region = &setting.region;
    if !setting.is_enabled {
        return format!("{region}: packets between hosts are not encrypted");
    }
    let without: Vec<_> = state.without_key().map(|host| host.label.as_str()).collect();
    let (total, with) = (state.hosts.len(), state.hosts.len() - without.len());
    let mut text = format!(
        "{region}: packets between hosts are encrypted with keys of generation {}, since {}\n",
        setting.generation, setting.rotated
    );
    text += &format!("  hosts with keys: {with} of {total}");
    if !without.is_empty() {
        let labels = without.join(", ");
        text += &format!("\n  without a key, and not reachable from other hosts: {labels}");
    }
    if !setting.is_rotating() {
        let (days, due) = (setting.key_days.get(), setting.due());
        return text + &format!("\n  keys are rotated every {days} days, next at {due}");
    }
    let done = with - state.waiting().count();
    text += &format!("\n  rotation in progress: {done} of {with} hosts use the new keys");
    for (host, obstacle) in state.blockers() {
        let (label, reason) = (host.label.as_str(), obstacle.text());
        text += &format!("\n  waiting for {label}: {reason}");
    }
    text
}

pub async fn run(store: &OpenStore, output: Output, options: Options) -> anyhow::Result<()> {
    let region = options.region.clone();
    let context = format!("region {region}");
    let mut fields: Vec<(&str, Input)> = Vec::new();
    if options.on || options.off {
        fields.push(("enabled", Input::Bool(options.on)));
    }
    fields.extend(options.key_days.map(|days| ("key_days", Input::Integer(days))));
    if options.rotate {
        fields.push(("rotate", Input::Bool(true)));
    }
    if options.rotate && is_rotating(store, &region).await? {
        output.hint("a rotation is already in progress, and continues")?;
    }
    let state = match fields.is_empty() {
        true => store.read(move |tx| encryption::view(tx, &region)).await,
        false => {
            let request = Request::with_fields(fields);
            store
                .write(move |tx| encryption::update(tx, &region, &request))
                .await
        }
    };
    let state = state.context(context)?;
    output.one(&EncryptionView::new(&state), &text(&state))
}

async fn is_rotating(store: &OpenStore, region: &str) -> anyhow::Result<bool> {
    let (wanted, context) = (region.to_owned(), format!("region {region}"));
    let state = store.read(move |tx| encryption::view(tx, &wanted)).await;
    Ok(state.context(context)?.setting.is_rotating())
}
