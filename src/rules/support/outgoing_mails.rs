//! The outbox: mails are queued by the rules that change tickets, and sent by jobs (decision 0045).

use super::account_mails::{self, AccountContent};
use super::{mail_choices, mail_key, mail_queue};
use crate::model::account::status::AccountStatus;
use crate::model::bounce_address;
use crate::model::branding::Branding;
use crate::model::id::{OutgoingMailId, ReplyId, TicketId};
use crate::model::job::{Job, Outcome};
use crate::model::mail_template::MailTemplates;
use crate::model::outgoing_mail::{
    ADDRESS_SUPPRESSED, DIGEST_SECONDS, MailKind, MailState, Notice, NoticeKind, OutgoingMail, SendResult,
    UndeliveredMail, is_bad_address,
};
use crate::model::page::Paged;
use crate::model::policy::OutgoingMailPolicy;
use crate::model::ticket::{DeskTicket, Ticket};
use crate::model::time::Time;
use crate::model::user::User;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::store::{self, ReadTx, WriteTx};

/// A mail has the newest notices, and the number of the others.
const MAX_NOTICES: usize = 20;

/// Everything that a mail is rendered from.
#[derive(Clone, Debug)]
pub struct Draft {
    pub kind: MailKind,
    pub recipient: String,
    /// The sender in the envelope, which gets reports.
    pub envelope_sender: String,
    pub policy: OutgoingMailPolicy,
    pub brand: Branding,
    pub templates: MailTemplates,
    pub message_id: String,
    pub date: Time,
    /// The name of the recipient.
    pub username: String,
    pub content: Content,
}

#[derive(Clone, Debug)]
pub enum Content {
    Ticket(TicketContent),
    Account(AccountContent),
}

/// The content of a mail about a ticket.
#[derive(Clone, Debug)]
pub struct TicketContent {
    /// The Message-IDs of the thread, without angle brackets. The first one is the same for all mails about the ticket.
    pub references: Vec<String>,
    /// The signed address for replies.
    pub reply_to: Option<String>,
    pub unsubscribe_url: String,
    pub ticket: TicketId,
    pub summary: String,
    /// The company of the account; possibly empty.
    pub company: String,
    pub notices: Vec<DraftNotice>,
    /// The number of earlier notices that are not in the mail.
    pub omitted: usize,
}

#[derive(Clone, Debug)]
pub struct DraftNotice {
    pub kind: NoticeKind,
    pub author: String,
    /// The text of the ticket or of a reply.
    pub text: Option<String>,
}

/// Queues a notice: in the mail to this user about this ticket that is still queued, or in a new one. A new mail is
/// due a minute after the last one.
pub(super) fn queue(
    tx: &mut WriteTx,
    kind: MailKind,
    ticket: TicketId,
    user: &User,
    notice: &Notice,
) -> Result<()> {
    let last = store::outgoing_mails::newest(tx, ticket, user.id)?;
    if let Some(open) = last.as_ref().filter(|mail| mail.accepts_notices()) {
        return Ok(store::outgoing_mails::add_notice(tx, open.id, notice)?);
    }
    let now = tx.instant();
    let due = last.map_or(now, |last| now.max(last.last_step().plus_seconds(DIGEST_SECONDS)));
    if let Some(mail) = mail_queue::add(tx, kind, Some(ticket), user, due)? {
        store::outgoing_mails::add_notice(tx, mail, notice)?;
    }
    Ok(())
}

/// Whether a user has access and sees a ticket.
pub(super) fn may_see(tx: &mut ReadTx, user: &User, ticket: TicketId) -> Result<bool> {
    let Some(account) = user.account else {
        return Ok(!user.disabled);
    };
    let is_active =
        store::accounts::find(tx, account)?.is_some_and(|account| account.status == AccountStatus::Active);
    let Some(ticket) = store::tickets::find(tx, account, ticket)? else {
        return Ok(false);
    };
    Ok(is_active && !user.disabled && ticket.permission_of(user).is_some())
}

