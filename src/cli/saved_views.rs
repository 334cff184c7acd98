//! `garth desk view`: saved views of the queue.

use anyhow::Context;
use clap::{Args, Subcommand};

use super::arguments;
use super::output::Output;
use super::store_args::OpenStore;
use crate::api::saved_views::SavedViewView;
use crate::model::id::SavedViewId;
use crate::model::input::Input;
use crate::model::saved_view::SavedView;
use crate::rules;
use crate::rules::agent::Agent;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;

#[derive(Subcommand)]
pub enum ViewCommand {
    /// List your views and the shared views
    List,
    /// Save filters of the queue under a label
    Save(NewView),
    /// Delete a view
    Delete {
        /// ID of the view
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
}

#[derive(Args)]
pub struct NewView {
    /// Label of the view
    label: String,
    /// Filters, as in the URL of the queue: q, status, claim, priority, tag, age, account and order
    #[arg(value_name = "NAME=VALUE", value_parser = filter)]
    filters: Vec<(String, String)>,
    /// Show the view to all staff
    #[arg(long)]
    shared: bool,
}

fn filter(raw: &str) -> Result<(String, String), String> {
    let (name, value) = raw
        .split_once('=')
        .ok_or("must be NAME=VALUE, such as status=new")?;
    Ok((name.to_owned(), value.to_owned()))
}

pub async fn run(
    store: &OpenStore,
    output: Output,
    agent: Agent,
    command: ViewCommand,
) -> anyhow::Result<()> {
    match command {
        ViewCommand::List => list(store, output, agent).await,
        ViewCommand::Save(new) => {
            let filters = new.filters.into_iter();
            let filters = filters.map(|(name, value)| (name, Input::Text(value))).collect();
            let request = Request::with_fields(vec![
                ("label".to_owned(), Input::Text(new.label)),
                ("shared".to_owned(), Input::Bool(new.shared)),
                ("filters".to_owned(), Input::Object(filters)),
            ]);
            let saved = store
                .write(move |tx| rules::saved_views::create(tx, &agent, &request))
                .await?;
            let text = format!("saved view {} ({})", saved.id, saved.label.as_str());
            output.one(&SavedViewView::new(&saved), &text)
        }
        ViewCommand::Delete { id } => {
            let request = Request::empty();
            let deleted =
                store.write(move |tx| rules::saved_views::delete(tx, &agent, SavedViewId(id), &request));
            deleted.await.with_context(|| format!("view {id}"))?;
            output.one(&serde_json::json!({}), &format!("deleted view {id}"))
        }
    }
}

async fn list(store: &OpenStore, output: Output, agent: Agent) -> anyhow::Result<()> {
    let listed = store.read(move |tx| rules::saved_views::list(tx, &agent, &ListRequest::full_page()));
    let found = listed.await?.items;
    if output.json {
        let views: Vec<_> = found.iter().map(SavedViewView::new).collect();
        return output.many(&views, &[], |_| Vec::new());
    }
    let rows: Vec<_> = found.iter().map(row).collect();
    output.many(&rows, &["ID", "LABEL", "SHARED", "BY", "FILTERS"], Clone::clone)
}

fn row(saved: &SavedView) -> Vec<String> {
    let filters = saved
        .filters
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    vec![
        saved.id.to_string(),
        saved.label.as_str().to_owned(),
        saved.is_shared.to_string(),
        saved.created_by.clone(),
        filters.collect::<Vec<_>>().join(" "),
    ]
}
