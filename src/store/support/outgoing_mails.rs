//! The `outgoing_mail` table, and the notices of mails in `mail_notice`.

use std::ops::RangeInclusive;

use crate::model::id::{AccountId, OutgoingMailId, TicketId, UserId};
use crate::model::mail_count::QueueFigures;
use crate::model::outgoing_mail::{
    ADDRESS_SUPPRESSED, MailKind, MailState, Notice, NoticeKind, OutgoingMail, UndeliveredMail,
};
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::model::user::Email;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str =
    "id, kind, ticket, recipient, address, message_id, state, maybe_repeated, attempts, queued,
    last_attempt, sent, error";
const NOTICE_COLUMNS: &str = "mail, kind, reply, author";

/// The maximum number of undelivered mails that a page of a ticket shows.
const MAX_UNDELIVERED: usize = 100;

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("outgoing_mail", COLUMNS, |row| read(row).map(drop));
pub(in crate::store) const NOTICE_ROWS: ModelRows =
    ModelRows::new("mail_notice", NOTICE_COLUMNS, |row| read_notice(row).map(drop));

pub static FIELDS: [Field; 6] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("kind", Kind::Text, "kind"),
    Field::new("address", Kind::Text, "address"),
    Field::new("state", Kind::Text, "state"),
    Field::new("queued", Kind::Time, "queued"),
    Field::new("sent", Kind::Time, "sent"),
];

/// A mail to queue.
pub struct NewMail<'a> {
    pub kind: MailKind,
    pub ticket: Option<TicketId>,
    pub recipient: UserId,
    /// The account of the recipient of an invitation.
    pub account: Option<AccountId>,
    pub address: &'a Email,
    pub message_id: &'a str,
}

/// The mails about a ticket, newest first.
pub fn list(tx: &mut ReadTx, ticket: TicketId, query: &ListQuery) -> Result<Paged<OutgoingMail>, StoreError> {
    list_where(tx, "ticket = $1", args![ticket], query)
}

/// The newest mails about the text of a ticket and about these replies that were not delivered, or not yet.
pub fn undelivered(
    tx: &mut ReadTx,
    ticket: TicketId,
    replies: RangeInclusive<i64>,
) -> Result<Vec<UndeliveredMail>, StoreError> {
    let sql = format!(
        "SELECT n.reply, m.id, m.address, m.state, m.error,
             (SELECT count(*) FROM outgoing_mail newer WHERE newer.ticket = m.ticket AND newer.id > m.id)
         FROM outgoing_mail m JOIN mail_notice n ON n.mail = m.id
         WHERE m.ticket = $1 AND (n.kind = $2 OR (n.kind = $3 AND n.reply >= $4 AND n.reply <= $5))
             AND (m.state IN ($6, $7, $8, $9) OR (m.state = $10 AND m.error = $11))
         ORDER BY m.id DESC LIMIT {MAX_UNDELIVERED}"
    );
    let args = args![
        ticket,
        NoticeKind::Opened.word(),
        NoticeKind::Reply.word(),
        *replies.start(),
        *replies.end(),
        MailState::Queued.word(),
        MailState::Sending.word(),
        MailState::Failed.word(),
        MailState::Bounced.word(),
        MailState::Suppressed.word(),
        ADDRESS_SUPPRESSED
    ];
    tx.read(&sql, args, |row| {
        Ok(UndeliveredMail {
            reply: row.take()?,
            id: row.take()?,
            address: row.take()?,
            state: row.take()?,
            error: row.take()?,
            newer: row.take()?,
        })
    })
}

/// The mails about a user, newest first.
pub fn list_about_user(
    tx: &mut ReadTx,
    user: UserId,
    query: &ListQuery,
) -> Result<Paged<OutgoingMail>, StoreError> {
    list_where(tx, "recipient = $1 AND ticket IS NULL", args![user], query)
}

fn list_where(
    tx: &mut ReadTx,
    condition: &str,
    args: &[Value],
    query: &ListQuery,
) -> Result<Paged<OutgoingMail>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "outgoing_mail",
        condition: condition.to_owned(),
        args: args.to_vec(),
        key: &["id"],
        order: Some("id DESC"),
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn find(tx: &mut ReadTx, id: OutgoingMailId) -> Result<Option<OutgoingMail>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM outgoing_mail WHERE id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

/// The newest mail about a ticket to a user.
pub fn newest(
    tx: &mut ReadTx,
    ticket: TicketId,
    recipient: UserId,
) -> Result<Option<OutgoingMail>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM outgoing_mail WHERE ticket = $1 AND recipient = $2 ORDER BY id DESC LIMIT 1"
    );
    tx.find(&sql, args![ticket, recipient])?
        .as_mut()
        .map(read)
        .transpose()
}

/// The newest mail of a kind to a user.
pub fn newest_of_kind(
    tx: &mut ReadTx,
    kind: MailKind,
    recipient: UserId,
) -> Result<Option<OutgoingMail>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM outgoing_mail WHERE recipient = $1 AND kind = $2 ORDER BY id DESC LIMIT 1"
    );
    tx.find(&sql, args![recipient, kind.word()])?
        .as_mut()
        .map(read)
        .transpose()
}

