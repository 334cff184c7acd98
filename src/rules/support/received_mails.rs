//! Messages that arrive by mail: which of them become replies or tickets (decision 0032).
//!
//! `mail/delivery.rs` parses a message, calls `receive`, and attaches the files. A message that has no effect is
//! dropped, or refused if its sender is verified. The mail server then returns it to the sender.

use std::ops::RangeInclusive;

use super::{mail_bounces, mail_key};
use crate::model::bounce_address;
use crate::model::grant::Permission;
use crate::model::history::HistoryStep;
use crate::model::id::{ReplyId, TicketId, UserId};
use crate::model::reason::Reasons;
use crate::model::received_mail::{FoldedText, ReceivedMail};
use crate::model::reply::ReplyText;
use crate::model::reply_address::{MailTarget, ReplyKey};
use crate::model::ticket::{NewTicket, Priority, Summary, TicketText};
use crate::model::user::User;
use crate::rules::agent::Agent;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, FieldError, Result};
use crate::rules::tickets::{self, TicketAuthor, append_history};
use crate::rules::transitions::{self, TicketAction};
use crate::rules::{desk, merges, replies};
use crate::store::history::NewHistory;
use crate::store::received_mails::{NewReceivedMail, StoredMail};
use crate::store::{self, ReadTx, WriteTx};

/// The maximum number of messages of a user in an hour. The mail server retries later messages.
const MAX_MESSAGES_PER_HOUR: i64 = 120;
const HOUR_SECONDS: i64 = 3600;
/// The text of a message that has only files.
const NO_TEXT: &str = "(no text)";
const NO_SUBJECT: &str = "(no subject)";

