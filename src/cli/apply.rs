//! `garth apply`

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use serde::Serialize;
use serde_json::json;

use super::account_choice::AccountChoice;
use super::output::Output;
use super::store_args::{OpenStore, StoreArgs, describe_error};
use crate::declared::{self, Action, Applied, ApplyError, ChangeLine, Document, Fault};
use crate::model::id::AccountId;

/// The maximum number of objects that a hint lists.
const MAX_LISTED: usize = 10;

#[derive(Args)]
pub struct Options {
    /// Document in YAML or JSON, as garth export prints it; - for standard input
    file: PathBuf,
    #[command(flatten)]
    account: AccountChoice,
    /// Print the changes, but make none
    #[arg(long)]
    dry_run: bool,
    /// Delete what the document does not have, of the kinds that it lists
    ///
    /// VPCs are deleted if the document has the key vpcs, instances if it has instances, and users if it has users. The
    /// subnets of a VPC are deleted if the VPC has the key subnets.
    #[arg(long)]
    prune: bool,
}

pub async fn run(store: &StoreArgs, output: Output, options: Options) -> anyhow::Result<()> {
    let text = read(&options.file)?;
    let store = store.open()?;
    let account = options.account.find(&store).await?;
    let applied = match declared::read(&text) {
        Ok(document) => apply(&store, document, account, &options).await?,
        Err(faults) => Err(faults),
    };
    match applied {
        Ok(applied) => print(output, &applied, options.dry_run),
        Err(faults) => {
            print_faults(output, &faults)?;
            Err(refused(&options.file, &faults))
        }
    }
}

/// Prints the faults as JSON. Without `--json`, they are only in the message.
fn print_faults(output: Output, faults: &[Fault]) -> anyhow::Result<()> {
    if !output.json {
        return Ok(());
    }
    let view = |fault: &Fault| match fault.path.as_str() {
        "" => json!({"reason": fault.text}),
        field => json!({"field": field, "reason": fault.text}),
    };
    let errors: Vec<_> = faults.iter().map(view).collect();
    output.text(&serde_json::to_string_pretty(&json!({"errors": errors}))?)
}

fn read(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin().read_to_string(&mut text).map(drop),
        false => std::fs::read_to_string(file).map(|content| text = content),
    };
    read.with_context(|| format!("cannot read {}", shown(file)))?;
    Ok(text)
}

fn shown(file: &Path) -> String {
    match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

fn refused(file: &Path, faults: &[Fault]) -> anyhow::Error {
    let lines: Vec<_> = faults.iter().map(|fault| format!("  {fault}")).collect();
    anyhow!(
        "{} was not applied, nothing is changed:\n{}",
        shown(file),
        lines.join("\n")
    )
}

async fn apply(
    store: &OpenStore,
    document: Document,
    account: AccountId,
    options: &Options,
) -> anyhow::Result<Result<Applied, Vec<Fault>>> {
    let rules = declared::Options {
        account,
        dry_run: options.dry_run,
        prune: options.prune,
    };
    let work = move |tx: &mut crate::store::WriteTx| declared::apply(tx, &document, rules);
    // The lock makes other writers of the account wait, so that they cannot invalidate a long transaction.
    match store.store().write_for(Some(account), work).await {
        Ok(applied) => {
            store.notify_server();
            Ok(Ok(applied))
        }
        Err(ApplyError::DryRun(applied)) => Ok(Ok(applied)),
        Err(ApplyError::Refused(faults)) => Ok(Err(faults)),
        Err(ApplyError::Account(error)) => {
            Err(describe_error(error)).with_context(|| format!("account {account}"))
        }
    }
}

#[derive(Serialize)]
struct AppliedView<'a> {
    dry_run: bool,
    changes: Vec<ChangeView<'a>>,
    /// Objects that the document does not have. `--prune` deletes them.
    unlisted: Vec<ObjectView<'a>>,
}

#[derive(Serialize)]
struct ChangeView<'a> {
    action: &'static str,
    #[serde(flatten)]
    object: ObjectView<'a>,
    fields: &'a [&'static str],
}

#[derive(Serialize)]
struct ObjectView<'a> {
    kind: &'static str,
    name: &'a str,
}

fn object(line: &ChangeLine) -> ObjectView<'_> {
    ObjectView {
        kind: line.kind,
        name: &line.name,
    }
}

fn change(line: &ChangeLine) -> ChangeView<'_> {
    ChangeView {
        action: line.action.word(),
        object: object(line),
        fields: &line.fields,
    }
}

fn print(output: Output, applied: &Applied, dry_run: bool) -> anyhow::Result<()> {
    if output.json {
        let view = AppliedView {
            dry_run,
            changes: applied.changes.iter().map(change).collect(),
            unlisted: applied.unlisted.iter().map(object).collect(),
        };
        return output.text(&serde_json::to_string_pretty(&view)?);
    }
    for line in &applied.changes {
        output.text(&line.to_string())?;
    }
    output.text(&summary(&applied.changes, dry_run))?;
    match applied.unlisted.is_empty() {
        true => Ok(()),
        false => output.hint(&unlisted_hint(&applied.unlisted)),
    }
}

fn summary(changes: &[ChangeLine], dry_run: bool) -> String {
    if changes.is_empty() {
        return "nothing to change".to_owned();
    }
    let count = |action| changes.iter().filter(|line| line.action == action).count();
    let [created, updated, deleted] = [Action::Create, Action::Update, Action::Delete].map(count);
    match dry_run {
        true => format!(
            "dry run, nothing is changed: {created} to create, {updated} to change, {deleted} to delete"
        ),
        false => format!("{created} created, {updated} changed, {deleted} deleted"),
    }
}

fn unlisted_hint(unlisted: &[ChangeLine]) -> String {
    let name = |line: &ChangeLine| format!("{} {}", line.kind, line.name);
    let mut names: Vec<_> = unlisted.iter().take(MAX_LISTED).map(name).collect();
    if unlisted.len() > MAX_LISTED {
        names.push(format!("{} more", unlisted.len() - MAX_LISTED));
    }
    format!("Not in the document (--prune deletes them): {}", names.join(", "))
}