/// Begins an attempt to send a mail, and returns its content. `None` if there is nothing to send.
pub fn begin(tx: &mut WriteTx, job: &Job) -> Result<Option<Draft>> {
    let policy = tx.policy().outgoing_mail.clone().ok_or(Error::NotFound)?;
    let Some(mut mail) = find(tx, job)? else {
        return Ok(None);
    };
    // The process of the last attempt has died. The mail server may have accepted the mail before.
    mail.maybe_repeated |= mail.state == MailState::Sending;
    mail.attempts += 1;
    mail.last_attempt = Some(tx.now());
    let (user, content) = match prepare(tx, &mail, &policy)? {
        Ok(prepared) => prepared,
        Err(reason) => {
            mail.state = MailState::Suppressed;
            mail.error = Some(reason.to_owned());
            store::outgoing_mails::update(tx, &mail)?;
            return Ok(None);
        }
    };
    mail.state = MailState::Sending;
    mail.address = user.email.clone();
    store::outgoing_mails::update(tx, &mail)?;
    let envelope_sender = match &tx.policy().mail {
        Some(desk) => bounce_address::sign(&mail_key::load(tx)?, &desk.reply_address, mail.id),
        None => policy.from.as_str().to_owned(),
    };
    Ok(Some(Draft {
        kind: mail.kind,
        recipient: user.email.as_str().to_owned(),
        envelope_sender,
        brand: store::branding::load(tx)?,
        templates: store::mail_templates::load(tx)?,
        message_id: mail.message_id,
        date: tx.now(),
        username: user.username.as_str().to_owned(),
        content,
        policy,
    }))
}

/// The recipient and the content of a mail, or the reason why the mail is not sent.
fn prepare(
    tx: &mut WriteTx,
    mail: &OutgoingMail,
    policy: &OutgoingMailPolicy,
) -> Result<std::result::Result<(User, Content), &'static str>> {
    if matches!(mail.kind, MailKind::Ticket | MailKind::Desk) {
        return Ok(match recipient(tx, mail)? {
            Ok((user, ticket)) => {
                let content = ticket_content(tx, mail, &user, &ticket, policy)?;
                Ok((user, Content::Ticket(content)))
            }
            Err(reason) => Err(reason),
        });
    }
    let user = match account_mails::recipient(tx, mail)? {
        Ok(user) => user,
        Err(reason) => return Ok(Err(reason)),
    };
    let content = account_mails::content(tx, mail, &user)?;
    Ok(content
        .map(|content| (user, Content::Account(content)))
        .ok_or("no_content"))
}

/// The mail of a job, unless it has reached its last state.
fn find(tx: &mut ReadTx, job: &Job) -> Result<Option<OutgoingMail>> {
    let Ok(id) = job.subject.parse() else {
        return Ok(None);
    };
    let found = store::outgoing_mails::find(tx, OutgoingMailId(id))?;
    Ok(found.filter(|mail| matches!(mail.state, MailState::Queued | MailState::Sending)))
}

/// The user and the ticket of a mail, or the reason why the mail is not sent. Both can have changed since the mail was
/// queued.
fn recipient(
    tx: &mut ReadTx,
    mail: &OutgoingMail,
) -> Result<std::result::Result<(User, DeskTicket), &'static str>> {
    let (Some(user), Some(ticket)) = (mail.recipient, mail.ticket) else {
        return Ok(Err("no_access"));
    };
    let Some(user) = store::users::find_by_id(tx, user)? else {
        return Ok(Err("no_access"));
    };
    if !may_see(tx, &user, ticket)? {
        return Ok(Err("no_access"));
    }
    if !mail_choices::wants_mail(tx, &user)? {
        return Ok(Err("unsubscribed"));
    }
    if store::suppressed_addresses::is_suppressed(tx, &user.email)? {
        return Ok(Err(ADDRESS_SUPPRESSED));
    }
    match store::desk::find(tx, ticket)? {
        Some(ticket) => Ok(Ok((user, ticket))),
        None => Ok(Err("no_access")),
    }
}

fn ticket_content(
    tx: &mut WriteTx,
    mail: &OutgoingMail,
    user: &User,
    ticket: &DeskTicket,
    policy: &OutgoingMailPolicy,
) -> Result<TicketContent> {
    let company = ticket.company.clone();
    let ticket = &ticket.ticket;
    let key = mail_key::load(tx)?;
    let desk = tx.policy().mail.as_ref();
    let mut references = vec![policy.thread_id(ticket.id)];
    references.extend(store::received_mails::newest_message_id(tx, user.id, ticket.id)?);
    let (notices, omitted) = draft_notices(tx, mail.id, ticket)?;
    Ok(TicketContent {
        references,
        reply_to: desk.map(|desk| key.sign(&desk.reply_address, ticket.id, user.id)),
        unsubscribe_url: mail_choices::link(&key, policy, user.id),
        ticket: ticket.id,
        summary: ticket.summary.as_str().to_owned(),
        company,
        notices,
        omitted,
    })
}

