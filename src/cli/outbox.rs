//! `garth mail test`, `list`, `queue`, `suppressed` and `allow`: mails that Garth sends.

use anyhow::{Context, anyhow, bail};
use clap::Subcommand;

use super::outgoing_mail;
use super::output::Output;
use super::policy::mail_of;
use super::settings::Settings;
use super::store_args::{OpenStore, StoreArgs};
use crate::api::mail_counts::QueueView;
use crate::api::outgoing_mails::MailView;
use crate::api::suppressed_addresses::SuppressedAddressView;
use crate::mail::outbound::message;
use crate::mail::outbound::smtp::{self, Delivery, Failure, Step};
use crate::model::bounce_address;
use crate::model::id::{OutgoingMailId, TicketId};
use crate::model::outgoing_mail::{OutgoingMail, SuppressedAddress};
use crate::model::reply_address::ReplyKey;
use crate::model::token::TokenText;
use crate::rules::lists::ListRequest;
use crate::rules::{mail_counts, outgoing_mails, suppressed_addresses};
use crate::store::context::{Clock, RandomSource};

/// The number of rows in a list.
const MAX_LISTED: i64 = 500;

#[derive(Subcommand)]
pub enum Command {
    /// Send a test mail, and print each step
    Test {
        /// Address of the recipient
        #[arg(value_name = "EMAIL")]
        address: String,
    },
    /// List the mails about a ticket, newest first
    List {
        /// Number of the ticket
        ticket: i64,
    },
    /// Show how many mails are queued and have failed
    Queue,
    /// List the addresses that get no mails, because a mail server has refused them
    Suppressed,
    /// Let a suppressed address get mails again
    Allow {
        #[arg(value_name = "EMAIL")]
        address: String,
    },
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    match command {
        Command::Test { address } => test(store, output, &address).await,
        Command::List { ticket } => list(&store.open()?, output, TicketId(ticket)).await,
        Command::Queue => show_queue(&store.open()?, output).await,
        Command::Suppressed => list_suppressed(&store.open()?, output).await,
        Command::Allow { address } => allow(&store.open()?, output, address).await,
    }
}

async fn test(store: &StoreArgs, output: Output, address: &str) -> anyhow::Result<()> {
    let settings = Settings::from_environment()?.or(store.settings_file()?);
    let policy = outgoing_mail::policy_of(&settings)?;
    let (Some(policy), Some(server)) = (policy, outgoing_mail::server_of(&settings)?) else {
        bail!("mail.smtp_url: required, such as smtp://user@mx.example.com:587");
    };
    let from = policy.from.as_str();
    let (now, random) = (Clock::System.now(), RandomSource::System);
    let message_id = policy.message_id(&random.bytes());
    let content = message::test(from, address, &message_id, now)
        .with_context(|| format!("{address} is not an address"))?;
    // The mail server must accept senders of this form. The test mail is in no store, so that its signature is random.
    let sender = match mail_of(&settings)? {
        Some(desk) => {
            let key = ReplyKey::new(TokenText::from_bytes(random.bytes()));
            bounce_address::sign(&key, &desk.reply_address, OutgoingMailId(0))
        }
        None => from.to_owned(),
    };
    let delivery = Delivery {
        sender: &sender,
        recipient: address,
        content: &content,
    };
    let host = format!("{}:{}", server.host, server.port);
    let mut report = |step: Step| {
        // An error of the terminal does not end the delivery.
        let _ = output.text(&done(step, &host));
    };
    match smtp::deliver(&server, &delivery, &mut report).await {
        Ok(()) => Ok(()),
        Err(failure) => Err(anyhow!(
            "{}: {}; {}",
            name(failure.step),
            failure.status,
            advice(&failure)
        )),
    }
}

fn done(step: Step, host: &str) -> String {
    match step {
        Step::Connect => format!("connected to {host}"),
        Step::Encrypt => "encrypted with TLS, certificate verified".to_owned(),
        Step::LogIn => "logged in".to_owned(),
        Step::Sender => "sender accepted".to_owned(),
        Step::Recipient => "recipient accepted".to_owned(),
        Step::Data => "sending".to_owned(),
        Step::Content => "mail accepted".to_owned(),
    }
}

