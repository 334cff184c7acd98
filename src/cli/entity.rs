//! `garth entity …`: the directory of entities that accounts have in other services.

use anyhow::Context;
use clap::Subcommand;
use serde::Serialize;

use super::arguments::{self, integer, parse_with};
use super::output::Output;
use super::store_args::StoreArgs;
use crate::model::entity::Entry;
use crate::model::id::AccountId;
use crate::model::subject::SubjectKind;
use crate::rules::entities::{self, EntityLabel};
use crate::rules::lists::ListRequest;

#[derive(Subcommand)]
pub enum Command {
    /// Add an entity of an account, or change its label
    Set {
        /// ID of the account
        #[arg(long, value_name = "ID", value_parser = arguments::id)]
        account: i64,
        /// Type of the entity: database, domain, firewall, lkecluster, longview, nodebalancer or volume
        #[arg(long = "type", value_name = "TYPE", value_parser = parse_with(SubjectKind::parse_foreign))]
        kind: SubjectKind,
        /// ID of the entity in the other service
        #[arg(long, value_parser = arguments::id)]
        id: i64,
        /// Label of the entity
        #[arg(long, value_parser = parse_with(EntityLabel::parse))]
        label: EntityLabel,
    },
    /// Delete an entity of an account. Tickets about it still show its label
    Delete {
        /// ID of the account
        #[arg(long, value_name = "ID", value_parser = arguments::id)]
        account: i64,
        /// Type of the entity: database, domain, firewall, lkecluster, longview, nodebalancer or volume
        #[arg(long = "type", value_name = "TYPE", value_parser = parse_with(SubjectKind::parse_foreign))]
        kind: SubjectKind,
        /// ID of the entity in the other service
        #[arg(long, value_parser = arguments::id)]
        id: i64,
    },
    /// List the entities of all accounts
    List {
        /// Page number (100 entities per page)
        #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = integer(1..=i64::MAX))]
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

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
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
            let message = format!(
                "set the label of {} {} (account {account}) to {:?}",
                entry.kind.word(),
                entry.id,
                entry.label
            );
            output.one(&EntryView::from(entry), &message)
        }
        Command::Delete { account, kind, id } => {
            let deleted = store
                .write(move |tx| entities::remove(tx, AccountId(account), kind, id))
                .await;
            let name = format!("{} {id} (account {account})", kind.word());
            let entry = deleted.with_context(|| name.clone())?;
            output.one(&EntryView::from(entry), &format!("deleted {name}"))
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
