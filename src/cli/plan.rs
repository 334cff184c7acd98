//! `garth plan …`: the plans of the provider.

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::output::Output;
use super::region::source;
use super::store_args::{OpenStore, StoreArgs};
use crate::model::input::Input;
use crate::rules::Result;
use crate::rules::lists::ListRequest;
use crate::rules::provider_plans::{self, PlanDetails};
use crate::rules::request::Request;
use crate::store::WriteTx;

#[derive(Subcommand)]
pub enum Command {
    /// List the plans, with the number of their instances
    List,
    /// Add a plan
    Add {
        /// ID, such as g1-small
        id: String,
        #[command(flatten)]
        fields: Fields,
    },
    /// Change a plan
    ///
    /// Options that are not given leave their value unchanged.
    Update {
        /// ID of the plan
        id: String,
        #[command(flatten)]
        fields: Fields,
    },
    /// Refuse new instances of a plan; existing instances keep it
    Retire {
        /// ID of the plan
        id: String,
    },
    /// Permit new instances of a retired plan again
    Reactivate {
        /// ID of the plan
        id: String,
    },
}

#[derive(Args)]
pub struct Fields {
    /// Label; by default the ID
    #[arg(long)]
    label: Option<String>,
    /// Class, such as standard
    #[arg(long)]
    class: Option<String>,
    /// Number of virtual CPUs; required for a new plan
    #[arg(long, value_name = "NUMBER")]
    vcpus: Option<i64>,
    /// Memory in megabytes; required for a new plan
    #[arg(long, value_name = "MEGABYTES")]
    memory: Option<i64>,
    /// Space for disks in megabytes; required for a new plan
    #[arg(long, value_name = "MEGABYTES")]
    disk: Option<i64>,
    /// Transfer in gigabytes a month
    #[arg(long, value_name = "GIGABYTES")]
    transfer: Option<i64>,
    /// Outbound bandwidth in megabits per second
    #[arg(long, value_name = "MEGABITS")]
    network_out: Option<i64>,
    /// Number of GPUs
    #[arg(long, value_name = "NUMBER")]
    gpus: Option<i64>,
    /// Price per hour in dollars
    #[arg(long, value_name = "DOLLARS", allow_negative_numbers = true)]
    hourly: Option<f64>,
    /// Price per month in dollars
    #[arg(long, value_name = "DOLLARS", allow_negative_numbers = true)]
    monthly: Option<f64>,
}

impl Fields {
    fn into_object(self) -> Vec<(String, Input)> {
        let text = |name: &str, value: Option<String>| Some((name.to_owned(), Input::Text(value?)));
        let integer = |name: &str, value: Option<i64>| Some((name.to_owned(), Input::Integer(value?)));
        let price = |name: &str, value: Option<f64>| Some((name.to_owned(), Input::Number(value?)));
        let prices = [price("hourly", self.hourly), price("monthly", self.monthly)];
        let prices: Vec<_> = prices.into_iter().flatten().collect();
        let fields = [
            text("label", self.label),
            text("class", self.class),
            integer("vcpus", self.vcpus),
            integer("memory", self.memory),
            integer("disk", self.disk),
            integer("transfer", self.transfer),
            integer("network_out", self.network_out),
            integer("gpus", self.gpus),
            (!prices.is_empty()).then(|| ("price".to_owned(), Input::Object(prices))),
        ];
        fields.into_iter().flatten().collect()
    }
}

#[derive(Serialize)]
struct PlanView {
    id: String,
    label: String,
    class: String,
    vcpus: i64,
    memory: i64,
    disk: i64,
    transfer: i64,
    network_out: i64,
    gpus: i64,
    price: PriceView,
    retired: bool,
    source: &'static str,
    instances: i64,
}

#[derive(Serialize)]
struct PriceView {
    hourly: f64,
    monthly: f64,
}

impl From<PlanDetails> for PlanView {
    fn from(details: PlanDetails) -> Self {
        let plan = details.plan;
        Self {
            id: plan.id,
            label: plan.label,
            class: plan.class,
            vcpus: plan.vcpus,
            memory: plan.memory,
            disk: plan.disk,
            transfer: plan.transfer,
            network_out: plan.network_out,
            gpus: plan.gpus,
            price: PriceView {
                hourly: plan.prices.hourly.dollars(),
                monthly: plan.prices.monthly.dollars(),
            },
            retired: plan.retired,
            source: source(details.updated.is_some()),
            instances: details.instances,
        }
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
                .write(move |tx| provider_plans::create(tx, &request))
                .await?;
            output.one(&PlanView::from(added), &format!("added plan {id}"))
        }
        Command::Update { id, fields } => {
            let object = fields.into_object();
            if object.is_empty() {
                bail!("specify at least one option, such as --label");
            }
            change(&store, output, id, object, "changed", provider_plans::update).await
        }
        Command::Retire { id } => {
            change(&store, output, id, Vec::new(), "retired", provider_plans::retire).await
        }
        Command::Reactivate { id } => {
            let rule = provider_plans::reactivate;
            change(&store, output, id, Vec::new(), "reactivated", rule).await
        }
    }
}

async fn list(store: &OpenStore, output: Output) -> anyhow::Result<()> {
    let listed = store
        .read(|tx| provider_plans::list(tx, &ListRequest::full_page()))
        .await?;
    let views: Vec<_> = listed.items.into_iter().map(PlanView::from).collect();
    let header = [
        "ID",
        "LABEL",
        "CLASS",
        "VCPUS",
        "MEMORY",
        "DISK",
        "MONTHLY",
        "INSTANCES",
        "STATE",
        "SOURCE",
    ];
    output.many(&views, &header, |view| {
        let state = match view.retired {
            true => "retired",
            false => "offered",
        };
        vec![
            view.id.clone(),
            view.label.clone(),
            view.class.clone(),
            view.vcpus.to_string(),
            view.memory.to_string(),
            view.disk.to_string(),
            view.price.monthly.to_string(),
            view.instances.to_string(),
            state.to_owned(),
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
    rule: fn(&mut WriteTx, &str, &Request) -> Result<PlanDetails>,
) -> anyhow::Result<()> {
    let (request, plan) = (Request::with_fields(object), id.clone());
    let changed = store.write(move |tx| rule(tx, &plan, &request)).await;
    let changed = changed.with_context(|| format!("plan {id}"))?;
    output.one(&PlanView::from(changed), &format!("{done} plan {id}"))
}
