//! `garth announcement …`: announcements for all customers.

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::arguments;
use super::output::Output;
use super::store_args::{OpenStore, StoreArgs};
use crate::model::announcement::Announcement;
use crate::model::id::AnnouncementId;
use crate::model::input::Input;
use crate::rules::announcements;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;

#[derive(Subcommand)]
pub enum Command {
    /// Create an announcement
    ///
    /// Customers see it on every page of the console, and in /account/notifications.
    Create(Create),
    /// List announcements
    List,
    /// Delete an announcement
    Delete {
        /// ID of the announcement
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
}

#[derive(Args)]
pub struct Create {
    /// Title, on one line
    #[arg(long)]
    title: String,
    /// Text, in Markdown
    #[arg(long)]
    text: String,
    /// minor, major or critical
    #[arg(long)]
    severity: Option<String>,
    /// Time at which it appears, in UTC, such as 2026-01-15T09:00:00; by default now
    #[arg(long, value_name = "TIME")]
    starts: Option<String>,
    /// Time at which it disappears; by default, it remains until you delete it
    #[arg(long, value_name = "TIME")]
    ends: Option<String>,
}

#[derive(Serialize)]
struct AnnouncementView {
    id: i64,
    title: String,
    text: String,
    severity: &'static str,
    starts: String,
    ends: Option<String>,
}

impl From<Announcement> for AnnouncementView {
    fn from(announcement: Announcement) -> Self {
        Self {
            id: announcement.id.0,
            title: announcement.title.as_str().to_owned(),
            text: announcement.text.as_str().to_owned(),
            severity: announcement.severity.word(),
            starts: announcement.starts.to_string(),
            ends: announcement.ends.map(|ends| ends.to_string()),
        }
    }
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::Create(options) => create(&store, output, options).await,
        Command::List => list(&store, output).await,
        Command::Delete { id } => {
            let request = Request::empty();
            let deleted = store
                .write(move |tx| announcements::delete(tx, AnnouncementId(id), &request))
                .await;
            deleted.with_context(|| format!("announcement {id}"))?;
            output.one(&serde_json::json!({}), &format!("deleted announcement {id}"))
        }
    }
}

async fn create(store: &OpenStore, output: Output, options: Create) -> anyhow::Result<()> {
    let fields = [
        ("title", Some(options.title)),
        ("text", Some(options.text)),
        ("severity", options.severity),
        ("starts", options.starts),
        ("ends", options.ends),
    ];
    let set = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), Input::Text(value?))));
    let request = Request::with_fields(set);
    let announcement = store.write(move |tx| announcements::create(tx, &request)).await?;
    let message = format!("created announcement {}", announcement.id);
    output.one(&AnnouncementView::from(announcement), &message)
}

async fn list(store: &OpenStore, output: Output) -> anyhow::Result<()> {
    let listed = store
        .read(|tx| announcements::list(tx, &ListRequest::full_page()))
        .await?;
    let views: Vec<_> = listed.items.into_iter().map(AnnouncementView::from).collect();
    output.many(&views, &["ID", "TITLE", "SEVERITY", "STARTS", "ENDS"], |view| {
        vec![
            view.id.to_string(),
            view.title.clone(),
            view.severity.to_owned(),
            view.starts.clone(),
            view.ends.clone().unwrap_or_default(),
        ]
    })
}
