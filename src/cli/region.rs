//! `garth region …`: the regions of the provider.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::output::Output;
use super::store_args::{OpenStore, StoreArgs};
use crate::model::input::Input;
use crate::rules::Result;
use crate::rules::lists::ListRequest;
use crate::rules::provider_regions::{self, RegionDetails};
use crate::rules::request::Request;
use crate::store::WriteTx;

#[derive(Subcommand)]
pub enum Command {
    /// List the regions, with the number of their objects
    List,
    /// Add a region
    Add {
        /// ID, such as eu-north
        id: String,
        #[command(flatten)]
        fields: Fields,
    },
    /// Change a region
    ///
    /// Options that are not given leave their value unchanged.
    Update {
        /// ID of the region
        id: String,
        #[command(flatten)]
        fields: Fields,
    },
    /// Refuse new objects in a region; existing objects remain
    Retire {
        /// ID of the region
        id: String,
    },
    /// Permit new objects in a retired region again
    Reactivate {
        /// ID of the region
        id: String,
    },
}

#[derive(Args)]
pub struct Fields {
    /// Label; by default the ID
    #[arg(long)]
    label: Option<String>,
    /// Country code, such as us; required for a new region
    #[arg(long, value_name = "CODE")]
    country: Option<String>,
    /// Capability, such as VPCs; can be repeated, and replaces all capabilities
    #[arg(long = "capability", value_name = "NAME")]
    capabilities: Option<Vec<String>>,
    /// ok or outage
    #[arg(long)]
    status: Option<String>,
}

impl Fields {
    fn into_object(self) -> Vec<(String, Input)> {
        let text = |name: &str, value: Option<String>| Some((name.to_owned(), Input::Text(value?)));
        let capabilities = self.capabilities.map(|capabilities| {
            let list = capabilities.into_iter().map(Input::Text).collect();
            ("capabilities".to_owned(), Input::List(list))
        });
        let fields = [
            text("label", self.label),
            text("country", self.country),
            capabilities,
            text("status", self.status),
        ];
        fields.into_iter().flatten().collect()
    }
}

#[derive(Serialize)]
struct RegionView {
    id: String,
    label: String,
    country: String,
    capabilities: Vec<String>,
    status: String,
    retired: bool,
    source: &'static str,
    instances: i64,
    vpcs: i64,
    hosts: i64,
}

impl From<RegionDetails> for RegionView {
    fn from(details: RegionDetails) -> Self {
        let RegionDetails {
            region,
            usage,
            updated,
        } = details;
        Self {
            id: region.id,
            label: region.label,
            country: region.country,
            capabilities: region.capabilities,
            status: region.status,
            retired: region.retired,
            source: source(updated.is_some()),
            instances: usage.instances,
            vpcs: usage.vpcs,
            hosts: usage.hosts,
        }
    }
}

/// Where a region or plan comes from.
pub fn source(is_stored: bool) -> &'static str {
    match is_stored {
        true => "store",
        false => "settings",
    }
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::List => list(&store, output).await,
        Command::Add { id, fields } => {
            let mut object = fields.into_object();
            object.push(("id".to_owned(), Input::Text(id.clone())));
            let request = Request::with_fields(object);
            let added = store
                .write(move |tx| provider_regions::create(tx, &request))
                .await?;
            output.one(&RegionView::from(added), &format!("added region {id}"))
        }
        Command::Update { id, fields } => {
            let object = fields.into_object();
            if object.is_empty() {
                bail!("specify at least one of --label, --country, --capability and --status");
            }
            change(&store, output, id, object, "changed", provider_regions::update).await
        }
        Command::Retire { id } => {
            change(
                &store,
                output,
                id,
                Vec::new(),
                "retired",
                provider_regions::retire,
            )
            .await
        }
        Command::Reactivate { id } => {
            let rule = provider_regions::reactivate;
            change(&store, output, id, Vec::new(), "reactivated", rule).await
        }
    }
}

async fn list(store: &OpenStore, output: Output) -> anyhow::Result<()> {
    let listed = store
        .read(|tx| provider_regions::list(tx, &ListRequest::full_page()))
        .await?;
    let views: Vec<_> = listed.items.into_iter().map(RegionView::from).collect();
    let header = [
        "ID",
        "LABEL",
        "COUNTRY",
        "STATUS",
        "INSTANCES",
        "VPCS",
        "HOSTS",
        "SOURCE",
    ];
    output.many(&views, &header, |view| {
        let status = match view.retired {
            true => "retired",
            false => view.status.as_str(),
        };
        vec![
            view.id.clone(),
            view.label.clone(),
            view.country.clone(),
            status.to_owned(),
            view.instances.to_string(),
            view.vpcs.to_string(),
            view.hosts.to_string(),
            view.source.to_owned(),
        ]
    })
}

async fn change(
    store: &OpenStore,
    output: Output,
    id: String,
    object: Vec<(String, Input)>,
    done: &str,
    rule: fn(&mut WriteTx, &str, &Request) -> Result<RegionDetails>,
) -> anyhow::Result<()> {
    let (request, region) = (Request::with_fields(object), id.clone());
    let changed = store.write(move |tx| rule(tx, &region, &request)).await;
    let changed = changed.with_context(|| format!("region {id}"))?;
    output.one(&RegionView::from(changed), &format!("{done} region {id}"))
}