fn draft_notices(
    tx: &mut ReadTx,
    mail: OutgoingMailId,
    ticket: &Ticket,
) -> Result<(Vec<DraftNotice>, usize)> {
    let notices = store::outgoing_mails::notices(tx, mail)?;
    let omitted = notices.len().saturating_sub(MAX_NOTICES);
    let mut texts = store::replies::texts(tx, mail)?;
    let drafts = notices.into_iter().skip(omitted).map(|notice| DraftNotice {
        kind: notice.kind,
        author: notice.author,
        text: match notice.kind {
            NoticeKind::Opened | NoticeKind::Assigned => Some(ticket.description.as_str().to_owned()),
            _ => notice.reply.and_then(|reply| texts.remove(&reply)),
        },
    });
    Ok((drafts.collect(), omitted))
}

/// Records the result of an attempt, and decides when the next one is due.
pub fn finish(tx: &mut WriteTx, job: &Job, result: &SendResult) -> Result<Outcome> {
    let Some(mut mail) = find(tx, job)? else {
        return Ok(Outcome::Done);
    };
    let now = tx.now();
    let mut outcome = Outcome::Done;
    match result {
        SendResult::Skipped => return Ok(Outcome::Done),
        SendResult::Sent => {
            mail.state = MailState::Sent;
            mail.sent = Some(now);
            mail.error = None;
        }
        SendResult::Refused { status } => {
            mail.state = MailState::Failed;
            mail.error = Some(status.clone());
            if is_bad_address(status) {
                store::suppressed_addresses::insert(tx, &mail.address, status)?;
            }
        }
        SendResult::Retry { status, maybe_sent } => {
            mail.maybe_repeated |= maybe_sent;
            mail.error = Some(status.clone());
            mail.state = match mail.next_attempt(tx.instant()) {
                None => MailState::Failed,
                Some(due) => {
                    outcome = Outcome::Again {
                        payload: String::new(),
                        due,
                    };
                    MailState::Queued
                }
            };
        }
    }
    store::outgoing_mails::update(tx, &mail)?;
    Ok(outcome)
}

/// Records that an operator has deleted the job of a mail.
pub fn cancel(tx: &mut WriteTx, id: OutgoingMailId) -> Result<()> {
    let Some(mut mail) = store::outgoing_mails::find(tx, id)? else {
        return Ok(());
    };
    mail.state = MailState::Failed;
    mail.error = Some("canceled".to_owned());
    Ok(store::outgoing_mails::update(tx, &mail)?)
}

/// Records a report that a mail could not be delivered. If the failure is permanent, its address gets no more mails.
/// `status` is an enhanced status code such as `5.1.1`. Returns false if there is no such mail.
pub fn record_bounce(tx: &mut WriteTx, id: OutgoingMailId, status: &str, is_permanent: bool) -> Result<bool> {
    let Some(mut mail) = store::outgoing_mails::find(tx, id)? else {
        return Ok(false);
    };
    if is_permanent {
        store::suppressed_addresses::insert(tx, &mail.address, status)?;
    }
    // The state of a mail that is being sent again is that of the last attempt.
    if mail.state == MailState::Sent {
        mail.state = MailState::Bounced;
        mail.error = Some(status.to_owned());
        store::outgoing_mails::update(tx, &mail)?;
    }
    Ok(true)
}

/// The mails about a ticket, for staff.
pub fn list(tx: &mut ReadTx, ticket: TicketId, list: &ListRequest) -> Result<Paged<OutgoingMail>> {
    store::desk::find(tx, ticket)?.ok_or(Error::NotFound)?;
    let query = list.read(tx.policy(), &store::outgoing_mails::FIELDS)?;
    Ok(store::outgoing_mails::list(tx, ticket, &query)?)
}

/// The mails about the text of a ticket and about these replies that were not delivered, or not yet, for staff.
pub fn undelivered(tx: &mut ReadTx, ticket: TicketId, replies: &[ReplyId]) -> Result<Vec<UndeliveredMail>> {
    let ids = || replies.iter().map(|id| id.0);
    let range = ids().min().unwrap_or(0)..=ids().max().unwrap_or(0);
    Ok(store::outgoing_mails::undelivered(tx, ticket, range)?)
}