pub fn insert(tx: &mut WriteTx, new: &NewMail) -> Result<OutgoingMailId, StoreError> {
    let now = tx.now();
    tx.one(
        "INSERT INTO outgoing_mail (kind, ticket, recipient, address, message_id, state, maybe_repeated, attempts,
             queued, account)
         VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7, $8) RETURNING id",
        args![
            new.kind.word(),
            new.ticket,
            new.recipient,
            new.address,
            new.message_id,
            MailState::Queued.word(),
            now,
            new.account
        ],
    )?
    .take()
}

/// The number of invitations to users of an account since a time, including deleted users.
pub fn count_invitations(tx: &mut ReadTx, account: AccountId, since: Time) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM outgoing_mail WHERE account = $1 AND queued > $2 AND kind = $3";
    tx.one(sql, args![account, since, MailKind::Invitation.word()])?
        .take()
}

/// The mails that are not sent yet, and those that have failed.
pub fn queue_figures(tx: &mut ReadTx) -> Result<QueueFigures, StoreError> {
    let sql = "SELECT count(*), min(queued) FROM outgoing_mail WHERE state IN ($1, $2)";
    let mut row = tx.one(sql, args![MailState::Queued.word(), MailState::Sending.word()])?;
    let (queued, oldest_queued) = (row.take()?, row.take()?);
    let sql = "SELECT count(*) FROM outgoing_mail WHERE state = $1";
    let failed = tx.one(sql, args![MailState::Failed.word()])?.take()?;
    Ok(QueueFigures {
        queued,
        failed,
        oldest_queued,
    })
}

/// Stores everything that an attempt can change.
pub fn update(tx: &mut WriteTx, mail: &OutgoingMail) -> Result<(), StoreError> {
    let sql = "UPDATE outgoing_mail SET address = $2, state = $3, maybe_repeated = $4, attempts = $5,
             last_attempt = $6, sent = $7, error = $8
         WHERE id = $1";
    let args = args![
        mail.id,
        &mail.address,
        mail.state.word(),
        mail.maybe_repeated,
        mail.attempts,
        mail.last_attempt,
        mail.sent,
        mail.error.as_deref()
    ];
    tx.execute(sql, args)?;
    Ok(())
}

pub fn notices(tx: &mut ReadTx, mail: OutgoingMailId) -> Result<Vec<Notice>, StoreError> {
    let sql = format!("SELECT {NOTICE_COLUMNS} FROM mail_notice WHERE mail = $1 ORDER BY place");
    tx.read(&sql, args![mail], read_notice)
}

/// Adds a notice to a mail.
pub fn add_notice(tx: &mut WriteTx, mail: OutgoingMailId, notice: &Notice) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO mail_notice (mail, place, kind, reply, author)
         SELECT $1, coalesce(max(place), 0) + 1, $2, $3, $4 FROM mail_notice WHERE mail = $1",
        args![mail, notice.kind.word(), notice.reply, notice.author.as_str()],
    )?;
    Ok(())
}

/// The users of the ticket's account who opened the ticket or replied to it. Without an opener, also all users with
/// full access.
pub fn participants(tx: &mut ReadTx, ticket: TicketId) -> Result<Vec<UserId>, StoreError> {
    let sql = "SELECT u.id FROM ticket t JOIN app_user u ON u.account = t.account
         WHERE t.id = $1 AND u.disabled = 0 AND u.email_notifications = 1
             AND (u.id = t.opener OR (t.opener IS NULL AND u.restricted = 0)
                 OR u.username IN (SELECT r.created_by FROM reply r WHERE r.ticket = t.id AND r.from_staff = 0))
         ORDER BY u.id";
    tx.read(sql, args![ticket], |row| row.take())
}

/// The member of staff to whom a ticket is assigned.
pub fn assignee(tx: &mut ReadTx, ticket: TicketId) -> Result<Option<UserId>, StoreError> {
    tx.one("SELECT claimer FROM ticket WHERE id = $1", args![ticket])?
        .take()
}

fn read(row: &mut Row) -> Result<OutgoingMail, StoreError> {
    Ok(OutgoingMail {
        id: row.take()?,
        kind: row.take()?,
        ticket: row.take()?,
        recipient: row.take()?,
        address: row.take()?,
        message_id: row.take()?,
        state: row.take()?,
        maybe_repeated: row.take()?,
        attempts: row.take()?,
        queued: row.take()?,
        last_attempt: row.take()?,
        sent: row.take()?,
        error: row.take()?,
    })
}

fn read_notice(row: &mut Row) -> Result<Notice, StoreError> {
    let _: OutgoingMailId = row.take()?;
    Ok(Notice {
        kind: row.take()?,
        reply: row.take()?,
        author: row.take()?,
    })
}

impl FromValue for MailKind {
    fn from_value(value: Value) -> Option<Self> {
        Self::parse(value.as_text()?)
    }
}

impl FromValue for MailState {
    fn from_value(value: Value) -> Option<Self> {
        Self::parse(value.as_text()?)
    }
}

impl FromValue for NoticeKind {
    fn from_value(value: Value) -> Option<Self> {
        Self::parse(value.as_text()?)
    }
}
