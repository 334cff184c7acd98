//! Delivers a message to the desk: parses it, runs the rule, and attaches its files.

use sha2::{Digest, Sha256};

use super::inbound::{self, Unreadable};
use crate::model::mail_count::MailOutcome;
use crate::model::received_mail::{MailFile, ReceivedMail};
use crate::model::reply::ReplyText;
use crate::model::token::hex;
use crate::rules::received_mails::{self, Receipt, Sender};
use crate::rules::uploaders::Uploader;
use crate::rules::{Error, Result, mail_counts};
use crate::store::received_mails::StoredMail;
use crate::store::{Store, WriteTx};
use crate::uploads::Uploads;

/// A longer text is attached as a file, too.
const LONG_TEXT_FILE: &str = "message.txt";

/// A message with its envelope.
#[derive(Debug)]
pub struct Envelope {
    pub recipients: Vec<String>,
    /// Empty for reports on other messages; `None` if unknown.
    pub sender: Option<String>,
    pub message: Vec<u8>,
}

/// The result for the mail server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The message has its effect, completely: it is a reply, a ticket or a report.
    Accepted(&'static str),
    /// The message is accepted without effect.
    Dropped(&'static str),
    /// The server returns the message to its sender.
    Refused(&'static str),
    /// The server must try again later.
    Deferred(&'static str),
}

impl Delivery {
    /// The outcome and the reason, under which the message is counted.
    pub const fn words(self) -> (MailOutcome, &'static str) {
        match self {
            Delivery::Accepted(reason) => (MailOutcome::Accepted, reason),
            Delivery::Dropped(reason) => (MailOutcome::Dropped, reason),
            Delivery::Refused(reason) => (MailOutcome::Refused, reason),
            Delivery::Deferred(reason) => (MailOutcome::Deferred, reason),
        }
    }
}

/// Delivers a message, and counts it. Returns one result for each recipient. An error of the store or of the attachment
/// storage means that the server must try again: a message that is delivered again continues where it stopped.
pub async fn deliver(uploads: &Uploads, authserv_id: &str, envelope: Envelope) -> Vec<Result<Delivery>> {
    let (authserv_id, recipients) = (authserv_id.to_owned(), envelope.recipients);
    let (sender, message) = (envelope.sender, envelope.message);
    // A large message takes some time to parse.
    let parsing = tokio::task::spawn_blocking(move || {
        let mail = inbound::parse_effective(&message, &authserv_id, sender.as_deref())?;
        let mail = with_long_text(mail);
        let key = message_key(&mail, &message);
        Ok((mail, key))
    });
    let parsed: std::result::Result<_, Unreadable> = match parsing.await {
        Ok(parsed) => parsed,
        Err(_) => Err(Unreadable::TooComplex),
    };
    let mut deliveries = Vec::with_capacity(recipients.len());
    // A message that is a reply opens no ticket, so that its replies are first.
    let (replies, others): (Vec<_>, Vec<_>) = recipients
        .into_iter()
        .enumerate()
        .partition(|(_, recipient)| recipient.contains('+'));
    for (place, recipient) in replies.into_iter().chain(others) {
        let delivered = match &parsed {
            Ok((mail, key)) => deliver_parsed(uploads, recipient, mail, key).await,
            Err(unreadable) => Ok(Delivery::Refused(unreadable.word())),
        };
        let outcome = delivered.as_ref().copied();
        count(
            &uploads.store,
            outcome.unwrap_or(Delivery::Deferred("unavailable")),
        )
        .await;
        deliveries.push((place, delivered));
    }
    deliveries.sort_unstable_by_key(|(place, _)| *place);
    deliveries.into_iter().map(|(_, delivered)| delivered).collect()
}

/// Counts a message under its outcome and reason. If the store fails, the message is not counted.
pub async fn count(store: &Store, delivery: Delivery) {
    let (outcome, reason) = delivery.words();
    let counted = store
        .write(move |tx: &mut WriteTx| mail_counts::count(tx, outcome, reason))
        .await;
    if let Err(cause) = counted {
        tracing::warn!(error = ?cause, "message not counted");
    }
}

async fn deliver_parsed(
    uploads: &Uploads,
    recipient: String,
    mail: &ReceivedMail,
    key: &str,
) -> Result<Delivery> {
    let (rule_mail, key) = (mail.without_files(), key.to_owned());
    let rule = move |tx: &mut WriteTx| received_mails::receive(tx, &rule_mail, &key, &recipient);
    let (stored, sender) = match uploads.store.write(rule).await? {
        Receipt::Stored(stored, sender) => (stored, sender),
        Receipt::Recorded(reason) => return Ok(Delivery::Accepted(reason)),
        Receipt::Dropped(reason) => return Ok(Delivery::Dropped(reason)),
        Receipt::Refused(reason) => return Ok(Delivery::Refused(reason)),
        Receipt::Deferred(reason) => return Ok(Delivery::Deferred(reason)),
    };
    let files_done = usize::try_from(stored.files_done).unwrap_or_default();
    if files_done > mail.files.len() {
        return Ok(Delivery::Dropped("duplicate"));
    }
    attach_files(uploads, &stored, &sender, mail, files_done).await?;
    Ok(Delivery::Accepted(if stored.is_reply {
        "reply"
    } else {
        "ticket"
    }))
}

/// Attaches the files that are still missing. After the last one, `files_done` is one more than the number of files.
async fn attach_files(
    uploads: &Uploads,
    stored: &StoredMail,
    sender: &Sender,
    mail: &ReceivedMail,
    files_done: usize,
) -> Result<()> {
    let count = mail.files.len() as i64;
    let mut refused = Vec::new();
    let uploader = match sender {
        Sender::Tenant(caller) => Uploader::Tenant(caller.clone()),
        Sender::Staff(agent) => Uploader::Agent(agent.clone()),
    };
    for (index, file) in mail.files.iter().enumerate().skip(files_done) {
        let name = file.name.clone();
        if let Some(reason) = attach(uploads, &uploader, stored, file).await? {
            refused.push(format!("{name}: {reason}"));
        }
        // The names of refused files are recorded at the end: if the process dies before, they are refused again.
        if refused.is_empty() {
            let (stored, done) = (stored.clone(), index as i64 + 1);
            let record = move |tx: &mut WriteTx| received_mails::record_files(tx, &stored, done);
            uploads.store.write(record).await?;
        }
    }
    if mail.dropped_files > 0 {
        refused.push(format!("{} more files", mail.dropped_files));
    }
    let (stored, sender) = (stored.clone(), sender.clone());
    let complete =
        move |tx: &mut WriteTx| received_mails::note_refused_files(tx, &stored, &sender, &refused, count + 1);
    uploads.store.write(complete).await
}

/// Attaches a file. Returns the reason if the file is refused.
async fn attach(
    uploads: &Uploads,
    uploader: &Uploader,
    stored: &StoredMail,
    file: &MailFile,
) -> Result<Option<String>> {
    let attached = async {
        let file = uploads.receive(&file.name, &file.content).await?;
        uploads.attach(uploader, stored.ticket, None, file).await
    };
    match attached.await {
        Ok(()) => Ok(None),
        Err(Error::Refused(errors)) => Ok(errors.into_iter().next().map(|error| error.reason)),
        Err(Error::NotFound | Error::Forbidden | Error::Unauthenticated | Error::NoAccess(_)) => {
            Ok(Some("the user has no permission".to_owned()))
        }
        Err(other) => Err(other),
    }
}

/// Adds the text as a file, if it is too long for a reply.
fn with_long_text(mut mail: ReceivedMail) -> ReceivedMail {
    if mail.text.chars().count() > ReplyText::MAX {
        mail.files.push(MailFile {
            name: LONG_TEXT_FILE.to_owned(),
            content: mail.text.clone().into_bytes(),
        });
    }
    mail
}

/// Identifies a message: the hash of its Message-ID, or of its content if it has none. The prefix ensures that no
/// Message-ID has the hash of a content.
fn message_key(mail: &ReceivedMail, message: &[u8]) -> String {
    match &mail.message_id {
        Some(id) => hex(&Sha256::digest(id.as_bytes())),
        None => format!("content-{}", hex(&Sha256::digest(message))),
    }
}
