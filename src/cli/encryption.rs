//! `garth host encryption`: the encryption between the hosts of a region.

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::arguments::integer;
use super::output::Output;
use super::store_args::OpenStore;
use crate::model::encryption::{KeyHolder, MAX_KEY_DAYS};
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

#[derive(Serialize)]
struct EncryptionView {
    region: String,
    enabled: bool,
    key_days: i64,
    generation: i64,
    rotated: Option<String>,
    next_rotation: Option<String>,
    is_rotating: bool,
    hosts_waiting: Vec<String>,
    hosts_with_key: Vec<String>,
    hosts_without_key: Vec<String>,
}

impl EncryptionView {
    fn new(state: &EncryptionState) -> Self {
        let label = |host: &KeyHolder| host.label.as_str().to_owned();
        let setting = &state.setting;
        let is_rotating = setting.is_rotating();
        let due = (setting.is_enabled && !is_rotating).then(|| setting.due().to_string());
        Self {
            region: setting.region.clone(),
            enabled: setting.is_enabled,
            key_days: setting.key_days.get(),
            generation: setting.generation,
            rotated: setting.is_enabled.then(|| setting.rotated.to_string()),
            next_rotation: due,
            is_rotating,
            hosts_waiting: state.waiting().map(label).collect(),
            hosts_with_key: state
                .hosts
                .iter()
                .filter(|host| host.key.is_some())
                .map(label)
                .collect(),
            hosts_without_key: state.without_key().map(label).collect(),
        }
    }

    fn text(&self) -> String {
        if !self.enabled {
            return format!("{}: packets between hosts are not encrypted", self.region);
        }
        let (with, without) = (self.hosts_with_key.len(), self.hosts_without_key.len());
        let mut text = format!(
            "{}: packets between hosts are encrypted with keys of generation {}, since {}\n",
            self.region,
            self.generation,
            self.rotated.as_deref().unwrap_or_default()
        );
        text += &format!("  {with} of {} hosts have keys", with + without);
        if without > 0 {
            let labels = self.hosts_without_key.join(", ");
            text += &format!("\n  without a key, and not reachable from other hosts: {labels}");
        }
        match &self.next_rotation {
            Some(time) => {
                text += &format!(
                    "\n  keys are rotated every {} days, next at {time}",
                    self.key_days
                )
            }
            None => {
                let done = with - self.hosts_waiting.len();
                text += &format!("\n  rotation in progress: {done} of {with} hosts use the new keys");
                if !self.hosts_waiting.is_empty() {
                    text += &format!("; waiting for {}", self.hosts_waiting.join(", "));
                }
            }
        }
        text
    }
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
    let state = match fields.is_empty() {
        true => store.read(move |tx| encryption::view(tx, &region)).await,
        false => {
            let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
            let request = Request {
                expected: None,
                body: Ok(Input::Object(fields.collect())),
            };
            store
                .write(move |tx| encryption::update(tx, &region, &request))
                .await
        }
    };
    let view = EncryptionView::new(&state.context(context)?);
    output.one(&view, &view.text())
}
