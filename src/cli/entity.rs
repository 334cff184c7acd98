//! `garth entity …`: the directory of what accounts have in other services.

use anyhow::Context;
use clap::Subcommand;
use serde::Serialize;

use super::output::Output;
use super::place::{Place, parse_with};
use crate::model::entity::Entry;
use crate::model::id::AccountId;
use crate::model::subject::SubjectKind;
use crate::rules::entities::{self, EntityLabel};
use crate::rules::lists::ListRequest;

#[derive(Subcommand)]
pub enum Command {
    /// Name something that an account has in another service, so that tickets can be about it
    Set {
        /// The account's id
        #[arg(long)]
        account: i64,
        /// database, domain, firewall, lkecluster, longview, nodebalancer or volume
        #[arg(long = "type", value_name = "TYPE", value_parser = parse_with(SubjectKind::parse_foreign))]
        kind: SubjectKind,
        /// Its id in that service
        #[arg(long, value_parser = clap::value_parser!(i64).range(1..))]
        id: i64,
        /// What it is called
        #[arg(long, value_parser = parse_with(EntityLabel::parse))]
        label: EntityLabel,
    },
    /// List the directory
    List {
        /// Which hundred of it
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
        page: i64,
    },
}

#[derive(Serialize)]
struct EntryView {
    account_id: i64,
    #[serde(rename = "type")]
    kind: &'static str,
    id: i64,
    label: String,
}

impl From<Entry> for EntryView {
    fn from(entry: Entry) -> Self {
        Self {
            account_id: entry.account.0,
            kind: entry.kind.word(),
            id: entry.id,
            label: entry.label,
        }
    }
}

pub async fn run(place: &Place, output: Output, command: Command) -> anyhow::Result<()> {
    let store = place.open()?;
    match command {
        Command::Set {
            account,
            kind,
            id,
            label,
        } => {
            let set = store
                .write(move |tx| entities::set(tx, AccountId(account), kind, id, &label))
                .await;
            let entry = set.with_context(|| format!("account {account}"))?;
            let sentence = format!(
                "{} {} of account {account} is {}",
                entry.kind.word(),
                entry.id,
                entry.label
            );
            output.one(&EntryView::from(entry), &sentence)
        }
        Command::List { page } => {
            let list = ListRequest::default().at_page_in_url(&page.to_string());
            let found = store.read(move |tx| entities::list(tx, &list)).await?;
            let views: Vec<_> = found.items.into_iter().map(EntryView::from).collect();
            output.many(&views, &["ACCOUNT", "TYPE", "ID", "LABEL"], |view| {
                vec![
                    view.account_id.to_string(),
                    view.kind.to_owned(),
                    view.id.to_string(),
                    view.label.clone(),
                ]
            })
        }
    }
}