/// The effect of a message.
#[derive(Clone, Debug)]
pub enum Receipt {
    /// The text is stored, now or by an earlier delivery. Files after the first `files_done` are still missing.
    Stored(StoredMail, Sender),
    /// The message is a report, which is recorded.
    Recorded(&'static str),
    /// The message has no effect, and the sender gets no response.
    Dropped(&'static str),
    /// The message has no effect, and the mail server returns it to the sender.
    Refused(&'static str),
    /// The mail server must try again later.
    Deferred(&'static str),
}

/// The user who sent a message.
#[derive(Clone, Debug)]
pub enum Sender {
    Tenant(Box<Caller>),
    Staff(Agent),
}

/// The key that signs reply addresses, created on first use and shared by all nodes.
pub fn key(tx: &mut WriteTx) -> Result<ReplyKey> {
    mail_key::load(tx)
}

/// The address to which a user can reply by mail to a ticket; `None` if the desk has no mail address.
pub fn reply_address(tx: &mut WriteTx, ticket: TicketId, user: UserId) -> Result<Option<String>> {
    let Some(mail) = tx.policy().mail.clone() else {
        return Ok(None);
    };
    Ok(Some(key(tx)?.sign(&mail.reply_address, ticket, user)))
}

/// The reason why messages to an address are refused; `None` if the desk has the address.
pub fn refused_recipient(tx: &mut WriteTx, recipient: &str) -> Result<Option<&'static str>> {
    let Some(mail) = tx.policy().mail.clone() else {
        return Ok(Some("mail_disabled"));
    };
    let key = key(tx)?;
    Ok(match key.target(&mail.reply_address, recipient) {
        MailTarget::Reply(..) | MailTarget::NewTicket => None,
        MailTarget::Unknown => Some("address_unknown"),
        MailTarget::Forged => match bounce_address::verify(&key, &mail.reply_address, recipient) {
            Some(_) => None,
            None => Some("address_invalid"),
        },
    })
}

/// The folded texts of a user's messages to a ticket that the user sees, for these replies.
pub fn folded_for(
    tx: &mut ReadTx,
    caller: &Caller,
    id: TicketId,
    replies: &[ReplyId],
) -> Result<Vec<FoldedText>> {
    tickets::load_for(tx, caller, id, Permission::ReadOnly)?;
    let author = Some(caller.user());
    Ok(store::received_mails::folded(tx, id, range(replies), author)?)
}

/// The folded texts of all messages to a ticket, for staff.
pub fn folded(tx: &mut ReadTx, id: TicketId, replies: &[ReplyId]) -> Result<Vec<FoldedText>> {
    Ok(store::received_mails::folded(tx, id, range(replies), None)?)
}

fn range(replies: &[ReplyId]) -> RangeInclusive<i64> {
    let ids = || replies.iter().map(|id| id.0);
    ids().min().unwrap_or(0)..=ids().max().unwrap_or(0)
}

/// Turns a message into a reply or a ticket, at most once. `message_key` identifies the message.
pub fn receive(tx: &mut WriteTx, mail: &ReceivedMail, message_key: &str, recipient: &str) -> Result<Receipt> {
    if let Some(receipt) = mail_bounces::receive(tx, mail, recipient)? {
        return Ok(receipt);
    }
    if let Some(automatic) = mail.automatic {
        return Ok(Receipt::Dropped(automatic.word()));
    }
    let Some(sender) = &mail.sender else {
        return Ok(Receipt::Dropped("no_sender"));
    };
    if !sender.is_verified {
        return Ok(Receipt::Dropped("sender_unverified"));
    }
    let Some(policy) = tx.policy().mail.clone() else {
        return Ok(Receipt::Refused("mail_disabled"));
    };
    let key = key(tx)?;
    let is_from_desk = key.target(&policy.reply_address, &sender.address) != MailTarget::Unknown;
    if is_from_desk || has_own_message_id(tx, mail) {
        return Ok(Receipt::Dropped("loop"));
    }
    let (ticket, user) = match key.target(&policy.reply_address, recipient) {
        MailTarget::Reply(ticket, user) => (Some(ticket), user),
        MailTarget::NewTicket => match store::users::authors_with_email(tx, &sender.address)?[..] {
            [] => return Ok(Receipt::Dropped("stranger")),
            [user] => (None, user),
            _ => return Ok(Receipt::Refused("sender_ambiguous")),
        },
        MailTarget::Forged => return Ok(Receipt::Refused("address_invalid")),
        MailTarget::Unknown => return Ok(Receipt::Refused("address_unknown")),
    };
    let Some(user) = store::users::find_by_id(tx, user)? else {
        return Ok(Receipt::Refused("address_invalid"));
    };
    if user.email.as_str().to_lowercase() != sender.address {
        return Ok(Receipt::Refused("sender_differs"));
    }
    store_once(tx, mail, message_key, &user, ticket)
}

/// Whether the message is one of Garth's own mails, which a server has sent back without the header fields that show
/// this.
fn has_own_message_id(tx: &ReadTx, mail: &ReceivedMail) -> bool {
    let (policy, id) = (&tx.policy().outgoing_mail, &mail.message_id);
    matches!((policy, id), (Some(policy), Some(id)) if policy.is_own_message_id(id))
}

fn store_once(
    tx: &mut WriteTx,
    mail: &ReceivedMail,
    message_key: &str,
    user: &User,
    ticket: Option<TicketId>,
) -> Result<Receipt> {
    let sender = match user.is_staff() {
        true if user.disabled => return Ok(Receipt::Refused("no_access")),
        true => Sender::Staff(Agent {
            user: user.id,
            username: user.username.clone(),
        }),
        false => match Caller::by_mail(tx, user.id) {
            Err(Error::NoAccess(_)) => return Ok(Receipt::Refused("no_access")),
            caller => Sender::Tenant(Box::new(caller?)),
        },
    };
    // Replies to a merged ticket belong to the ticket that continues it.
    let ticket = match ticket {
        Some(ticket) => Some(merges::continuation(tx, ticket)?),
        None => None,
    };
    let message_key = match find_or_key(tx, user, message_key, ticket)? {
        Ok(stored) => return Ok(Receipt::Stored(stored, sender)),
        Err(key) => key,
    };
    let since = tx.now().plus_seconds(-HOUR_SECONDS);
    if store::received_mails::count_since(tx, user.id, since)? >= MAX_MESSAGES_PER_HOUR {
        return Ok(Receipt::Deferred("too_many"));
    }
    let created = match (&sender, ticket) {
        (Sender::Tenant(caller), Some(ticket)) => reply_as_tenant(tx, caller, ticket, mail)?,
        (Sender::Staff(agent), Some(ticket)) => reply_as_staff(tx, agent, ticket, mail)?,
        (Sender::Tenant(caller), None) => Ok((open(tx, caller, mail)?, None)),
        (Sender::Staff(_), None) => Err("staff_sender"),
    };
    let (ticket, reply) = match created {
        Ok(created) => created,
        Err(reason) => return Ok(Receipt::Refused(reason)),
    };
    let folded: String = mail.folded.chars().take(ReplyText::MAX).collect();
    let new = NewReceivedMail {
        author: user.id,
        message_key: &message_key,
        message_id: mail.message_id.as_deref(),
        ticket,
        reply,
        folded: &folded,
    };
    Ok(Receipt::Stored(store::received_mails::insert(tx, &new)?, sender))
}

/// The effect that a message already has on a ticket, or the key under which the effect is stored. A message to several
/// tickets has an effect on each of them, and opens no ticket then.
fn find_or_key(
    tx: &mut WriteTx,
    user: &User,
    message_key: &str,
    ticket: Option<TicketId>,
) -> Result<std::result::Result<StoredMail, String>> {
    let Some(first) = store::received_mails::find(tx, user.id, message_key)? else {
        return Ok(Err(message_key.to_owned()));
    };
    let Some(ticket) = ticket else {
        return Ok(Ok(first));
    };
    if merges::continuation(tx, first.ticket)? == ticket {
        return Ok(Ok(first));
    }
    let key = format!("{message_key}-{ticket}");
    Ok(store::received_mails::find(tx, user.id, &key)?.ok_or(key))
}

/// The ticket and the reply of a message, or the reason why it is refused.
type Created = std::result::Result<(TicketId, Option<ReplyId>), &'static str>;

fn reply_as_tenant(tx: &mut WriteTx, caller: &Caller, id: TicketId, mail: &ReceivedMail) -> Result<Created> {
    let mut ticket = match tickets::load_for(tx, caller, id, Permission::ReadWrite) {
        Err(Error::NotFound | Error::Forbidden) => return Ok(Err("no_permission")),
        other => other?,
    };
    let action = TicketAction::CustomerReply;
    if transitions::after(&ticket, action, tx.now(), &tx.policy().support).is_err() {
        return Ok(Err("ticket_closed"));
    }
    let text = reply_text(mail)?;
    let reply = replies::add(tx, &mut ticket, &TicketAuthor::of(caller), action, &text)?;
    Ok(Ok((id, Some(reply.id))))
}

fn reply_as_staff(tx: &mut WriteTx, agent: &Agent, id: TicketId, mail: &ReceivedMail) -> Result<Created> {
    let mut ticket = match desk::view(tx, id) {
        Err(Error::NotFound) => return Ok(Err("no_permission")),
        other => other?.ticket,
    };
    let action = TicketAction::StaffReply;
    if transitions::after(&ticket, action, tx.now(), &tx.policy().support).is_err() {
        return Ok(Err("ticket_closed"));
    }
    let (text, author) = (reply_text(mail)?, desk::author(tx, agent));
    let reply = replies::add(tx, &mut ticket, &author, action, &text)?;
    Ok(Ok((id, Some(reply.id))))
}

fn open(tx: &mut WriteTx, caller: &Caller, mail: &ReceivedMail) -> Result<TicketId> {
    let subject: String = mail.subject.chars().take(Summary::MAX).collect();
    let summary = match subject.trim() {
        "" => Summary::parse(NO_SUBJECT),
        subject => Summary::parse(subject),
    };
    let text: String = text_of(mail).chars().take(TicketText::MAX).collect();
    let new = NewTicket {
        account: caller.account,
        summary: summary.map_err(refuse)?,
        description: TicketText::parse(&text).map_err(refuse)?,
        entity: None,
        managed_issue: false,
        may_close: true,
        priority: Priority::Normal,
        opener: Some(caller.user()),
        opened_by: caller.username().to_owned(),
        gravatar_id: caller.gravatar_id(),
    };
    Ok(tickets::open(tx, caller, &new)?.id)
}

fn reply_text(mail: &ReceivedMail) -> Result<ReplyText> {
    let text: String = text_of(mail).chars().take(ReplyText::MAX).collect();
    ReplyText::parse(&text).map_err(refuse)
}

fn text_of(mail: &ReceivedMail) -> &str {
    match mail.text.trim() {
        "" => NO_TEXT,
        _ => &mail.text,
    }
}

fn refuse(reasons: Reasons) -> Error {
    let fields = reasons.into_iter().map(FieldError::whole);
    Error::Refused(fields.collect())
}

/// Records that the first `files_done` files of a message were attached or refused.
pub fn record_files(tx: &mut WriteTx, stored: &StoredMail, files_done: i64) -> Result<()> {
    Ok(store::received_mails::set_files_done(tx, stored.id, files_done)?)
}

/// Adds a note for staff with the names of the files that were not attached, and records that all files are done.
pub fn note_refused_files(
    tx: &mut WriteTx,
    stored: &StoredMail,
    sender: &Sender,
    refused: &[String],
    files_done: i64,
) -> Result<()> {
    record_files(tx, stored, files_done)?;
    if refused.is_empty() {
        return Ok(());
    }
    let ticket = desk::view(tx, stored.ticket)?.ticket;
    let author = match sender {
        Sender::Tenant(caller) => TicketAuthor::of(caller),
        Sender::Staff(agent) => desk::author(tx, agent),
    };
    let list = format!(
        "Files of a message that were not attached:\n\n{}",
        refused.join("\n")
    );
    let list: String = list.chars().take(ReplyText::MAX).collect();
    let text = ReplyText::parse(&list).map_err(refuse)?;
    let note = store::notes::insert(tx, ticket.id, &author.username, &text)?;
    let details = NewHistory {
        note: Some(note.id),
        ..NewHistory::default()
    };
    append_history(tx, &ticket, &author, HistoryStep::Note, &details)
}
