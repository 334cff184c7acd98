//! The `received_mail` table: messages that became replies or tickets.

use std::ops::RangeInclusive;

use crate::model::id::{ReceivedMailId, ReplyId, TicketId, UserId};
use crate::model::received_mail::FoldedText;
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::args;

/// A message whose text is stored. Its files may still be missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMail {
    pub id: ReceivedMailId,
    pub ticket: TicketId,
    /// Whether the message is a reply; otherwise it opened the ticket.
    pub is_reply: bool,
    /// The number of files that were attached or refused.
    pub files_done: i64,
}

/// A message to store.
pub struct NewReceivedMail<'a> {
    pub author: UserId,
    pub message_key: &'a str,
    /// Without angle brackets.
    pub message_id: Option<&'a str>,
    pub ticket: TicketId,
    pub reply: Option<ReplyId>,
    pub folded: &'a str,
}

pub fn find(tx: &mut ReadTx, author: UserId, message_key: &str) -> Result<Option<StoredMail>, StoreError> {
    let sql =
        "SELECT id, ticket, reply, files_done FROM received_mail WHERE author = $1 AND message_key = $2";
    let row = tx.find(sql, args![author, message_key])?;
    row.map(|mut row| {
        Ok(StoredMail {
            id: row.take()?,
            ticket: row.take()?,
            is_reply: row.take::<Option<ReplyId>>()?.is_some(),
            files_done: row.take()?,
        })
    })
    .transpose()
}

/// The Message-ID of a user's newest message about a ticket, without angle brackets.
pub fn newest_message_id(
    tx: &mut ReadTx,
    author: UserId,
    ticket: TicketId,
) -> Result<Option<String>, StoreError> {
    let sql = "SELECT message_id FROM received_mail
         WHERE ticket = $1 AND author = $2 AND message_id IS NOT NULL ORDER BY id DESC LIMIT 1";
    let row = tx.find(sql, args![ticket, author])?;
    row.map(|mut row| row.take()).transpose()
}

/// The folded texts of the messages that opened a ticket or became one of these replies. With an author, only those of
/// the author.
pub fn folded(
    tx: &mut ReadTx,
    ticket: TicketId,
    replies: RangeInclusive<i64>,
    author: Option<UserId>,
) -> Result<Vec<FoldedText>, StoreError> {
    let sql = "SELECT reply, folded FROM received_mail
         WHERE ticket = $1 AND folded <> '' AND (reply IS NULL OR (reply >= $2 AND reply <= $3))
             AND (author = $4 OR $4 = 0)
         ORDER BY id";
    let author = author.map_or(0, |author| author.0);
    tx.read(
        sql,
        args![ticket, *replies.start(), *replies.end(), author],
        |row| {
            Ok(FoldedText {
                reply: row.take()?,
                text: row.take()?,
            })
        },
    )
}

/// The number of messages of a user since a time.
pub fn count_since(tx: &mut ReadTx, author: UserId, since: Time) -> Result<i64, StoreError> {
    let sql = "SELECT count(*) FROM received_mail WHERE author = $1 AND created > $2";
    tx.one(sql, args![author, since])?.take()
}

pub fn insert(tx: &mut WriteTx, new: &NewReceivedMail) -> Result<StoredMail, StoreError> {
    let now = tx.now();
    let mut row = tx.one(
        "INSERT INTO received_mail (author, message_key, ticket, reply, folded, files_done, created, message_id)
         VALUES ($1, $2, $3, $4, $5, 0, $6, $7) RETURNING id",
        args![
            new.author,
            new.message_key,
            new.ticket,
            new.reply,
            new.folded,
            now,
            new.message_id
        ],
    )?;
    Ok(StoredMail {
        id: row.take()?,
        ticket: new.ticket,
        is_reply: new.reply.is_some(),
        files_done: 0,
    })
}

/// Records that the first `files_done` files were attached or refused.
pub fn set_files_done(tx: &mut WriteTx, id: ReceivedMailId, files_done: i64) -> Result<(), StoreError> {
    let sql = "UPDATE received_mail SET files_done = $2 WHERE id = $1";
    tx.execute(sql, args![id, files_done])?;
    Ok(())
}
