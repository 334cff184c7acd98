//! `garth mail …`: messages for the desk.

use std::io::Read;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Subcommand;
use serde::Serialize;

use super::output::Output;
use super::store_args::{OpenStore, StoreArgs, describe_error};
use super::{Failure, attachment_storage, mail_templates, outbox};
use crate::mail::delivery::{Delivery, Envelope, deliver};
use crate::mail::inbound::MAX_MESSAGE_BYTES;
use crate::model::mail_count::MailCount;
use crate::rules::mail_counts;
use crate::uploads::Uploads;

/// Exit codes for mail servers, from sysexits.h.
const EXIT_DATA_ERROR: u8 = 65;
const EXIT_NO_USER: u8 = 67;
const EXIT_TEMPORARY_FAILURE: u8 = 75;
const EXIT_NO_PERMISSION: u8 = 77;

#[derive(Subcommand)]
pub enum Command {
    /// Deliver one message from standard input to the desk
    ///
    /// For a mail server that runs a command for each message. The exit codes are those of sysexits.h. 0: delivered, or
    /// dropped because it is automatic or its sender is not verified. 65, 67, 77: refused. 75: try again later.
    Receive {
        /// Address of the recipient, as in the envelope
        #[arg(long, env = "RECIPIENT", value_name = "EMAIL")]
        recipient: String,
        /// Address of the sender, as in the envelope; empty for reports on other messages
        #[arg(long, env = "SENDER", value_name = "EMAIL")]
        sender: Option<String>,
    },
    /// Show how many messages arrived, by outcome and reason
    ///
    /// Counts the messages of garth mail receive and of LMTP since the store was created.
    Status,
    #[command(flatten)]
    Outbox(outbox::Command),
    #[command(flatten)]
    Templates(mail_templates::Command),
}

#[derive(Serialize)]
struct CountView {
    outcome: &'static str,
    reason: String,
    messages: i64,
    last_received: String,
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Receive { recipient, sender } => receive(store, recipient, sender).await,
        Command::Status => Ok(show_status(store, output).await?),
        Command::Outbox(command) => {
            outbox::run(store, output, command).await?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Templates(command) => {
            mail_templates::run(store, output, command).await?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn show_status(store: &StoreArgs, output: Output) -> anyhow::Result<ExitCode> {
    let counts = store.open()?.read(mail_counts::list).await?;
    let view = |count: MailCount| CountView {
        outcome: count.outcome.word(),
        reason: count.reason,
        messages: count.messages,
        last_received: count.last_received.to_string(),
    };
    let views: Vec<_> = counts.into_iter().map(view).collect();
    output.many(&views, &["OUTCOME", "REASON", "MESSAGES", "LAST"], |view| {
        vec![
            view.outcome.to_owned(),
            view.reason.clone(),
            view.messages.to_string(),
            view.last_received.clone(),
        ]
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn receive(store: &StoreArgs, recipient: String, sender: Option<String>) -> Result<ExitCode, Failure> {
    // Invalid settings and an unreachable store can be corrected, so the mail server tries again.
    let (opened, uploads) = open(store).map_err(retry)?;
    let policy = opened.store().policy().mail.clone();
    let policy = policy
        .context("mail.reply_address: required, such as support@example.com")
        .map_err(retry)?;
    let mut message = Vec::new();
    // One byte more than the limit, so that a message that is too large is recognized.
    let input = std::io::stdin().lock().take(MAX_MESSAGE_BYTES as u64 + 1);
    read_all(input, &mut message).map_err(retry)?;
    let envelope = Envelope {
        recipients: vec![recipient],
        sender,
        message,
    };
    let delivered = deliver(&uploads, &policy.authserv_id, envelope).await.pop();
    let delivered = delivered.expect("a message with one recipient has one result");
    opened.notify_server();
    let fail = |reason: &str, code: u8| Failure {
        error: anyhow!("the message was not delivered: {reason}"),
        exit_code: ExitCode::from(code),
    };
    match delivered {
        Ok(Delivery::Accepted(_) | Delivery::Dropped(_)) => Ok(ExitCode::SUCCESS),
        Ok(Delivery::Refused(reason)) => Err(fail(reason, refusal_code(reason))),
        Ok(Delivery::Deferred(reason)) => Err(fail(reason, EXIT_TEMPORARY_FAILURE)),
        Err(cause) => Err(retry(describe_error(cause))),
    }
}

/// Opens the store and the attachment storage.
fn open(store: &StoreArgs) -> anyhow::Result<(OpenStore, Uploads)> {
    let opened = store.open()?;
    let uploads = attachment_storage::open(store, &opened)?;
    Ok((opened, uploads))
}

fn read_all(mut input: impl Read, message: &mut Vec<u8>) -> anyhow::Result<()> {
    input.read_to_end(message).context("cannot read the message")?;
    Ok(())
}

/// A failure after which the mail server tries again.
fn retry(error: anyhow::Error) -> Failure {
    Failure {
        error,
        exit_code: ExitCode::from(EXIT_TEMPORARY_FAILURE),
    }
}

fn refusal_code(reason: &str) -> u8 {
    match reason {
        "address_invalid" | "address_unknown" => EXIT_NO_USER,
        "too_large" | "too_complex" | "no_header" => EXIT_DATA_ERROR,
        _ => EXIT_NO_PERMISSION,
    }
}