/// The problem of a step that failed.
pub fn name(step: Step) -> &'static str {
    match step {
        Step::Connect => "cannot connect",
        Step::Encrypt => "cannot encrypt the connection",
        Step::LogIn => "cannot log in",
        Step::Sender => "sender refused",
        Step::Recipient => "recipient refused",
        Step::Data | Step::Content => "mail refused",
    }
}

pub fn advice(failure: &Failure) -> &'static str {
    match (failure.step, failure.status.as_str()) {
        (Step::Connect, "timed_out") => "check the port in mail.smtp_url, and firewalls",
        (Step::Connect, "tls_failed") => {
            "check that the port in mail.smtp_url is for smtps:// and the certificate valid"
        }
        (Step::Connect, _) => "check the host and the port in mail.smtp_url",
        (Step::Encrypt, "no_starttls") => {
            "the server offers no STARTTLS on this port; use smtps:// or another port"
        }
        (Step::Encrypt, _) => "check the certificate of the mail server and the host name in mail.smtp_url",
        (Step::LogIn, "not_supported" | "530 5.7.0" | "538 5.7.11") => {
            "the server offers no log-in with PLAIN or LOGIN on this connection; if it offers one after STARTTLS, \
             append ?starttls=on to mail.smtp_url"
        }
        (Step::LogIn, _) => "check the user in mail.smtp_url and the password in mail.password_file",
        (Step::Sender, _) => {
            "let the mail server accept mail.from, and all addresses below mail.reply_address, as senders of this user"
        }
        (Step::Recipient, _) => "check the address, and that the mail server relays for this user",
        (Step::Data | Step::Content, _) => "the log of the mail server has the reason",
    }
}

async fn list(store: &OpenStore, output: Output, ticket: TicketId) -> anyhow::Result<()> {
    let request = ListRequest::first(MAX_LISTED);
    let mails = store
        .read(move |tx| outgoing_mails::list(tx, ticket, &request))
        .await;
    let mails = mails.with_context(|| format!("ticket {ticket}"))?.items;
    if output.json {
        let views: Vec<_> = mails.iter().map(MailView::new).collect();
        return output.many(&views, &[], |_| Vec::new());
    }
    let head = [
        "ID",
        "KIND",
        "ADDRESS",
        "STATE",
        "MAYBE TWICE",
        "ATTEMPTS",
        "QUEUED",
        "SENT",
        "ERROR",
    ];
    let rows: Vec<_> = mails.iter().map(row).collect();
    output.many(&rows, &head, Clone::clone)
}

fn row(mail: &OutgoingMail) -> Vec<String> {
    vec![
        mail.id.to_string(),
        mail.kind.word().to_owned(),
        mail.address.as_str().to_owned(),
        mail.state.word().to_owned(),
        mail.maybe_repeated.to_string(),
        mail.attempts.to_string(),
        mail.queued.to_string(),
        mail.sent.map(|sent| sent.to_string()).unwrap_or_default(),
        mail.error.clone().unwrap_or_default(),
    ]
}

async fn show_queue(store: &OpenStore, output: Output) -> anyhow::Result<()> {
    let queue = store.read(mail_counts::status).await?.queue;
    let oldest = queue.oldest_queued.map(|at| at.to_string());
    let text = format!(
        "queued: {}\nfailed: {}\noldest queued: {}",
        queue.queued,
        queue.failed,
        oldest.as_deref().unwrap_or("none")
    );
    output.one(&QueueView::new(&queue), &text)
}

async fn list_suppressed(store: &OpenStore, output: Output) -> anyhow::Result<()> {
    let request = ListRequest::first(MAX_LISTED);
    let found = store
        .read(move |tx| suppressed_addresses::list(tx, &request))
        .await?
        .items;
    if output.json {
        let views: Vec<_> = found.iter().map(SuppressedAddressView::new).collect();
        return output.many(&views, &[], |_| Vec::new());
    }
    let row = |suppressed: &SuppressedAddress| {
        let address = suppressed.address.as_str().to_owned();
        vec![address, suppressed.status.clone(), suppressed.since.to_string()]
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    output.many(&rows, &["ADDRESS", "STATUS", "SINCE"], Clone::clone)
}

async fn allow(store: &OpenStore, output: Output, address: String) -> anyhow::Result<()> {
    let wanted = address.clone();
    let allowed = store
        .write(move |tx| suppressed_addresses::allow(tx, &wanted))
        .await;
    allowed.with_context(|| format!("suppressed address {address}"))?;
    output.one(&serde_json::json!({}), &format!("{address} gets mails again"))
}
