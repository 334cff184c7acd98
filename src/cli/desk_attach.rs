//! `garth desk attach`: files of staff for a ticket.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::store_args::describe_error;
use crate::model::attachment::NewAttachment;
use crate::model::id::TicketId;
use crate::rules::agent::Agent;
use crate::rules::desk_attachments;
use crate::rules::uploaders::Uploader;
use crate::store::WriteTx;
use crate::uploads::{ReceivedFile, Uploads};

/// Attaches all files, or none of them.
pub async fn run(uploads: &Uploads, agent: Agent, ticket: TicketId, paths: &[PathBuf]) -> anyhow::Result<()> {
    let mut files = Vec::new();
    for path in paths {
        files.push(receive(uploads, path).await?);
    }
    let uploader = Uploader::Agent(agent.clone());
    let attach = move |tx: &mut WriteTx, _: &Uploader, files: &[NewAttachment]| {
        desk_attachments::create(tx, &agent, ticket, None, files)
    };
    let attached = uploads.attach_with(&uploader, ticket, files, attach).await;
    attached
        .map_err(describe_error)
        .with_context(|| format!("ticket {ticket}"))
}

/// Reads a file and checks it.
async fn receive(uploads: &Uploads, path: &Path) -> anyhow::Result<ReceivedFile> {
    let context = || format!("cannot attach {}", path.display());
    let Some(name) = path.file_name() else {
        bail!("{}: not a file", path.display());
    };
    let content = std::fs::read(path).with_context(context)?;
    let received = uploads.receive(&name.to_string_lossy(), &content).await;
    received.map_err(describe_error).with_context(context)
}
